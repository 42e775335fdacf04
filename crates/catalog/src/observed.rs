//! The shape of a tool's results, merged over calls, for tools that do not declare their results.
//!
//! An observation contains no value. It contains a member's name, unless that may be data itself: a
//! map from names to things has names that are data. An object counts as such a map, and its names
//! are forgotten, if it has many members, if a name does not look like a programmer's, if a name
//! was given in the call's arguments, if its members are three objects or eight values of one type,
//! or if none of its members is present every time.
//!
//! Everything is bounded in depth, members and size, and the same bounds apply to what is read from
//! a file.

mod shape;
mod words;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::Type;
pub(crate) use shape::Seen;
pub use words::Words;

/// The shape of a tool's results, as observed in calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observed {
    /// Successful calls in which it was seen.
    calls: u64,
    /// The last call that showed something new.
    changed: u64,
    shape: Seen,
    /// Whether the results came from a program in the arguments, such as a database query: then
    /// their names are not the tool's.
    #[serde(default, skip_serializing_if = "is_false")]
    program: bool,
    /// Whether its data came as text in Python's notation.
    #[serde(default, skip_serializing_if = "is_false")]
    python: bool,
    /// Whether it has written data as text that is neither JSON nor Python's notation.
    #[serde(default, skip_serializing_if = "is_false")]
    other: bool,
}

/// How a tool writes its data as text, if not as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// As Python prints it.
    Python,
    /// In a notation that belljar does not know.
    Other,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Observed {
    /// Adds one more result, and returns whether it showed something new.
    ///
    /// `result` is the value that a script gets. `words` are those of the call's arguments: they
    /// are data, even as the name of a member.
    pub fn record(&mut self, result: &Value, words: &Words) -> bool {
        let seen = Seen::of(result, words);
        let mut shape = self.shape.clone();
        shape.merge(seen);
        shape.settle();
        self.calls = self.calls.saturating_add(1);
        let is_new = !shape.is_same_type(&self.shape) || (words.has_program() && !self.program);
        self.shape = shape;
        self.program |= words.has_program();
        if is_new {
            self.changed = self.calls;
        }
        is_new
    }

    /// Notes how the tool has written its data, and returns whether that is new.
    pub fn note(&mut self, notation: Notation) -> bool {
        let flag = match notation {
            Notation::Python => &mut self.python,
            Notation::Other => &mut self.other,
        };
        !std::mem::replace(flag, true)
    }

    /// Whether the tool has written data in a notation that is neither JSON nor Python's.
    pub fn writes_other(&self) -> bool {
        self.other
    }

    /// The number of calls in which it was seen.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// The same within all bounds, for a shape that was read from a file. `None` if it says
    /// nothing.
    pub fn checked(mut self) -> Option<Self> {
        self.shape.settle();
        self.changed = self.changed.min(self.calls);
        (self.calls > 0 && self.shape != Seen::default()).then_some(self)
    }

    pub(crate) fn kind(&self) -> Type {
        self.shape.kind()
    }

    /// The text after the type in a signature.
    pub(crate) fn short_remark(&self) -> &'static str {
        if self.program { " /* observed; names and types as the call asks for */" } else { " /* observed */" }
    }

    /// For the comment of a declaration: where the type comes from, and how far to trust it.
    pub(crate) fn remark(&self) -> String {
        let calls = if self.calls == 1 { "1 call".to_owned() } else { format!("{} calls", self.calls) };
        let drift = if self.changed > 1 { format!(", last changed by call {}", self.changed) } else { String::new() };
        let varies = self.shape.kinds();
        let varies = match varies.split_first() {
            Some((first, others)) if !others.is_empty() => {
                format!(" What comes varies: {first} in some calls, {} in others.", others.join(" or "))
            }
            _ => String::new(),
        };
        let notation = match (self.python, self.other) {
            (true, false) => " Its text is in Python's notation, and comes parsed.",
            (true, true) => " A text in Python's notation is not parsed, since not all are: use tools.parse(text).",
            (false, _) => "",
        };
        let program = if self.program { " Its names and types are those that a call's arguments ask for." } else { "" };
        format!("Result type observed in {calls}{drift}; the server declares none.{program}{varies}{notation}")
    }
}

#[cfg(test)]
mod tests;
