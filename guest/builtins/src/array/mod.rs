//! Methods of arrays that move or search at many elements.
//!
//! The engine asks an array for each element by name, and sets and deletes them one by one, as the
//! specification tells it. Of an array that is nothing but its elements, nobody could see that:
//! those are read and put in one go. Everything else is left to the engine's own methods.

mod change;
mod copy;
mod each;
mod plain;
mod search;

use boa_engine::{
    Context, JsObject, JsResult, JsString, JsValue, NativeFunction, js_string, object::builtins::JsFunction,
};
use boa_gc::{Finalize, Trace};

use super::supplant_with;
use plain::Kept;

/// A method, which leaves to the engine what it gives nothing for.
type Method = fn(&JsValue, &[JsValue], &Kept, &mut Context) -> JsResult<Option<JsValue>>;

#[derive(Trace, Finalize)]
struct Captured {
    engines: JsFunction,
    kept: Kept,
}

/// Puts the methods into the places of the engine's.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let prototype = context.intrinsics().constructors().array().prototype();
    let kept = Kept::keep(context)?;
    let methods: [(JsString, Method); 13] = [
        (js_string!("splice"), change::splice),
        (js_string!("reverse"), change::reverse),
        (js_string!("fill"), change::fill),
        (js_string!("slice"), copy::slice),
        (js_string!("concat"), copy::concat),
        (js_string!("toSpliced"), copy::to_spliced),
        (js_string!("toReversed"), copy::to_reversed),
        (js_string!("map"), each::map),
        (js_string!("filter"), each::filter),
        (js_string!("flatMap"), each::flat_map),
        (js_string!("indexOf"), search::index_of),
        (js_string!("lastIndexOf"), search::last_index_of),
        (js_string!("includes"), search::includes),
    ];
    for (name, method) in methods {
        let function = prototype.get(name, context)?.as_object().ok_or_else(super::missing)?;
        put(&function, method, &kept, context)?;
    }
    Ok(())
}

fn put(function: &JsObject, method: Method, kept: &Kept, context: &Context) -> JsResult<()> {
    let native = |engines| {
        NativeFunction::from_copy_closure_with_captures(
            move |this, arguments, captured: &Captured, context| match method(this, arguments, &captured.kept, context)?
            {
                Some(value) => Ok(value),
                None => captured.engines.call(this, arguments, context),
            },
            Captured { engines, kept: kept.clone() },
        )
    };
    supplant_with(function, native, context)
}

#[cfg(test)]
mod tests;
