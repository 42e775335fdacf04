//! What a `Map` or a `Set` holds: entries in the order of their insertion, found by a hash.
//!
//! A key's place is never kept outside: an iteration remembers the order number of what it has
//! seen, and finds its place again after the entries have moved. So entries can be removed and
//! added at any time, also in the midst of any number of iterations.

use std::hash::{Hash, Hasher};

use boa_engine::{JsString, JsValue, string::JsStrVariant};
use boa_gc::{Finalize, Trace};
use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// Fewer dead entries than these are not worth moving the others.
const FEW: usize = 32;

/// Keys and values.
#[derive(Clone, Default, Trace, Finalize)]
pub struct Table {
    entries: Vec<Entry>,
    /// The places in `entries` of those that are alive.
    #[unsafe_ignore_trace]
    places: HashTable<usize>,
    /// No entry before this place is alive.
    head: usize,
    next_order: u64,
    /// How often the entries have moved.
    moves: u64,
}

#[derive(Clone, Trace, Finalize)]
struct Entry {
    key: JsValue,
    /// The key once more, if it is a string: the engine's own comparison of values makes copies of
    /// both.
    text: Option<JsString>,
    value: JsValue,
    /// Grows from each entry to the next.
    order: u64,
    hash: u32,
    is_alive: bool,
}

/// A key that is looked for.
struct Wanted<'a> {
    key: &'a JsValue,
    text: Option<JsString>,
    hash: u32,
}

/// How far an iteration has come.
#[derive(Clone, Copy, Default)]
pub struct Cursor {
    place: usize,
    order: u64,
    moves: u64,
}

impl Table {
    #[expect(clippy::len_without_is_empty, reason = "a script asks for the size alone")]
    #[inline]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    #[inline]
    pub fn get(&self, key: &JsValue) -> Option<&JsValue> {
        let place = self.find(&Wanted::of(key))?;
        self.entries.get(place).map(|entry| &entry.value)
    }

    #[inline]
    pub fn has(&self, key: &JsValue) -> bool {
        self.find(&Wanted::of(key)).is_some()
    }

    /// Puts a value under a key, in the place of the one that is there, or else at the end.
    #[inline]
    pub fn set(&mut self, key: &JsValue, value: JsValue) {
        let wanted = Wanted::of(key);
        if let Some(entry) = self.find(&wanted).and_then(|place| self.entries.get_mut(place)) {
            entry.value = value;
            return;
        }
        if self.entries.len() == self.entries.capacity() && self.dead() > self.entries.len() / 2 {
            self.close_up();
        }
        let (place, order) = (self.entries.len(), self.next_order);
        self.next_order += 1;
        let Wanted { text, hash, .. } = wanted;
        self.entries.push(Entry { key: canonical(key), text, value, order, hash, is_alive: true });
        let entries = &self.entries;
        self.places.insert_unique(spread(hash), place, |place| hash_at(entries, *place));
    }

    /// Removes a key, and says whether it was there.
    #[inline]
    pub fn remove(&mut self, key: &JsValue) -> bool {
        let wanted = Wanted::of(key);
        let entries = &self.entries;
        let Ok(found) = self.places.find_entry(spread(wanted.hash), |place| wanted.is_at(entries, *place)) else {
            return false;
        };
        let (place, _) = found.remove();
        if self.places.is_empty() {
            self.clear();
            return true;
        }
        if let Some(entry) = self.entries.get_mut(place) {
            (entry.key, entry.text, entry.value) = (JsValue::undefined(), None, JsValue::undefined());
            entry.is_alive = false;
        }
        while self.entries.get(self.head).is_some_and(|entry| !entry.is_alive) {
            self.head += 1;
        }
        if self.dead() > FEW + self.entries.len() / 4 * 3 {
            self.close_up();
        }
        true
    }

    #[inline]
    pub fn clear(&mut self) {
        self.entries = Vec::new();
        self.places = HashTable::new();
        self.head = 0;
        self.moves += 1;
    }

    /// The next entry of an iteration: what was there when it began, and what has come since.
    #[inline]
    pub fn step(&self, cursor: &mut Cursor) -> Option<(&JsValue, &JsValue)> {
        let place = if cursor.moves == self.moves {
            cursor.place
        } else {
            self.entries.partition_point(|entry| entry.order < cursor.order)
        };
        let mut place = place.max(self.head);
        while let Some(entry) = self.entries.get(place) {
            place += 1;
            if entry.is_alive {
                *cursor = Cursor { place, order: entry.order + 1, moves: self.moves };
                return Some((&entry.key, &entry.value));
            }
        }
        *cursor = Cursor { place, order: self.next_order, moves: self.moves };
        None
    }

    #[inline]
    pub fn entries(&self) -> impl Iterator<Item = (&JsValue, &JsValue)> {
        self.entries.iter().filter(|entry| entry.is_alive).map(|entry| (&entry.key, &entry.value))
    }

    fn find(&self, wanted: &Wanted<'_>) -> Option<usize> {
        self.places.find(spread(wanted.hash), |place| wanted.is_at(&self.entries, *place)).copied()
    }

    fn dead(&self) -> usize {
        self.entries.len() - self.places.len()
    }

    /// Lets those that are alive move together.
    fn close_up(&mut self) {
        self.entries.retain(|entry| entry.is_alive);
        self.entries.shrink_to(self.entries.len() * 2);
        self.head = 0;
        self.moves += 1;
        self.places.clear();
        let entries = &self.entries;
        for (place, entry) in entries.iter().enumerate() {
            self.places.insert_unique(spread(entry.hash), place, |place| hash_at(entries, *place));
        }
    }
}

fn hash_at(entries: &[Entry], place: usize) -> u64 {
    entries.get(place).map_or(0, |entry| spread(entry.hash))
}

/// The table of places looks at the highest bits, too.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

/// Lets each bit of a hash depend on all others, as the last step of MurmurHash3 does. Of a number
/// the hasher multiplies the upper half, whose lowest bits are zero: on 32 bits whole numbers would
/// share some 30,000 places, however many they are.
fn mixed(hash: u32) -> u32 {
    let hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    let hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

/// There is one zero among the keys.
fn canonical(key: &JsValue) -> JsValue {
    if key.as_number() == Some(0.0) { JsValue::from(0) } else { key.clone() }
}

impl<'a> Wanted<'a> {
    /// The hash is the same for all keys that are the same. A script that makes up keys of one hash
    /// wastes its own time.
    fn of(key: &'a JsValue) -> Self {
        let mut hasher = FxHasher::default();
        let text = key.as_string();
        if let Some(text) = &text {
            // Two strings of the same text may be kept in different widths.
            match text.variant() {
                JsStrVariant::Latin1(bytes) => hasher.write(bytes),
                JsStrVariant::Utf16(units) => {
                    match units.iter().map(|unit| u8::try_from(*unit)).collect::<Result<Vec<_>, _>>() {
                        Ok(bytes) => hasher.write(&bytes),
                        Err(_) => units.iter().for_each(|unit| hasher.write_u16(*unit)),
                    }
                }
            }
        } else if let Some(number) = key.as_number() {
            (if number == 0.0 { 0.0 } else { number }).to_bits().hash(&mut hasher);
        } else {
            key.hash(&mut hasher);
        }
        let hash = hasher.finish();
        Self { key, text, hash: mixed((hash ^ hash >> 32) as u32) }
    }

    fn is_at(&self, entries: &[Entry], place: usize) -> bool {
        let Some(entry) = entries.get(place).filter(|entry| entry.hash == self.hash) else { return false };
        match (&entry.text, &self.text) {
            (Some(text), Some(wanted)) => text == wanted,
            // Values are equal here if the specification's SameValueZero says so.
            (None, None) => entry.key == *self.key,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use boa_engine::js_string;

    use super::*;

    fn keys(table: &Table) -> Vec<i32> {
        table.entries().filter_map(|(key, _)| key.as_i32()).collect()
    }

    #[test]
    fn entries_keep_their_order_and_are_found_through_any_changes() {
        let mut table = Table::default();
        let mut expected: Vec<i32> = Vec::new();
        let mut random = 1_u32;
        for _ in 0..20_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let key = (random >> 20) as i32 % 300;
            if random >> 16 & 7 < 3 {
                table.set(&key.into(), JsValue::from(key));
                if !expected.contains(&key) {
                    expected.push(key);
                }
            } else {
                assert_eq!(table.remove(&key.into()), expected.contains(&key));
                expected.retain(|other| *other != key);
            }
            assert_eq!(table.len(), expected.len());
        }
        assert_eq!(keys(&table), expected);
        assert!((0..300).all(|key| table.has(&key.into()) == expected.contains(&key)));
        assert!(table.dead() <= 4 * (table.len() + FEW), "{} for {}", table.dead(), table.len());
    }

    #[test]
    fn an_iteration_sees_each_entry_once_while_others_are_removed_and_added() {
        let mut table = Table::default();
        for key in 0..1_000 {
            table.set(&key.into(), JsValue::undefined());
        }
        let (mut cursor, mut seen) = (Cursor::default(), Vec::new());
        while let Some(key) = table.step(&mut cursor).and_then(|(key, _)| key.as_i32()) {
            seen.push(key);
            // All but every tenth of those ahead go, and what was seen comes anew, up to a point.
            for other in (key + 1)..(key + 10) {
                table.remove(&other.into());
            }
            if key < 500 {
                table.remove(&key.into());
                table.set(&(key + 10_000).into(), JsValue::undefined());
            }
        }
        let expected: Vec<i32> = (0..1_000).step_by(10).chain((10_000..10_500).step_by(10)).collect();
        assert_eq!(seen, expected);
        assert!(table.moves > 0);
    }

    #[test]
    fn a_queue_of_keys_does_not_look_at_those_that_are_gone() {
        let mut table = Table::default();
        table.set(&0.into(), JsValue::undefined());
        table.set(&1.into(), JsValue::undefined());
        for key in 2..10_000 {
            table.set(&key.into(), JsValue::undefined());
            let first = table.step(&mut Cursor::default()).map(|(key, _)| key.clone()).unwrap();
            assert_eq!(first.as_i32(), Some(key - 2));
            assert!(table.remove(&first));
            assert_eq!(table.head, table.entries.iter().position(|entry| entry.is_alive).unwrap());
        }
    }

    #[test]
    fn keys_that_are_the_same_have_the_same_hash() {
        let wide = js_string!("é€").as_str().get(0..1).map(JsString::from).unwrap();
        let values = [(JsValue::from(1), JsValue::from(1.0)), (JsValue::from(0), JsValue::from(-0.0))];
        let texts = [(JsValue::from(wide), JsValue::from(js_string!("é")))];
        for (left, right) in values.into_iter().chain(texts) {
            assert_eq!(left, right);
            assert_eq!(Wanted::of(&left).hash, Wanted::of(&right).hash);
            let mut table = Table::default();
            table.set(&left, JsValue::undefined());
            assert!(table.has(&right));
        }
        assert_eq!(Wanted::of(&JsValue::from(f64::NAN)).hash, Wanted::of(&JsValue::from(-f64::NAN)).hash);
    }
}
