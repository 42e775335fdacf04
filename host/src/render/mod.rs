//! Formats answers for people.

pub(crate) mod bench;
pub(crate) mod count;
pub(crate) mod figures;
pub(crate) mod import;
pub(crate) mod outcome;
pub(crate) mod progress;
pub(crate) mod runs;
pub(crate) mod servers;
pub(crate) mod value;
