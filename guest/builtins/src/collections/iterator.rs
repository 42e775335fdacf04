//! The iterators of maps and sets.

use boa_engine::{
    Context, JsData, JsNativeError, JsObject, JsResult, JsValue, builtins::iterable::create_iter_result_object,
    js_string, object::builtins::JsArray,
};
use boa_gc::{Finalize, Trace};

use belljar_guest_engine::collections::{Collection, Cursor, Map, Set};

use super::{put, read};

/// What each step of an iterator gives.
#[derive(Clone, Copy)]
enum Kind {
    Keys,
    Values,
    Entries,
}

/// An iterator. One that has come to an end stays there.
#[derive(Trace, Finalize, JsData)]
struct Items<C: Collection> {
    collection: Option<JsValue>,
    #[unsafe_ignore_trace]
    cursor: Cursor,
    #[unsafe_ignore_trace]
    kind: Kind,
    #[unsafe_ignore_trace]
    of: std::marker::PhantomData<C>,
}

pub(super) fn install(context: &Context) -> JsResult<()> {
    let prototypes = context.intrinsics().objects().iterator_prototypes();
    put(&prototypes.map(), js_string!("next"), next::<Map>, context)?;
    put(&prototypes.set(), js_string!("next"), next::<Set>, context)
}

pub(super) fn keys<C: Listed>(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    items::<C>(this, "keys", Kind::Keys, context)
}

pub(super) fn values<C: Listed>(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    items::<C>(this, "values", Kind::Values, context)
}

pub(super) fn entries<C: Listed>(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    items::<C>(this, "entries", Kind::Entries, context)
}

/// A collection, and what its iterators inherit.
pub(super) trait Listed: Collection {
    fn iterator_prototype(context: &Context) -> JsObject;
}

impl Listed for Map {
    fn iterator_prototype(context: &Context) -> JsObject {
        context.intrinsics().objects().iterator_prototypes().map()
    }
}

impl Listed for Set {
    fn iterator_prototype(context: &Context) -> JsObject {
        context.intrinsics().objects().iterator_prototypes().set()
    }
}

fn items<C: Listed>(this: &JsValue, method: &str, kind: Kind, context: &Context) -> JsResult<JsValue> {
    read::<C, _>(this, method, |_| ())?;
    let items =
        Items::<C> { collection: Some(this.clone()), cursor: Cursor::default(), kind, of: std::marker::PhantomData };
    Ok(JsObject::new(context.root_shape(), C::iterator_prototype(context), items).upcast().into())
}

fn next<C: Collection>(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let object = this.as_object();
    let Some(mut items) = object.as_ref().and_then(JsObject::downcast_mut::<Items<C>>) else {
        let message = format!("next was called on something that is not an iterator over a {}", C::NAME);
        return Err(JsNativeError::typ().with_message(message).into());
    };
    let mut cursor = items.cursor;
    let entry = match &items.collection {
        Some(collection) => super::step::<C>(collection, &mut cursor)?,
        None => None,
    };
    items.cursor = cursor;
    let kind = items.kind;
    let Some((key, value)) = entry else {
        items.collection = None;
        drop(items);
        return Ok(create_iter_result_object(JsValue::undefined(), true, context));
    };
    drop(items);
    let item = match kind {
        Kind::Keys => key,
        Kind::Values => value,
        Kind::Entries => JsArray::from_iter([key, value], context).into(),
    };
    Ok(create_iter_result_object(item, false, context))
}
