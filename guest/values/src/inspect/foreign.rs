//! Objects of classes that are not the language's, as whoever makes them describes them.

use std::cell::Cell;

use boa_engine::{Context, JsObject, JsValue};

use super::head::{Head, Lists};

/// How an object is shown.
pub struct Foreign {
    /// What stands before the brace, with a space at its end.
    pub prefix: String,
    /// What an object of this kind is called where it is not shown.
    pub kind: &'static str,
    pub holds: Holds,
}

/// What is shown between the braces.
pub enum Holds {
    Members,
    Pairs(Vec<(JsValue, JsValue)>),
    Named(Vec<(&'static str, JsValue)>),
}

/// Describes an object, if it is of a class that it knows.
type Describe = fn(&JsObject, &mut Context) -> Option<Foreign>;

thread_local! {
    static DESCRIBE: Cell<Option<Describe>> = const { Cell::new(None) };
}

/// Sets what describes an object, if it is of a class that it knows. Part of the snapshot.
pub fn describe_with(describe: fn(&JsObject, &mut Context) -> Option<Foreign>) {
    DESCRIBE.set(Some(describe));
}

pub(super) fn head(object: &JsObject, context: &mut Context) -> Option<Head> {
    let Foreign { prefix, kind, holds } = DESCRIBE.get()?(object, context)?;
    let lists = match holds {
        Holds::Members => Lists::Members,
        Holds::Pairs(pairs) => Lists::Pairs(pairs),
        Holds::Named(members) => Lists::Named(members),
    };
    Some(Head::prefixed(prefix, kind, lists))
}
