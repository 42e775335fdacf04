//! JSON Schema, drafts 4 to 2020-12, as TypeScript types.
//!
//! A schema is read into a small tree of [`Type`]s (`read.rs`). Each `$ref` target is read once and
//! gets a name (`aliases.rs`), so that neither recursion nor a bomb of references makes anything
//! grow. Then the tree is printed (`print.rs`). What TypeScript cannot express (ranges, patterns,
//! defaults) becomes a comment (`constraints.rs`). What it could express but nobody would read
//! (`not`, `if`/`then`/`else`, `dependentSchemas`, `propertyNames`, `contains`) is left out: a type
//! helps the author of a script, and the server checks its arguments itself.

mod aliases;
mod constraints;
mod print;
mod read;
mod reference;
mod types;

pub(crate) use aliases::{Alias, Types};
pub(crate) use print::{Printer, Room};
pub(crate) use read::Reader;
pub(crate) use types::{Element, Member, Shape, Type};
