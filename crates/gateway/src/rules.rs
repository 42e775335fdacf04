//! The owner's rules for calls, as the gateway applies them: each call is judged once, whoever makes it.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use belljar_ledger::Asker;
use belljar_model::{Denial, ServerSpec, ToolPath, Transport, Verdict};
use belljar_policy::{Call, Caller, Decision, LocalTime, Places, Policy, ToolPolicy};
use serde_json::{Map, Value};

use crate::{
    counts::{Known, RunCounts},
    places,
};

/// Who calls without a token: the owner, at the command line or through a client of theirs.
const OWNER: &str = "owner";

/// The most paths that are resolved for one decision. Of more than so many, nothing is known.
const MAX_PATHS: usize = 10_000;

/// The owner's rules, and where the servers' relative paths are taken from.
pub(crate) struct Rules {
    policy: Arc<Policy>,
    bases: Arc<BTreeMap<String, PathBuf>>,
}

impl Rules {
    /// These rules for calls of these servers.
    pub(crate) fn new(policy: Arc<Policy>, servers: &[ServerSpec]) -> Self {
        Self { policy, bases: Arc::new(bases(servers)) }
    }

    pub(crate) fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// Who knows the file system, for one decision.
    pub(crate) fn files(&self) -> Files {
        Files { bases: self.bases.clone(), left: AtomicUsize::new(MAX_PATHS) }
    }
}

/// The files of this machine, as servers see them. It answers a bounded number of questions.
pub struct Files {
    bases: Arc<BTreeMap<String, PathBuf>>,
    left: AtomicUsize,
}

/// Where the relative paths of each server are taken from.
fn bases(servers: &[ServerSpec]) -> BTreeMap<String, PathBuf> {
    let base = |spec: &ServerSpec| {
        let root = spec.life.paths.as_ref().and_then(|paths| paths.roots.first().cloned());
        let folder = || match &spec.transport {
            // Where a key stands in it, each instance has another.
            Transport::Stdio(command) => command.cwd.clone().filter(|_| spec.life.affinity.is_none()),
            _ => None,
        };
        Some((spec.name.clone(), root.or_else(folder)?))
    };
    servers.iter().filter_map(base).collect()
}

impl Files {
    /// The files as these servers see them, to explain a decision that nobody makes.
    pub fn of(servers: &[ServerSpec]) -> Self {
        Self { bases: Arc::new(bases(servers)), left: AtomicUsize::new(MAX_PATHS) }
    }
}

impl Places for Files {
    fn is_under(&self, server: &str, path: &str, folders: &[PathBuf]) -> Option<bool> {
        let spend = |left: usize| left.checked_sub(1);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).ok()?;
        places::is_under(self.bases.get(server).map(PathBuf::as_path), path, folders)
    }
}

/// Who asks, as rules name them.
#[derive(Debug, Clone, Default)]
pub(crate) struct AsRules {
    asker: Asker,
    profile: Option<Arc<str>>,
    /// What the run has used.
    counts: Arc<RunCounts>,
    /// Whether the call was counted before.
    was_counted: bool,
}

impl AsRules {
    pub(crate) fn new(asker: Asker, profile: Option<Arc<str>>) -> Self {
        Self { asker, profile, counts: Arc::default(), was_counted: false }
    }

    /// The same for a call that was judged and counted before, and is judged once more.
    pub(crate) fn counted(&self) -> Self {
        Self { was_counted: true, ..self.clone() }
    }

    pub(crate) fn was_counted(&self) -> bool {
        self.was_counted
    }

    /// What the run has used.
    pub(crate) fn counts(&self) -> &RunCounts {
        &self.counts
    }

    /// The owner, or the name of a token.
    pub(crate) fn principal(&self) -> &str {
        self.asker.principal().unwrap_or(OWNER)
    }

    fn caller(&self) -> Caller<'_> {
        Caller { principal: Some(self.principal()), profile: self.profile.as_deref() }
    }
}

/// What becomes of this call.
pub(crate) fn judge(
    tool: &ToolPolicy,
    rules: &Files,
    who: &AsRules,
    counts: &Known,
    arguments: &Map<String, Value>,
) -> Decision {
    let at = tool.asks_time().then(local_time).flatten();
    tool.decide(&Call { caller: who.caller(), arguments, places: rules, counts, at })
}

/// What stands against sending a call that was denied.
pub(crate) fn denial(path: &ToolPath, decision: &Decision) -> Option<Denial> {
    let is_denied = decision.verdict == Verdict::Deny;
    is_denied.then(|| denial_of(decision, Verdict::Deny, format!("{path} is denied by {}", named(decision))))
}

/// The rule that decided, in words.
pub(crate) fn named(decision: &Decision) -> String {
    match &decision.rule {
        Some(rule) => format!("rule '{rule}' of the owner"),
        None => "the default of the owner's rules".to_owned(),
    }
}

/// A denial that says this, and the owner's reason.
pub(crate) fn denial_of(decision: &Decision, verdict: Verdict, what: String) -> Denial {
    let message = match &decision.why {
        Some(why) => format!("{what}: {why}"),
        None => what,
    };
    let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
    Denial { verdict, rule: text(&decision.rule), why: text(&decision.why), message }
}

/// What time of which day it is here: the owner writes rules in hours of their own. `None` where
/// the clock makes no sense.
pub fn local_time() -> Option<LocalTime> {
    let now = jiff::Zoned::now();
    let part = |part: i8| u8::try_from(part).ok();
    LocalTime::new(part(now.weekday().to_monday_zero_offset())?, part(now.hour())?, part(now.minute())?)
}
