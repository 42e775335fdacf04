//! `Map`.

use boa_engine::{
    Context, JsArgs, JsNativeError, JsObject, JsResult, JsValue, NativeFunction, js_string,
    object::builtins::{JsArray, JsFunction},
};

use belljar_guest_engine::{
    collections::{Map, Table},
    plain,
};

use super::{change, constructed, iterator, put, put_common, read};
use crate::{iteration::Walk, supplant};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let map = context.intrinsics().constructors().map();
    let (constructor, prototype) = (map.constructor(), map.prototype());
    put_common::<Map>(&prototype, context)?;
    put(&prototype, js_string!("get"), get, context)?;
    put(&prototype, js_string!("set"), set, context)?;
    put(&prototype, js_string!("getOrInsert"), get_or_insert, context)?;
    put(&prototype, js_string!("getOrInsertComputed"), get_or_insert_computed, context)?;
    put(&prototype, js_string!("entries"), iterator::entries::<Map>, context)?;
    put(&prototype, js_string!("keys"), iterator::keys::<Map>, context)?;
    put(&prototype, js_string!("values"), iterator::values::<Map>, context)?;
    put(&constructor, js_string!("groupBy"), group_by, context)?;
    let adder = prototype.get(js_string!("set"), context)?.as_function();
    let native = NativeFunction::from_copy_closure_with_captures(construct, adder);
    supplant(&constructor, native, context)
}

/// The constructor. It knows the `set` that is ours, which need not be called to be obeyed.
fn construct(
    new_target: &JsValue,
    arguments: &[JsValue],
    own_adder: &Option<JsFunction>,
    context: &mut Context,
) -> JsResult<JsValue> {
    let map = constructed(new_target, Map::default(), context)?;
    let entries = arguments.get_or_undefined(0);
    if entries.is_null_or_undefined() {
        return Ok(map.into());
    }
    let Some(adder) = map.get(js_string!("set"), context)?.as_callable() else {
        return Err(JsNativeError::typ().with_message("the map's set is not a function").into());
    };
    let is_own = own_adder.as_ref().is_some_and(|own| JsObject::equals(own, &adder));
    let mut walk = Walk::over(entries, context)?;
    while let Some(entry) = walk.step(context)? {
        let added = pair(&entry, context).and_then(|(key, value)| {
            if is_own {
                Map::put(&map, &key, value);
                return Ok(());
            }
            adder.call(&map.clone().into(), &[key, value], context).map(|_| ())
        });
        if let Err(error) = added {
            return Err(walk.close_after(error, context));
        }
    }
    Ok(map.into())
}

fn pair(entry: &JsValue, context: &mut Context) -> JsResult<(JsValue, JsValue)> {
    let Some(entry) = entry.as_object() else {
        let message = "new Map takes a list of pairs, as in new Map([['a', 1], ['b', 2]])";
        return Err(JsNativeError::typ().with_message(message).into());
    };
    let mut part = |index: u64| match plain::element(&entry, index) {
        Some(value) => Ok(value),
        None => entry.get(index, context),
    };
    Ok((part(0)?, part(1)?))
}

fn get(this: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    read::<Map, _>(this, "get", |table| table.get(arguments.get_or_undefined(0)).cloned().unwrap_or_default())
}

fn set(this: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    let value = arguments.get_or_undefined(1).clone();
    change::<Map, _>(this, "set", |table| table.set(arguments.get_or_undefined(0), value))?;
    Ok(this.clone())
}

fn get_or_insert(this: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    let (key, value) = (arguments.get_or_undefined(0), arguments.get_or_undefined(1));
    change::<Map, _>(this, "getOrInsert", |table| match table.get(key) {
        Some(found) => found.clone(),
        None => {
            table.set(key, value.clone());
            value.clone()
        }
    })
}

fn get_or_insert_computed(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let key = arguments.get_or_undefined(0);
    let found = read::<Map, _>(this, "getOrInsertComputed", |table| table.get(key).cloned())?;
    let Some(callback) = arguments.get_or_undefined(1).as_callable() else {
        return Err(JsNativeError::typ().with_message("getOrInsertComputed takes a function").into());
    };
    if let Some(found) = found {
        return Ok(found);
    }
    let key = if key.as_number() == Some(0.0) { JsValue::from(0) } else { key.clone() };
    let value = callback.call(&JsValue::undefined(), std::slice::from_ref(&key), context)?;
    change::<Map, _>(this, "getOrInsertComputed", |table| table.set(&key, value.clone()))?;
    Ok(value)
}

fn group_by(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let items = arguments.get_or_undefined(0);
    items.require_object_coercible()?;
    let Some(callback) = arguments.get_or_undefined(1).as_callable() else {
        return Err(JsNativeError::typ().with_message("Map.groupBy takes a list and a function").into());
    };
    let mut groups: Vec<(JsValue, Vec<JsValue>)> = Vec::new();
    let mut places = Table::default();
    let mut walk = Walk::over(items, context)?;
    let mut index = 0_u64;
    while let Some(item) = walk.step(context)? {
        let key = match callback.call(&JsValue::undefined(), &[item.clone(), index.into()], context) {
            Ok(key) => key,
            Err(error) => return Err(walk.close_after(error, context)),
        };
        index += 1;
        let place = places.get(&key).and_then(JsValue::as_number).map(|place| place as usize);
        if let Some((_, group)) = place.and_then(|place| groups.get_mut(place)) {
            group.push(item);
        } else {
            places.set(&key, groups.len().into());
            groups.push((key, vec![item]));
        }
    }
    let map = Map::object(context);
    for (key, group) in groups {
        let group = JsArray::from_iter(group, context);
        Map::put(&map, &key, group.into());
    }
    Ok(map.into())
}
