//! Checks rules against the servers' lists of tools: a rule with a wrong name has no effect, and
//! nobody would notice.
//!
//! Whatever is certainly wrong is an error; whatever is probably wrong is a warning. A condition
//! that makes no sense with a server's list is [`Broken`]: its result is then always unknown, so
//! that rules for this server fail closed, and other rules do not change.

use std::collections::{BTreeMap, BTreeSet};

use belljar_model::{Effect, EffectRules, ToolDefinition, ToolPath, nearest};

use crate::{
    Policy, Problem,
    condition::{Condition, Operator, Values},
    error::{ProblemKind, shown},
    glob::ToolGlob,
    rule::Rule,
    schema::{Declared, Types, declared},
};

/// What is known about one configured server.
#[derive(Debug, Clone, Copy)]
pub struct ServerTools<'l> {
    /// Its exact name.
    pub name: &'l str,
    /// What the owner declares about the effects of its tools.
    pub effects: &'l EffectRules,
    /// Its list of tools; `None` if it is not known.
    pub tools: Option<&'l [ToolDefinition]>,
}

/// How rules disagree with the servers' lists.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Comparison {
    /// Certain errors, in the order of the file.
    pub mistakes: Vec<Mistake>,
    /// Probable errors, in the order of the file.
    pub warnings: Vec<Problem>,
}

/// A certain error.
#[derive(Debug, Clone, PartialEq)]
pub struct Mistake {
    /// The server whose list the rule contradicts; `None` if there is no such server.
    pub server: Option<String>,
    /// What is wrong, and where.
    pub problem: Problem,
}

/// The conditions that make no sense with a server's list: their result is always unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Broken(BTreeSet<(usize, usize)>);

impl Broken {
    pub(crate) fn has(&self, rule: usize, condition: usize) -> bool {
        self.0.contains(&(rule, condition))
    }

    /// Whether every condition makes sense.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The findings, by byte offset in the file.
#[derive(Default)]
struct Found {
    mistakes: Vec<(usize, Option<String>, ProblemKind)>,
    warnings: Vec<(usize, ProblemKind)>,
    broken: BTreeSet<(usize, usize)>,
}

impl Policy {
    /// Checks the rules and tests against the configured servers.
    pub fn compare(&self, servers: &[ServerTools<'_>]) -> Comparison {
        let mut found = Found::default();
        self.compare_names(servers, &mut found);
        for server in servers {
            self.compare_arguments(server, &mut found);
        }
        found.mistakes.sort_by_key(|(offset, _, _)| *offset);
        found.warnings.sort_by_key(|(offset, _)| *offset);
        let problem = |offset, fault| Problem { position: self.position(offset), fault };
        let mistakes = found.mistakes.into_iter();
        let warnings = found.warnings.into_iter();
        Comparison {
            mistakes: mistakes
                .map(|(offset, server, fault)| Mistake { server, problem: problem(offset, fault) })
                .collect(),
            warnings: warnings.map(|(offset, fault)| problem(offset, fault)).collect(),
        }
    }

    /// The conditions that make no sense with one server's list, and why.
    pub fn broken(&self, server: &ServerTools<'_>) -> (Broken, Vec<Problem>) {
        let mut found = Found::default();
        self.compare_arguments(server, &mut found);
        let problem = |(offset, _, fault)| Problem { position: self.position(offset), fault };
        (Broken(found.broken), found.mistakes.into_iter().map(problem).collect())
    }

    /// Whether a rule or a test names this server, so that its list is needed.
    pub fn names_server(&self, name: &str) -> bool {
        let is_named = |glob: &ToolGlob| glob.server.is_literal() && glob.server.matches(name);
        self.rules.iter().any(|rule| rule.tools.iter().flatten().any(is_named))
            || self.rules.iter().filter_map(|rule| rule.after.as_ref()).any(|gate| gate.tools.iter().any(is_named))
            || self.rules.iter().filter_map(|rule| rule.measure.as_ref()).any(|measure| measure.tool.server() == name)
            || self.labels.labels.iter().any(|label| label.tools.iter().any(is_named))
            || self.tests.iter().any(|test| test.call.server() == name)
    }

    fn compare_names(&self, servers: &[ServerTools<'_>], found: &mut Found) {
        let unknown = |server: &str| ProblemKind::UnknownServer {
            server: shown(server),
            nearest: nearest(server, servers.iter().map(|server| server.name)).map(str::to_owned),
        };
        let of_labels = self.labels.labels.iter().flat_map(|label| &label.tools);
        let of_gates = self.rules.iter().filter_map(|rule| rule.after.as_ref()).flat_map(|gate| &gate.tools);
        let of_pins = self.pins.iter().flat_map(|pins| pins.tools.iter().flatten());
        for glob in self
            .rules
            .iter()
            .flat_map(|rule| rule.tools.iter().flatten())
            .chain(of_labels)
            .chain(of_pins)
            .chain(of_gates)
        {
            let mut matched = servers.iter().filter(|server| glob.server.matches(server.name)).peekable();
            if matched.peek().is_none() {
                if glob.server.is_literal() {
                    found.mistakes.push((glob.offset, None, unknown(&glob.server.text())));
                } else {
                    found.warnings.push((glob.offset, ProblemKind::NoServer { pattern: shown(&glob.server.text()) }));
                }
                continue;
            }
            let matched: Vec<_> = matched.collect();
            let Some(tools) = matched.iter().map(|server| server.tools).collect::<Option<Vec<_>>>() else { continue };
            let names = || tools.iter().flat_map(|tools| tools.iter()).map(|tool| tool.name.as_str());
            if !names().any(|name| glob.tool.matches(name)) {
                let near = Some(glob.tool.text()).filter(|_| glob.tool.is_literal());
                let near = near.and_then(|name| nearest(&name, names()).map(shown));
                let (server, tool) = (shown(&glob.server.text()), shown(&glob.tool.text()));
                found.warnings.push((glob.offset, ProblemKind::UnknownTool { server, tool, nearest: near }));
            }
        }
        let measures = self.rules.iter().filter_map(|rule| rule.measure.as_ref());
        let measured = measures.map(|measure| (measure.offset, &measure.tool));
        for (offset, path) in self.tests.iter().map(|test| (test.offset, &test.call)).chain(measured) {
            let (server, tool) = (path.server(), path.tool());
            match servers.iter().find(|known| known.name == server).map(|known| known.tools) {
                None => found.mistakes.push((offset, None, unknown(server))),
                Some(Some(tools)) if tools.iter().all(|known| known.name != tool) => {
                    let nearest = nearest(tool, tools.iter().map(|tool| tool.name.as_str())).map(shown);
                    let fault = ProblemKind::UnknownTool { server: shown(server), tool: shown(tool), nearest };
                    found.warnings.push((offset, fault));
                }
                Some(_) => {}
            }
        }
        for measure in self.rules.iter().filter_map(|rule| rule.measure.as_ref()) {
            let Some(server) = servers.iter().find(|known| known.name == measure.tool.server()) else { continue };
            let listed = server.tools.and_then(|tools| tools.iter().find(|tool| tool.name == measure.tool.tool()));
            let effect = listed.map(|tool| server.effects.trusted(tool).effect());
            if let Some(effect) = effect.filter(|effect| *effect != Effect::ReadOnly) {
                let fault = ProblemKind::MeasureActs { tool: shown(&measure.tool.to_string()), effect };
                found.mistakes.push((measure.offset, Some(server.name.to_owned()), fault));
            }
        }
    }

    /// Checks the conditions of the rules that name this server.
    fn compare_arguments(&self, server: &ServerTools<'_>, found: &mut Found) {
        let Some(tools) = server.tools else { return };
        let by_name: BTreeMap<&str, &ToolDefinition> = tools.iter().map(|tool| (tool.name.as_str(), tool)).collect();
        for (at, rule) in self.rules.iter().enumerate() {
            if rule.conditions.is_empty() {
                continue;
            }
            let of_server = |glob: &&ToolGlob| glob.server.is_literal() && glob.server.matches(server.name);
            let globs: Vec<&ToolGlob> = rule.tools.iter().flatten().filter(of_server).collect();
            if globs.is_empty() {
                continue;
            }
            let concerned = |tool: &&&ToolDefinition| {
                globs.iter().any(|glob| glob.tool.matches(&tool.name))
                    && rule.concerns(&ToolPath::new(server.name, &tool.name), server.effects.trusted(tool))
            };
            let tools: Vec<&ToolDefinition> = by_name.values().filter(concerned).copied().collect();
            for (number, condition) in rule.conditions.iter().enumerate() {
                let looked = Looked { server, rule, condition, tools: &tools };
                if looked.look(&globs, found) {
                    found.broken.insert((at, number));
                }
            }
        }
    }
}

/// One condition, and the tools of one server that it applies to.
struct Looked<'l> {
    server: &'l ServerTools<'l>,
    rule: &'l Rule,
    condition: &'l Condition,
    tools: &'l [&'l ToolDefinition],
}

impl Looked<'_> {
    /// Whether the condition makes no sense for any of the tools.
    fn look(&self, globs: &[&ToolGlob], found: &mut Found) -> bool {
        let mut faults = Vec::new();
        let mut means_something = self.tools.is_empty();
        for tool in self.tools {
            let declared = declared(&tool.input_schema, self.condition.path.segments());
            match self.fault(tool, &declared) {
                Some(fault) => faults.push((tool.name.as_str(), fault)),
                None => means_something = true,
            }
            if let Declared::Value { values: Some(values), .. } = &declared {
                let unlisted = self.condition.operators.iter().filter_map(|operator| unlisted(operator, values));
                for (value, nearest) in unlisted {
                    let (argument, tool) = (self.argument(), self.path(&tool.name));
                    found
                        .warnings
                        .push((self.condition.offset, ProblemKind::Unlisted { argument, value, tool, nearest }));
                }
            }
        }
        if !means_something {
            // One report is enough: an error for one tool usually applies to all of them.
            if let Some((_, fault)) = faults.into_iter().next() {
                found.mistakes.push((self.condition.offset, Some(self.server.name.to_owned()), fault));
                return true;
            }
            return false;
        }
        let is_named = |tool: &str| globs.iter().any(|glob| glob.tool.is_literal() && glob.tool.matches(tool));
        for (_, fault) in faults.into_iter().filter(|(tool, _)| is_named(tool)) {
            let fault = ProblemKind::NotEverywhere { fault: Box::new(fault), rule: self.rule.id.to_string() };
            found.warnings.push((self.condition.offset, fault));
        }
        false
    }

    fn fault(&self, tool: &ToolDefinition, declared: &Declared<'_>) -> Option<ProblemKind> {
        let (argument, tool) = (self.argument(), self.path(&tool.name));
        match declared {
            Declared::Unsure => None,
            Declared::Absent { name, known } => {
                let nearest = nearest(name, known.iter().copied()).map(shown);
                let known = known.iter().copied().map(shown).collect();
                Some(ProblemKind::UnknownArgument { argument, tool, nearest, known })
            }
            Declared::NoWay { types } => Some(ProblemKind::NoMembers { argument, tool, declared: types.to_string() }),
            Declared::Value { types, .. } => {
                let is_wrong = |operator: &&Operator| wanted(operator).is_some_and(|wanted| !types.meets(wanted));
                let operator = self.condition.operators.iter().find(is_wrong)?;
                let wanted = wanted(operator)?.to_string();
                let condition = operator.key();
                Some(ProblemKind::WrongType { condition, argument, tool, wanted, declared: types.to_string() })
            }
        }
    }

    fn argument(&self) -> String {
        shown(self.condition.path.text())
    }

    fn path(&self, tool: &str) -> String {
        shown(&format!("{}.{tool}", self.server.name))
    }
}

/// The types of values for which an operator has a result; `None` if it has one for all types.
fn wanted(operator: &Operator) -> Option<Types> {
    match operator {
        Operator::Is(values) | Operator::In(values) | Operator::NotIn(values) => Some(types_of(values)),
        Operator::Min(_) | Operator::Max(_) => Some(Types::NUMBER),
        Operator::Under(_) | Operator::NotUnder(_) | Operator::Matches(_) => Some(Types::STRING),
        Operator::LongerThan(_) => Some(Types::STRING.or(Types::ARRAY)),
        Operator::Absent | Operator::Present => None,
    }
}

fn types_of(values: &Values) -> Types {
    let mut types = Types::NONE;
    for (has, one) in [
        (!values.texts.is_empty(), Types::STRING),
        (!values.numbers.is_empty(), Types::NUMBER),
        (!values.booleans.is_empty(), Types::BOOLEAN),
    ] {
        if has {
            types = types.or(one);
        }
    }
    types
}

/// A text in a rule that the schema does not list, and the most similar one that it lists.
fn unlisted(operator: &Operator, listed: &[&serde_json::Value]) -> Option<(String, Option<String>)> {
    let (Operator::Is(values) | Operator::In(values) | Operator::NotIn(values)) = operator else { return None };
    let listed: Vec<&str> = listed.iter().filter_map(|value| value.as_str()).collect();
    let text = values.texts.iter().find(|text| !listed.contains(&text.as_str()))?;
    Some((shown(text), nearest(text, listed).map(shown)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use belljar_model::Verdict;
    use serde_json::{Value, json};

    use super::*;
    use crate::{Call, Caller, absolute_folder};

    fn tool(name: &str, properties: Value) -> ToolDefinition {
        let schema = json!({ "type": "object", "properties": properties });
        ToolDefinition::from_json(json!({ "name": name, "inputSchema": schema })).expect("a tool")
    }

    fn tools() -> Vec<ToolDefinition> {
        vec![
            tool("write_file", json!({ "path": { "type": "string" }, "size": { "type": "integer" } })),
            tool("move_file", json!({ "source": { "type": "string" }, "mode": { "enum": ["soft", "hard"] } })),
        ]
    }

    fn compared(rule: &str) -> (Vec<String>, Vec<String>) {
        let (tools, effects) = (tools(), EffectRules::default());
        let fs = ServerTools { name: "fs", effects: &effects, tools: Some(&tools) };
        let other = ServerTools { name: "git", effects: &effects, tools: None };
        let policy = policy(rule);
        let found = policy.compare(&[fs, other]);
        let text = |problem: &Problem| problem.to_string();
        (
            found.mistakes.iter().map(|mistake| text(&mistake.problem)).collect(),
            found.warnings.iter().map(text).collect(),
        )
    }

    fn policy(rule: &str) -> Arc<Policy> {
        let text = format!("default = 'allow'\n[[rule]]\nid = 'r'\nthen = 'deny'\n{rule}\n");
        Arc::new(Policy::parse(&text, &absolute_folder).unwrap_or_else(|problems| panic!("{rule}\n{problems}")))
    }

    #[test]
    fn what_cannot_be_meant_is_a_mistake_at_its_place() {
        for (rule, expected) in [
            ("tools = 'fsx.write_file'", "line 5, column 9: no server is called 'fsx': did you mean 'fs'?"),
            ("tools = ['fs.*', 'zebra.*']", "line 5, column 18: no server is called 'zebra': a pattern such as"),
            (
                "tools = 'fs.write_file'\nargs.pth = { is = 'x' }",
                "line 6, column 6: fs.write_file has no argument 'pth': did you mean 'path'?",
            ),
            ("tools = 'fs.*'\nargs.zebra = { present = true }", "has no argument 'zebra': it has mode, source"),
            (
                "tools = 'fs.write_file'\nargs.path = { max = 3 }",
                "line 6, column 6: 'max' on 'path' applies to a number, but fs.write_file takes a string",
            ),
            ("tools = 'fs.write_file'\nargs.size = { matches = 'x' }", "'matches' on 'size' applies to a string"),
            ("tools = 'fs.write_file'\nargs.size = { in = ['x', true] }", "applies to a string or a boolean, but"),
            ("tools = 'fs.write_file'\nargs.'path.x' = { is = 1 }", "'path.x' leads through a string of fs.write_file"),
            ("tools = 'fs.write_file'\nargs.'path[]' = { is = 1 }", "'path[]' leads through a string"),
            ("[[test]]\ncall = 'gti.push'\nexpect = 'deny'", "line 5, column 1: no server is called 'gti'"),
        ] {
            let (mistakes, _) = compared(rule);
            assert!(mistakes.len() == 1 && mistakes[0].contains(expected), "{rule}\n{mistakes:?}\nexpected {expected}");
        }
    }

    #[test]
    fn what_is_probably_not_meant_is_a_warning() {
        for (rule, expected) in [
            ("tools = 'fs.wirte_file'", "line 5, column 9: fs lists no tool 'wirte_file': did you mean 'write_file'?"),
            ("tools = 'fs.zebra*'", "fs lists no tool 'zebra*'"),
            ("tools = 'prod-*.x'", "line 5, column 9: no configured server is called 'prod-*'"),
            (
                "tools = ['fs.write_file', 'fs.move_file']\nargs.path = { is = 'x' }",
                "fs.move_file has no argument 'path': it has mode, source; rule 'r' treats the condition as unknown there",
            ),
            ("tools = 'fs.move_file'\nargs.mode = { is = 'sotf' }", "'sotf' is not among the values of 'mode'"),
            ("[[test]]\ncall = 'fs.mov_file'\nexpect = 'deny'", "fs lists no tool 'mov_file': did you mean"),
        ] {
            let (mistakes, warnings) = compared(rule);
            assert_eq!(mistakes, Vec::<String>::new(), "{rule}");
            assert!(warnings.len() == 1 && warnings[0].contains(expected), "{rule}\n{warnings:?}\nexpected {expected}");
        }
    }

    #[test]
    fn what_may_well_be_meant_is_not_remarked_on() {
        for rule in [
            "tools = 'git.push'\nargs.x = { is = 1 }",
            "tools = '*.write_file'\nargs.x = { is = 1 }",
            "args.x = { is = 1 }",
            "tools = 'fs.*'\nargs.path = { not_under = '/out' }",
            "tools = 'fs.move_file'\nargs.mode = { in = ['soft', 'hard'] }",
            "tools = 'fs.write_file'\nargs.path = { longer_than = 3 }\nargs.size = { present = true, min = 3 }",
            // No tool of this effect is known, so the rule applies to none.
            "tools = 'fs.*'\neffect = 'read_only'\nargs.x = { is = 1 }",
        ] {
            assert_eq!(compared(rule), (Vec::new(), Vec::new()), "{rule}");
        }
    }

    #[test]
    fn a_condition_that_a_list_has_made_meaningless_fails_closed_and_no_other_does() {
        let text = "default = 'ask'\n\
            [[rule]]\nid = 'gentle'\ntools = ['fs.move_file', 'git.mv']\nargs.force = { absent = true }\nthen = 'allow'\n\
            [[rule]]\nid = 'hard'\ntools = 'fs.write_file'\nargs.force = { present = true }\nthen = 'deny'\n";
        let policy = Arc::new(Policy::parse(text, &absolute_folder).expect("rules"));
        let effects = EffectRules::default();
        let decided = |tools: &[ToolDefinition], server: &str, name: &str| {
            let (broken, problems) =
                policy.broken(&ServerTools { name: server, effects: &effects, tools: Some(tools) });
            assert_eq!(broken.is_empty(), problems.is_empty());
            let trusted = effects.trusted(&ToolDefinition::unknown(name));
            let tool = policy.for_tool_but(&ToolPath::new(server, name), trusted, &broken);
            let arguments = serde_json::Map::new();
            let call = Call { caller: Caller::default(), arguments: &arguments, places: &(), history: &(), at: None };
            assert_eq!(tool.explain(&call).decision, tool.decide(&call));
            tool.decide(&call).verdict
        };
        let before = |name| vec![tool(name, json!({ "force": { "type": "boolean" } }))];
        let after = |name| vec![tool(name, json!({ "overwrite": { "type": "boolean" } }))];
        assert_eq!(decided(&before("move_file"), "fs", "move_file"), Verdict::Allow);
        assert_eq!(decided(&after("move_file"), "fs", "move_file"), Verdict::Ask);
        assert_eq!(decided(&before("mv"), "git", "mv"), Verdict::Allow);
        assert_eq!(decided(&before("write_file"), "fs", "write_file"), Verdict::Ask);
        assert_eq!(decided(&after("write_file"), "fs", "write_file"), Verdict::Deny);
    }
}
