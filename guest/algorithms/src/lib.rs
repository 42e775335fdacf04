//! What a runtime computes over plain data, whatever its engine is: texts for people in their
//! locale, the order of texts and of lists, encoded bytes, where lines of a shown value are broken,
//! tables in CSV, and what to suggest for a missing name.

#![forbid(unsafe_code)]

pub mod absent;
pub mod advice;
pub mod csv;
pub mod intl;
pub mod layout;
pub mod merge;
pub mod nearest;
pub mod web;
