//! Methods that make a new array of what a function says of each element. The engine defines each
//! new element as a property.

use boa_engine::{Context, JsObject, JsResult, JsValue, js_string, object::builtins::JsArray};

use belljar_guest_engine::{originals::is_array_or_revoked, plain};

use super::plain::Kept;

/// An array, and a function that is asked about its elements.
struct Each {
    array: JsObject,
    length: u64,
    function: JsObject,
    this: JsValue,
}

impl Each {
    /// None where there is no such array or function, or where the new array would be none of the
    /// language's own.
    fn of(array: &JsValue, arguments: &[JsValue], kept: &Kept) -> Option<Self> {
        let (array, length) = kept.bare(array).filter(|_| kept.makes_arrays())?;
        let function = arguments.first()?.as_callable()?;
        let this = arguments.get(1).cloned().unwrap_or_default();
        Some(Self { array, length: length as u64, function, this })
    }

    /// An element, as it is now, and what the function says of it; nothing where there is a hole.
    fn ask(&self, index: u64, context: &mut Context) -> JsResult<Option<(JsValue, JsValue)>> {
        let Some(element) = element(&self.array, index, context)? else { return Ok(None) };
        let arguments = [element.clone(), index.into(), self.array.clone().into()];
        let answer = self.function.call(&self.this, &arguments, context)?;
        Ok(Some((element, answer)))
    }
}

fn element(array: &JsObject, index: u64, context: &mut Context) -> JsResult<Option<JsValue>> {
    match plain::element(array, index) {
        Some(element) => Ok(Some(element)),
        None if array.has_property(index, context)? => array.get(index, context).map(Some),
        None => Ok(None),
    }
}

/// `map(function, this)`.
pub(super) fn map(
    this: &JsValue,
    arguments: &[JsValue],
    kept: &Kept,
    context: &mut Context,
) -> JsResult<Option<JsValue>> {
    let Some(each) = Each::of(this, arguments, kept) else { return Ok(None) };
    let mut made = Vec::new();
    for index in 0..each.length {
        match each.ask(index, context)? {
            Some((_, answer)) => made.push(answer),
            None => return map_with_holes(&each, made, context).map(Some),
        }
    }
    Ok(Some(JsArray::from_iter(made, context).into()))
}

/// Goes on where a hole was found, which is one in the new array, too.
fn map_with_holes(each: &Each, made: Vec<JsValue>, context: &mut Context) -> JsResult<JsValue> {
    let next = made.len() as u64 + 1;
    let array = JsArray::from_iter(made, context);
    array.set(js_string!("length"), each.length, true, context)?;
    for index in next..each.length {
        if let Some((_, answer)) = each.ask(index, context)? {
            array.create_data_property_or_throw(index, answer, context)?;
        }
    }
    Ok(array.into())
}

/// `filter(function, this)`.
pub(super) fn filter(
    this: &JsValue,
    arguments: &[JsValue],
    kept: &Kept,
    context: &mut Context,
) -> JsResult<Option<JsValue>> {
    let Some(each) = Each::of(this, arguments, kept) else { return Ok(None) };
    let mut left = Vec::new();
    for index in 0..each.length {
        if let Some((element, answer)) = each.ask(index, context)?
            && answer.to_boolean()
        {
            left.push(element);
        }
    }
    Ok(Some(JsArray::from_iter(left, context).into()))
}

/// `flatMap(function, this)`.
pub(super) fn flat_map(
    this: &JsValue,
    arguments: &[JsValue],
    kept: &Kept,
    context: &mut Context,
) -> JsResult<Option<JsValue>> {
    let Some(each) = Each::of(this, arguments, kept) else { return Ok(None) };
    let mut made = Vec::new();
    for index in 0..each.length {
        let Some((_, answer)) = each.ask(index, context)? else { continue };
        match answer.as_object() {
            Some(list) if is_array_or_revoked(&list, context)? => {
                let length = list.get(js_string!("length"), context)?.to_length(context)?;
                for index in 0..length {
                    made.extend(element(&list, index, context)?);
                }
            }
            _ => made.push(answer),
        }
    }
    Ok(Some(JsArray::from_iter(made, context).into()))
}
