//! The questions that the owner and the owner's rules ask about the past, and what is kept to
//! answer them.

use std::{collections::BTreeMap, time::Duration};

use belljar_model::{Measures, RunId};

use crate::entry::Digest;

/// A call to count, if it is within the limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The rule that counts it.
    pub rule: String,
    /// Its principal.
    pub principal: String,
    /// The most calls.
    pub at_most: u32,
    /// The period before now in which they are counted.
    pub within: Duration,
}

/// A call that was counted, so that the count can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountId(pub(crate) i64);

/// A run that has received an answer with labels.
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
    /// The run that made such a call, or that asks, whose own calls do not count here. `None` for a
    /// call outside of any run.
    pub run: Option<RunId>,
}

/// What was measured about the servers of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// The configuration that the servers are in: servers of the same name in two configurations
    /// are different servers.
    pub configuration: String,
    /// What was measured, by the servers' names.
    pub servers: BTreeMap<String, Measures>,
}
