//! The figures of `belljar bench` for people: as a table on a terminal, and as a page. Both are
//! made from the same sections, and these from the object that `--json` prints.

mod figure;
mod html;
pub(crate) mod page;
mod plot;
pub(crate) mod progress;
mod sections;
pub(crate) mod table;
