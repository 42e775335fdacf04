//! Values that cross the glass, or are shown in a log: JSON in, JSON out, and text for people.

pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod inspect;
mod place;
pub(crate) mod plain;
mod plain_bytes;
