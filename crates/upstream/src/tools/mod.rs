//! Known tools, and single arguments of calls.
//!
//! - `known_tools`: the tools of one server, with `cache` on disk; `listed`: the same without a
//!   running child
//! - `arguments`: single arguments out of the text of all; `key_places`: where a key's values are
//! - `affinity`: which instance a call belongs to; `paths`: which folder; `projects`: what both are
//!   where the owner has named the keys

pub(crate) mod affinity;
pub(crate) mod arguments;
pub(crate) mod cache;
mod key_places;
pub(crate) mod known_tools;
pub(crate) mod listed;
pub(crate) mod paths;
pub(crate) mod projects;
