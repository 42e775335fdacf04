//! What the tracker keeps, as it is shown: projects, issues and their comments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A project.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct Project {
    /// The name by which other tools know it.
    pub(crate) name: String,
    /// What it is about.
    pub(crate) description: String,
    /// Who leads it.
    pub(crate) lead: String,
    /// How many of its issues are open.
    pub(crate) open_issues: u32,
}

/// Whether an issue is done with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum State {
    Open,
    Closed,
}

/// A comment on an issue.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct Comment {
    /// Who wrote it.
    pub(crate) author: String,
    /// What it says.
    pub(crate) text: String,
    /// The day it was written, YYYY-MM-DD.
    pub(crate) created: String,
}

/// An issue with all there is to it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct Issue {
    /// Its number.
    pub(crate) id: u32,
    /// The name of its project.
    pub(crate) project: String,
    /// What it is about, in one line.
    pub(crate) title: String,
    /// Whether it is open or closed.
    pub(crate) state: State,
    /// Its labels.
    pub(crate) labels: Vec<String>,
    /// Who works on it; empty if nobody does.
    pub(crate) assignee: String,
    /// What it is about, in full.
    pub(crate) body: String,
    /// The day it was created, YYYY-MM-DD.
    pub(crate) created: String,
    /// The day it was changed last, YYYY-MM-DD.
    pub(crate) updated: String,
    /// What was said about it, oldest first.
    pub(crate) comments: Vec<Comment>,
}

/// An issue as it stands in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct IssueSummary {
    /// Its number, for get_issue.
    pub(crate) id: u32,
    /// The name of its project.
    pub(crate) project: String,
    /// What it is about, in one line.
    pub(crate) title: String,
    /// Whether it is open or closed.
    pub(crate) state: State,
    /// Its labels.
    pub(crate) labels: Vec<String>,
    /// Who works on it; empty if nobody does.
    pub(crate) assignee: String,
    /// The day it was created, YYYY-MM-DD.
    pub(crate) created: String,
    /// How many comments it has.
    pub(crate) comments: usize,
}
