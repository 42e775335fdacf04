//! What a `Map` holds.

use boa_engine::{Context, JsData, JsObject, JsValue};
use boa_gc::{Finalize, Trace};

use super::{collection::Collection, table::Table};

/// What a map object holds.
#[derive(Default, Trace, Finalize, JsData)]
pub struct Map(Table);

impl Collection for Map {
    const NAME: &'static str = "Map";

    fn table(&self) -> &Table {
        &self.0
    }

    fn table_mut(&mut self) -> &mut Table {
        &mut self.0
    }

    fn prototype(context: &Context) -> JsObject {
        context.intrinsics().constructors().map().prototype()
    }
}

impl Map {
    /// A new map.
    #[inline]
    pub fn object(context: &Context) -> JsObject {
        JsObject::new(context.root_shape(), Self::prototype(context), Self::default()).upcast()
    }

    /// The entries of an object, if it is a map.
    #[inline]
    pub fn entries_of(object: &JsObject) -> Option<Vec<(JsValue, JsValue)>> {
        let map = object.downcast_ref::<Self>()?;
        Some(map.0.entries().map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    /// Puts a value under a key, if the object is a map.
    #[inline]
    pub fn put(object: &JsObject, key: &JsValue, value: JsValue) {
        if let Some(mut map) = object.downcast_mut::<Self>() {
            map.0.set(key, value);
        }
    }
}
