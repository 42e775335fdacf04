//! What is asked of the time before, for the owner's rules and for the owner, and what is kept for
//! that.

use std::{collections::BTreeMap, time::Duration};

use belljar_model::{Measures, RunId};

use crate::entry::Digest;

/// One call that is to be counted, if there is room for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The rule by which it is counted.
    pub rule: String,
    /// Whose call it is.
    pub principal: String,
    /// The most calls,
    pub at_most: u32,
    /// within so long before now.
    pub within: Duration,
}

/// A call that was counted, to take it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountId(pub(crate) i64);

/// A run that has an answer with labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Whose run it is.
    pub principal: String,
    /// The labels.
    pub labels: Vec<String>,
    /// The run.
    pub run: RunId,
}

/// What is asked of a principal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// Who it is.
    pub principal: String,
    /// The run that asks: its own marks do not count.
    pub except: Option<RunId>,
    /// How old a mark may be.
    pub within: Duration,
}

/// Definitions of tools of one server, by their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pins {
    /// The rules for which they are pinned, by the file in which these are.
    pub rules: String,
    /// The server.
    pub server: String,
    /// The definitions.
    pub tools: BTreeMap<String, String>,
}

/// What is pinned of a server's tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedServer {
    /// Whether nothing was pinned of it before.
    pub is_first: bool,
    /// The definitions, by the tools' names.
    pub tools: BTreeMap<String, String>,
}

/// Calls of one run that succeeded, or what is asked about those of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    /// The file of the rules.
    pub rules: String,
    /// The rule that asks for such a call.
    pub rule: String,
    /// Whose calls they are.
    pub principal: String,
    /// The digest of the values that must be the same.
    pub same: Digest,
    /// The run that made one, or that asks: its own do not count here. A call outside of any run is
    /// none.
    pub run: Option<RunId>,
}

/// What was measured of the servers of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// The configuration in which they are: servers of one name in two of them are two.
    pub configuration: String,
    /// What was measured, by the servers' names.
    pub servers: BTreeMap<String, Measures>,
}
