//! What a `Map` and a `Set` have in common.

use boa_engine::{Context, JsObject, object::NativeObject};

use super::table::Table;

/// A collection: what it is called, and what it holds.
pub trait Collection: NativeObject {
    const NAME: &'static str;
    fn table(&self) -> &Table;
    fn table_mut(&mut self) -> &mut Table;
    fn prototype(context: &Context) -> JsObject;
}
