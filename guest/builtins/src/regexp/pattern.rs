//! Compiled patterns.
//!
//! The engine keeps what it has compiled to itself. Its source and flags are compiled once more, by
//! the same crate at the same version. Two bounded caches keep the results: one by object, for an
//! expression that is used again and again, one by source and flags, for an expression that a
//! function makes anew at each call.

use std::{
    cell::{OnceCell, RefCell},
    collections::{BTreeMap, VecDeque},
    rc::Rc,
};

use boa_engine::{JsObject, JsString, builtins::regexp::RegExp};
use regress::{Match, Regex};

use super::subject::Subject;

/// The flags by letter and by the name of their getter, in the order of the letters.
pub(super) const FLAGS: [(u8, &str); 8] = [
    (b'd', "hasIndices"),
    (b'g', "global"),
    (b'i', "ignoreCase"),
    (b'm', "multiline"),
    (b's', "dotAll"),
    (b'u', "unicode"),
    (b'v', "unicodeSets"),
    (b'y', "sticky"),
];

/// Each keeps an object alive.
const MAX_OBJECTS: usize = 16;
/// A script has seldom more; one that makes up patterns starts over.
const MAX_PATTERNS: usize = 256;

thread_local! {
    static BY_OBJECT: RefCell<VecDeque<(JsObject, Rc<Pattern>)>> = const { RefCell::new(VecDeque::new()) };
    static BY_SOURCE: RefCell<BTreeMap<(JsString, u8), Rc<Pattern>>> = const { RefCell::new(BTreeMap::new()) };
}

/// A compiled pattern and its flags.
pub(super) struct Pattern {
    source: Vec<u32>,
    flags: u8,
    regex: Regex,
    anchored: OnceCell<Option<Anchored>>,
}

/// What tells whether there is a match at one place, without looking further where there is none.
struct Anchored {
    /// The pattern, or else nothing.
    or_nothing: Regex,
    /// The pattern, or else one character.
    or_character: Regex,
}

impl Pattern {
    /// The pattern of a regular expression; none if the engine must run this one itself.
    pub(super) fn of(regexp: &JsObject) -> Option<Rc<Self>> {
        if let Some(pattern) = remembered(regexp) {
            return Some(pattern);
        }
        let key = regexp.downcast_ref::<RegExp>().map(|regexp| {
            let letters = regexp.original_flags();
            let flags =
                (0..).zip(FLAGS).filter(|(_, (letter, _))| letters.iter().any(|unit| unit == u16::from(*letter)));
            (regexp.original_source().clone(), flags.fold(0, |flags, (index, _)| flags | 1 << index))
        })?;
        let known = BY_SOURCE.with_borrow(|patterns| patterns.get(&key).cloned());
        let pattern = match known {
            Some(pattern) => pattern,
            None => {
                let pattern = Rc::new(Self::compile(&key.0, key.1)?);
                BY_SOURCE.with_borrow_mut(|patterns| {
                    if patterns.len() >= MAX_PATTERNS {
                        patterns.clear();
                    }
                    patterns.insert(key, pattern.clone());
                });
                pattern
            }
        };
        BY_OBJECT.with_borrow_mut(|objects| {
            objects.truncate(MAX_OBJECTS - 1);
            objects.push_front((regexp.clone(), pattern.clone()));
        });
        Some(pattern)
    }

    fn compile(source: &JsString, flags: u8) -> Option<Self> {
        // As the engine does: code points where the pattern is a Unicode one, code units elsewhere.
        let source = if has(flags, b'u') || has(flags, b'v') {
            source.code_points().map(|point| point.as_u32()).collect()
        } else {
            source.iter().map(u32::from).collect::<Vec<_>>()
        };
        let regex = compile(&source, flags)?;
        Some(Self { source, flags, regex, anchored: OnceCell::new() })
    }

    /// Whether it was compiled from this source.
    pub(super) fn is(&self, source: &str) -> bool {
        self.source.iter().copied().eq(source.chars().map(u32::from))
    }

    pub(super) fn has(&self, flag: u8) -> bool {
        has(self.flags, flag)
    }

    pub(super) fn is_full_unicode(&self) -> bool {
        self.has(b'u') || self.has(b'v')
    }

    /// The matches at and after an index, as the specification's loops over `exec` find them.
    pub(super) fn matches<'a>(&'a self, subject: &'a Subject, from: usize) -> Box<dyn Iterator<Item = Match> + 'a> {
        match subject {
            Subject::Ascii(text) => Box::new(self.regex.find_from_ascii(text.as_str(), from)),
            Subject::Units(units) => Box::new(self.regex.find_from_ucs2(units, from)),
            Subject::Utf16(text) if self.is_full_unicode() => Box::new(self.regex.find_from_utf16(text.units(), from)),
            Subject::Utf16(text) => Box::new(self.regex.find_from_ucs2(text.units(), from)),
        }
    }

    /// The first match at or after an index.
    pub(super) fn find(&self, subject: &Subject, from: usize) -> Option<Match> {
        find(&self.regex, subject, from, self.is_full_unicode())
    }

    /// The match at an index, if there is one.
    pub(super) fn find_at(&self, subject: &Subject, at: usize) -> Option<Match> {
        let Some(anchored) = self.anchored.get_or_init(|| self.anchor()) else {
            return self.find(subject, at).filter(|found| found.start() == at);
        };
        let is_full_unicode = self.is_full_unicode();
        let found = find(&anchored.or_nothing, subject, at, is_full_unicode).filter(|found| found.start() == at)?;
        if found.end() > at {
            return Some(found);
        }
        // Nothing was found, or the pattern has matched nothing: then it does so in the place of
        // one character, too.
        let again = find(&anchored.or_character, subject, at, is_full_unicode)?;
        (again.range() == found.range()).then_some(found)
    }

    fn anchor(&self) -> Option<Anchored> {
        let or_else = |other: &str| {
            let source: Vec<u32> = "(?:"
                .chars()
                .map(u32::from)
                .chain(self.source.iter().copied())
                .chain(other.chars().map(u32::from))
                .collect();
            compile(&source, self.flags)
        };
        Some(Anchored { or_nothing: or_else(")|")?, or_character: or_else(")|[^]")? })
    }
}

/// Forgets what an expression was compiled to.
pub(super) fn forget(regexp: &JsObject) {
    BY_OBJECT.with_borrow_mut(|objects| objects.retain(|(object, _)| !JsObject::equals(object, regexp)));
}

fn remembered(regexp: &JsObject) -> Option<Rc<Pattern>> {
    BY_OBJECT.with_borrow_mut(|objects| {
        let index = objects.iter().position(|(object, _)| JsObject::equals(object, regexp))?;
        objects.swap(0, index);
        objects.front().map(|(_, pattern)| pattern.clone())
    })
}

fn find(regex: &Regex, subject: &Subject, from: usize, is_full_unicode: bool) -> Option<Match> {
    match subject {
        Subject::Ascii(text) => regex.find_from_ascii(text.as_str(), from).next(),
        Subject::Units(units) => regex.find_from_ucs2(units, from).next(),
        Subject::Utf16(text) if is_full_unicode => regex.find_from_utf16(text.units(), from).next(),
        Subject::Utf16(text) => regex.find_from_ucs2(text.units(), from).next(),
    }
}

fn has(flags: u8, flag: u8) -> bool {
    FLAGS.iter().zip(0..).any(|((letter, _), index)| *letter == flag && flags & (1 << index) != 0)
}

fn compile(source: &[u32], flags: u8) -> Option<Regex> {
    let flags = regress::Flags {
        icase: has(flags, b'i'),
        multiline: has(flags, b'm'),
        dot_all: has(flags, b's'),
        no_opt: false,
        unicode: has(flags, b'u'),
        unicode_sets: has(flags, b'v'),
    };
    Regex::from_unicode(source.iter().copied(), flags).ok()
}
