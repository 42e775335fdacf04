//! Values as text for people, as Node's `util.inspect` shows them.
//!
//! Bounded in depth, breadth and size; what is cut is said. Getters are not called, and recursion ends at [`MAX_DEPTH`].

mod format;
mod layout;

use boa_engine::{
    Context, JsObject, JsString, JsSymbol, JsValue, JsVariant,
    builtins::{error::Error, promise::PromiseState},
    js_string,
    object::builtins::{JsDate, JsMap, JsPromise, JsRegExp, JsSet, JsTypedArray},
    property::PropertyKey,
};

pub(crate) use format::format;
use layout::Entries;

use super::encode::boxed_primitive;
use crate::{
    failure,
    globals::{self, OwnProperty, own_data_property, own_property},
};

/// Objects inside the outermost that are shown; deeper ones are `[Object]`.
const MAX_DEPTH: usize = 2;
/// Elements or members of one object that are shown.
const MAX_MEMBERS: usize = 100;
/// Bytes of one text; the host's own limit on logs is above it.
const MAX_BYTES: usize = 64 * 1024;
/// Own properties of an object that are looked at.
const MAX_KEYS: usize = 10_000;

/// One argument of `console.log`: a string as it is, anything else inspected.
pub(crate) fn text(value: &JsValue, context: &mut Context) -> String {
    match value.as_string() {
        Some(string) => string.to_std_string_lossy(),
        None => nested(value, context),
    }
}

/// A value as it is shown inside another: strings are quoted.
pub(crate) fn nested(value: &JsValue, context: &mut Context) -> String {
    to_depth(value, MAX_DEPTH, context)
}

fn to_depth(value: &JsValue, max_depth: usize, context: &mut Context) -> String {
    let mut inspector = Inspector {
        open: Vec::new(),
        circular: Vec::new(),
        deepest: 0,
        indentation: 0,
        written: 0,
        max_depth,
        context,
    };
    inspector.value(value)
}

struct Inspector<'context> {
    /// The objects that are being shown.
    open: Vec<JsObject>,
    /// Those of them that are met again inside of themselves, in the order of their numbers.
    circular: Vec<JsObject>,
    /// The depth of the object that was shown last: objects are put on one line from the inside out.
    deepest: usize,
    indentation: usize,
    written: usize,
    max_depth: usize,
    context: &'context mut Context,
}

impl Inspector<'_> {
    fn value(&mut self, value: &JsValue) -> String {
        let text = match value.variant() {
            JsVariant::String(string) => self.string(&string),
            JsVariant::Object(object) => self.object(&object),
            JsVariant::BigInt(number) => format!("{number}n"),
            JsVariant::Float64(number) if number == 0.0 && number.is_sign_negative() => "-0".to_owned(),
            _ => value.display().to_string(),
        };
        self.written += text.len();
        text
    }

    /// A long text is broken at its line ends.
    fn string(&self, string: &JsString) -> String {
        let text = string.to_std_string_lossy();
        if text.len() <= 16 || text.len() <= layout::BREAK_LENGTH.saturating_sub(self.indentation + 4) {
            return layout::quoted(&text);
        }
        let lines: Vec<String> = text.split_inclusive('\n').map(layout::quoted).collect();
        lines.join(&format!(" +\n{}", " ".repeat(self.indentation + 2)))
    }

    /// A value one level further in.
    fn inner(&mut self, value: &JsValue) -> String {
        self.indentation += 2;
        let text = self.value(value);
        self.indentation -= 2;
        text
    }

    fn object(&mut self, object: &JsObject) -> String {
        if self.open.iter().any(|open| JsObject::equals(open, object)) {
            let known = self.circular.iter().position(|known| JsObject::equals(known, object));
            let number = known.unwrap_or_else(|| {
                self.circular.push(object.clone());
                self.circular.len() - 1
            });
            return format!("[Circular *{}]", number + 1);
        }
        if self.written > MAX_BYTES {
            return "…".to_owned();
        }
        let head = self.head(object);
        let keys = self.keys(object, &head);
        if keys.is_empty() && head.lists.is_empty() {
            let braces = head.lists.braces();
            return if head.base.is_empty() { format!("{}{}{}", head.prefix, braces.0, braces.1) } else { head.base };
        }
        if self.open.len() > self.max_depth {
            let name = if head.prefix.is_empty() { head.kind } else { head.prefix.trim_end() };
            return if name.starts_with('[') { name.to_owned() } else { format!("[{name}]") };
        }
        self.open.push(object.clone());
        let depth = self.open.len();
        self.deepest = depth;
        let mut entries = self.contents(&head.lists);
        for key in keys {
            entries.parts.push(self.property(object, key));
        }
        self.open.pop();
        let mut base = head.base;
        if let Some(number) = self.circular.iter().position(|known| JsObject::equals(known, object)) {
            let space = if base.is_empty() { "" } else { " " };
            base = format!("<ref *{}>{space}{base}", number + 1);
        }
        let braces = head.lists.braces();
        let opening = format!("{}{}", head.prefix, braces.0);
        entries.laid_out(&base, &opening, braces.1, self.deepest - depth, self.indentation)
    }

    /// What is said of an object before its members.
    fn head(&mut self, object: &JsObject) -> Head {
        if object.is_callable() {
            return Head::based(self.function(object));
        }
        if object.is::<Error>() {
            let text = failure::stack_text(object, self.context);
            let text = if text.contains("\n    at ") { text } else { format!("[{text}]") };
            return Head::based(text.replace('\n', &format!("\n{}", " ".repeat(self.indentation))));
        }
        if let Some(server) = globals::namespace_name(object) {
            return Head::prefixed(format!("Object [{server}] "), "Object", Lists::Members);
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
        if object.is_array() {
            let length = self.length(object);
            let is_plain = class.as_deref() == Some("Array");
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
        if let Ok(map) = JsMap::from_object(object.clone()) {
            let mut entries = Vec::new();
            let _ = map.for_each_native(|key, value| {
                entries.push((key, value));
                Ok(())
            });
            return Head::prefixed(prefix("Map", Some(entries.len())), "Map", Lists::Pairs(entries));
        }
        if let Ok(set) = JsSet::from_object(object.clone()) {
            let mut values = Vec::new();
            let _ = set.for_each_native(|value| {
                values.push(value);
                Ok(())
            });
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
        if let Some(primitive) = boxed_primitive(object) {
            let shown = self.value(&primitive);
            let kind = match primitive.variant() {
                JsVariant::String(_) => "String",
                JsVariant::Boolean(_) => "Boolean",
                _ => "Number",
            };
            return Head::based(format!("[{kind}: {shown}]"));
        }
        let tag =
            own_data_property(object, JsSymbol::to_string_tag(), self.context).is_none().then(|| self.tag(object));
        let tag = tag.flatten().filter(|tag| class.as_ref() != Some(tag));
        let prefix = match (&class, tag) {
            (None, _) => "[Object: null prototype] ".to_owned(),
            (Some(class), Some(tag)) => format!("{class} [{tag}] "),
            (Some(class), None) if class == "Object" => String::new(),
            (Some(class), None) => format!("{class} "),
        };
        Head::prefixed(prefix, "Object", Lists::Members)
    }

    /// The own enumerable keys that are shown as members.
    fn keys(&mut self, object: &JsObject, head: &Head) -> Vec<PropertyKey> {
        let is_list = matches!(head.lists, Lists::Elements { .. }) || object.is::<JsString>();
        let is_error = object.is::<Error>();
        let causes = [js_string!("cause"), js_string!("errors")].map(PropertyKey::from);
        let said = [js_string!("name"), js_string!("message"), js_string!("stack")].map(PropertyKey::from);
        let keys = object.own_property_keys(self.context).unwrap_or_default();
        let mut shown = Vec::new();
        for key in keys.into_iter().take(MAX_KEYS) {
            let is_index = matches!(key, PropertyKey::Index(_));
            if (is_list && is_index) || shown.len() > MAX_MEMBERS {
                continue;
            }
            let is_cause = is_error && causes.contains(&key);
            let is_said = is_error && said.contains(&key);
            if is_cause || (!is_said && globals::is_enumerable(object, key.clone(), self.context)) {
                shown.push(key);
            }
        }
        shown
    }

    /// What an object holds beside its members.
    fn contents(&mut self, lists: &Lists) -> Entries {
        let mut entries = Entries::default();
        match lists {
            Lists::Members => {}
            Lists::Elements { object, length } => self.elements(object, *length, &mut entries),
            Lists::Pairs(pairs) => {
                for (key, value) in pairs.iter().take(MAX_MEMBERS) {
                    let pair = format!("{} => {}", self.inner(key), self.inner(value));
                    entries.parts.push(pair);
                }
                entries.note_rest(pairs.len().saturating_sub(MAX_MEMBERS));
            }
            Lists::Values(values) => {
                for value in values.iter().take(MAX_MEMBERS) {
                    let value = self.inner(value);
                    entries.parts.push(value);
                }
                entries.note_rest(values.len().saturating_sub(MAX_MEMBERS));
            }
            Lists::State(state) => entries.parts.push(match state {
                PromiseState::Pending => "<pending>".to_owned(),
                PromiseState::Fulfilled(value) => self.inner(value),
                PromiseState::Rejected(reason) => format!("<rejected> {}", self.inner(reason)),
            }),
        }
        entries
    }

    fn elements(&mut self, object: &JsObject, length: usize, entries: &mut Entries) {
        entries.is_list = true;
        entries.is_numeric = true;
        let is_typed = !object.is_array();
        let mut index = 0;
        while index < length && entries.parts.len() < MAX_MEMBERS {
            let element = match is_typed {
                true => object.get(index as u64, self.context).ok(),
                false => own_data_property(object, index as u64, self.context),
            };
            let Some(element) = element else {
                let first = index;
                while index < length && !self.has_element(object, index) {
                    index += 1;
                }
                let holes = index - first;
                let plural = if holes == 1 { "" } else { "s" };
                entries.parts.push(format!("<{holes} empty item{plural}>"));
                entries.is_numeric = false;
                continue;
            };
            entries.is_numeric &= element.is_number() || element.is_bigint();
            let element = self.inner(&element);
            entries.parts.push(element);
            index += 1;
        }
        entries.note_rest(length - index);
    }

    fn has_element(&mut self, object: &JsObject, index: usize) -> bool {
        object.has_own_property(index as u64, self.context).unwrap_or_default()
    }

    fn length(&mut self, array: &JsObject) -> usize {
        own_data_property(array, js_string!("length"), self.context)
            .and_then(|length| length.as_number())
            .unwrap_or_default() as usize
    }

    fn property(&mut self, object: &JsObject, key: PropertyKey) -> String {
        let is_enumerable = globals::is_enumerable(object, key.clone(), self.context);
        let value = match own_property(object, key.clone(), self.context) {
            Some(OwnProperty::Value(value)) => self.inner(&value),
            Some(OwnProperty::Accessor { get: true, set: true }) => "[Getter/Setter]".to_owned(),
            Some(OwnProperty::Accessor { get: true, .. }) => "[Getter]".to_owned(),
            Some(OwnProperty::Accessor { set: true, .. }) => "[Setter]".to_owned(),
            Some(OwnProperty::Accessor { .. }) | None => "undefined".to_owned(),
        };
        let name = match &key {
            PropertyKey::Symbol(symbol) => format!("[{symbol}]"),
            key => layout::key(&key.to_string()),
        };
        if is_enumerable { format!("{name}: {value}") } else { format!("[{name}]: {value}") }
    }

    fn function(&mut self, function: &JsObject) -> String {
        let name = self.name(function);
        if globals::is_class(function, self.context) {
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
            Some(name) => format!("[{kind}: {name}]"),
            None => format!("[{kind} (anonymous)]"),
        }
    }

    fn name(&mut self, function: &JsObject) -> Option<String> {
        let name = own_data_property(function, js_string!("name"), self.context)?.as_string()?;
        (!name.is_empty()).then(|| name.to_std_string_lossy())
    }

    /// The name of the constructor, if the object has a prototype.
    fn class(&mut self, object: &JsObject) -> Option<String> {
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

    /// `Symbol.toStringTag`, as the prototypes have it.
    fn tag(&mut self, object: &JsObject) -> Option<String> {
        let mut prototype = object.prototype();
        for _ in 0..16 {
            let holder = prototype?;
            if let Some(tag) = own_data_property(&holder, JsSymbol::to_string_tag(), self.context) {
                return tag.as_string().map(|tag| tag.to_std_string_lossy()).filter(|tag| !tag.is_empty());
            }
            prototype = holder.prototype();
        }
        None
    }
}

struct Head {
    /// What stands for the object itself: a function's name, an error's stack.
    base: String,
    /// What stands before the brace, with a space at its end.
    prefix: String,
    /// What an object of this kind is called where it is not shown.
    kind: &'static str,
    lists: Lists,
}

enum Lists {
    Members,
    Elements { object: JsObject, length: usize },
    Pairs(Vec<(JsValue, JsValue)>),
    Values(Vec<JsValue>),
    State(PromiseState),
}

impl Lists {
    fn is_empty(&self) -> bool {
        match self {
            Self::Members => true,
            Self::Elements { length, .. } => *length == 0,
            Self::Pairs(pairs) => pairs.is_empty(),
            Self::Values(values) => values.is_empty(),
            Self::State(_) => false,
        }
    }

    fn braces(&self) -> (&'static str, &'static str) {
        if matches!(self, Self::Elements { .. }) { ("[", "]") } else { ("{", "}") }
    }
}

impl Head {
    fn based(base: String) -> Self {
        Self { base, prefix: String::new(), kind: "Object", lists: Lists::Members }
    }

    fn prefixed(prefix: String, kind: &'static str, lists: Lists) -> Self {
        Self { base: String::new(), prefix, kind, lists }
    }
}
