//! What kind of thing an object is: what is said of it before its members.

use boa_engine::{
    JsBigInt, JsObject, JsSymbol, JsValue, JsVariant,
    builtins::error::Error,
    js_string,
    object::builtins::{
        JsArrayBuffer, JsDataView, JsDate, JsPromise, JsProxy, JsRegExp, JsSharedArrayBuffer, JsTypedArray,
        JsUint8Array, JsWeakMap, JsWeakSet,
    },
};

use belljar_guest_engine::{
    collections::{Map, Set},
    originals::{self, own_data_property},
};

use super::{
    Inspector, MAX_MEMBERS, foreign,
    head::{Head, Lists},
};
use crate::encode::boxed_primitive;

impl Inspector<'_> {
    /// What is said of an object before its members.
    pub(super) fn head(&mut self, object: &JsObject) -> Head {
        if object.is_callable() {
            return Head::based(self.function(object));
        }
        if object.is::<Error>() {
            return Head::based(self.error(object));
        }
        if let Some(head) = foreign::head(object, self.context) {
            return head;
        }
        let class = self.class(object);
        let prefix = |kind: &'static str, size: Option<usize>| {
            let size = size.map(|size| format!("({size})")).unwrap_or_default();
            match class.as_deref() {
                None => format!("[{kind}{size}: null prototype] "),
                Some(class) if class == kind => format!("{kind}{size} "),
                Some(class) => format!("{class}{size} [{kind}] "),
            }
        };
        let is_proxy = JsProxy::from_object(object.clone()).is_ok();
        if object.is_array() || (is_proxy && originals::is_array(object, self.context)) {
            let length = self.length(object);
            let is_plain = class.as_deref() == Some("Array") || is_proxy;
            let elements = Lists::Elements { object: object.clone(), length };
            let prefix = match &class {
                _ if is_plain => String::new(),
                Some(class) => format!("{class}({length}) "),
                None => prefix("Array", Some(length)),
            };
            return Head::prefixed(prefix, "Array", elements);
        }
        if let Ok(date) = JsDate::from_object(object.clone()) {
            let iso = date.to_iso_string(self.context).ok().and_then(|iso| iso.as_string());
            return Head::based(iso.map_or_else(|| "Invalid Date".to_owned(), |iso| iso.to_std_string_lossy()));
        }
        if let Ok(expression) = JsRegExp::from_object(object.clone()) {
            return Head::based(expression.to_string(self.context).unwrap_or_else(|_| "[RegExp]".to_owned()));
        }
        if let Some(entries) = Map::entries_of(object) {
            return Head::prefixed(prefix("Map", Some(entries.len())), "Map", Lists::Pairs(entries));
        }
        if let Some(values) = Set::members_of(object) {
            return Head::prefixed(prefix("Set", Some(values.len())), "Set", Lists::Values(values));
        }
        if let Ok(promise) = JsPromise::from_object(object.clone()) {
            return Head::prefixed(prefix("Promise", None), "Promise", Lists::State(promise.state()));
        }
        if let Ok(array) = JsTypedArray::from_object(object.clone()) {
            let length = array.length(self.context).unwrap_or_default();
            let prefix = format!("{}({length}) ", class.as_deref().unwrap_or("TypedArray"));
            return Head::prefixed(prefix, "TypedArray", Lists::Elements { object: object.clone(), length });
        }
        if let Some(head) = self.binary(object) {
            return head;
        }
        let is_weak_map = JsWeakMap::from_object(object.clone()).is_ok();
        if is_weak_map || JsWeakSet::from_object(object.clone()).is_ok() {
            let kind = if is_weak_map { "WeakMap" } else { "WeakSet" };
            return Head::prefixed(prefix(kind, None), kind, Lists::Parts(vec!["<items unknown>".to_owned()]));
        }
        if let Some(primitive) = primitive_inside(object) {
            let shown = self.value(&primitive);
            let kind = match primitive.variant() {
                JsVariant::String(_) => "String",
                JsVariant::Boolean(_) => "Boolean",
                JsVariant::BigInt(_) => "BigInt",
                JsVariant::Symbol(_) => "Symbol",
                _ => "Number",
            };
            return Head::based(format!("[{kind}: {shown}]"));
        }
        let tag = self.tag(object).filter(|tag| class.as_ref() != Some(tag));
        let prefix = match (&class, tag) {
            (None, _) => "[Object: null prototype] ".to_owned(),
            (Some(class), Some(tag)) => format!("{class} [{tag}] "),
            (Some(class), None) if class == "Object" => String::new(),
            (Some(class), None) => format!("{class} "),
        };
        Head::prefixed(prefix, "Object", Lists::Members)
    }

    fn function(&mut self, function: &JsObject) -> String {
        let name = self.name(function);
        let orphan = if function.prototype().is_none() { " (null prototype)" } else { "" };
        if originals::is_class(function, self.context) {
            let name = name.unwrap_or_else(|| "(anonymous)".to_owned());
            let parent = function.prototype().and_then(|parent| self.name(&parent));
            return match parent {
                Some(parent) => format!("[class {name} extends {parent}]"),
                None => format!("[class {name}]"),
            };
        }
        let kind = function.prototype().and_then(|prototype| {
            own_data_property(&prototype, JsSymbol::to_string_tag(), self.context).and_then(|tag| tag.as_string())
        });
        let kind = kind.map_or_else(|| "Function".to_owned(), |kind| kind.to_std_string_lossy());
        match name {
            Some(name) => format!("[{kind}{orphan}: {name}]"),
            None => format!("[{kind}{orphan} (anonymous)]"),
        }
    }

    fn name(&mut self, function: &JsObject) -> Option<String> {
        let name = own_data_property(function, js_string!("name"), self.context)?.as_string()?;
        (!name.is_empty()).then(|| name.to_std_string_lossy())
    }

    /// The name of the constructor, if the object has a prototype.
    pub(super) fn class(&mut self, object: &JsObject) -> Option<String> {
        let mut prototype = object.prototype()?;
        for _ in 0..16 {
            let constructor = own_data_property(&prototype, js_string!("constructor"), self.context);
            if let Some(name) = constructor.and_then(|it| it.as_object()).and_then(|it| self.name(&it)) {
                return Some(name);
            }
            let Some(next) = prototype.prototype() else { break };
            prototype = next;
        }
        Some("Object".to_owned())
    }

    /// `Symbol.toStringTag`, unless it is shown as a member.
    fn tag(&mut self, object: &JsObject) -> Option<String> {
        let key = JsSymbol::to_string_tag();
        let mut holder = Some(object.clone());
        for depth in 0..16 {
            let current = holder?;
            if let Some(tag) = own_data_property(&current, key.clone(), self.context) {
                if depth == 0 && originals::is_enumerable(&current, key.into(), self.context) {
                    return None;
                }
                return tag.as_string().map(|tag| tag.to_std_string_lossy()).filter(|tag| !tag.is_empty());
            }
            holder = current.prototype();
        }
        None
    }

    /// A buffer, with its bytes, or a view of one.
    fn binary(&mut self, object: &JsObject) -> Option<Head> {
        if let Ok(view) = JsDataView::from_object(object.clone()) {
            let members = vec![
                ("byteLength", JsValue::from(view.byte_length(self.context).ok()?)),
                ("byteOffset", JsValue::from(view.byte_offset(self.context).ok()?)),
                ("buffer", view.buffer(self.context).ok()?),
            ];
            return Some(Head::prefixed("DataView ".to_owned(), "DataView", Lists::Named(members)));
        }
        let (kind, bytes) = if let Ok(buffer) = JsArrayBuffer::from_object(object.clone()) {
            match buffer.data() {
                Some(data) => {
                    ("ArrayBuffer", (data.iter().copied().take(MAX_MEMBERS).collect::<Vec<u8>>(), data.len()))
                }
                None => {
                    let parts = vec!["(detached)".to_owned(), "byteLength: 0".to_owned()];
                    return Some(Head::prefixed("ArrayBuffer ".to_owned(), "ArrayBuffer", Lists::Parts(parts)));
                }
            }
        } else {
            let buffer = JsSharedArrayBuffer::from_object(object.clone()).ok()?;
            let length = buffer.byte_length();
            let view = JsUint8Array::from_shared_array_buffer(buffer, self.context).ok()?;
            let mut bytes = Vec::new();
            for index in 0..length.min(MAX_MEMBERS) {
                bytes.push(view.get(index, self.context).ok()?.to_u32(self.context).ok()? as u8);
            }
            ("SharedArrayBuffer", (bytes, length))
        };
        let (bytes, length) = bytes;
        let mut contents: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        if let Some(rest) = length.checked_sub(bytes.len()).filter(|rest| *rest > 0) {
            contents.push(format!("... {rest} more byte{}", if rest == 1 { "" } else { "s" }));
        }
        let parts = vec![format!("[Uint8Contents]: <{}>", contents.join(" ")), format!("byteLength: {length}")];
        Some(Head::prefixed(format!("{kind} "), kind, Lists::Parts(parts)))
    }
}

/// The primitive inside a wrapper object.
fn primitive_inside(object: &JsObject) -> Option<JsValue> {
    boxed_primitive(object)
        .or_else(|| object.downcast_ref::<JsBigInt>().map(|big| JsValue::from(big.clone())))
        .or_else(|| object.downcast_ref::<JsSymbol>().map(|symbol| JsValue::from(symbol.clone())))
}
