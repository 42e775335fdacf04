//! Values that cross the glass, or are shown in a log: JSON in, JSON out, and text for people.

pub mod decode;
pub mod encode;
pub mod inspect;
mod place;
pub mod plain_bytes;

pub use place::Place;
