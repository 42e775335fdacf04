//! `belljar policy`: examines the owner's rules without calling anything. No server is started.
//!
//! `accept.rs` is `belljar policy accept`, and `arguments.rs` has all arguments.

mod accept;
mod arguments;

use std::{path::Path, process::ExitCode};

use belljar_config::Config;
use belljar_gateway::Files;
use belljar_model::{ErrorKind, ServerSpec, ToolDefinition, ToolPath};
use belljar_policy::{Problem, TestRow, suspicions};
use belljar_upstream::Listed;
use serde_json::{Value, json};

use super::call::input;
use crate::{
    failure::{Failure, exit_code_of},
    output::{self, ERROR, GOOD, WARNING, visible, visible_line},
    policy::{self, AskedCall, Changed, FoundPolicy, Known, LoadedPolicy, changed},
    render::count::counted,
    setup,
};
use accept::accept;
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
                "{file}: not checked against the tools of {server}, which are not known yet: `belljar servers` lists them"
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
        return Ok(without_rules(arguments.json, &policy::without_rules(&arguments.path)));
    };
    let asked = AskedCall {
        path: &arguments.path,
        arguments: input,
        principal: &arguments.principal,
        profile: arguments.profile.as_deref(),
        carries: &arguments.carries,
        after: &arguments.after,
        measured: arguments.measured,
        at: arguments.at,
    };
    let known = Known::of(rules, &loaded.config.servers);
    let ledger = setup::ledger_of(&loaded.config.ledger);
    let found = policy::explained(&known, &ledger, asked).await?;
    let path = found.path.to_string();
    if !found.is_listed {
        output::note(format_args!(
            "no list on disk has a tool {}, so it counts as every unknown tool does",
            visible_line(&path)
        ));
    }
    if arguments.json {
        output::print_json(&found.to_json());
    } else {
        let destructive = if found.trusted.is_destructive() { ", and may destroy something" } else { "" };
        output::print(format_args!("{} counts as {}{destructive}", visible_line(&path), found.trusted.effect()));
        for line in found.held_by.words() {
            output::print(line);
        }
        output::print(found.explanation);
    }
    Ok(ExitCode::SUCCESS)
}
