//! Finds and reads the owner's rules for calls. A mistake in them ends the command before anything
//! is called.
//!
//! `known.rs` compares rules with what is known about servers, `explained.rs` explains calls, and
//! `pins.rs` finds tools whose definitions have changed.

mod explained;
mod known;
mod pins;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use belljar_config::{Config, Variables};
use belljar_gateway::SKILLS;
use belljar_model::{EffectRules, ServerSpec};
use belljar_policy::{Comparison, Policy, Problem, Problems, ServerTools};
use belljar_upstream::Listed;

use crate::{environment, failure::Failure};
pub(crate) use explained::{AskedCall, explained, without_rules};
pub(crate) use known::{Known, KnownTools};
pub(crate) use pins::{Changed, changed, unusable};

/// The file that is looked for beside a configuration that names none.
const BESIDE: &str = "policy.toml";

/// A file of rules, valid or not.
pub(crate) struct FoundPolicy {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) read: Result<Arc<Policy>, Problems>,
}

/// Rules, and their file.
pub(crate) struct LoadedPolicy {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) policy: Arc<Policy>,
}

/// The rules of the configuration at `path`: those in the file that it names, or in a policy.toml
/// beside it.
pub(crate) fn find(path: &Path, config: &Config, variables: &Variables<'_>) -> Result<Option<FoundPolicy>, Failure> {
    let file = config.policy.clone().unwrap_or_else(|| path.with_file_name(BESIDE));
    let Some(text) = belljar_config::text(&file)? else {
        if config.policy.is_none() {
            return Ok(None);
        }
        let message = format!("{}: there is no such file", file.display());
        return Err(Failure::config(message, "'[policy] file' names it: without it, nothing is run"));
    };
    let directory = file.parent().unwrap_or(Path::new(""));
    let folder = |text: &str| belljar_config::folder(text, directory, variables);
    let read = Policy::parse(&text, &folder).map(Arc::new);
    Ok(Some(FoundPolicy { path: file, text, read }))
}

impl FoundPolicy {
    /// The rules, if they are valid and name existing servers.
    pub(crate) fn without_mistakes(self, config: &Config) -> Result<LoadedPolicy, Failure> {
        let Self { path, text, read } = self;
        let policy = read.map_err(|problems| refused(&path, &problems.problems))?;
        let loaded = LoadedPolicy { path, text, policy };
        loaded.refuse(&loaded.compare(&config.servers, |_| None))?;
        if let Some(problem) = loaded.without_webhook(config) {
            return Err(refused(&loaded.path, &[problem]));
        }
        Ok(loaded)
    }
}

impl LoadedPolicy {
    /// Refuses rules that name arguments which the servers did not have when the rules were
    /// written.
    ///
    /// The lists are those on disk. A list that is newer than the rules is ignored: a server that
    /// changes must not make the whole file invalid. The gateway treats conditions that make no
    /// sense with such a list as unknown, for this server only.
    pub(crate) fn hold_against_lists(&self, servers: &[ServerSpec]) -> Result<(), Failure> {
        let Ok(written) = std::fs::metadata(&self.path).and_then(|file| file.modified()) else { return Ok(()) };
        let lists = self.lists(servers, Some(written));
        self.refuse(&self.compare(servers, |at| lists.get(at)?.as_ref().map(|listed| listed.tools.as_slice())))
    }

    /// The error if rules want a webhook and there is none.
    pub(crate) fn without_webhook(&self, config: &Config) -> Option<Problem> {
        self.policy.wants_webhook().filter(|_| config.approvals.webhook.is_none())
    }

    /// The name under which pins of the rules are kept: the canonical path of their file.
    pub(crate) fn name(&self) -> String {
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        path.to_string_lossy().into_owned()
    }

    /// The disk's lists of the servers in the rules, if they are not newer than this.
    pub(crate) fn lists(&self, servers: &[ServerSpec], until: Option<SystemTime>) -> Vec<Option<Listed>> {
        lists(servers, until, |name| self.policy.names_server(name))
    }

    /// Checks the rules against what is known about each server.
    pub(crate) fn compare<'l>(
        &self,
        servers: &'l [ServerSpec],
        tools: impl Fn(usize) -> Option<&'l [belljar_model::ToolDefinition]>,
    ) -> Comparison {
        let server = |(at, spec): (usize, &'l ServerSpec)| ServerTools {
            name: &spec.name,
            effects: &spec.effects,
            tools: tools(at),
        };
        // Rules may name the owner's scripts, whether there are some or not.
        let effects = EffectRules::trusting();
        let scripts = ServerTools { name: SKILLS, effects: &effects, tools: None };
        self.policy.compare(&servers.iter().enumerate().map(server).chain([scripts]).collect::<Vec<_>>())
    }

    fn refuse(&self, found: &Comparison) -> Result<(), Failure> {
        let problems: Vec<Problem> = found.mistakes.iter().map(|mistake| mistake.problem.clone()).collect();
        if problems.is_empty() { Ok(()) } else { Err(refused(&self.path, &problems)) }
    }
}

/// The disk's lists of the servers with these names, if they are not newer than this.
pub(crate) fn lists(
    servers: &[ServerSpec],
    until: Option<SystemTime>,
    is_wanted: impl Fn(&str) -> bool,
) -> Vec<Option<Listed>> {
    let folder = environment::cache();
    let list = |spec: &ServerSpec| {
        let folder = folder.as_ref().filter(|_| is_wanted(&spec.name))?;
        let listed = belljar_upstream::listed(folder, spec, env!("CARGO_PKG_VERSION"))?;
        until.is_none_or(|until| listed.at <= until).then_some(listed)
    };
    servers.iter().map(list).collect()
}

/// Where a problem is, and what.
pub(crate) fn placed(file: &Path, problem: &Problem) -> String {
    let at = problem.position;
    format!("{}:{}:{}: {}", file.display(), at.line, at.column, problem.fault)
}

/// Rules with mistakes.
pub(crate) fn refused(file: &Path, problems: &[Problem]) -> Failure {
    let places: Vec<String> = problems.iter().map(|problem| placed(file, problem)).collect();
    Failure::config(
        places.join("\n"),
        "docs/POLICY.md says what rules can say; nothing was run. `belljar servers` asks servers again for their tools",
    )
}
