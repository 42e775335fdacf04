//! `RegExp.$1` and its kin: what the last match was, as properties of the constructor.
//!
//! A legacy of the language, of which every engine keeps that old scripts can read it. The text of
//! the last match is kept alive.

use std::cell::RefCell;

use boa_engine::{
    Context, JsNativeError, JsObject, JsResult, JsString, JsValue, NativeFunction, js_string,
    property::PropertyDescriptor,
};
use regress::{Match, Range};

use belljar_guest_engine::objects;

use crate::string::cut;

/// The groups that have a name of their own: `$1` to `$9`.
const NAMED_GROUPS: usize = 9;

/// Where in a text a match and its groups are.
#[derive(Default)]
pub(super) struct Places {
    range: Range,
    groups: Vec<Option<Range>>,
    last_group: Option<Range>,
}

impl Places {
    /// Takes those of this match in the place of what was there.
    pub(super) fn note(&mut self, found: &Match) {
        self.range = found.range();
        self.groups.clear();
        self.groups.extend(found.captures.iter().take(NAMED_GROUPS).cloned());
        self.last_group = found.captures.last().cloned().flatten();
    }
}

#[derive(Default)]
struct Last {
    text: JsString,
    places: Places,
    /// What `RegExp.input` was set to, if anything since.
    input: Option<JsString>,
}

thread_local! {
    static LAST: RefCell<Last> = RefCell::default();
}

/// Remembers the last match.
pub(super) fn remember(text: &JsString, found: &Match) {
    LAST.with_borrow_mut(|last| {
        last.places.note(found);
        last.text = text.clone();
        last.input = None;
    });
}

/// The same, for the last of many.
pub(super) fn remember_places(text: &JsString, places: Places) {
    LAST.set(Last { text: text.clone(), places, input: None });
}

/// Gives the constructor its properties.
pub(super) fn install(constructor: &JsObject, context: &mut Context) -> JsResult<()> {
    type Read = fn(&Last) -> JsString;
    let readers: [(&[&str], Read); 5] = [
        (&["input", "$_"], |last| last.input.clone().unwrap_or_else(|| last.text.clone())),
        (&["lastMatch", "$&"], |last| last.cut(&last.places.range)),
        (&["lastParen", "$+"], |last| last.group(last.places.last_group.as_ref())),
        (&["leftContext", "$`"], |last| last.cut(&(0..last.places.range.start))),
        (&["rightContext", "$'"], |last| last.cut(&(last.places.range.end..last.text.len()))),
    ];
    for (names, read) in readers {
        for name in names {
            let get = NativeFunction::from_copy_closure(move |this, _, context| {
                of_constructor(this, context)?;
                Ok(LAST.with_borrow(read).into())
            });
            let is_input = names.first() == Some(&"input");
            let set = is_input.then(|| NativeFunction::from_fn_ptr(set_input));
            define(constructor, name, get, set, context)?;
        }
    }
    for index in 0..NAMED_GROUPS {
        let get = NativeFunction::from_copy_closure(move |this, _, context| {
            of_constructor(this, context)?;
            Ok(LAST.with_borrow(|last| last.group(last.places.groups.get(index).and_then(Option::as_ref))).into())
        });
        define(constructor, &format!("${}", index + 1), get, None, context)?;
    }
    Ok(())
}

impl Last {
    fn cut(&self, range: &Range) -> JsString {
        cut(&self.text, range.start, range.end)
    }

    fn group(&self, range: Option<&Range>) -> JsString {
        range.map_or_else(|| js_string!(), |range| self.cut(range))
    }
}

/// They are properties of `RegExp` itself, not of what extends it.
fn of_constructor(this: &JsValue, context: &Context) -> JsResult<()> {
    let constructor = context.intrinsics().constructors().regexp().constructor();
    match this.as_object().is_some_and(|this| JsObject::equals(&this, &constructor)) {
        true => Ok(()),
        false => Err(JsNativeError::typ().with_message("what the last match was is a property of RegExp alone").into()),
    }
}

fn set_input(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    of_constructor(this, context)?;
    let input = super::argument(arguments, 0).to_string(context)?;
    LAST.with_borrow_mut(|last| last.input = Some(input));
    Ok(JsValue::undefined())
}

fn define(
    constructor: &JsObject,
    name: &str,
    get: NativeFunction,
    set: Option<NativeFunction>,
    context: &mut Context,
) -> JsResult<()> {
    let get = objects::function(&format!("get {name}"), 0, get, context);
    let mut descriptor = PropertyDescriptor::builder().get(get).enumerable(false).configurable(true);
    if let Some(set) = set {
        descriptor = descriptor.set(objects::function(&format!("set {name}"), 1, set, context));
    }
    constructor.define_property_or_throw(JsString::from(name), descriptor.build(), context).map(|_| ())
}
