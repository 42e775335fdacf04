//! Strings that were made before, to be used again: the keys of records are the same from one to
//! the next, and so are many of their values.

use boa_engine::{JsString, property::PropertyKey};

use super::reader::Text;

/// Longer strings are seldom the same.
const MAX_LENGTH: usize = 32;
/// A power of two. What falls on a taken place takes it over.
const PLACES: usize = 512;

/// What was made, where its bytes fall.
pub(super) struct Strings<T> {
    places: Vec<Option<T>>,
}

impl<T: Clone + Made> Strings<T> {
    pub(super) fn new() -> Self {
        Self { places: Vec::new() }
    }

    pub(super) fn get(&mut self, text: &Text<'_>) -> T {
        let Text::Plain(bytes) = text else { return T::make(text) };
        if bytes.len() > MAX_LENGTH {
            return T::make(text);
        }
        if self.places.is_empty() {
            self.places.resize_with(PLACES, || None);
        }
        let Some(place) = self.places.get_mut(hash(bytes) & (PLACES - 1)) else { return T::make(text) };
        match place {
            Some(made) if made.is_of(bytes) => made.clone(),
            _ => place.insert(T::make(text)).clone(),
        }
    }
}

/// Made of a text.
pub(super) trait Made {
    fn make(text: &Text<'_>) -> Self;

    /// Whether these bytes, a character each, would give the same.
    fn is_of(&self, bytes: &[u8]) -> bool;
}

impl Made for JsString {
    fn make(text: &Text<'_>) -> Self {
        text.make()
    }

    fn is_of(&self, bytes: &[u8]) -> bool {
        self.as_str().as_latin1() == Some(bytes)
    }
}

impl Made for PropertyKey {
    fn make(text: &Text<'_>) -> Self {
        Self::from(text.make())
    }

    fn is_of(&self, bytes: &[u8]) -> bool {
        matches!(self, Self::String(name) if name.is_of(bytes))
    }
}

/// Spreads what differs in any byte. What an attacker can gain by collisions is the cost of making
/// his own strings.
fn hash(bytes: &[u8]) -> usize {
    let mut hash = bytes.len() as u32;
    for &byte in bytes {
        hash = (hash.rotate_left(5) ^ u32::from(byte)).wrapping_mul(0x9E37_79B9);
    }
    (hash >> 16) as usize ^ hash as usize
}
