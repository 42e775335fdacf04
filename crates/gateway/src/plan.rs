//! What is known of a script's calls before it runs: whether the tools exist, and whether the
//! schemas and the owner's rules allow the calls.
//!
//! A call is judged by the same code as when it is made, with the list of tools that the run has.
//! Rules that depend on the moment, such as counts, are left to the actual call.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use belljar_catalog::{Catalog, ServerCatalog, Tool};
use belljar_model::{Effect, ToolPath, Verdict};
use belljar_policy::{Assumed, Decision, ToolPolicy};
use belljar_sandbox::{Finding, KnownArguments, Objection, PlannedCall, PlannedCalls, Reach};
use futures::future::join_all;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;

use crate::{
    Toolbox,
    locks::{ACQUIRE, RELEASE},
    rules::{self, AsRules, Files, denial},
};

/// Stands for the key that the call will get.
const ANY_KEY: &str = "0";

/// Who asks about calls, and whether belljar may start servers for it.
pub(crate) struct Planning<'p> {
    pub(crate) toolbox: &'p Toolbox,
    pub(crate) ceiling: Effect,
    pub(crate) who: &'p AsRules,
    /// Whether servers may be started.
    pub(crate) may_start: bool,
}

/// What is known of one call.
pub(crate) struct Judged {
    pub(crate) finding: Finding,
    /// The tool and its effect, if there is one.
    pub(crate) tool: Option<(ToolPath, Effect)>,
    /// The verdict of the owner's rules, if it does not depend on the moment.
    pub(crate) decision: Option<Decision>,
    /// What to try instead of a missing tool, for callers that only ask.
    near: Option<String>,
}

impl Judged {
    fn nothing() -> Self {
        Self { finding: Finding::Nothing, tool: None, decision: None, near: None }
    }

    fn is_certain(&self) -> bool {
        match &self.finding {
            Finding::Nothing => false,
            Finding::NoSuchTool { certain } => *certain,
            Finding::Objection(objection) => objection.certain,
        }
    }

    /// The same, judged by a list of tools that may be outdated.
    fn by_old_list(mut self) -> Self {
        match &mut self.finding {
            Finding::Nothing => {}
            Finding::NoSuchTool { certain } => *certain = false,
            Finding::Objection(objection) => objection.certain = false,
        }
        self
    }
}

impl Planning<'_> {
    /// What is known of each call. `position` maps a call's server to its position in the toolbox.
    /// Servers of certain calls are started together, and a list of tools from an earlier process
    /// never stops a script.
    ///
    /// # Cancellation
    /// Starts that are under way continue.
    pub(crate) async fn judged(&self, calls: &PlannedCalls, position: impl Fn(usize) -> Option<usize>) -> Vec<Judged> {
        let servers: Vec<Option<usize>> = calls.calls.iter().map(|call| position(call.server)).collect();
        let placed = || calls.calls.iter().zip(&servers).filter_map(|(call, server)| Some((call, (*server)?)));
        let certain: BTreeSet<usize> =
            placed().filter(|(call, _)| call.reach == Reach::Certain).map(|(_, server)| server).collect();
        if self.may_start {
            certain.iter().for_each(|server| self.toolbox.upstream().begin(self.toolbox.name_of(*server)));
            join_all(certain.iter().map(|server| self.toolbox.server(*server))).await;
        }
        let mut judged = Vec::with_capacity(calls.calls.len());
        for (call, server) in calls.calls.iter().zip(&servers) {
            judged.push(self.judge(call, *server).await);
        }
        if !self.may_start {
            return judged;
        }
        // It may be a list from an earlier process that would stop the script.
        let doubtful: BTreeSet<usize> = calls
            .calls
            .iter()
            .zip(&servers)
            .zip(&judged)
            .filter(|((call, _), judged)| call.fatal && judged.is_certain())
            .filter_map(|((_, server), _)| *server)
            .collect();
        let looked = join_all(
            doubtful.iter().map(async |server| (*server, self.toolbox.look_again(self.toolbox.name_of(*server)).await)),
        );
        let is_new: BTreeMap<usize, bool> = looked.await.into_iter().collect();
        for ((call, server), judged) in calls.calls.iter().zip(&servers).zip(&mut judged) {
            let Some(is_new) = server.and_then(|server| is_new.get(&server)) else { continue };
            let again = self.judge(call, *server).await;
            *judged = if *is_new { again } else { again.by_old_list() };
        }
        judged
    }

    async fn judge(&self, call: &PlannedCall, server: Option<usize>) -> Judged {
        let catalog = match server {
            Some(server) if self.may_start && call.reach != Reach::Certain => self.toolbox.last_known(server),
            Some(server) => self.toolbox.known_already(server).await,
            None => None,
        };
        let Some(catalog) = catalog else { return Judged::nothing() };
        if call.tool == ACQUIRE || call.tool == RELEASE {
            return Judged::nothing();
        }
        let Some(tool) = tool_of(&catalog, &call.tool) else {
            let near = if self.may_start { None } else { self.near(&catalog, &call.tool) };
            return Judged { finding: Finding::NoSuchTool { certain: true }, near, ..Judged::nothing() };
        };
        let path = tool.path().clone();
        let (objection, decision) = self.objection(&path, call.arguments.as_ref()).await;
        Judged {
            finding: objection.map_or(Finding::Nothing, Finding::Objection),
            tool: Some((path, tool.effect())),
            decision,
            near: None,
        }
    }

    /// What to try instead of a missing tool.
    fn near(&self, catalog: &Arc<ServerCatalog>, name: &str) -> Option<String> {
        let path = ToolPath::new(catalog.name(), name);
        if let Some(denial) = self.toolbox.denied(&path) {
            return Some(denial.message);
        }
        let catalog = Catalog::new(vec![catalog.clone()]);
        let near = catalog.nearest_tool(&path.to_string())?;
        Some(format!("did you mean {}? It is {}", near.expression(), self.toolbox.signature_of(near)))
    }

    async fn objection(
        &self,
        path: &ToolPath,
        known: Option<&KnownArguments>,
    ) -> (Option<Objection>, Option<Decision>) {
        let rules = self.toolbox.judge_of(path);
        let whatever = rules.as_ref().and_then(|(judge, _)| judge.decide_whatever(Some(&self.who.caller())));
        let whatever = self.with_pin(path, whatever).await;
        if let Some(objection) = over(self.ceiling, self.toolbox.trusted_effect_of(path), path) {
            return (Some(objection), whatever);
        }
        if let Some(denial) = whatever.as_ref().and_then(|decision| denial(path, decision)) {
            let objection = Objection { message: denial.message, hint: None, denied: true, certain: true };
            return (Some(objection), whatever);
        }
        let Some(known) = known else { return (None, whatever) };
        let known = self.with_key(path, &self.toolbox.foreseen(path, known).await);
        if let Some(checks) = self.toolbox.checks(path)
            && let Some((refusal, certain)) = checks.foresee(path.tool(), &known).await
        {
            let (message, hint) = (refusal.message, Some(refusal.hint));
            return (Some(Objection { message, hint, denied: false, certain }), whatever);
        }
        let (None, Some((judge, files)), true) = (&whatever, rules, known.is_complete()) else {
            return (None, whatever);
        };
        let decision = self.decided(path, judge, files, known.value).await;
        let decision = self.with_pin(path, decision).await;
        let denied = decision.as_ref().and_then(|decision| denial(path, decision));
        // The file system and the rules may have changed by the time the call is made.
        let objection =
            denied.map(|denial| Objection { message: denial.message, hint: None, denied: true, certain: false });
        (objection, decision)
    }

    /// The same if the tool differs from its pin: it will be asked about.
    async fn with_pin(&self, path: &ToolPath, decision: Option<Decision>) -> Option<Decision> {
        let is_pinned = self.toolbox.policy().is_some_and(|policy| policy.is_pinned(path));
        match decision {
            Some(allowed) if allowed.verdict == Verdict::Allow && is_pinned => {
                let is_held = self.toolbox.is_held_by_pin(path).await;
                Some(if is_held { allowed.held_by_pin() } else { allowed })
            }
            other => other,
        }
    }

    /// The rules' verdict on a call with these arguments, or `None` if it depends on more than the
    /// call.
    async fn decided(
        &self,
        path: &ToolPath,
        judge: Arc<ToolPolicy>,
        files: Files,
        arguments: Map<String, Value>,
    ) -> Option<Decision> {
        if judge.depends_on_the_moment() {
            return None;
        }
        let (who, path) = (self.who.clone(), path.clone());
        let asks_files = judge.asks_places() || files.resolves(path.server());
        let decide = move || {
            let arguments = files.resolved(path.server(), who.named(), arguments).ok()?;
            Some(rules::judge(&judge, &files, &who, &Assumed::default(), &arguments))
        };
        if asks_files { spawn_blocking(decide).await.ok().flatten() } else { decide() }
    }

    /// The arguments with the key that belljar adds.
    fn with_key(&self, path: &ToolPath, known: &KnownArguments) -> KnownArguments {
        let mut known = known.clone();
        if let Some(member) = self.toolbox.key_argument(path) {
            known.value.entry(member).or_insert_with(|| ANY_KEY.into());
        }
        known
    }
}

/// The tool behind a property of a namespace: of two with one name, the first counts.
fn tool_of<'c>(catalog: &'c ServerCatalog, property: &str) -> Option<&'c Tool> {
    catalog.tools().iter().find(|tool| tool.names().bound().any(|name| name == property) && !tool.path().is_lock())
}

/// The problem of a call whose tool has a higher effect than its caller may use.
pub(crate) fn over(ceiling: Effect, effect: Effect, path: &ToolPath) -> Option<Objection> {
    (effect > ceiling).then(|| Objection {
        message: format!("{path} is {effect}, but this script may only call tools that are {ceiling}"),
        hint: Some("belljar's owner can declare what a tool does with 'effects' in the configuration".to_owned()),
        denied: false,
        certain: true,
    })
}

/// A call of a script, as [`Gateway::plan`](crate::Gateway::plan) reports it.
#[derive(Debug)]
pub struct CallPlan {
    /// The tool, or for an unknown one the server and the property that the script names.
    pub tool: String,
    /// The call as written in the source.
    pub call: PlannedCall,
    /// What it may change, or `None` if the tool is not known.
    pub effect: Option<Effect>,
    /// The verdict of the owner's rules, or `None` if they decide only when the call is made.
    pub verdict: Option<Verdict>,
    /// The rule that decides.
    pub rule: Option<String>,
    /// What is wrong with it.
    pub problem: Option<String>,
    /// Whether that is certain, according to the known list of tools.
    pub is_certain: bool,
    /// What to try.
    pub hint: Option<String>,
}

impl CallPlan {
    /// What is known of a call of a server with this name. `allows_all`: there are no rules.
    pub(crate) fn new(call: PlannedCall, server: &str, judged: Judged, allows_all: bool) -> Self {
        let is_certain = judged.is_certain();
        let Judged { finding, tool, decision, near } = judged;
        let (path, effect) = tool.unzip();
        let (problem, hint) = match finding {
            Finding::Nothing => (None, None),
            Finding::NoSuchTool { .. } => (Some(format!("{server} has no tool '{}'", call.tool)), near),
            Finding::Objection(Objection { message, hint, .. }) => (Some(message), hint),
        };
        let verdict = match &decision {
            Some(decision) => Some(decision.verdict),
            None => (allows_all && path.is_some()).then_some(Verdict::Allow),
        };
        Self {
            tool: path.map_or_else(|| format!("{server}.{}", call.tool), |path| path.to_string()),
            call,
            effect,
            verdict,
            rule: decision.and_then(|decision| decision.rule).map(|rule| rule.to_string()),
            problem,
            is_certain,
            hint,
        }
    }
}
