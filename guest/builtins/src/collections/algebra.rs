//! What sets can be asked about each other, and made of each other.

use boa_engine::{Context, JsArgs, JsNativeError, JsObject, JsResult, JsValue, js_string};

use belljar_guest_engine::{
    collections::{Cursor, Set, Table, add_to},
    objects::Native,
};

use super::{put, read, step};
use crate::iteration::Walk;

pub(super) fn install(context: &Context) -> JsResult<()> {
    let prototype = context.intrinsics().constructors().set().prototype();
    let methods: [(_, Native); 7] = [
        (js_string!("union"), union),
        (js_string!("intersection"), intersection),
        (js_string!("difference"), difference),
        (js_string!("symmetricDifference"), symmetric_difference),
        (js_string!("isSubsetOf"), is_subset_of),
        (js_string!("isSupersetOf"), is_superset_of),
        (js_string!("isDisjointFrom"), is_disjoint_from),
    ];
    methods.into_iter().try_for_each(|(name, native)| put(&prototype, name, native, context))
}

/// The specification's Set Record: the other, which need be no set.
struct Other {
    object: JsValue,
    size: f64,
    has: JsObject,
    keys: JsObject,
}

impl Other {
    fn of(arguments: &[JsValue], context: &mut Context) -> JsResult<Self> {
        let value = arguments.get_or_undefined(0);
        let Some(object) = value.as_object() else {
            return Err(JsNativeError::typ().with_message("the argument is not a set").into());
        };
        let size = object.get(js_string!("size"), context)?.to_number(context)?.trunc();
        if size.is_nan() {
            return Err(JsNativeError::typ().with_message("the argument is not a set: it has no size").into());
        }
        if size < 0.0 {
            return Err(JsNativeError::range().with_message("the other's size is less than nothing").into());
        }
        let mut method = |name| -> JsResult<JsObject> {
            let method = object.get(name, context)?.as_callable();
            method.ok_or_else(|| {
                JsNativeError::typ().with_message("the argument is not a set: it lacks has or keys").into()
            })
        };
        let (has, keys) = (method(js_string!("has"))?, method(js_string!("keys"))?);
        Ok(Self { object: value.clone(), size, has, keys })
    }

    fn has(&self, member: &JsValue, context: &mut Context) -> JsResult<bool> {
        Ok(self.has.call(&self.object, std::slice::from_ref(member), context)?.to_boolean())
    }

    fn walk(&self, context: &mut Context) -> JsResult<Walk> {
        Walk::by(&self.keys, &self.object, context)
    }
}

/// Checks what is called, and with what.
fn both(this: &JsValue, arguments: &[JsValue], method: &str, context: &mut Context) -> JsResult<Other> {
    len(this, method)?;
    Other::of(arguments, context)
}

fn len(this: &JsValue, method: &str) -> JsResult<f64> {
    read::<Set, _>(this, method, |table| table.len() as f64)
}

fn holds(this: &JsValue, member: &JsValue) -> JsResult<bool> {
    read::<Set, _>(this, "has", |table| table.has(member))
}

fn copy(this: &JsValue) -> JsResult<Table> {
    read::<Set, _>(this, "values", Table::clone)
}

fn union(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let other = both(this, arguments, "union", context)?;
    let mut walk = other.walk(context)?;
    let mut result = copy(this)?;
    while let Some(member) = walk.step(context)? {
        add_to(&mut result, &member);
    }
    Ok(Set::of(result, context).into())
}

fn intersection(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let other = both(this, arguments, "intersection", context)?;
    let mut result = Table::default();
    if len(this, "intersection")? <= other.size {
        let mut cursor = Cursor::default();
        while let Some((member, _)) = step::<Set>(this, &mut cursor)? {
            if other.has(&member, context)? {
                add_to(&mut result, &member);
            }
        }
    } else {
        let mut walk = other.walk(context)?;
        while let Some(member) = walk.step(context)? {
            if holds(this, &member)? {
                add_to(&mut result, &member);
            }
        }
    }
    Ok(Set::of(result, context).into())
}

fn difference(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let other = both(this, arguments, "difference", context)?;
    let mut result = copy(this)?;
    if len(this, "difference")? <= other.size {
        let members: Vec<JsValue> = result.entries().map(|(member, _)| member.clone()).collect();
        for member in members {
            if other.has(&member, context)? {
                result.remove(&member);
            }
        }
    } else {
        let mut walk = other.walk(context)?;
        while let Some(member) = walk.step(context)? {
            result.remove(&member);
        }
    }
    Ok(Set::of(result, context).into())
}

fn symmetric_difference(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let other = both(this, arguments, "symmetricDifference", context)?;
    let mut walk = other.walk(context)?;
    let mut result = copy(this)?;
    while let Some(member) = walk.step(context)? {
        if holds(this, &member)? {
            result.remove(&member);
        } else {
            add_to(&mut result, &member);
        }
    }
    Ok(Set::of(result, context).into())
}

fn is_subset_of(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let other = both(this, arguments, "isSubsetOf", context)?;
    if len(this, "isSubsetOf")? > other.size {
        return Ok(false.into());
    }
    let mut cursor = Cursor::default();
    while let Some((member, _)) = step::<Set>(this, &mut cursor)? {
        if !other.has(&member, context)? {
            return Ok(false.into());
        }
    }
    Ok(true.into())
}

fn is_superset_of(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let other = both(this, arguments, "isSupersetOf", context)?;
    if len(this, "isSupersetOf")? < other.size {
        return Ok(false.into());
    }
    let mut walk = other.walk(context)?;
    while let Some(member) = walk.step(context)? {
        if !holds(this, &member)? {
            walk.close(context)?;
            return Ok(false.into());
        }
    }
    Ok(true.into())
}

fn is_disjoint_from(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let other = both(this, arguments, "isDisjointFrom", context)?;
    if len(this, "isDisjointFrom")? <= other.size {
        let mut cursor = Cursor::default();
        while let Some((member, _)) = step::<Set>(this, &mut cursor)? {
            if other.has(&member, context)? {
                return Ok(false.into());
            }
        }
        return Ok(true.into());
    }
    let mut walk = other.walk(context)?;
    while let Some(member) = walk.step(context)? {
        if holds(this, &member)? {
            walk.close(context)?;
            return Ok(false.into());
        }
    }
    Ok(true.into())
}
