//! `belljar hook test`: what each rule would say to recorded calls.

use std::process::ExitCode;

use belljar_hooks::{Fit, Speaker, Told, ToolUse};
use belljar_model::{HookMode, HookRule};
use serde::Serialize;

use super::RehearseArguments;
use crate::{commands::source, failure::Failure, output, render::count::counted, setup};

/// The longest transcript.
const MAX_BYTES: u64 = 64 << 20;

/// What became of one call.
#[derive(Serialize)]
struct Rehearsed {
    /// The number of its line, from 1.
    line: usize,
    tool: String,
    /// The number of the rule that applies, from 1.
    rule: Option<usize>,
    answer: &'static str,
    says: Option<String>,
}

/// What became of one rule.
#[derive(Serialize)]
struct Rule {
    rule: usize,
    mode: &'static str,
    /// How many calls it matches, including those to which an earlier rule applies.
    fits: usize,
    /// How often it says something.
    says: usize,
}

#[derive(Serialize)]
struct Report {
    calls: Vec<Rehearsed>,
    rules: Vec<Rule>,
    /// Lines that are not a tool call.
    other_lines: usize,
}

pub(super) fn rehearse(arguments: &RehearseArguments) -> Result<ExitCode, Failure> {
    let speaker = Speaker::named(&arguments.client).ok_or_else(|| {
        let message = format!("there is no client '{}'", arguments.client);
        Failure::usage(message, "it is claude-code, codex, vscode, copilot, cursor, gemini or auto")
    })?;
    let rules = setup::read(&arguments.config)?.config.hooks;
    let transcript = source::read(arguments.transcript.as_deref(), "a transcript", MAX_BYTES)?;
    let report = report(&rules, speaker, &transcript);
    if arguments.json {
        output::print_json(&report);
    } else {
        show(&report);
    }
    Ok(ExitCode::SUCCESS)
}

fn report(rules: &[HookRule], speaker: Speaker, transcript: &str) -> Report {
    let each = |(index, rule): (usize, &HookRule)| Rule { rule: index + 1, mode: rule.mode.as_str(), fits: 0, says: 0 };
    let mut report = Report { calls: Vec::new(), rules: rules.iter().enumerate().map(each).collect(), other_lines: 0 };
    // As the daemon does, in a new session.
    let mut told = Told::default();
    for (index, line) in transcript.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let calls = belljar_hooks::calls(speaker, line.as_bytes());
        report.other_lines += usize::from(calls.is_empty());
        for call in &calls {
            report.add(index + 1, rules, call, &mut told);
        }
    }
    report
}

impl Report {
    fn add(&mut self, line: usize, rules: &[HookRule], call: &ToolUse, told: &mut Told) {
        let fits: Vec<Fit<'_>> = belljar_hooks::fitting(rules, call).collect();
        for fit in &fits {
            if let Some(rule) = self.rules.get_mut(fit.index) {
                rule.fits += 1;
            }
        }
        let mut rehearsed = Rehearsed { line, tool: call.tool.clone(), rule: None, answer: "pass", says: None };
        if belljar_hooks::is_the_owners(call) {
            rehearsed.answer = "deny";
            rehearsed.says = Some(belljar_hooks::NOT_YOURS.to_owned());
        } else if let Some(fit) = fits.into_iter().next() {
            rehearsed.rule = Some(fit.index + 1);
            if fit.key.is_none_or(|key| told.is_first(key)) {
                rehearsed.answer = if fit.rule.mode == HookMode::Tell { "tell" } else { "deny" };
                rehearsed.says = Some(fit.says);
                if let Some(rule) = self.rules.get_mut(fit.index) {
                    rule.says += 1;
                }
            }
        }
        self.calls.push(rehearsed);
    }
}

fn show(report: &Report) {
    for Rehearsed { line, tool, rule, answer, says } in &report.calls {
        let tool = output::visible_line(tool);
        match (rule, says) {
            (Some(rule), Some(says)) => {
                output::print(format_args!("{line}: {tool}: rule {rule}, {answer}: {}", output::visible_line(says)));
            }
            (None, Some(says)) => {
                output::print(format_args!("{line}: {tool}: {answer}: {}", output::visible_line(says)))
            }
            (Some(rule), None) => {
                output::print(format_args!("{line}: {tool}: rule {rule} has said so before, {answer}"))
            }
            (None, None) => output::print(format_args!("{line}: {tool}: {answer}")),
        }
    }
    for Rule { rule, mode, fits, says } in &report.rules {
        let fits = counted(*fits, "call");
        output::print(format_args!("rule {rule} ({mode}): fits {fits}, says something to {says}"));
    }
    if report.rules.is_empty() {
        output::remark("there are no rules: they are [[hook]] in belljar.toml");
    }
    if report.other_lines > 0 {
        output::remark(format_args!("not a tool call: {}", counted(report.other_lines, "line")));
    }
}
