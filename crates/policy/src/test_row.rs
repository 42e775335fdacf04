//! The tests in the file: a call, and its expected verdict.

use std::{collections::BTreeMap, fmt, sync::Arc};

use belljar_model::{Effect, EffectRules, Position, ToolDefinition, ToolPath, TrustedEffect, Verdict};
use serde_json::{Map, Value};

use crate::{Assumed, Broken, Call, Caller, LocalTime, Places, Policy};

/// One `[[test]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct TestRow {
    /// The position of the test.
    pub position: Position,
    pub(crate) offset: usize,
    /// The tool that is called.
    pub call: ToolPath,
    /// The arguments of the call.
    pub arguments: Map<String, Value>,
    /// The effect to assume for the tool, whatever is known about it.
    pub effect: Option<Effect>,
    /// The caller.
    pub principal: Option<String>,
    /// The caller's profile.
    pub profile: Option<String>,
    /// The earlier calls to assume.
    pub assumed: Assumed,
    /// The time to assume.
    pub at: Option<LocalTime>,
    /// The expectation.
    pub expect: Expectation,
}

/// The expected result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// The verdict.
    pub verdict: Verdict,
    /// What must have decided, if the test says so.
    pub by: Option<DecidedBy>,
}

/// What decides a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecidedBy {
    /// The rule of this id.
    Rule(String),
    /// The default of the effect.
    Default,
}

impl TestRow {
    /// What is wrong, if the test fails. `known` is the tool's trusted effect, if it is known;
    /// otherwise the tool counts as external. `broken` has the conditions that make no sense with
    /// its server's list.
    pub fn run(
        &self,
        policy: &Arc<Policy>,
        known: Option<TrustedEffect>,
        broken: &Broken,
        places: &dyn Places,
    ) -> Option<String> {
        let assumed = || {
            let declared = self.effect.map(|effect| (self.call.tool().to_owned(), effect));
            let rules = EffectRules { declared: BTreeMap::from_iter(declared), ..EffectRules::default() };
            rules.trusted(&ToolDefinition::unknown(self.call.tool()))
        };
        let trusted = known.filter(|_| self.effect.is_none()).unwrap_or_else(assumed);
        let caller = Caller { principal: self.principal.as_deref(), profile: self.profile.as_deref() };
        let sent = match places.as_sent(self.call.server(), caller.principal, self.arguments.clone()) {
            Ok(sent) => sent,
            Err(problem) => return Some(format!("such a call is refused before the rules are asked: {problem}")),
        };
        let call = Call { caller, arguments: &sent, places, history: &self.assumed, at: self.at };
        let tool = policy.for_tool_but(&self.call, trusted, broken);
        let decision = tool.decide(&call);
        let is_by = match (&self.expect.by, &decision.rule) {
            (None, _) | (Some(DecidedBy::Default), None) => true,
            (Some(DecidedBy::Rule(wanted)), Some(rule)) => **rule == **wanted,
            _ => false,
        };
        let holds = decision.verdict == self.expect.verdict && is_by;
        (!holds).then(|| format!("expected {}, but:\n{}", self.expect, tool.explain(&call)))
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.by {
            None => write!(formatter, "{}", self.verdict),
            Some(DecidedBy::Default) => write!(formatter, "{} by default", self.verdict),
            Some(DecidedBy::Rule(rule)) => write!(formatter, "{} by '{rule}'", self.verdict),
        }
    }
}
