//! What people read in some twenty locales: dates and numbers as texts, names of countries and
//! languages, and the order of texts.

pub mod calendar;
pub mod collation;
pub mod decimal;
pub mod locale;
pub mod locales;
pub mod names;
#[rustfmt::skip]
pub mod names_table;
pub mod number;
pub mod pattern;
#[rustfmt::skip]
pub mod table;
pub mod units;
pub mod writing;
pub mod zones;

/// A piece of formatted text, and what it is.
pub type Part = (&'static str, String);
