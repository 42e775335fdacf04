//! The owner's rules as the gateway applies them: each call is judged once, whoever makes it.

use std::{
    collections::BTreeMap,
    fmt,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use belljar_ledger::Asker;
use belljar_model::{Denial, RunId, ServerSpec, Share, ToolPath, Transport, Verdict};
use belljar_policy::{Call, Caller, Decision, History, Labels, LocalTime, Measure, Places, Policy, ToolPolicy};
use belljar_upstream::{CallError, with_real_paths};
use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::{counts::RunCounts, gates::RunGates, labels::RunLabels, places};

/// The caller without a token: the owner, at the command line or through their client.
const OWNER: &str = "owner";

/// The most paths that are resolved for one decision. Further ones are unknown.
const MAX_PATHS: usize = 10_000;

/// The owner's rules, and how servers treat paths.
pub(crate) struct Rules {
    policy: Arc<Policy>,
    paths: Arc<PathsOf>,
}

impl Rules {
    /// These rules for calls of these servers.
    pub(crate) fn new(policy: Arc<Policy>, servers: &[ServerSpec]) -> Self {
        Self { policy, paths: Arc::new(PathsOf::servers(servers)) }
    }

    pub(crate) fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// Answers questions about the file system, for one decision.
    pub(crate) fn files(&self) -> Files {
        Files { paths: self.paths.clone(), left: AtomicUsize::new(MAX_PATHS) }
    }
}

/// How servers treat paths, by server name.
struct PathsOf {
    /// The base of relative paths.
    bases: BTreeMap<String, PathBuf>,
    /// Servers for which belljar resolves some arguments before it sends a call.
    resolved: BTreeMap<String, ServerSpec>,
}

/// This machine's files, as servers see them. It answers a bounded number of questions.
pub struct Files {
    paths: Arc<PathsOf>,
    left: AtomicUsize,
}

impl PathsOf {
    fn servers(servers: &[ServerSpec]) -> Self {
        let base = |spec: &ServerSpec| match &spec.transport {
            Transport::Stdio(command) => {
                let names_principal = |cwd: &PathBuf| cwd.to_string_lossy().contains(Share::PLACEHOLDER);
                // If it contains a key or a principal, each instance has another one.
                let is_one = |cwd: &PathBuf| spec.life.affinity.is_none() && !names_principal(cwd);
                Some((spec.name.clone(), command.cwd.clone().filter(is_one)?))
            }
            _ => None,
        };
        let resolved = servers.iter().filter(|spec| spec.life.paths.is_some());
        Self {
            bases: servers.iter().filter_map(base).collect(),
            resolved: resolved.map(|spec| (spec.name.clone(), spec.clone())).collect(),
        }
    }
}

impl Files {
    /// The files as these servers see them, to explain a hypothetical decision.
    pub fn of(servers: &[ServerSpec]) -> Self {
        Self { paths: Arc::new(PathsOf::servers(servers)), left: AtomicUsize::new(MAX_PATHS) }
    }

    /// Whether some arguments of this server's tools are resolved before a call is sent.
    pub(crate) fn resolves(&self, server: &str) -> bool {
        self.paths.resolved.contains_key(server)
    }

    /// The arguments of a call as this server gets them, with paths resolved. Blocks.
    ///
    /// # Errors
    /// A path that the server's owner does not allow.
    pub(crate) fn resolved(
        &self,
        server: &str,
        principal: Option<&str>,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, CallError> {
        match self.paths.resolved.get(server) {
            Some(spec) => with_real_paths(spec, principal, arguments),
            None => Ok(arguments),
        }
    }
}

impl Places for Files {
    fn as_sent(
        &self,
        server: &str,
        principal: Option<&str>,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        self.resolved(server, principal, arguments).map_err(|fault| fault.to_string())
    }

    fn is_under(&self, server: &str, path: &str, folders: &[PathBuf]) -> Option<bool> {
        let spend = |left: usize| left.checked_sub(1);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).ok()?;
        places::is_under(self.paths.bases.get(server).map(PathBuf::as_path), path, folders)
    }
}

/// Makes a read-only call, to count something before another call is decided.
pub(crate) trait Measuring: fmt::Debug + Send + Sync {
    /// The count, or `None` if there is none.
    fn count<'m>(
        &'m self,
        who: &'m AsRules,
        measure: &'m Measure,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'m, Option<u64>>;
}

/// The caller, as rules see it.
#[derive(Debug, Clone, Default)]
pub(crate) struct AsRules {
    asker: Asker,
    profile: Option<Arc<str>>,
    /// What the run has used.
    counts: Arc<RunCounts>,
    /// The run, if it continues after this call.
    run: Option<RunId>,
    /// The labels that the run carries now.
    labels: Arc<RunLabels>,
    /// The labels that it carried when the call was begun.
    carried: Labels,
    /// The earlier calls of the run that the rules' gates look for.
    gates: Arc<RunGates>,
    /// How many of them counted when the call was begun.
    passed: usize,
    /// Makes the calls that measure. A measuring call itself has none.
    measuring: Option<Arc<dyn Measuring>>,
    /// Whether the call was counted before.
    was_counted: bool,
}

impl AsRules {
    pub(crate) fn new(asker: Asker, profile: Option<Arc<str>>) -> Self {
        Self { asker, profile, ..Self::default() }
    }

    /// The same for calls of this run.
    pub(crate) fn of_run(self, run: RunId) -> Self {
        Self { run: Some(run), ..self }
    }

    /// The same for a call that is begun now.
    pub(crate) fn begun(&self) -> Self {
        Self { carried: self.labels.now(), passed: self.gates.now(), ..self.clone() }
    }

    /// The same with somebody who makes measuring calls.
    pub(crate) fn with_measuring(self, measuring: Option<impl Measuring + 'static>) -> Self {
        Self { measuring: measuring.map(|measuring| Arc::new(measuring) as Arc<dyn Measuring>), ..self }
    }

    /// The same for a measuring call.
    pub(crate) fn to_measure(&self) -> Self {
        Self { measuring: None, was_counted: false, ..self.clone() }
    }

    pub(crate) fn measuring(&self) -> Option<&Arc<dyn Measuring>> {
        self.measuring.as_ref()
    }

    /// The earlier calls of the run that the rules' gates look for.
    pub(crate) fn gates(&self) -> &Arc<RunGates> {
        &self.gates
    }

    /// How many of them counted when the call was begun.
    pub(crate) fn passed(&self) -> usize {
        self.passed
    }

    /// The same for a call that was judged and counted before, and is judged again.
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

    /// The run that makes the calls, if there is one.
    pub(crate) fn run(&self) -> Option<RunId> {
        self.run
    }

    /// The labels that the run carries now.
    pub(crate) fn labels(&self) -> &RunLabels {
        &self.labels
    }

    /// The labels that the run carried when the call was begun.
    pub(crate) fn carried(&self) -> Labels {
        self.carried
    }

    /// The name of the token, if there was one.
    pub(crate) fn named(&self) -> Option<&str> {
        self.asker.principal()
    }

    /// The profile of the client entry through which the run was started.
    pub(crate) fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    /// The owner, or the name of a token.
    pub(crate) fn principal(&self) -> &str {
        self.asker.principal().unwrap_or(OWNER)
    }

    pub(crate) fn caller(&self) -> Caller<'_> {
        Caller { principal: Some(self.principal()), profile: self.profile.as_deref() }
    }
}

/// The verdict on this call.
pub(crate) fn judge(
    tool: &ToolPolicy,
    rules: &Files,
    who: &AsRules,
    history: &dyn History,
    arguments: &Map<String, Value>,
) -> Decision {
    let at = tool.asks_time().then(local_time).flatten();
    tool.decide(&Call { caller: who.caller(), arguments, places: rules, history, at })
}

/// The error for a denied call.
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

/// A denial with this text and the owner's reason.
pub(crate) fn denial_of(decision: &Decision, verdict: Verdict, what: String) -> Denial {
    let message = match &decision.why {
        Some(why) => format!("{what}: {why}"),
        None => what,
    };
    let text = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
    Denial { verdict, rule: text(&decision.rule), why: text(&decision.why), message }
}

/// The local day and time: the owner writes rules in local hours. `None` if the clock cannot be
/// right.
pub fn local_time() -> Option<LocalTime> {
    let now = jiff::Zoned::now();
    let part = |part: i8| u8::try_from(part).ok();
    LocalTime::new(part(now.weekday().to_monday_zero_offset())?, part(now.hour())?, part(now.minute())?)
}
