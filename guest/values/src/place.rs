//! The place of a value inside another, as in `$.items[3].parent`.

use std::fmt::Write as _;

use boa_engine::{JsString, property::PropertyKey};

/// Longer places are cut: a key can be as long as a text.
const MAX_BYTES: usize = 200;

/// A place that is being put together, from the outside to the inside.
pub struct Place(String);

impl Default for Place {
    fn default() -> Self {
        Self("$".to_owned())
    }
}

impl Place {
    /// The place of a value that has a name of its own.
    pub(super) fn of(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The place of a member of something that has a name.
    pub fn member_of(owner: &str, name: &JsString) -> Self {
        let mut place = Self::of(owner);
        place.name(name);
        place
    }

    pub(super) fn index(&mut self, index: u64) {
        let _ = write!(self.0, "[{index}]");
    }

    pub(super) fn name(&mut self, name: &JsString) {
        let name = name.to_std_string_lossy();
        let is_identifier = name.chars().all(|character| character.is_alphanumeric() || "_$".contains(character))
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && !name.is_empty();
        let _ = if is_identifier { write!(self.0, ".{name}") } else { write!(self.0, "[{name:?}]") };
    }

    pub(super) fn key(&mut self, key: &PropertyKey) {
        match key {
            PropertyKey::String(name) => self.name(name),
            PropertyKey::Index(index) => self.index(index.get().into()),
            PropertyKey::Symbol(_) => {}
        }
    }

    /// The place in words, cut if it is long.
    pub fn text(mut self) -> String {
        if self.0.len() > MAX_BYTES {
            let end = (0..=MAX_BYTES).rev().find(|&end| self.0.is_char_boundary(end)).unwrap_or_default();
            self.0.truncate(end);
            self.0.push('…');
        }
        self.0
    }
}
