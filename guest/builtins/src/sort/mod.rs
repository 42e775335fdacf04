//! `sort` and `toSorted` with a comparator that contradicts itself, as in
//! `list.sort(() => Math.random() - 0.5)`.
//!
//! Boa hands the comparator to Rust's own sort, which may panic if the order is none. A merge sort
//! asks and believes: whatever the answers, they give some order.

mod known;

use std::{cell::Cell, cmp::Ordering, convert::Infallible};

use boa_engine::{
    Context, JsError, JsNativeError, JsObject, JsResult, JsString, JsValue, NativeFunction, js_string,
    object::builtins::{JsArray, JsFunction, JsTypedArray},
};
use boa_gc::{Finalize, Trace};

use belljar_guest_algorithms::merge;
use belljar_guest_bindings::belljar::sandbox::console;
use belljar_guest_engine::{call_site::here, objects, place, plain};

use super::{missing, replace};
use known::{Key, Known};

/// What `toSorted` can make.
const MAX_ARRAY: u64 = u32::MAX as u64;

thread_local! {
    /// Whether the log has told of a comparator that does not compare.
    static WARNED: Cell<bool> = const { Cell::new(false) };
}

/// The engine's own methods of typed arrays.
#[derive(Trace, Finalize)]
struct Original {
    /// Sound where it compares numbers itself.
    sort: JsFunction,
    /// Throws where there is no typed array with a buffer.
    at: JsFunction,
    makes_copy: bool,
}

/// Puts the methods in the places of the engine's.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let array = context.intrinsics().constructors().array().prototype();
    for (name, native) in [("sort", sort as objects::Native), ("toSorted", to_sorted)] {
        replace(&array, name, 1, NativeFunction::from_fn_ptr(native), context)?;
    }
    let typed_array = context.intrinsics().constructors().typed_array().prototype();
    let at = typed_array.get(js_string!("at"), context)?.as_function().ok_or_else(missing)?;
    for (name, makes_copy) in [("sort", false), ("toSorted", true)] {
        let sort = typed_array.get(JsString::from(name), context)?.as_function().ok_or_else(missing)?;
        let original = Original { sort, at: at.clone(), makes_copy };
        let native = NativeFunction::from_copy_closure_with_captures(sort_typed, original);
        replace(&typed_array, name, 1, native, context)?;
    }
    Ok(())
}

fn sort(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let comparator = comparator(arguments)?;
    let object = this.to_object(context)?;
    let length = length(&object, context)?;
    let mut items = Vec::new();
    for index in 0..length {
        match plain::element(&object, index) {
            Some(item) => items.push(item),
            None if object.has_property(index, context)? => items.push(object.get(index, context)?),
            None => {}
        }
    }
    let mut index = 0_u64;
    for item in sorted(items, comparator.as_ref(), context)? {
        if !plain::replace_element(&object, index, &item) {
            object.set(index, item, true, context)?;
        }
        index += 1;
    }
    // The holes are at the end.
    for hole in index..length {
        object.delete_property_or_throw(hole, context)?;
    }
    Ok(object.into())
}

fn to_sorted(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let comparator = comparator(arguments)?;
    let object = this.to_object(context)?;
    let length = length(&object, context)?;
    if length > MAX_ARRAY {
        return Err(JsNativeError::range().with_message("the array is too long to be copied").into());
    }
    let mut items = Vec::new();
    for index in 0..length {
        items.push(match plain::element(&object, index) {
            Some(item) => item,
            None => object.get(index, context)?,
        });
    }
    let items = sorted(items, comparator.as_ref(), context)?;
    Ok(JsArray::from_iter(items, context).into())
}

fn sort_typed(this: &JsValue, arguments: &[JsValue], original: &Original, context: &mut Context) -> JsResult<JsValue> {
    let Some(comparator) = comparator(arguments)? else { return original.sort.call(this, &[], context) };
    original.at.call(this, &[], context)?;
    let Some(array) = this.as_object() else { return Ok(this.clone()) };
    let length = JsTypedArray::from_object(array.clone())?.length(context)?;
    let mut items = Vec::new();
    for index in 0..length {
        items.push(array.get(index as u64, context)?);
    }
    let target = if original.makes_copy { original.sort.call(this, &[], context)? } else { this.clone() };
    let Some(object) = target.as_object() else { return Ok(target) };
    for (index, item) in (0_u64..).zip(sorted(items, Some(&comparator), context)?) {
        // Of an array that the comparator has made shorter, what is beyond its end stays out.
        object.set(index, item, true, context)?;
    }
    Ok(target)
}

fn comparator(arguments: &[JsValue]) -> JsResult<Option<JsObject>> {
    match arguments.first() {
        None => Ok(None),
        Some(value) if value.is_undefined() => Ok(None),
        Some(value) => match value.as_callable() {
            Some(function) => Ok(Some(function)),
            None => Err(JsNativeError::typ().with_message("sort takes a function, as in sort((a, b) => a - b)").into()),
        },
    }
}

fn length(object: &JsObject, context: &mut Context) -> JsResult<u64> {
    object.get(js_string!("length"), context)?.to_length(context)
}

/// The items in order, `undefined` last.
fn sorted(items: Vec<JsValue>, comparator: Option<&JsObject>, context: &mut Context) -> JsResult<Vec<JsValue>> {
    let (missing, items): (Vec<_>, Vec<_>) = items.into_iter().partition(JsValue::is_undefined);
    let mut sorted = match comparator {
        Some(comparator) => match keyed(&items, comparator, context) {
            Some((known, keys)) => by_key(items, keys, &known),
            None => {
                let mut slip = None;
                let sorted = merge::sorted(items, |left, right| {
                    let answer = comparator.call(&JsValue::undefined(), &[left.clone(), right.clone()], context)?;
                    let number = answer.to_number(context)?;
                    if number.is_nan() || answer.is_boolean() {
                        slip = Some(answer);
                    }
                    Ok::<_, JsError>(sign(number))
                })?;
                if let Some(answer) = slip {
                    warn_of_no_order(&answer, context);
                }
                sorted
            }
        },
        None => {
            let mut keyed = Vec::with_capacity(items.len());
            for item in items {
                keyed.push((item.to_string(context)?, item));
            }
            keyed.sort_by(|(left, _), (right, _)| left.iter().cmp(right.iter()));
            keyed.into_iter().map(|(_, item)| item).collect()
        }
    };
    sorted.extend(missing);
    Ok(sorted)
}

/// Says once that a comparator does not compare.
fn warn_of_no_order(answer: &JsValue, context: &mut Context) {
    if !place::has_host() || WARNED.replace(true) {
        return;
    }
    let line = here(context).map(|position| format!(" (line {})", position.line)).unwrap_or_default();
    let why = if answer.is_boolean() {
        "returns true or false, which sorts nothing: return a number, as in (a, b) => a - b"
    } else {
        "does not return a number, so the order is arbitrary: what it subtracts is missing, or is a text"
    };
    let text = format!(
        "the comparator of sort{line} {why}; compare texts with a.localeCompare(b), dates with new Date(a) - new Date(b)"
    );
    console::write(console::Level::Warn, &text);
}

/// What each item is compared by, if the answers of the comparator are known.
fn keyed(items: &[JsValue], comparator: &JsObject, context: &mut Context) -> Option<(Known, Vec<Key>)> {
    let known = Known::of(comparator, context)?;
    let keys = known.keys(items)?;
    Some((known, keys))
}

fn by_key(items: Vec<JsValue>, keys: Vec<Key>, known: &Known) -> Vec<JsValue> {
    let items: Vec<(Key, JsValue)> = keys.into_iter().zip(items).collect();
    let sorted = merge::sorted(items, |(left, _), (right, _)| Ok::<_, Infallible>(known.answer(left, right)));
    match sorted {
        Ok(sorted) => sorted.into_iter().map(|(_, item)| item).collect(),
        Err(never) => match never {},
    }
}

/// What a comparator's answer means: what is no number means that there is no difference.
fn sign(answer: f64) -> Ordering {
    answer.partial_cmp(&0.0).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use belljar_guest_testing::same_as_node;

    #[test]
    fn sorts_as_node_does() {
        same_as_node(&[
            "[3, 1, undefined, 2, , 10].sort().join()",
            "[3, 1, 2].sort((a, b) => b - a).join()",
            "[...`banana`].toSorted().join('')",
            "new Uint8Array([3, 1, 2]).sort((a, b) => b - a).join()",
            "[1, 2].sort(1)",
            "[3, 1, 2, Infinity, -Infinity, -0, 0].sort((a, b) => a - b).join()",
            "[3, '1', 2].sort((a, b) => a - b).join()",
            "[{ n: 2 }, { n: 1, m: 1 }, { n: 2, k: 1 }, { n: 1 }].sort((a, b) => b.n - a.n).map((x) => JSON.stringify(x)).join()",
            "Object.entries({ a: 2, b: 3, c: 1 }).sort((a, b) => b[1] - a[1]).join(';')",
            "['b', 'a', 'c', 'é', 'B', ''].sort((a, b) => a < b ? -1 : a > b ? 1 : 0).join()",
            "['b', 'a', 'c', 'b'].sort((a, b) => a < b ? 1 : -1).join()",
            "[{ n: 'x' }, { n: 'a', m: 1 }, { n: 'x', k: 1 }, { n: 'a' }].sort((a, b) => a.n === b.n ? 0 : a.n < b.n ? -1 : 1).map((x) => JSON.stringify(x)).join()",
            "[3, NaN, 1, NaN, 2].sort((a, b) => a < b ? -1 : a > b ? 1 : 0).length",
            "[3, '1', 2].sort((a, b) => a < b ? -1 : 1).join()",
            "['ccc', 'a', 'bb'].sort((a, b) => a.length - b.length).join()",
            "[3, NaN, 1, 2, 1].sort((a, b) => { if (a < b) return -1; if (a > b) return 1; return 0 }).length",
            "[3, 1, 2].sort(function (a, b) { if (a < b) { return 1 } else { return -1 } }).join()",
            "[3, 1, 2].sort((a, b) => { return\na - b }).join()",
            "[[1, 2, 3], [], [1]].sort((a, b) => a.length - b.length).join(';')",
            "[{ length: 2 }, { length: 1 }].sort((a, b) => a.length - b.length)[0].length",
            "let asked = 0; [[2], Object.defineProperty([1], 0, { get: () => (asked++, 1) })].sort((a, b) => a[0] - b[0]).join() + (asked > 0)",
            "[[2], [], [1]].sort((a, b) => a[0] - b[0]).join(';')",
            "let reads = 0; const lazy = [2, 1, 3].map((n) => ({ get n() { reads++; return n } })); lazy.sort((a, b) => a.n - b.n).map((x) => x.n).join() + (reads > 3)",
            "Object.freeze([2, 1]).sort((a, b) => a - b)",
            "const odd = [2, 1]; Object.defineProperty(odd, 0, { writable: false }); odd.sort((a, b) => a - b)",
            "Array.prototype[1] = 5; const holes = [3, , 1].sort((a, b) => a - b).join(); delete Array.prototype[1]; holes",
            "Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1009).sort((a, b) => a < b ? -1 : 1).join()",
            "[1, 2].sort(() => { throw 1 })",
            "const pairs = new Float64Array([7, 6, 5, 4, 3, 2, 1, 0]); [pairs.toSorted((a, b) => (a / 4 | 0) - (b / 4 | 0)), pairs, pairs.sort((a, b) => (a / 4 | 0) - (b / 4 | 0))].join(';')",
            "const short = new ArrayBuffer(4, { maxByteLength: 8 }); const four = new Uint8Array(short, 0, 4); new Uint8Array(short).set([4, 3, 2, 1]); four.sort((a, b) => { short.resize(2); return a - b }); new Uint8Array(short).join()",
            "Uint8Array.prototype.sort.call([2, 1], (a, b) => a - b)",
            "const gone = new Uint8Array([2, 1]); gone.buffer.transfer(); gone.sort((a, b) => a - b)",
        ]);
    }
}
