//! What JSON does not take of a value that leaves the jar: said in one line, with the place of the
//! first of each kind.

use boa_engine::{Context, JsObject, JsValue, object::builtins::JsProxy};

use crate::inspect;

/// What happens to a value that JSON has no word for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    NotFinite,
    InvalidDate,
    Undefined,
    Function,
    Symbol,
    /// An object whose members say nothing of it: a RegExp, an iterator.
    Hollow,
    /// A Map without entries that was given members.
    Members,
}

impl Loss {
    /// That of a value that `JSON.stringify` leaves out.
    pub(super) fn of_left_out(value: &JsValue) -> Self {
        if value.is_callable() {
            Self::Function
        } else if value.is_symbol() {
            Self::Symbol
        } else {
            Self::Undefined
        }
    }

    fn became(self, is_element: bool) -> &'static str {
        match self {
            Self::NotFinite | Self::InvalidDate => "became null",
            Self::Undefined | Self::Function | Self::Symbol if is_element => "became null",
            Self::Undefined | Self::Function | Self::Symbol => "was left out",
            Self::Hollow | Self::Members => "became {}",
        }
    }
}

/// All losses of one kind.
struct Lost {
    loss: Loss,
    is_element: bool,
    /// The place of the first, and what stood there.
    first: String,
    count: usize,
}

/// The losses of one value, a kind each.
#[derive(Default)]
pub(super) struct Losses(Vec<Lost>);

impl Losses {
    /// Counts a loss of a kind that there has been before. There may be billions: an array's holes.
    pub(super) fn counts(&mut self, loss: Loss, is_element: bool) -> bool {
        let known = self.0.iter_mut().find(|lost| lost.loss == loss && lost.is_element == is_element);
        known.map(|lost| lost.count = lost.count.saturating_add(1)).is_some()
    }

    /// Notes the first loss of a kind: its place, and what stood there.
    pub(super) fn begin(&mut self, loss: Loss, is_element: bool, first: String) {
        self.0.push(Lost { loss, is_element, first, count: 1 });
    }

    /// Without what is left out: an argument that is undefined is one that is not given.
    pub(super) fn without_left_out(mut self) -> Self {
        self.0.retain(|lost| matches!(lost.loss, Loss::NotFinite | Loss::InvalidDate | Loss::Hollow | Loss::Members));
        self
    }

    /// What to say of them, if there are any.
    pub(super) fn text(&self, what: &str) -> Option<String> {
        let told = self.0.iter().map(|lost| {
            let more = match lost.count {
                1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            format!("{} and {}{more}", lost.first, lost.loss.became(lost.is_element))
        });
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| format!("what JSON cannot hold, in {what}: {}", told.join("; ")))
    }
}

/// What a value is, for the sentence that says where it was lost.
pub(super) fn named(loss: Loss, value: &JsValue, context: &mut Context) -> String {
    match loss {
        Loss::NotFinite => format!("is {}", value.display()),
        Loss::InvalidDate => {
            let source = value.as_object().and_then(|date| context.source_of_invalid_date(&date).map(str::to_owned));
            source.map_or_else(
                || "is an invalid Date".to_owned(),
                |source| format!("is an invalid Date, made of {source},"),
            )
        }
        Loss::Undefined => "is undefined".to_owned(),
        Loss::Function => "is a function".to_owned(),
        Loss::Symbol => "is a symbol".to_owned(),
        Loss::Members => "is a Map without entries (map[key] = value adds none: write map.set(key, value))".to_owned(),
        Loss::Hollow => format!("is {}", inspect::cell(value, true, context)),
    }
}

/// Whether an object without members is one of which they say nothing.
pub(super) fn is_hollow(object: &JsObject) -> bool {
    !object.is_ordinary() && !object.is_array() && JsProxy::from_object(object.clone()).is_err()
}
