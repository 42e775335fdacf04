//! What results of a tool looked like, for tools that declare none: their shape, merged over calls, and nothing else.
//!
//! No value enters an observation. A member's name does, unless it may be data itself: a map from names to things has names of its own
//! making. So an object becomes a record, and all its names are forgotten, where it has many members, where a name does not look like a
//! programmer's, where a name was given in the call's arguments, where its members are three objects or
//! eight values of one type, and where no member has come every time.
//!
//! Everything is bounded in depth, members and size, and what a file gives is put into the same bounds.

mod shape;
mod words;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::Type;
pub(crate) use shape::Seen;
pub use words::Words;

/// The shape of a tool's results, as far as calls have shown it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observed {
    /// Successful calls that it was seen in.
    calls: u64,
    /// The last of them that showed something new.
    changed: u64,
    shape: Seen,
}

impl Observed {
    /// Takes in one more result, and says whether it showed something new.
    ///
    /// `result` is what a script gets. `words` are those of the call's arguments: what they say is data, also as the name of a member.
    pub fn record(&mut self, result: &Value, words: &Words) -> bool {
        let seen = Seen::of(result, words);
        let mut shape = self.shape.clone();
        shape.merge(seen);
        shape.settle();
        self.calls = self.calls.saturating_add(1);
        let is_new = !shape.is_same_type(&self.shape);
        self.shape = shape;
        if is_new {
            self.changed = self.calls;
        }
        is_new
    }

    /// In how many calls it was seen.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// The same within all bounds, for what was read from a file. `None` where it says nothing.
    pub fn checked(mut self) -> Option<Self> {
        self.shape.settle();
        self.changed = self.changed.min(self.calls);
        (self.calls > 0 && self.shape != Seen::default()).then_some(self)
    }

    pub(crate) fn kind(&self) -> Type {
        self.shape.kind()
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
        format!("Result type observed in {calls}{drift}; the server declares none.{varies}")
    }
}

#[cfg(test)]
mod tests;
