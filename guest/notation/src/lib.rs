//! Literals of Python as JSON. Servers written in Python answer with `str(rows)`:
//! `[{'name': 'Ada', 'born': None}]`.
//!
//! Both sides of the glass read them: the host in the results of tools, the guest in `tools.parse`.
//! So this crate depends on nothing, makes a text of a text, takes time linear in its length and
//! never calls itself. It evaluates nothing: a name, a call or an operator is a fault.

#![forbid(unsafe_code)]

mod output;
mod python;
mod scalar;

use std::fmt;

pub use python::python_to_json;

/// Lists, tuples, sets and dicts inside each other: as deep as belljar takes JSON.
pub const MAX_DEPTH: usize = 127;

/// Why a text is not a literal, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// At which byte of the text.
    pub at: usize,
}

/// What is wrong with a text that is not a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The text ends within the literal.
    End,
    /// A character stands where there can be none like it.
    Unexpected,
    /// A name other than `None`, `True` and `False`, such as that of a class.
    Name,
    /// A line ends within a text.
    LineEnd,
    /// A backslash in a text begins nothing that Python has, or `\N{…}`.
    Escape,
    /// A number that JSON does not have, such as a complex or an infinite one.
    Number,
    /// A list, a tuple, a set or a dict as the key of a dict.
    Key,
    /// More than [`MAX_DEPTH`] levels.
    Depth,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::End => "unexpected end",
            Self::Unexpected => "unexpected character",
            Self::Name => "a name that is not None, True or False",
            Self::LineEnd => "a text without its closing quote",
            Self::Escape => "an unknown escape",
            Self::Number => "a number that JSON does not have",
            Self::Key => "a key that is neither a text nor a number",
            Self::Depth => "too many levels",
        })
    }
}

impl Fault {
    /// Line and column, both from 1, the column in UTF-16 code units as JavaScript counts.
    pub fn place(&self, text: &str) -> (usize, usize) {
        let mut end = self.at.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = text.get(..end).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
        (line, 1 + before.get(line_start..).unwrap_or_default().encode_utf16().count())
    }
}

/// Whether a text begins as a list, a tuple, a set or a dict of Python does.
pub fn may_be_python(text: &str) -> bool {
    text.trim_start().starts_with(['[', '(', '{'])
}
