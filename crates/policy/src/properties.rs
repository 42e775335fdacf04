//! Random rules and calls: the decisions equal those of an evaluator that is too simple to be
//! wrong, and the rules keep their promises.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc};

use belljar_model::{Effect, EffectRules, ToolDefinition, ToolPath, TrustedEffect, Verdict};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Map, Value, json};

use crate::{AtMost, Call, Caller, Gate, History, Labels, Measure, Places, Policy, absolute_folder};

/// Paths below `/out` are in it, other absolute paths are not, and everything else is unknown.
struct Simple;

impl Places for Simple {
    fn is_under(&self, _: &str, path: &str, folders: &[PathBuf]) -> Option<bool> {
        path.starts_with('/').then(|| folders.iter().any(|folder| PathBuf::from(path).starts_with(folder)))
    }
}

#[derive(Clone, Debug)]
struct SimpleRule {
    tools: Vec<String>,
    effects: Vec<Effect>,
    destructive: bool,
    principal: Option<String>,
    profile: Option<String>,
    /// `(path, operator, value)`
    conditions: Vec<(String, String, Value)>,
    /// Labels, one of which must be carried.
    carries: Vec<&'static str>,
    then: Verdict,
}

const PATHS: [&str; 6] = ["a", "b", "o.a", "l[]", "l[].a", "o.l[]"];

fn value(random: &mut StdRng, depth: usize) -> Value {
    match random.random_range(0..if depth == 0 { 7 } else { 10 }) {
        0 => Value::Null,
        1 => json!(random.random_range(0..4)),
        2 => json!(1.5),
        3 => json!(random.random_bool(0.5)),
        4 => json!(["x", "y", "/out/x", "/etc", "rel"][random.random_range(0..5)]),
        5 => json!("xx"),
        6 => json!([]),
        7 => Value::Array((0..random.random_range(0..3)).map(|_| value(random, depth - 1)).collect()),
        _ => Value::Object(members(random, depth - 1)),
    }
}

fn members(random: &mut StdRng, depth: usize) -> Map<String, Value> {
    let mut members = Map::new();
    for name in ["a", "b", "o", "l"] {
        if random.random_bool(0.6) {
            members.insert(name.to_owned(), value(random, depth));
        }
    }
    members
}

fn condition(random: &mut StdRng) -> (String, String, Value) {
    let path = PATHS[random.random_range(0..PATHS.len())].to_owned();
    let scalars = || json!(["x", 1, 1.5, true]);
    let (operator, value) = match random.random_range(0..11) {
        0 => ("is", [json!("x"), json!("1"), json!(1), json!(1.5)][random.random_range(0..4)].clone()),
        1 => ("in", [scalars(), json!(["x", "xx"]), json!([0, 1.5])][random.random_range(0..3)].clone()),
        2 => ("not_in", json!(["y", 2])),
        3 => ("min", json!(random.random_range(0..4))),
        4 => ("max", [json!(2.5), json!(0), json!(1)][random.random_range(0..3)].clone()),
        5 => ("under", json!(["/out"])),
        6 => ("not_under", json!(["/out", "/tmp"])),
        7 => ("matches", json!("x+")),
        8 => ("longer_than", json!(1)),
        9 => ("absent", json!(true)),
        _ => ("present", json!(true)),
    };
    (path, operator.to_owned(), value)
}

fn rule(random: &mut StdRng) -> SimpleRule {
    let then = Verdict::ALL[random.random_range(0..3)];
    let mut conditions: Vec<(String, String, Value)> = Vec::new();
    for _ in 0..random.random_range(1..4) {
        let next = condition(random);
        if conditions.iter().all(|(path, _, _)| *path != next.0) {
            conditions.push(next);
        }
    }
    SimpleRule {
        tools: vec![["s.t", "s.*", "*.*", "z.t"][random.random_range(0..4)].to_owned()],
        effects: if random.random_bool(0.7) { Effect::ALL.to_vec() } else { vec![Effect::External] },
        destructive: then != Verdict::Allow && random.random_bool(0.1),
        principal: random.random_bool(0.1).then(|| "ada".to_owned()),
        profile: random.random_bool(0.1).then(|| "ci".to_owned()),
        conditions,
        carries: if then != Verdict::Allow && random.random_bool(0.2) {
            [vec!["low"], vec!["high"], vec!["low", "high"]][random.random_range(0..3)].clone()
        } else {
            Vec::new()
        },
        then,
    }
}

fn written(default: Verdict, rules: &[SimpleRule]) -> String {
    // A label must be used, so the last rule uses both; it applies to no tool that is called.
    let mut text = format!("default = '{default}'\n[labels]\nlow = 'x.a'\nhigh = 'x.b'\n");
    for (at, rule) in rules.iter().enumerate() {
        text += &format!("[[rule]]\nid = 'r{at}'\nthen = '{}'\ntools = {}\n", rule.then, json!(rule.tools));
        text += &format!("effect = {}\n", json!(rule.effects));
        text += if rule.destructive { "destructive = true\n" } else { "" };
        text += &rule.principal.as_ref().map(|name| format!("principal = '{name}'\n")).unwrap_or_default();
        text += &rule.profile.as_ref().map(|name| format!("profile = '{name}'\n")).unwrap_or_default();
        text += &if rule.carries.is_empty() { String::new() } else { format!("carries = {}\n", json!(rule.carries)) };
        for (path, operator, value) in &rule.conditions {
            text += &format!("args.\"{path}\" = {{ {operator} = {value} }}\n");
        }
    }
    text + "[[rule]]\nid = 'uses'\ntools = 'x.y'\ncarries = ['low', 'high']\nthen = 'ask'\n"
}

/// `Some(true)`, `Some(false)`, or `None` for unknown.
type Known = Option<bool>;

fn leaf(operator: &str, wanted: &Value, value: Option<&Value>) -> Known {
    let Some(value) = value else {
        return match operator {
            "absent" => Some(true),
            "present" => Some(false),
            _ => None,
        };
    };
    let among = |wanted: &[Value]| {
        let same_type = wanted.iter().any(|one| std::mem::discriminant(one) == std::mem::discriminant(value));
        let equal = |one: &Value| match (one.as_f64(), value.as_f64()) {
            (Some(one), Some(value)) => one == value,
            _ => one == value,
        };
        (same_type && !value.is_null()).then(|| wanted.iter().any(equal))
    };
    let folders = || {
        let folders: Vec<PathBuf> = wanted.as_array()?.iter().filter_map(Value::as_str).map(PathBuf::from).collect();
        Simple.is_under("s", value.as_str()?, &folders)
    };
    match operator {
        "is" => among(std::slice::from_ref(wanted)),
        "in" => among(wanted.as_array()?),
        "not_in" => among(wanted.as_array()?).map(|is| !is),
        "min" => Some(value.as_f64()? >= wanted.as_f64()?),
        "max" => Some(value.as_f64()? <= wanted.as_f64()?),
        "under" => folders(),
        "not_under" => folders().map(|is| !is),
        "matches" => value.as_str().map(|text| !text.is_empty() && text.chars().all(|letter| letter == 'x')),
        "longer_than" => match value {
            Value::String(text) => Some(text.len() > 1),
            Value::Array(list) => Some(list.len() > 1),
            _ => None,
        },
        "absent" => Some(false),
        _ => Some(true),
    }
}

/// Every value that a path leads to: `Err` if something on the way has no members.
fn leaves<'v>(path: &str, value: &'v Value) -> Vec<Result<Option<&'v Value>, ()>> {
    if path.is_empty() {
        return vec![Ok(Some(value))];
    }
    if let Some(rest) = path.strip_prefix("[]") {
        return match value.as_array() {
            Some(list) if !list.is_empty() => {
                list.iter().flat_map(|element| leaves(rest.trim_start_matches('.'), element)).collect()
            }
            _ => vec![Err(())],
        };
    }
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (name, rest) = path.split_at(end);
    match value.as_object().map(|members| members.get(name)) {
        None => vec![Err(())],
        Some(None) if rest.contains("[]") => vec![Err(())],
        Some(None) => vec![Ok(None)],
        Some(Some(value)) => leaves(rest.trim_start_matches('.'), value),
    }
}

/// The carried labels; `None` if they are unknown.
type Carried<'c> = Option<&'c [&'static str]>;

struct WithLabels<'c>(&'c Policy, Carried<'c>);

impl History for WithLabels<'_> {
    fn has_room(&self, _: &Arc<str>, _: AtMost) -> Option<bool> {
        Some(true)
    }

    fn carries(&self, labels: Labels) -> Option<bool> {
        Some(self.1?.iter().any(|name| self.0.label(name).is_some_and(|label| label.meet(labels))))
    }

    fn has_passed(&self, _: &Gate, _: &str) -> Option<bool> {
        None
    }

    fn measured(&self, _: &Arc<str>, _: &Arc<Measure>, _: Map<String, Value>) -> Option<u64> {
        None
    }
}

fn matches(
    rule: &SimpleRule,
    tool: TrustedEffect,
    caller: &Caller<'_>,
    carried: Carried<'_>,
    arguments: &Value,
) -> bool {
    if !["s.t", "s.*", "*.*"].contains(&rule.tools[0].as_str())
        || !rule.effects.contains(&tool.effect())
        || (rule.destructive && !tool.is_destructive())
    {
        return false;
    }
    let is_mild = rule.then == Verdict::Allow;
    let counts = |known: Known| known.unwrap_or(!is_mild);
    let principal = rule.principal.as_ref().is_none_or(|name| counts(caller.principal.map(|given| given == name)));
    let profile = rule.profile.as_ref().is_none_or(|name| caller.profile == Some(name));
    let is_carried = rule.carries.is_empty()
        || counts(carried.map(|carried| rule.carries.iter().any(|name| carried.contains(name))));
    principal
        && profile
        && is_carried
        && rule.conditions.iter().all(|(path, operator, wanted)| {
            let mut all = leaves(path, arguments)
                .into_iter()
                .map(|leaf_value| counts(leaf_value.map_or(None, |value| leaf(operator, wanted, value))));
            if is_mild { all.all(|met| met) } else { all.any(|met| met) }
        })
}

fn naive(
    default: Verdict,
    rules: &[SimpleRule],
    tool: TrustedEffect,
    caller: &Caller<'_>,
    carried: Carried<'_>,
    arguments: &Value,
) -> Verdict {
    let matching: Vec<Verdict> =
        rules.iter().filter(|rule| matches(rule, tool, caller, carried, arguments)).map(|rule| rule.then).collect();
    if matching.contains(&Verdict::Deny) {
        return Verdict::Deny;
    }
    matching.first().copied().unwrap_or(default)
}

struct Case {
    default: Verdict,
    rules: Vec<SimpleRule>,
    tool: TrustedEffect,
    principal: Option<&'static str>,
    profile: Option<&'static str>,
    carried: Option<Vec<&'static str>>,
    arguments: Map<String, Value>,
}

impl Case {
    fn random(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let definition = json!({"name": "t", "annotations": {
            "readOnlyHint": random.random_bool(0.3), "openWorldHint": false, "destructiveHint": random.random_bool(0.5),
        }});
        let definition = ToolDefinition::from_json(definition).expect("a tool");
        let effects = if random.random_bool(0.5) { EffectRules::trusting() } else { EffectRules::default() };
        Self {
            default: Verdict::ALL[random.random_range(0..3)],
            rules: (0..random.random_range(0..6)).map(|_| rule(&mut random)).collect(),
            tool: effects.trusted(&definition),
            principal: [None, Some("ada"), Some("bob")][random.random_range(0..3)],
            profile: [None, Some("ci")][random.random_range(0..2)],
            carried: [None, Some(vec![]), Some(vec!["low"]), Some(vec!["low", "high"])][random.random_range(0..4)]
                .clone(),
            arguments: members(&mut random, 2),
        }
    }

    fn caller(&self) -> Caller<'static> {
        Caller { principal: self.principal, profile: self.profile }
    }

    fn decide(&self) -> Verdict {
        let text = written(self.default, &self.rules);
        let policy = Policy::parse(&text, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
        let policy = Arc::new(policy);
        let tool = policy.for_tool(&ToolPath::new("s", "t"), self.tool);
        let history = &WithLabels(&policy, self.carried.as_deref());
        let call = Call { caller: self.caller(), arguments: &self.arguments, places: &Simple, history, at: None };
        let decision = tool.decide(&call);
        assert_eq!(tool.explain(&call).decision, decision, "{text}\n{:?}", self.arguments);
        if let Some(whatever) = tool.decide_whatever(Some(&self.caller())) {
            assert_eq!(whatever.verdict, decision.verdict, "{text}\n{:?}", self.arguments);
        }
        if let Some(whoever) = tool.decide_whatever(None) {
            assert_eq!(whoever.verdict, decision.verdict, "{text}");
        }
        decision.verdict
    }
}

#[test]
fn decisions_are_those_of_the_naive_evaluator() {
    let mut seen = [0; 3];
    for seed in 0..20_000 {
        let case = Case::random(seed);
        let arguments = Value::Object(case.arguments.clone());
        let expected = naive(case.default, &case.rules, case.tool, &case.caller(), case.carried.as_deref(), &arguments);
        let decided = case.decide();
        assert_eq!(decided, expected, "seed {seed}\n{}\n{arguments}", written(case.default, &case.rules));
        seen[decided as usize] += 1;
    }
    assert!(seen.iter().all(|count| *count > 1_000), "{seen:?}");
}

#[test]
fn adding_a_deny_never_allows_more() {
    let mut stricter = 0;
    for seed in 0..5_000 {
        let mut case = Case::random(seed);
        let before = case.decide();
        let mut random = StdRng::seed_from_u64(seed + 1_000_000);
        let at = random.random_range(0..=case.rules.len());
        case.rules.insert(at, SimpleRule { then: Verdict::Deny, ..rule(&mut random) });
        let after = case.decide();
        assert!(after >= before, "seed {seed}: {before} became {after}");
        stricter += usize::from(after > before);
    }
    assert!(stricter > 100, "{stricter}");
}

#[test]
fn carrying_a_label_never_allows_more() {
    let mut stricter = 0;
    for seed in 0..10_000 {
        let mut case = Case::random(seed);
        case.carried = Some(Vec::new());
        let mut before = case.decide();
        for carried in [Some(vec!["low"]), Some(vec!["low", "high"]), None] {
            case.carried = carried;
            let after = case.decide();
            // A rule that asks can only override a default that denies if no rule denied.
            assert!(after >= before || case.default == Verdict::Deny, "seed {seed}: {before} became {after}");
            assert!(after != Verdict::Allow || before == Verdict::Allow, "seed {seed}: {before} became {after}");
            stricter += usize::from(after > before);
            before = after;
        }
    }
    assert!(stricter > 100, "{stricter}");
}

#[test]
fn dropping_an_argument_never_allows_more() {
    let mut stricter = 0;
    for seed in 0..10_000 {
        let mut case = Case::random(seed);
        // These two require something that does not exist, which is an error.
        case.rules.retain(|rule| {
            let has = |wanted: &str| rule.conditions.iter().any(|(_, operator, _)| operator == wanted);
            if rule.then == Verdict::Allow { !has("absent") } else { !has("present") }
        });
        let before = case.decide();
        let names: Vec<String> = case.arguments.keys().cloned().collect();
        for name in names {
            let dropped = case.arguments.shift_remove(&name).expect("it is there");
            let after = case.decide();
            assert!(
                after != Verdict::Allow || before == Verdict::Allow,
                "seed {seed} without {name}: {before} became {after}"
            );
            // A rule that denied still does; a rule that asks can only override a default that
            // denies if no rule denied.
            assert!(after >= before || case.default == Verdict::Deny, "seed {seed} without {name}");
            stricter += usize::from(after > before);
            case.arguments.insert(name, dropped);
        }
    }
    assert!(stricter > 100, "{stricter}");
}

/// An explanation evaluates the rules one by one, without an index.
#[test]
fn hundreds_of_rules_are_decided_as_one_after_the_other() {
    let mut seen = BTreeSet::new();
    for seed in 0..12 {
        let random = &mut StdRng::seed_from_u64(seed);
        // Few of them match; otherwise the first ones would decide everything.
        let rules: String = (0..300)
            .map(|at| {
                let then = Verdict::ALL[random.random_range(0..3)];
                let number = random.random_range(0..300);
                let numeric = match random.random_range(0..4) {
                    0 => format!("is = {number}"),
                    1 => format!("in = [{number}, {}.5]", number + 7),
                    2 => format!("min = {}", 290 + number / 10),
                    _ => format!("max = {}.5", number / 10 - 20),
                };
                let textual = match random.random_range(0..3) {
                    0 => format!("is = 't{number}'"),
                    1 => format!("in = ['t{number}', 't{}']", number / 2),
                    _ => format!("matches = 't{number}'"),
                };
                let conditions = match random.random_range(0..4) {
                    0 => format!("args.a = {{ {numeric} }}\n"),
                    1 => format!("args.b = {{ {textual} }}\n"),
                    2 => format!("args.c = {{ in = [{number}, 't{number}'] }}\n"),
                    _ => format!("args.a = {{ {numeric} }}\nargs.b = {{ {textual} }}\n"),
                };
                format!("[[rule]]\nid = 'r{at}'\ntools = 's.t'\nthen = '{then}'\n{conditions}")
            })
            .collect();
        let policy = Arc::new(Policy::parse(&format!("default = 'ask'\n{rules}"), &absolute_folder).expect("rules"));
        let trusted = EffectRules::default().trusted(&ToolDefinition::unknown("t"));
        let tool = policy.for_tool(&ToolPath::new("s", "t"), trusted);
        for _ in 0..40 {
            let mut arguments = Map::new();
            for name in ["a", "b", "c"] {
                let number = random.random_range(0..300);
                let value = match random.random_range(0..40) {
                    0 => continue,
                    1 => Value::Null,
                    2 => json!(true),
                    3 => json!(format!("t{number}x")),
                    4..10 if name == "a" => json!(f64::from(number) + 0.5),
                    _ if name == "a" => json!(number),
                    _ => json!(format!("t{number}")),
                };
                arguments.insert(name.to_owned(), value);
            }
            let call = Call { caller: Caller::default(), arguments: &arguments, places: &(), history: &(), at: None };
            let decision = tool.decide(&call);
            assert_eq!(decision, tool.explain(&call).decision, "seed {seed}: {arguments:?}");
            seen.insert(decision.rule);
        }
    }
    assert!(seen.len() > 60, "only {} rules ever decided", seen.len());
}
