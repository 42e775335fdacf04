//! `belljar policy`: examines the owner's rules without calling anything. No server is started.
//!
//! `accept.rs` is `belljar policy accept`, and `arguments.rs` has all arguments.

mod accept;
mod arguments;

use std::{path::Path, process::ExitCode, sync::Arc, time::Duration};

use belljar_config::Config;
use belljar_gateway::Files;
use belljar_model::{ErrorKind, ServerSpec, ToolDefinition, ToolPath, TrustedEffect, Verdict, nearest};
use belljar_policy::{
    Assumed, Broken, Call, Caller, Explanation, Labels, Places, Policy, Problem, ServerTools, TestRow, suspicions,
};
use belljar_upstream::Listed;
use serde_json::{Value, json};

use super::call::input;
use crate::{
    failure::{Failure, exit_code_of},
    output::{self, ERROR, GOOD, WARNING, visible, visible_line},
    policy::{self, FoundPolicy, LoadedPolicy},
    render::count::counted,
    setup::{self, Loaded},
};
use accept::{Changed, accept, changed};
pub(crate) use arguments::PolicyArguments;
use arguments::{PolicyCommand, PolicyExplainArguments, PolicyOptions};

pub(crate) async fn policy(arguments: PolicyArguments) -> Result<ExitCode, Failure> {
    match arguments.command {
        PolicyCommand::Check(options) => check(&options).await,
        PolicyCommand::Test(options) => test(&options),
        PolicyCommand::Explain(arguments) => explain(&arguments).await,
        PolicyCommand::Accept(arguments) => accept(arguments).await,
    }
}

/// The message if there are no rules.
const NO_RULES: &str = "there are no rules: every call of every tool is allowed";

async fn check(options: &PolicyOptions) -> Result<ExitCode, Failure> {
    let mut found = setup::find(&options.config)?;
    let of_file = found.policy.take();
    let servers = &found.config.servers;
    let Some(FoundPolicy { path, text, read }) = of_file else {
        if options.json {
            output::print_json(
                &json!({ "ok": true, "file": null, "rules": 0, "tests": 0, "mistakes": [], "warnings": [], "definitions": [], "unknown": [] }),
            );
        } else {
            output::print(NO_RULES);
        }
        return Ok(ExitCode::SUCCESS);
    };
    let mut seen = Checked::default();
    match read {
        Err(problems) => seen.mistakes.extend(problems.problems.into_iter().map(|problem| (None, problem))),
        Ok(policy) => {
            let rules = LoadedPolicy { path: path.clone(), text, policy };
            let lists = rules.lists(servers, None);
            let compared = rules.compare(servers, |at| tools_of(&lists, at));
            seen.mistakes.extend(compared.mistakes.into_iter().map(|mistake| (mistake.server, mistake.problem)));
            seen.mistakes.extend(rules.without_webhook(&found.config).map(|problem| (None, problem)));
            seen.warnings = compared.warnings;
            (seen.rules, seen.tests) = (rules.policy.rules(), rules.policy.tests().len());
            let is_unknown = |(at, spec): &(usize, &ServerSpec)| {
                rules.policy.names_server(&spec.name) && tools_of(&lists, *at).is_none()
            };
            seen.definitions = definitions(&rules, &found.config).await?;
            seen.unknown = servers.iter().enumerate().filter(is_unknown).map(|(_, spec)| spec.name.clone()).collect();
        }
    }
    if options.json {
        output::print_json(&seen.as_json(&path))
    } else {
        seen.show(&path)
    }
    Ok(if seen.mistakes.is_empty() { ExitCode::SUCCESS } else { exit_code_of(ErrorKind::Config) })
}

/// The result of checking the rules.
#[derive(Default)]
struct Checked {
    rules: usize,
    tests: usize,
    mistakes: Vec<(Option<String>, Problem)>,
    warnings: Vec<Problem>,
    /// Text in servers' definitions that the owner should check.
    definitions: Vec<Definition>,
    /// Servers in rules whose tools are not known.
    unknown: Vec<String>,
}

impl Checked {
    fn show(&self, path: &Path) {
        let file = path.display().to_string();
        let file = visible_line(&file);
        let at = |problem: &Problem| format!("{file}:{}:{}", problem.position.line, problem.position.column);
        for (_, problem) in &self.mistakes {
            let fault = problem.fault.to_string();
            output::print(format_args!("{}: {ERROR}error:{ERROR:#} {}", at(problem), visible_line(&fault)));
        }
        for problem in &self.warnings {
            let fault = problem.fault.to_string();
            output::print(format_args!("{}: {WARNING}warning:{WARNING:#} {}", at(problem), visible_line(&fault)));
        }
        for Definition { tool, place, problem } in &self.definitions {
            let at = place.as_ref().map(|place| format!(" {place}:")).unwrap_or_default();
            let text = format!("{tool}:{at} {problem}");
            output::print(format_args!("{file}: {WARNING}warning:{WARNING:#} {}", visible_line(&text)));
        }
        for server in &self.unknown {
            let server = visible_line(server);
            output::print(format_args!(
                "{file}: not held against the tools of {server}, which are not known yet: `belljar servers` lists them"
            ));
        }
        let (mistakes, warnings) = (self.mistakes.len(), self.warnings.len() + self.definitions.len());
        let found = match (mistakes, warnings) {
            (0, 0) => format!("{GOOD}nothing is wrong{GOOD:#}"),
            _ => format!("{}, {}", counted(mistakes, "mistake"), counted(warnings, "warning")),
        };
        output::print(format_args!(
            "{file}: {}, {}: {found}",
            counted(self.rules, "rule"),
            counted(self.tests, "test")
        ));
    }

    fn as_json(&self, path: &Path) -> Value {
        let problem = |problem: &Problem| {
            json!({
                "line": problem.position.line,
                "column": problem.position.column,
                "message": problem.fault.to_string(),
            })
        };
        let mistake = |(server, fault): &(Option<String>, Problem)| {
            let mut value = problem(fault);
            value["server"] = json!(server);
            value
        };
        let definition = |found: &Definition| json!({ "tool": found.tool.to_string(), "place": found.place, "message": found.problem });
        json!({
            "ok": self.mistakes.is_empty(),
            "file": path,
            "rules": self.rules,
            "tests": self.tests,
            "mistakes": self.mistakes.iter().map(mistake).collect::<Vec<_>>(),
            "warnings": self.warnings.iter().map(problem).collect::<Vec<_>>(),
            "definitions": self.definitions.iter().map(definition).collect::<Vec<_>>(),
            "unknown": self.unknown,
        })
    }
}

/// A finding in a server's definition of a tool.
struct Definition {
    tool: ToolPath,
    place: Option<String>,
    problem: String,
}

/// Definitions in the lists on disk that differ from their pins, or address the model.
async fn definitions(rules: &LoadedPolicy, config: &Config) -> Result<Vec<Definition>, Failure> {
    let servers = &config.servers;
    let ledger = setup::ledger_of(&config.ledger);
    let (held, _) = changed(rules, servers, None, &ledger).await?;
    let problem = "its definition differs from the pinned one: you are asked about its calls until you accept it \
        (belljar policy accept)";
    let of_held = |held: Changed| Definition { tool: held.tool, place: None, problem: problem.to_owned() };
    let mut all: Vec<Definition> = held.into_iter().map(of_held).collect();
    for (spec, listed) in servers.iter().zip(policy::lists(servers, None, |_| true)) {
        for tool in listed.iter().flat_map(|listed| &listed.tools) {
            let suspicious = suspicions(tool).into_iter().map(|found| Definition {
                tool: ToolPath::new(&spec.name, &tool.name),
                place: Some(found.place),
                problem: found.problem,
            });
            all.extend(suspicious);
        }
    }
    Ok(all)
}

fn tools_of(lists: &[Option<Listed>], at: usize) -> Option<&[ToolDefinition]> {
    lists.get(at)?.as_ref().map(|listed| listed.tools.as_slice())
}

/// The rules with what is known from disk of the servers.
struct Known<'k> {
    policy: &'k Arc<Policy>,
    servers: &'k [ServerSpec],
    lists: Vec<Option<Listed>>,
}

impl<'k> Known<'k> {
    fn of(rules: &'k LoadedPolicy, servers: &'k [ServerSpec]) -> Self {
        Self { policy: &rules.policy, servers, lists: rules.lists(servers, None) }
    }

    /// A tool's trusted effect, and the conditions that make no sense with its server's list.
    /// `None` if there is no such server.
    fn of_tool(&self, path: &ToolPath) -> Option<OfTool> {
        let (at, spec) = self.servers.iter().enumerate().find(|(_, spec)| spec.name == path.server())?;
        let tools = tools_of(&self.lists, at);
        let listed = tools.and_then(|tools| tools.iter().find(|tool| tool.name == path.tool()));
        let trusted = match listed {
            Some(tool) => spec.effects.trusted(tool),
            None => spec.effects.trusted(&ToolDefinition::unknown(path.tool())),
        };
        let server = ServerTools { name: &spec.name, effects: &spec.effects, tools };
        let (broken, _) = self.policy.broken(&server);
        Some(OfTool { trusted, broken, is_listed: listed.is_some() })
    }
}

struct OfTool {
    trusted: TrustedEffect,
    broken: Broken,
    is_listed: bool,
}

fn test(options: &PolicyOptions) -> Result<ExitCode, Failure> {
    let loaded = setup::read(&options.config)?;
    let Some(rules) = &loaded.policy else {
        return Ok(without_rules(options.json, &json!({ "ok": true, "tests": [] })));
    };
    let servers = &loaded.config.servers;
    let (known, files) = (Known::of(rules, servers), Files::of(servers));
    let run = |row: &TestRow| {
        let tool = known.of_tool(&row.call);
        let (trusted, broken) = tool.map(|tool| (tool.trusted, tool.broken)).unzip();
        row.run(known.policy, trusted, &broken.unwrap_or_default(), &files)
    };
    let all: Vec<(&TestRow, Option<String>)> = rules.policy.tests().iter().map(|row| (row, run(row))).collect();
    let failed = all.iter().filter(|(_, problem)| problem.is_some()).count();
    if options.json {
        let test = |(row, problem): &(&TestRow, Option<String>)| {
            json!({
                "line": row.position.line,
                "column": row.position.column,
                "call": row.call.to_string(),
                "expect": row.expect.to_string(),
                "ok": problem.is_none(),
                "problem": problem,
            })
        };
        let tests: Vec<Value> = all.iter().map(test).collect();
        output::print_json(&json!({ "ok": failed == 0, "file": rules.path, "tests": tests }));
    } else {
        let file = rules.path.display().to_string();
        for (row, problem) in &all {
            let Some(problem) = problem else { continue };
            let (line, column) = (row.position.line, row.position.column);
            let call = row.call.to_string();
            output::print(format_args!(
                "{}:{line}:{column}: {ERROR}failed:{ERROR:#} {}: {}",
                visible_line(&file),
                visible_line(&call),
                visible(problem)
            ));
        }
        output::print(format_args!("{}, {failed} failed", counted(all.len(), "test")));
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn without_rules(json: bool, answer: &Value) -> ExitCode {
    if json {
        output::print_json(answer);
    } else {
        output::print(NO_RULES);
    }
    ExitCode::SUCCESS
}

async fn explain(arguments: &PolicyExplainArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read(&arguments.config)?;
    let input = input(&arguments.input, loaded.limits().max_arguments.as_u64())?;
    let Some(rules) = &loaded.policy else {
        let answer =
            json!({ "tool": arguments.path.to_string(), "verdict": "allow", "rule": null, "why": null, "steps": [] });
        return Ok(without_rules(arguments.json, &answer));
    };
    let known = Known::of(rules, &loaded.config.servers);
    let Some(tool) = known.of_tool(&arguments.path) else { return Err(no_server(&loaded, &arguments.path)) };
    if !tool.is_listed {
        output::note(format_args!(
            "no list on disk has a tool {}, so it counts as every unknown tool does",
            visible_line(&arguments.path.to_string())
        ));
    }
    let caller = Caller { principal: Some(arguments.principal.as_str()), profile: arguments.profile.as_deref() };
    let files = Files::of(&loaded.config.servers);
    // Rules see what would be sent.
    let input = files.as_sent(arguments.path.server(), caller.principal, input).map_err(|problem| {
        let hint = "the server's `paths` in belljar.toml say where its paths may lead";
        Failure::usage(format!("such a call is refused before the rules are asked: {problem}"), hint)
    })?;
    let labels = labels(known.policy, &arguments.carries)?;
    if let Some(rule) = arguments.after.iter().find(|rule| !rules.policy.has_gate(rule)) {
        let hint = "--after names a rule with 'after' whose earlier call there was";
        return Err(Failure::usage(format!("no rule '{rule}' asks for an earlier call"), hint));
    }
    let passed = arguments.after.iter().cloned().collect();
    let history = Assumed { labels, passed, measured: arguments.measured };
    let call = Call {
        caller,
        arguments: &input,
        places: &files,
        history: &history,
        at: arguments.at.or_else(belljar_gateway::local_time),
    };
    let explanation = rules.policy.for_tool_but(&arguments.path, tool.trusted, &tool.broken).explain(&call);
    let ledger = setup::ledger_of(&loaded.config.ledger);
    let (held, _) = changed(rules, &loaded.config.servers, Some(&arguments.path.to_string()), &ledger).await?;
    let explanation = if held.is_empty() { explanation } else { explanation.held_by_pin(rules.policy.as_ref()) };
    let spec = loaded.config.servers.iter().find(|spec| spec.name == arguments.path.server());
    let held_by = spec.map_or_else(HeldBy::default, |spec| HeldBy::of(spec, tool.trusted));
    if arguments.json {
        output::print_json(&as_json(&arguments.path, tool.trusted, &held_by, &explanation));
    } else {
        let destructive = if tool.trusted.is_destructive() { ", and may destroy something" } else { "" };
        let path = arguments.path.to_string();
        output::print(format_args!("{} counts as {}{destructive}", visible_line(&path), tool.trusted.effect()));
        for line in held_by.words() {
            output::print(line);
        }
        output::print(explanation);
    }
    Ok(ExitCode::SUCCESS)
}

/// The labels of these names.
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

fn no_server(loaded: &Loaded, path: &ToolPath) -> Failure {
    let names = || loaded.config.servers.iter().map(|spec| spec.name.as_str());
    let hint = match nearest(path.server(), names()) {
        Some(nearest) => format!("did you mean '{nearest}'?"),
        None => format!("the servers are {}", names().collect::<Vec<_>>().join(", ")),
    };
    Failure::usage(format!("no server is called '{}'", path.server()), hint)
}

/// What holds for calls of a tool beside the rules.
#[derive(Default)]
struct HeldBy {
    call_timeout: Option<Duration>,
    is_repeated: bool,
}

impl HeldBy {
    fn of(spec: &ServerSpec, trusted: TrustedEffect) -> Self {
        let (life, effect) = (&spec.life, trusted.effect());
        Self { call_timeout: life.call_timeout_of(effect), is_repeated: life.repeat_of(effect).allows(trusted) }
    }

    fn words(&self) -> impl Iterator<Item = String> {
        let timeout = self.call_timeout.map(|timeout| format!("a call of it fails after {timeout:?} without news"));
        let repeated = "a call of it is made again, once, if its server dies during it";
        timeout.into_iter().chain(self.is_repeated.then(|| repeated.to_owned()))
    }
}

fn as_json(path: &ToolPath, trusted: TrustedEffect, held_by: &HeldBy, explanation: &Explanation) -> Value {
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
