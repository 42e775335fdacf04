//! `Set`.

use boa_engine::{
    Context, JsArgs, JsNativeError, JsObject, JsResult, JsValue, NativeFunction, js_string,
    object::builtins::JsFunction,
};

use belljar_guest_engine::collections::{Set, add_to};

use super::{change, constructed, iterator, put, put_common};
use crate::{iteration::Walk, supplant};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let set = context.intrinsics().constructors().set();
    let (constructor, prototype) = (set.constructor(), set.prototype());
    put_common::<Set>(&prototype, context)?;
    put(&prototype, js_string!("add"), add, context)?;
    put(&prototype, js_string!("entries"), iterator::entries::<Set>, context)?;
    put(&prototype, js_string!("values"), iterator::values::<Set>, context)?;
    let adder = prototype.get(js_string!("add"), context)?.as_function();
    let native = NativeFunction::from_copy_closure_with_captures(construct, adder);
    supplant(&constructor, native, context)
}

/// The constructor. It knows the `add` that is ours, which need not be called to be obeyed.
fn construct(
    new_target: &JsValue,
    arguments: &[JsValue],
    own_adder: &Option<JsFunction>,
    context: &mut Context,
) -> JsResult<JsValue> {
    let set = constructed(new_target, Set::default(), context)?;
    let members = arguments.get_or_undefined(0);
    if members.is_null_or_undefined() {
        return Ok(set.into());
    }
    let Some(adder) = set.get(js_string!("add"), context)?.as_callable() else {
        return Err(JsNativeError::typ().with_message("the set's add is not a function").into());
    };
    let is_own = own_adder.as_ref().is_some_and(|own| JsObject::equals(own, &adder));
    let mut walk = Walk::over(members, context)?;
    while let Some(member) = walk.step(context)? {
        if is_own {
            Set::put(&set, &member);
        } else if let Err(error) = adder.call(&set.clone().into(), &[member], context) {
            return Err(walk.close_after(error, context));
        }
    }
    Ok(set.into())
}

fn add(this: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    change::<Set, _>(this, "add", |table| add_to(table, arguments.get_or_undefined(0)))?;
    Ok(this.clone())
}
