//! How the objects of these globals are shown in the logs.

use boa_engine::{Context, JsObject, JsString, JsValue};

use belljar_guest_values::inspect::{self, Foreign, Holds};

use crate::{
    keep,
    servers::namespace_name,
    web::{SearchParams, UrlObject},
};

/// Part of the snapshot.
pub(super) fn install() {
    inspect::describe_with(describe);
}

fn describe(object: &JsObject, context: &mut Context) -> Option<Foreign> {
    if let Some(server) = namespace_name(object) {
        return Some(Foreign { prefix: format!("Object [{server}] "), kind: "Object", holds: Holds::Members });
    }
    if keep::is_keep(object) {
        return Some(Foreign { prefix: "keep ".to_owned(), kind: "keep", holds: Holds::Members });
    }
    if let Some(pairs) = SearchParams::pairs(object) {
        let text = |text: String| JsValue::from(JsString::from(text));
        let pairs = pairs.into_iter().map(|(name, value)| (text(name), text(value))).collect();
        let prefix = "URLSearchParams ".to_owned();
        return Some(Foreign { prefix, kind: "URLSearchParams", holds: Holds::Pairs(pairs) });
    }
    if object.is::<UrlObject>() {
        let members = Holds::Named(UrlObject::members(object, context));
        return Some(Foreign { prefix: "URL ".to_owned(), kind: "URL", holds: members });
    }
    None
}
