//! The tools as scripts see them: names, TypeScript declarations, and search.
//!
//! A child server describes its tools in its own words: any name, any JSON Schema, any text. This
//! crate turns them into something that the author of a script can use: [`namespaces`] and
//! properties that are safe to write, a [`Tool::declaration`] that is valid TypeScript, and
//! [`Catalog::search`], which answers within a budget of tokens.
//!
//! A [`ServerCatalog`] is made once per server, when its tool list is known; a [`Catalog`] joins
//! them and is cheap to replace.
//!
//! [`typescript`] describes the tools to programs outside of any script, as one module, and [`wit`]
//! to components in other languages.
//!
//! Nothing here does I/O or reads a clock, and the same input gives the same output. All input is
//! hostile: nothing in it can end the comment or the string that contains it, no character that
//! controls a terminal survives, and every size, depth and count is bounded (`bounds.rs`).

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod answer;
mod bounds;
mod catalog;
mod declaration;
mod details;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod helpers;
mod identifier;
mod index;
mod intents;
mod names;
mod observed;
#[cfg(test)]
mod proofs;
mod query;
mod rank;
pub mod routing;
mod schema;
pub mod script_answers;
mod search;
mod server;
mod terms;
#[cfg(test)]
mod testing;
mod text;
mod tool;
pub mod typescript;
mod vocabulary;
mod wishes;
pub mod wit;
mod words;

// The examples measure from outside what the tests check from inside.
#[cfg(test)]
extern crate self as belljar_catalog;
#[cfg(test)]
#[path = "../measures/mod.rs"]
mod measures;

pub use answer::{Answer, Found, Unavailable, estimate_tokens};
pub use catalog::Catalog;
pub use identifier::{GLOBALS, RESERVED_WORDS, SPECIAL_PROPERTIES, is_identifier};
pub use names::{Names, namespaces};
pub use observed::{Notation, Observed, Words};
pub use query::{Detail, Query, UnknownDetail};
pub use search::Observations;
pub use server::{ListError, ServerCatalog, ServerState};
pub use tool::Tool;
