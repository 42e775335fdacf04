//! Explains a decision: each rule that was examined, and the result of each of its conditions.

use std::{fmt, sync::Arc};

use belljar_model::{Position, Verdict, display, duration_text};
use serde_json::{Map, Value};

use crate::{
    Call, Decision, Policy, ToolPolicy,
    argument::{Found, Segment},
    condition::{Condition, Context, Truth},
    pin::PIN,
};

/// The characters of a value that are shown.
const VALUE_CHARACTERS: usize = 80;

/// A decision, with everything that led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The decision.
    pub decision: Decision,
    /// The rules for the tool, in the order in which they are evaluated: those that deny, and then
    /// the others.
    pub steps: Vec<Step>,
    /// The verdict if no rule decides the call.
    pub default: Verdict,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The rule's name.
    pub rule: Arc<str>,
    /// Its position in the file.
    pub position: Position,
    /// Its verdict for calls that it matches.
    pub verdict: Verdict,
    /// Whether the rule matches this call.
    pub is_match: bool,
    /// The results of the rule's conditions.
    pub findings: Vec<Finding>,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The condition.
    pub condition: String,
    /// The value that was found, shortened.
    pub seen: String,
    /// Whether the condition is met; `None` if that is unknown.
    pub is_met: Option<bool>,
}

impl Explanation {
    /// The same for a tool whose definition differs from the pinned one.
    #[must_use]
    pub fn held_by_pin(mut self, policy: &Policy) -> Self {
        let Some(pins) = &policy.pins else { return self };
        let findings = vec![Finding {
            condition: "definition as it was pinned".to_owned(),
            seen: "another one".to_owned(),
            is_met: Some(false),
        }];
        let position = policy.position(pins.offset);
        self.steps.push(Step { rule: PIN.into(), position, verdict: Verdict::Ask, is_match: true, findings });
        self.decision = self.decision.held_by_pin();
        self
    }
}

impl ToolPolicy {
    /// The verdict on a call, and the result of each rule up to the one that decides.
    pub fn explain(&self, call: &Call<'_>) -> Explanation {
        let context = Context { server: self.server(), places: call.places };
        let mut steps = Vec::new();
        let mut decided = None;
        for compiled in &self.rules {
            let rule = &self.policy().rules[compiled.rule];
            let mut findings = Vec::new();
            let caller = rule.concerns_caller(&call.caller);
            let mut truth = caller;
            let of_caller = [
                ("principal", &rule.principals, call.caller.principal),
                ("profile", &rule.profiles, call.caller.profile),
            ];
            for (name, globs, seen) in of_caller {
                let Some(globs) = globs else { continue };
                let wanted: Vec<String> = globs.iter().map(crate::glob::Glob::text).collect();
                let is_met = seen.map(|seen| globs.iter().any(|glob| glob.matches(seen)));
                findings.push(Finding {
                    condition: format!("{name} in [{}]", wanted.join(", ")),
                    seen: seen.map_or_else(|| "none".to_owned(), |seen| display::line(seen).into_owned()),
                    is_met: is_met.or((name == "profile").then_some(false)),
                });
            }
            if let Some(hours) = &rule.hours {
                let met = rule.concerns_time(call.at);
                truth = truth.and(met);
                let wanted: Vec<String> = hours.iter().map(ToString::to_string).collect();
                findings.push(Finding {
                    condition: format!("hours [{}]", wanted.join(", ")),
                    seen: call.at.map_or_else(|| "no time".to_owned(), |at| at.to_string()),
                    is_met: known(met),
                });
            }
            for (number, condition) in rule.conditions.iter().enumerate() {
                if self.is_broken(compiled.rule, number) {
                    truth = truth.and(Truth::Unknown);
                    findings.push(Finding {
                        seen: "an argument that the server's list does not have".to_owned(),
                        ..finding(condition, call, Truth::Unknown)
                    });
                    continue;
                }
                let met = condition.judge(call.arguments, rule.quantifier(), context);
                truth = truth.and(met);
                findings.push(finding(condition, call, met));
            }
            if !rule.carries.is_empty() {
                let met = rule.concerns_carried(call.history);
                truth = truth.and(met);
                let wanted: Vec<&str> = self.policy().label_names(rule.carries).collect();
                let seen = match met {
                    Truth::True => "an answer of such a tool",
                    Truth::False => "no answer of such a tool",
                    Truth::Unknown => "unknown labels",
                };
                findings.push(Finding {
                    condition: format!("carries [{}]", wanted.join(", ")),
                    seen: seen.to_owned(),
                    is_met: known(met),
                });
            }
            if let Some(gate) = rule.after.as_ref().filter(|_| rule.takes(truth)) {
                let met = rule.concerns_gate(call);
                truth = truth.and(met);
                let seen = match (met, rule.verdict == Verdict::Allow) {
                    (Truth::Unknown, _) => "an unknown earlier call",
                    (Truth::True, true) | (Truth::False, false) => "one that succeeded",
                    _ => "none that succeeded",
                };
                findings.push(Finding { condition: gate.text(), seen: seen.to_owned(), is_met: known(met) });
            }
            if let Some(measure) = rule.measure.as_ref().filter(|_| rule.takes(truth)) {
                let met = rule.concerns_measure(call);
                truth = truth.and(met);
                let condition = format!("measure {} max {}", display::line(&measure.tool.to_string()), measure.max);
                let seen = rule.measured(call).map_or_else(|| "no count".to_owned(), |count| count.to_string());
                findings.push(Finding { condition, seen, is_met: known(met) });
            }
            if let Some(at_most) = rule.at_most.filter(|_| rule.takes(truth)) {
                let met = rule.concerns_count(call.history);
                truth = truth.and(met);
                let (within, beyond) = ("no more calls than that", "more calls than that");
                findings.push(Finding {
                    condition: format!("at_most {at_most}"),
                    seen: match (met, rule.verdict == Verdict::Allow) {
                        (Truth::Unknown, _) => "an unknown number of calls",
                        (Truth::True, true) | (Truth::False, false) => within,
                        _ => beyond,
                    }
                    .to_owned(),
                    is_met: known(met),
                });
            }
            let is_match = rule.takes(truth);
            let position = self.policy().position(rule.offset);
            steps.push(Step { rule: rule.id.clone(), position, verdict: rule.verdict, is_match, findings });
            if is_match {
                decided = Some(compiled);
                break;
            }
        }
        let by = decided.map(|compiled| &self.policy().rules[compiled.rule]);
        Explanation { decision: self.decision(decided).measured_for(by, call), steps, default: self.default() }
    }
}

fn finding(condition: &Condition, call: &Call<'_>, met: Truth) -> Finding {
    let operators: Vec<String> = condition.operators.iter().map(ToString::to_string).collect();
    let seen = if condition.path.has_each() {
        elements(condition.path.segments(), call.arguments)
    } else {
        match condition.path.find(call.arguments) {
            Found::Value(value) => shown(value),
            Found::Missing => "nothing".to_owned(),
            Found::Unknown => "nothing certain".to_owned(),
        }
    };
    let is_met = known(met);
    let condition = format!("{} {}", display::line(condition.path.text()), display::line(&operators.join(" and ")));
    Finding { condition, seen, is_met }
}

fn known(truth: Truth) -> Option<bool> {
    match truth {
        Truth::True => Some(true),
        Truth::False => Some(false),
        Truth::Unknown => None,
    }
}

fn shown(value: &Value) -> String {
    shortened(&value.to_string())
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(VALUE_CHARACTERS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    display::line(&short).into_owned()
}

/// The elements that a path leads to, as many as are shown; missing ones are shown as `nothing`.
fn elements(segments: &[Segment], arguments: &Map<String, Value>) -> String {
    let mut found = Vec::new();
    if let Some((Segment::Member(name), rest)) = segments.split_first() {
        collect(arguments.get(name), rest, &mut found);
    }
    if found.is_empty() { "no elements".to_owned() } else { shortened(&found.join(", ")) }
}

fn collect(value: Option<&Value>, segments: &[Segment], found: &mut Vec<String>) {
    if found.len() > VALUE_CHARACTERS {
        return;
    }
    match (segments.split_first(), value) {
        (None, Some(value)) => found.push(shown(value)),
        (Some((Segment::Each, rest)), Some(Value::Array(elements))) => {
            elements.iter().take(VALUE_CHARACTERS).for_each(|element| collect(Some(element), rest, found));
        }
        (Some((Segment::Member(name), rest)), Some(Value::Object(members))) => collect(members.get(name), rest, found),
        _ => found.push("nothing".to_owned()),
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            let outcome = if step.is_match { "matches" } else { "does not match" };
            writeln!(formatter, "{} '{}' (line {}): {outcome}", step.verdict, step.rule, step.position.line)?;
            for finding in &step.findings {
                let met = match finding.is_met {
                    Some(true) => "met",
                    Some(false) => "not met",
                    None => "unknown",
                };
                writeln!(formatter, "  {met}: {}, seen {}", finding.condition, finding.seen)?;
            }
        }
        match &self.decision.rule {
            Some(rule) => write!(formatter, "{} by '{rule}'", self.decision.verdict)?,
            None => write!(formatter, "{} by default", self.decision.verdict)?,
        }
        if let Some(why) = &self.decision.why {
            write!(formatter, ": {}", display::line(why))?;
        }
        if let Some(ways) = self.decision.ask.who {
            write!(formatter, "\nasked by: {ways}")?;
        }
        match self.decision.ask.expires {
            Some(expires) => write!(formatter, "\nexpires after: {}", duration_text(expires)),
            None => Ok(()),
        }
    }
}
