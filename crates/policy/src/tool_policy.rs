//! The rules for one tool, prepared for decisions: each argument is looked up once, rules that its
//! value excludes are skipped (`index.rs`), rules that deny come first, and conditions that need
//! the file system come last within a rule.

use std::sync::{Arc, OnceLock};

use belljar_model::{ToolPath, TrustedEffect, Verdict};

use crate::{
    AskTerms, Broken, Call, Caller, Decision, Policy,
    argument::{ArgumentPath, Found},
    condition::{Context, Operator, Truth},
    index::{Entry, Index},
    rule::Rule,
};

/// The rules for one tool.
#[derive(Debug)]
pub struct ToolPolicy {
    policy: Arc<Policy>,
    server: String,
    default: Verdict,
    /// The arguments that conditions examine.
    paths: Vec<ArgumentPath>,
    /// Rules that deny come first; otherwise they are in the order of the file.
    pub(crate) rules: Vec<Compiled>,
    checks: Vec<Check>,
    asks_places: bool,
    broken: Broken,
    /// Built for the first decision, because for many tools only the question whether anybody may
    /// call them is asked.
    index: OnceLock<Index>,
}

/// One rule: which one, and its checks.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) rule: usize,
    verdict: Verdict,
    names_callers: bool,
    counts: bool,
    has_hours: bool,
    carries: bool,
    /// Whether it requires an earlier call or a measuring call.
    has_gate: bool,
    checks: std::ops::Range<usize>,
}

impl Compiled {
    /// Whether only the tool and the caller decide.
    fn is_unconditional(&self) -> bool {
        self.checks.is_empty() && !self.counts && !self.has_hours && !self.carries && !self.has_gate
    }
}

/// A single check.
#[derive(Debug)]
enum Check {
    /// An operator on an argument that was looked up.
    Found { path: usize, operator: Operator },
    /// A condition on elements of lists, by its position in its rule.
    Each { condition: usize },
    /// A condition that makes no sense with the server's list.
    Broken,
}

impl ToolPolicy {
    pub(crate) fn new(policy: Arc<Policy>, tool: &ToolPath, trusted: TrustedEffect, broken: &Broken) -> Self {
        let default = policy.defaults[trusted.effect() as usize];
        let server = tool.server().to_owned();
        let (mut paths, mut rules, mut checks) = (Vec::<ArgumentPath>::new(), Vec::new(), Vec::new());
        let concerned = policy.rules.iter().enumerate().filter(|(_, rule)| rule.concerns(tool, trusted));
        let (denying, others): (Vec<_>, Vec<_>) = concerned.partition(|(_, rule)| rule.verdict == Verdict::Deny);
        for (at, rule) in denying.into_iter().chain(others) {
            let from = checks.len();
            for (condition, conditions) in rule.conditions.iter().enumerate() {
                if broken.has(at, condition) {
                    checks.push(Check::Broken);
                    continue;
                }
                if conditions.path.has_each() {
                    checks.push(Check::Each { condition });
                    continue;
                }
                let path = paths.iter().position(|path| *path == conditions.path).unwrap_or_else(|| {
                    paths.push(conditions.path.clone());
                    paths.len() - 1
                });
                let operators = conditions.operators.iter().cloned();
                checks.extend(operators.map(|operator| Check::Found { path, operator }));
            }
            // The sort is stable: cheap checks stay in order.
            checks[from..].sort_by_key(|check| match check {
                Check::Found { operator, .. } => operator.asks_places(),
                Check::Each { condition } => rule.conditions[*condition].asks_places(),
                Check::Broken => false,
            });
            let names_callers = rule.principals.is_some() || rule.profiles.is_some();
            rules.push(Compiled {
                rule: at,
                verdict: rule.verdict,
                names_callers,
                counts: rule.at_most.is_some(),
                has_hours: rule.hours.is_some(),
                carries: !rule.carries.is_empty(),
                has_gate: rule.after.is_some() || rule.measure.is_some(),
                checks: from..checks.len(),
            });
        }
        let asks_places = rules.iter().any(|compiled| {
            policy.rules[compiled.rule].conditions.iter().any(crate::condition::Condition::asks_places)
        });
        Self {
            policy,
            server,
            default,
            paths,
            rules,
            checks,
            asks_places,
            broken: broken.clone(),
            index: OnceLock::new(),
        }
    }

    /// The verdict on a call that none of the rules decides.
    pub fn default_verdict(&self) -> Verdict {
        self.default
    }

    /// The verdict on a call.
    pub fn decide(&self, call: &Call<'_>) -> Decision {
        let found: Vec<Found<'_>> = self.paths.iter().map(|path| path.find(call.arguments)).collect();
        let decides = |compiled: &&Compiled| {
            let rule = &self.policy.rules[compiled.rule];
            rule.takes(self.truth(compiled, rule, &found, call))
        };
        let candidates = self.index.get_or_init(|| self.indexed()).candidates(&found);
        // Bits after the last rule are unused.
        let decided_by = candidates.filter_map(|at| self.rules.get(at)).find(decides);
        self.decision(decided_by).measured_for(decided_by.map(|compiled| &self.policy.rules[compiled.rule]), call)
    }

    fn indexed(&self) -> Index {
        let of_rule = |(at, compiled): (usize, &Compiled)| {
            let takes_unknown = compiled.verdict != Verdict::Allow;
            let entry = move |check| match check {
                &Check::Found { path, ref operator } => {
                    Some(Entry { rule: at, argument: path, operator, takes_unknown })
                }
                Check::Each { .. } | Check::Broken => None,
            };
            self.checks[compiled.checks.clone()].iter().filter_map(entry).collect::<Vec<_>>()
        };
        Index::new(self.rules.len(), self.rules.iter().enumerate().flat_map(of_rule))
    }

    /// The verdict on every call of this caller (or of anybody if none is given), whatever the
    /// arguments, if that verdict is certain.
    pub fn decide_whatever(&self, caller: Option<&Caller<'_>>) -> Option<Decision> {
        let (mut is_certain, mut may_be_milder) = (true, false);
        for compiled in &self.rules {
            let rule = &self.policy.rules[compiled.rule];
            let is_taken = caller.is_none_or(|caller| rule.takes(rule.concerns_caller(caller)));
            if !is_taken {
                continue;
            }
            let is_for_all = !compiled.names_callers || caller.is_some();
            match (compiled.verdict, compiled.is_unconditional() && is_for_all) {
                (Verdict::Deny, true) => return Some(self.decision(Some(compiled))),
                // Rules that deny were checked before.
                (_, true) => return is_certain.then(|| self.decision(Some(compiled))),
                (verdict, false) => {
                    is_certain = false;
                    may_be_milder |= verdict != Verdict::Deny;
                }
            }
        }
        // If the default denies and no rule can be milder, the call is denied in any case.
        let is_denied = !may_be_milder && self.default == Verdict::Deny;
        (is_certain || is_denied).then(|| self.decision(None))
    }

    /// Whether a decision may need the file system, which takes time.
    pub fn asks_places(&self) -> bool {
        self.asks_places
    }

    /// Whether a decision may need the time.
    pub fn asks_time(&self) -> bool {
        self.rules.iter().any(|compiled| compiled.has_hours)
    }

    /// Whether a decision may need the number of calls.
    pub fn counts(&self) -> bool {
        self.rules.iter().any(|compiled| compiled.counts)
    }

    /// Whether a decision may need a measuring call.
    pub fn measures(&self) -> bool {
        self.rules.iter().any(|compiled| self.policy.rules[compiled.rule].measure.is_some())
    }

    /// Whether a decision may depend on more than the call itself: on the time or on earlier calls.
    pub fn depends_on_the_moment(&self) -> bool {
        let depends =
            |compiled: &Compiled| compiled.counts || compiled.has_hours || compiled.carries || compiled.has_gate;
        self.rules.iter().any(depends)
    }

    /// Whether a decision may need the carried labels.
    pub fn asks_labels(&self) -> bool {
        self.rules.iter().any(|compiled| compiled.carries)
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Whether a condition makes no sense with the server's list.
    pub(crate) fn is_broken(&self, rule: usize, condition: usize) -> bool {
        self.broken.has(rule, condition)
    }

    pub(crate) fn default(&self) -> Verdict {
        self.default
    }

    pub(crate) fn decision(&self, decided_by: Option<&Compiled>) -> Decision {
        match decided_by.map(|compiled| &self.policy.rules[compiled.rule]) {
            Some(rule) => {
                let (id, why) = (Some(rule.id.clone()), rule.why.clone());
                Decision { verdict: rule.verdict, rule: id, why, ask: rule.ask, measured: None }
            }
            None => Decision { verdict: self.default, rule: None, why: None, ask: AskTerms::default(), measured: None },
        }
    }

    fn truth(&self, compiled: &Compiled, rule: &Rule, found: &[Found<'_>], call: &Call<'_>) -> Truth {
        let context = Context { server: &self.server, places: call.places };
        let mut truth = if compiled.names_callers { rule.concerns_caller(&call.caller) } else { Truth::True };
        if compiled.has_hours {
            truth = truth.and(rule.concerns_time(call.at));
        }
        for check in &self.checks[compiled.checks.clone()] {
            if truth == Truth::False || !rule.takes(truth) {
                break;
            }
            truth = truth.and(match check {
                Check::Broken => Truth::Unknown,
                Check::Found { path, operator } => operator.judge(found[*path], context),
                Check::Each { condition } => {
                    rule.conditions[*condition].judge(call.arguments, rule.quantifier(), context)
                }
            });
        }
        if compiled.carries && truth != Truth::False && rule.takes(truth) {
            truth = truth.and(rule.concerns_carried(call.history));
        }
        if compiled.has_gate && truth != Truth::False && rule.takes(truth) {
            truth = truth.and(rule.concerns_gate(call));
            if truth != Truth::False && rule.takes(truth) {
                truth = truth.and(rule.concerns_measure(call));
            }
        }
        // Checked last: a call is counted only if everything else matches.
        if compiled.counts && rule.takes(truth) {
            truth = truth.and(rule.concerns_count(call.history));
        }
        truth
    }
}

impl Decision {
    /// The same with what the deciding rule has measured.
    pub(crate) fn measured_for(self, rule: Option<&Rule>, call: &Call<'_>) -> Self {
        let said = |rule: &Rule| Some(rule.measure.as_ref()?.said(rule.measured(call)).into());
        Self { measured: rule.and_then(said), ..self }
    }
}
