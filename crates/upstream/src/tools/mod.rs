//! Known tools, and single arguments of calls.
//!
//! - `known_tools`: the tools of one server, with `cache` on disk; `listed`: the same without a
//!   running child
//! - `arguments`: reads and replaces single arguments; `key_places`: the paths that a key forms
//! - `affinity`: which instance a call belongs to; `paths`: where its paths may lead; `projects`:
//!   both, if the owner has named the keys

pub(crate) mod affinity;
pub(crate) mod arguments;
pub(crate) mod cache;
mod key_places;
pub(crate) mod known_tools;
pub(crate) mod listed;
pub(crate) mod paths;
pub(crate) mod projects;
