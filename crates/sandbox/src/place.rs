//! A position of a script, as reported by its guest.

/// A position in the source, as reported by the guest: both from 1, and not yet checked against the
/// source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// The most bytes of a file's name.
const MAX_FILE: usize = 96;

/// A position in a named script, as reported by the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedPlace {
    file: String,
    place: Place,
}

impl NamedPlace {
    /// A position in this file, if that is a name that such a file can have.
    pub(crate) fn new(file: String, place: Place) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_file =
            file.len() <= MAX_FILE && file.strip_prefix("skills/").is_some_and(|name| name.bytes().all(is_plain));
        is_file.then_some(Self { file, place })
    }

    /// The position as a line of a stack trace.
    pub(crate) fn frame(&self) -> String {
        let Self { file, place: Place { line, column } } = self;
        format!("at {file}:{line}:{column}")
    }
}
