//! Explains what happens to a call, as `belljar policy explain` and the page show it. Nothing is
//! called.

use std::time::Duration;

use belljar_gateway::Files;
use belljar_ledger::Ledger;
use belljar_model::{ServerSpec, ToolPath, TrustedEffect, Verdict, nearest};
use belljar_policy::{Assumed, Call, Caller, Explanation, Labels, LocalTime, Places as _, Policy};
use serde_json::{Map, Value, json};

use super::{Known, pins};
use crate::failure::Failure;

/// A call to explain, and what is assumed about the moment.
pub(crate) struct AskedCall<'a> {
    pub(crate) path: &'a ToolPath,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) principal: &'a str,
    pub(crate) profile: Option<&'a str>,
    pub(crate) carries: &'a [String],
    pub(crate) after: &'a [String],
    pub(crate) measured: Option<u64>,
    pub(crate) at: Option<LocalTime>,
}

impl<'a> AskedCall<'a> {
    /// A call of the owner, now.
    pub(crate) fn of_owner(path: &'a ToolPath, arguments: Map<String, Value>) -> Self {
        let (profile, measured, at) = (None, None, None);
        Self { path, arguments, principal: "owner", profile, carries: &[], after: &[], measured, at }
    }
}

/// What happens to a call, and why.
pub(crate) struct Explained {
    pub(crate) path: ToolPath,
    pub(crate) trusted: TrustedEffect,
    /// Whether a known list has the tool.
    pub(crate) is_listed: bool,
    pub(crate) held_by: HeldBy,
    pub(crate) explanation: Explanation,
}

/// Explains a call from what is known.
pub(crate) async fn explained(
    known: &Known<'_>,
    ledger: &dyn Ledger,
    asked: AskedCall<'_>,
) -> Result<Explained, Failure> {
    let AskedCall { path, arguments, principal, profile, carries, after, measured, at } = asked;
    let servers = known.servers;
    let Some(tool) = known.of_tool(path) else { return Err(no_server(servers, path)) };
    let caller = Caller { principal: Some(principal), profile };
    let files = Files::of(servers);
    // Rules see what would be sent.
    let arguments = files.as_sent(path.server(), caller.principal, arguments).map_err(|problem| {
        let hint = "the server's `paths` in belljar.toml say where its paths may lead";
        Failure::usage(format!("such a call is refused before the rules are asked: {problem}"), hint)
    })?;
    let labels = labels(known.policy, carries)?;
    if let Some(rule) = after.iter().find(|rule| !known.policy.has_gate(rule)) {
        let hint = "--after names a rule with 'after' whose earlier call there was";
        return Err(Failure::usage(format!("no rule '{rule}' asks for an earlier call"), hint));
    }
    let history = Assumed { labels, passed: after.iter().cloned().collect(), measured };
    let call = Call {
        caller,
        arguments: &arguments,
        places: &files,
        history: &history,
        at: at.or_else(belljar_gateway::local_time),
    };
    let explanation = known.policy.for_tool_but(path, tool.trusted, &tool.broken).explain(&call);
    let (held, _) = pins::changed(known.rules, servers, Some(&path.to_string()), ledger).await?;
    let explanation = if held.is_empty() { explanation } else { explanation.held_by_pin(known.policy.as_ref()) };
    let spec = servers.iter().find(|spec| spec.name == path.server());
    let held_by = spec.map_or_else(HeldBy::default, |spec| HeldBy::of(spec, tool.trusted));
    Ok(Explained { path: path.clone(), trusted: tool.trusted, is_listed: tool.is_listed, held_by, explanation })
}

impl Explained {
    /// What `belljar policy explain --json` prints.
    pub(crate) fn to_json(&self) -> Value {
        as_json(self)
    }
}

/// The explanation if there are no rules.
pub(crate) fn without_rules(path: &ToolPath) -> Value {
    json!({ "tool": path.to_string(), "verdict": "allow", "rule": null, "why": null, "steps": [] })
}

/// The labels with these names.
fn labels(policy: &Policy, names: &[String]) -> Result<Labels, Failure> {
    let mut labels = Labels::default();
    for name in names {
        let Some(label) = policy.label(name) else {
            let hint = match nearest(name, policy.labels()) {
                Some(nearest) => format!("did you mean '{nearest}'?"),
                None => "[labels] in the file of the rules says which there are".to_owned(),
            };
            return Err(Failure::usage(format!("no label is called '{name}'"), hint));
        };
        labels = labels.and(label);
    }
    Ok(labels)
}

fn no_server(servers: &[ServerSpec], path: &ToolPath) -> Failure {
    let names = || servers.iter().map(|spec| spec.name.as_str());
    let hint = match nearest(path.server(), names()) {
        Some(nearest) => format!("did you mean '{nearest}'?"),
        None => format!("the servers are {}", names().collect::<Vec<_>>().join(", ")),
    };
    Failure::usage(format!("no server is called '{}'", path.server()), hint)
}

/// What applies to calls of a tool besides the rules.
#[derive(Default)]
pub(crate) struct HeldBy {
    call_timeout: Option<Duration>,
    is_repeated: bool,
}

impl HeldBy {
    fn of(spec: &ServerSpec, trusted: TrustedEffect) -> Self {
        let (life, effect) = (&spec.life, trusted.effect());
        Self { call_timeout: life.call_timeout_of(effect), is_repeated: life.repeat_of(effect).allows(trusted) }
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = String> {
        let timeout = self.call_timeout.map(|timeout| format!("a call of it fails after {timeout:?} without progress"));
        let repeated = "a call of it is repeated once if its server dies during it";
        timeout.into_iter().chain(self.is_repeated.then(|| repeated.to_owned()))
    }
}

fn as_json(Explained { path, trusted, held_by, explanation, .. }: &Explained) -> Value {
    let ask = explanation.decision.ask;
    let asks = explanation.decision.verdict == Verdict::Ask;
    let expires = ask.expires.and_then(|expires| u64::try_from(expires.as_millis()).ok());
    let finding = |finding: &belljar_policy::Finding| json!({ "condition": finding.condition, "seen": finding.seen, "met": finding.is_met });
    let step = |step: &belljar_policy::Step| {
        json!({
            "rule": step.rule,
            "line": step.position.line,
            "column": step.position.column,
            "then": step.verdict,
            "matches": step.is_match,
            "conditions": step.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    };
    json!({
        "tool": path.to_string(),
        "effect": trusted.effect(),
        "destructive": trusted.is_destructive(),
        "call_timeout_ms": held_by.call_timeout.and_then(|timeout| u64::try_from(timeout.as_millis()).ok()),
        "repeated": held_by.is_repeated,
        "verdict": explanation.decision.verdict,
        "rule": explanation.decision.rule,
        "why": explanation.decision.why,
        "who": asks.then(|| ask.ways()),
        "expires_ms": expires,
        "default": explanation.default,
        "steps": explanation.steps.iter().map(step).collect::<Vec<_>>(),
    })
}
