//! What a `Map` and a `Set` are made of: a table that keeps the order of its keys. Their methods
//! are built-ins.

mod collection;
mod map;
mod set;
mod table;

pub use collection::Collection;
pub use map::Map;
pub use set::{Set, add_to};
pub use table::{Cursor, Table};
