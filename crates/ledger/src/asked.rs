//! What is asked of the time before, for the owner's rules and for the owner, and what is kept for
//! that.

use std::{collections::BTreeMap, time::Duration};

use belljar_model::{Measures, RunId};

use crate::entry::Digest;

/// A call to count, if there is room for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The rule that counts it.
    pub rule: String,
    /// Its principal.
    pub principal: String,
    /// The most calls,
    pub at_most: u32,
    /// within this time before now.
    pub within: Duration,
}

/// A call that was counted, to undo that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountId(pub(crate) i64);

/// A run that has an answer with labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Its principal.
    pub principal: String,
    /// The labels.
    pub labels: Vec<String>,
    /// The run.
    pub run: RunId,
}

/// A query for a principal's labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// The principal.
    pub principal: String,
    /// The run that asks: its own marks do not count.
    pub except: Option<RunId>,
    /// The maximum age of a mark.
    pub within: Duration,
}

/// Definitions of tools of one server, by their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pins {
    /// The file with the rules that pin them.
    pub rules: String,
    /// The server.
    pub server: String,
    /// The definitions.
    pub tools: BTreeMap<String, String>,
}

/// The pins of a server's tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedServer {
    /// Whether it had no pins before.
    pub is_first: bool,
    /// The definitions, by the tools' names.
    pub tools: BTreeMap<String, String>,
}

/// Successful calls of one run, or a query for those of other runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    /// The file of the rules.
    pub rules: String,
    /// The rule that asks for such a call.
    pub rule: String,
    /// Their principal.
    pub principal: String,
    /// The digest of the values that must be the same.
    pub same: Digest,
    /// The run that made one, or that asks: its own do not count here. `None` for a call outside of
    /// any run.
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
