//! `URLSearchParams`.

use boa_engine::{
    Context, JsData, JsNativeError, JsObject, JsResult, JsSymbol, JsValue, NativeFunction,
    class::{Class, ClassBuilder},
    js_string,
    object::builtins::JsArray,
    property::{Attribute, PropertyKey},
};
use boa_gc::{Finalize, Trace};

use belljar_guest_engine::{objects, originals::enumerable_keys};

use super::{UrlObject, accessor, items, iterator, methods, required, string, text, with};

/// Names and values, in their order.
type Pairs = Vec<(String, String)>;

/// A list of names and values: one of its own, or the query of a URL.
#[derive(Debug, Trace, Finalize, JsData)]
pub(crate) enum SearchParams {
    Own(#[unsafe_ignore_trace] Pairs),
    Of(JsObject),
}

impl SearchParams {
    /// The names and values, if this is such a list.
    pub(crate) fn pairs(object: &JsObject) -> Option<Pairs> {
        let owner = match &*object.downcast_ref::<Self>()? {
            Self::Own(pairs) => return Some(pairs.clone()),
            Self::Of(owner) => owner.clone(),
        };
        let url = owner.downcast_ref::<UrlObject>()?;
        Some(url.url.query_pairs().into_owned().collect())
    }
}

impl Class for SearchParams {
    const NAME: &'static str = "URLSearchParams";

    fn data_constructor(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<Self> {
        Ok(Self::Own(match arguments.first() {
            None => Pairs::new(),
            Some(init) if init.is_undefined() => Pairs::new(),
            Some(init) => match init.as_object() {
                Some(init) => from_object(&init, context)?,
                None => parse(&string(init, context)?),
            },
        }))
    }

    fn init(class: &mut ClassBuilder<'_>) -> JsResult<()> {
        methods(
            class,
            Self::NAME,
            &[
                ("append", 2, append),
                ("delete", 1, delete),
                ("get", 1, get),
                ("getAll", 1, get_all),
                ("has", 1, has),
                ("set", 2, set),
                ("sort", 0, sort),
                ("toString", 0, to_string),
                ("forEach", 1, for_each),
                ("keys", 0, keys),
                ("values", 0, values),
            ],
        );
        let entries = objects::function("entries", 0, NativeFunction::from_fn_ptr(entries), class.context());
        let attributes = Attribute::WRITABLE | Attribute::CONFIGURABLE;
        class.property(js_string!("entries"), entries.clone(), attributes);
        class.property(JsSymbol::iterator(), entries, attributes);
        accessor(class, "size", |this, _, _| Ok(JsValue::from(pairs(this)?.len())), None);
        Ok(())
    }
}

fn parse(query: &str) -> Pairs {
    let query = query.strip_prefix('?').unwrap_or(query);
    url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

/// From another list, from an iterable of pairs, or from the members of an object.
fn from_object(init: &JsObject, context: &mut Context) -> JsResult<Pairs> {
    if let Some(pairs) = SearchParams::pairs(init) {
        return Ok(pairs);
    }
    let mut pairs = Pairs::new();
    if init.get(JsSymbol::iterator(), context)?.is_null_or_undefined() {
        for key in enumerable_keys(init, context)? {
            let value = init.get(PropertyKey::from(key.clone()), context)?;
            pairs.push((key.to_std_string_lossy(), string(&value, context)?));
        }
        return Ok(pairs);
    }
    for pair in items(&init.clone().into(), context)? {
        let pair = if pair.is_object() { items(&pair, context)? } else { Vec::new() };
        let [name, value] = pair.as_slice() else {
            let message = "URLSearchParams takes a query, an object, or pairs as in [['name', 'value']]";
            return Err(JsNativeError::typ().with_message(message).into());
        };
        pairs.push((string(name, context)?, string(value, context)?));
    }
    Ok(pairs)
}

fn pairs(this: &JsValue) -> JsResult<Pairs> {
    this.as_object()
        .and_then(|object| SearchParams::pairs(&object))
        .ok_or_else(|| JsNativeError::typ().with_message("this is no URLSearchParams").into())
}

fn serialized(pairs: &Pairs) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

/// Changes the list, and the URL that it belongs to.
fn change(this: &JsValue, change: impl FnOnce(&mut Pairs)) -> JsResult<JsValue> {
    let mut pairs = pairs(this)?;
    change(&mut pairs);
    let owner = with(this, "URLSearchParams", |params: &mut SearchParams| match params {
        SearchParams::Own(own) => {
            *own = std::mem::take(&mut pairs);
            None
        }
        SearchParams::Of(owner) => Some(owner.clone()),
    })?;
    if let Some(owner) = owner {
        let query = serialized(&pairs);
        with(&owner.into(), "URL", |url: &mut UrlObject| {
            url.url.set_query((!query.is_empty()).then_some(query.as_str()));
        })?;
    }
    Ok(JsValue::undefined())
}

/// The value that a second argument may narrow to.
fn narrowed(arguments: &[JsValue], context: &mut Context) -> JsResult<Option<String>> {
    match arguments.get(1).filter(|value| !value.is_undefined()) {
        Some(value) => string(value, context).map(Some),
        None => Ok(None),
    }
}

fn append(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let value = required(arguments, 1, "URLSearchParams.append")?;
    let pair = (string(&arguments[0], context)?, string(value, context)?);
    change(this, |pairs| pairs.push(pair))
}

fn delete(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let name = string(required(arguments, 0, "URLSearchParams.delete")?, context)?;
    let value = narrowed(arguments, context)?;
    change(this, |pairs| {
        pairs.retain(|(other, its)| *other != name || value.as_ref().is_some_and(|value| value != its));
    })
}

fn get(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let name = string(required(arguments, 0, "URLSearchParams.get")?, context)?;
    let found = pairs(this)?.into_iter().find(|(other, _)| *other == name);
    Ok(found.map_or_else(JsValue::null, |(_, value)| text(&value)))
}

fn get_all(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let name = string(required(arguments, 0, "URLSearchParams.getAll")?, context)?;
    let found = pairs(this)?.into_iter().filter(|(other, _)| *other == name).map(|(_, value)| text(&value));
    Ok(JsArray::from_iter(found, context).into())
}

fn has(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let name = string(required(arguments, 0, "URLSearchParams.has")?, context)?;
    let value = narrowed(arguments, context)?;
    let is_it = |(other, its): &(String, String)| *other == name && value.as_ref().is_none_or(|value| value == its);
    Ok(JsValue::from(pairs(this)?.iter().any(is_it)))
}

fn set(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let value = string(required(arguments, 1, "URLSearchParams.set")?, context)?;
    let name = string(&arguments[0], context)?;
    change(this, |pairs| {
        let place = pairs.iter().position(|(other, _)| *other == name);
        let mut index = 0;
        pairs.retain(|(other, _)| {
            index += 1;
            *other != name || Some(index - 1) == place
        });
        match place.and_then(|place| pairs.get_mut(place)) {
            Some(pair) => pair.1 = value,
            None => pairs.push((name, value)),
        }
    })
}

fn sort(this: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    // By UTF-16 units, as the specification says.
    change(this, |pairs| pairs.sort_by(|(left, _), (right, _)| left.encode_utf16().cmp(right.encode_utf16())))
}

fn to_string(this: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    Ok(text(&serialized(&pairs(this)?)))
}

fn for_each(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(callback) = required(arguments, 0, "URLSearchParams.forEach")?.as_callable() else {
        return Err(JsNativeError::typ().with_message("URLSearchParams.forEach takes a function").into());
    };
    let receiver = arguments.get(1).cloned().unwrap_or_default();
    for (name, value) in pairs(this)? {
        callback.call(&receiver, &[text(&value), text(&name), this.clone()], context)?;
    }
    Ok(JsValue::undefined())
}

fn keys(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    iterator(pairs(this)?.iter().map(|(name, _)| text(name)).collect(), context)
}

fn values(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    iterator(pairs(this)?.iter().map(|(_, value)| text(value)).collect(), context)
}

fn entries(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let pairs = pairs(this)?;
    let pairs = pairs.iter().map(|(name, value)| JsArray::from_iter([text(name), text(value)], context).into());
    let pairs = pairs.collect();
    iterator(pairs, context)
}

/// The list that belongs to a URL.
pub(super) fn of_url(url: &JsObject, context: &mut Context) -> JsResult<JsObject> {
    SearchParams::from_data(SearchParams::Of(url.clone()), context)
}
