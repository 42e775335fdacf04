//! What a `Set` holds.

use boa_engine::{Context, JsData, JsObject, JsValue};
use boa_gc::{Finalize, Trace};

use super::{collection::Collection, table::Table};

/// What a set object holds: the members are the keys, and the values.
#[derive(Default, Trace, Finalize, JsData)]
pub struct Set(Table);

impl Collection for Set {
    const NAME: &'static str = "Set";

    fn table(&self) -> &Table {
        &self.0
    }

    fn table_mut(&mut self) -> &mut Table {
        &mut self.0
    }

    fn prototype(context: &Context) -> JsObject {
        context.intrinsics().constructors().set().prototype()
    }
}

impl Set {
    /// A new set.
    #[inline]
    pub fn object(context: &Context) -> JsObject {
        Self::of(Table::default(), context)
    }

    /// The members of an object, if it is a set.
    #[inline]
    pub fn members_of(object: &JsObject) -> Option<Vec<JsValue>> {
        let set = object.downcast_ref::<Self>()?;
        Some(set.0.entries().map(|(key, _)| key.clone()).collect())
    }

    /// Adds a member, if the object is a set.
    #[inline]
    pub fn put(object: &JsObject, member: &JsValue) {
        if let Some(mut set) = object.downcast_mut::<Self>() {
            add_to(&mut set.0, member);
        }
    }

    /// A set of the keys of a table.
    #[inline]
    pub fn of(table: Table, context: &Context) -> JsObject {
        JsObject::new(context.root_shape(), Self::prototype(context), Self(table)).upcast()
    }
}

/// A member that is there stays as it is.
#[inline]
pub fn add_to(table: &mut Table, member: &JsValue) {
    // The one zero is kept as both.
    let value = if member.as_number() == Some(0.0) { JsValue::from(0) } else { member.clone() };
    table.set(member, value);
}
