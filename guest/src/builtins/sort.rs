//! `sort` and `toSorted` with a comparator that contradicts itself, as in `list.sort(() => Math.random() - 0.5)`.
//!
//! Boa hands the comparator to Rust's own sort, which may panic if the order is none. A merge sort asks and believes: whatever
//! the answers, they give some order.

use std::cmp::Ordering;

use boa_engine::{
    Context, JsNativeError, JsObject, JsResult, JsString, JsValue, NativeFunction, js_string,
    object::builtins::{JsArray, JsFunction, JsTypedArray},
};
use boa_gc::{Finalize, Trace};

use super::replace;

/// What `toSorted` can make.
const MAX_ARRAY: u64 = u32::MAX as u64;

/// The engine's own methods of typed arrays: they are sound where they compare numbers themselves.
#[derive(Trace, Finalize)]
struct Original(JsFunction);

/// Puts the methods in the places of the engine's.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let array = context.intrinsics().constructors().array().prototype();
    for (name, native) in [("sort", sort as crate::globals::Native), ("toSorted", to_sorted)] {
        replace(&array, name, 1, NativeFunction::from_fn_ptr(native), context)?;
    }
    let typed_array = context.intrinsics().constructors().typed_array().prototype();
    for name in ["sort", "toSorted"] {
        let Some(original) = typed_array.get(JsString::from(name), context)?.as_function() else { continue };
        let native = NativeFunction::from_copy_closure_with_captures(sort_typed, Original(original));
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
        if object.has_property(index, context)? {
            items.push(object.get(index, context)?);
        }
    }
    let mut index = 0_u64;
    for item in sorted(items, comparator.as_ref(), context)? {
        object.set(index, item, true, context)?;
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
        items.push(object.get(index, context)?);
    }
    let items = sorted(items, comparator.as_ref(), context)?;
    Ok(JsArray::from_iter(items, context).into())
}

fn sort_typed(this: &JsValue, arguments: &[JsValue], original: &Original, context: &mut Context) -> JsResult<JsValue> {
    let Some(comparator) = comparator(arguments)? else { return original.0.call(this, &[], context) };
    // `toSorted` gives a copy, `sort` the array itself: either is then sorted anew.
    let target = original.0.call(this, &[], context)?;
    let (Some(source), Some(object)) = (this.as_object(), target.as_object()) else { return Ok(target) };
    let length = JsTypedArray::from_object(source)?.length(context)?;
    let mut items = Vec::new();
    for index in 0..length {
        items.push(object.get(index as u64, context)?);
    }
    for (index, item) in (0_u64..).zip(sorted(items, Some(&comparator), context)?) {
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
        Some(comparator) => merge_sorted(items, |left, right| {
            let answer = comparator.call(&JsValue::undefined(), &[left.clone(), right.clone()], context)?;
            Ok(answer.to_number(context)?.partial_cmp(&0.0).unwrap_or(Ordering::Equal))
        })?,
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

/// A stable merge sort, from the bottom up. Runs that are in order already cost one question.
fn merge_sorted(
    mut items: Vec<JsValue>,
    mut compare: impl FnMut(&JsValue, &JsValue) -> JsResult<Ordering>,
) -> JsResult<Vec<JsValue>> {
    let mut width = 1;
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        for pair in items.chunks(width * 2) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            let is_ordered = match (left.last(), right.first()) {
                (Some(last), Some(first)) => compare(last, first)?.is_le(),
                _ => true,
            };
            while !is_ordered && let ([first, left_rest @ ..], [other, right_rest @ ..]) = (left, right) {
                if compare(first, other)?.is_le() {
                    merged.push(first.clone());
                    left = left_rest;
                } else {
                    merged.push(other.clone());
                    right = right_rest;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        items = merged;
        width *= 2;
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use crate::testing::same_as_stock;

    #[test]
    fn sorts_as_the_engine_does() {
        same_as_stock(&[
            "[3, 1, undefined, 2, , 10].sort().join()",
            "[3, 1, 2].sort((a, b) => b - a).join()",
            "[...`banana`].toSorted().join('')",
            "new Uint8Array([3, 1, 2]).sort((a, b) => b - a).join()",
            "[1, 2].sort(1)",
            "[1, 2].sort(() => { throw 1 })",
        ]);
    }
}
