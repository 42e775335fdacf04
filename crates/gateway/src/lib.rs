//! belljar's service: search and execute over any number of child MCP servers.
//!
//! A [`Toolbox`] knows the children and their tools: it answers searches and makes single calls. A
//! [`Gateway`] adds the sandbox: it runs scripts over the toolbox. This crate joins `catalog`,
//! `upstream` and `sandbox`, which do not know each other.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod approvals;
mod arguments;
mod artifacts;
mod checked;
mod content;
mod counts;
mod figures;
mod gates;
mod gateway;
mod grant;
mod history;
mod hosted;
mod idempotency;
#[cfg(unix)]
mod imported;
mod judgements;
mod keeps;
mod labels;
mod last_kept;
mod live_runs;
mod locks;
mod measure;
mod media;
mod observations;
mod observer;
mod pins;
mod places;
mod plan;
mod redacted;
mod remarks;
#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;
mod report;
mod rests;
mod result_filters;
mod routing;
mod rules;
mod run_log;
mod single_call;
mod skills;
mod started;
mod suspicious;
mod told;
mod tool_result;
mod toolbox;
mod traced;
mod unmarked;
mod unsettled;

pub use approvals::{Approvals, Teller};
pub use arguments::check_arguments;
pub use artifacts::ArtifactStore;
pub use belljar_ledger::{Asker, Holder};
#[cfg(unix)]
pub use gateway::{ComponentJob, ComponentPlan};
pub use gateway::{Execution, Gateway, ScriptPlan};
pub use hosted::{
    HostAnswer, HostFunctions, HostNamespace, HostTool, HostTools, HostToolsError, HostedRun, OwnTools, OwnToolsError,
};
pub use plan::CallPlan;
pub use report::report;
pub use result_filters::{FILTER_TIME, FilterAnswer, FilterQuestion};
pub use routing::routed_by_words;
pub use rules::{Files, local_time};
pub use run_log::Follower;
pub use single_call::SingleCall;
pub use skills::{
    ListedSkill, ListedSkills, MAX_FILE_BYTES as MAX_SKILL_BYTES, SKILLS, SkillFolder, Skills, is_skill_name,
};
pub use told::{RunEvents, RunLedger, Watched};
pub use toolbox::Toolbox;
pub use traced::Sampling;
