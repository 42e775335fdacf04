//! Why rules were not accepted, where, and what to do about it.

use std::fmt::Write as _;

use belljar_model::{Effect, Position, display::line};

/// One thing that is wrong with the rules.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{position}: {fault}")]
pub struct Problem {
    /// The position of the fault.
    pub position: Position,
    /// The fault.
    pub fault: ProblemKind,
}

/// Everything that is wrong with the rules, in the order of the file. Never empty.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", all(problems))]
pub struct Problems {
    /// The single problems.
    pub problems: Vec<Problem>,
}

fn all(problems: &[Problem]) -> String {
    let mut text = String::new();
    for (at, problem) in problems.iter().enumerate() {
        let _ = write!(text, "{}{problem}", if at == 0 { "" } else { "\n" });
    }
    text
}

/// What is wrong at a position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what each field is")]
pub enum ProblemKind {
    /// The text is not valid TOML.
    #[error("not valid TOML: {message}")]
    Syntax { message: String },
    /// The text nests too deeply.
    #[error("nested deeper than {limit} levels: rules need six")]
    TooDeep { limit: usize },
    /// An unknown key.
    #[error("unknown key '{key}'{}: {}", within(place), suggestion(*nearest, known))]
    UnknownKey { place: String, key: String, nearest: Option<&'static str>, known: &'static [&'static str] },
    /// A missing key.
    #[error("{place} has no '{key}': {help}")]
    MissingKey { place: String, key: &'static str, help: &'static str },
    /// A value of the wrong type or form.
    #[error("'{field}' must be {expected}, not {found}")]
    Expected { field: String, expected: &'static str, found: String },
    /// Two rules with the same id.
    #[error("there are two rules with the id '{id}': rename one")]
    DuplicateId { id: String },
    /// An invalid pattern for names.
    #[error("'{pattern}' is not a pattern for {what}: {problem}")]
    Pattern { pattern: String, what: &'static str, problem: &'static str },
    /// `destructive` in a rule that allows.
    #[error("'destructive' cannot be in a rule that allows: a server's word must not allow anything")]
    AllowsDestructive,
    /// `carries` in a rule that allows.
    #[error("'carries' cannot be in a rule that allows: a label must not allow anything")]
    AllowsCarrying,
    /// `ask` in a rule that never asks.
    #[error("'ask' says how the owner is asked, and this rule does not ask: leave it out, or write then = \"ask\"")]
    AsksNobody,
    /// An unknown way to ask.
    #[error("'{way}' is not a way to ask: the ways are cli, elicitation, page and webhook")]
    UnknownWay { way: String },
    /// Ways to ask that never bring a decision.
    #[error("a webhook only informs, and cannot decide: name \"cli\", \"elicitation\" or \"page\" as well")]
    NobodyDecides,
    /// A rule that asks by a webhook that is not configured.
    #[error("rule '{rule}' names webhook, and '[approvals] webhook' in belljar.toml names no address")]
    NoWebhook { rule: String },
    /// An unknown label.
    #[error("no label is called '{label}': {}", meant_or(nearest.as_deref(), &labelled(known)))]
    UnknownLabel { label: String, nearest: Option<String>, known: Vec<String> },
    /// A label that no rule asks about.
    #[error("no rule says carries = \"{label}\": the label does nothing")]
    UnusedLabel { label: String },
    /// A key that only has a meaning with `after`, which the rule does not have.
    #[error("'{key}' belongs to 'after', which is missing: name the tools whose call must come first")]
    WithoutAfter { key: String },
    /// A tool to measure with that may do more than read.
    #[error(
        "{tool} counts as {effect}: a tool to measure with must only read; if it does, say so in 'effects' of its server"
    )]
    MeasureActs { tool: String, effect: Effect },
    /// An invalid name of an argument.
    #[error("'{path}' does not name an argument: {problem}")]
    ArgumentPath { path: String, problem: &'static str },
    /// A table where a condition was expected.
    #[error("unknown condition '{key}' on '{argument}': {help}")]
    UnknownCondition { argument: String, key: String, help: String },
    /// Conditions that exclude or repeat each other.
    #[error("the conditions on '{argument}' make no sense together: {problem}")]
    Contradiction { argument: String, problem: String },
    /// An invalid regular expression.
    #[error("'{field}' is not a regular expression that can be used: {problem}")]
    Regex { field: String, problem: String },
    /// An invalid folder.
    #[error("'{folder}' cannot be used as a folder: {problem}")]
    Folder { folder: String, problem: String },
    /// A rule that never decides anything.
    #[error("rule '{rule}' can never decide anything: rule '{by}' in line {line} decides all that it matches")]
    Shadowed { rule: String, by: String, line: u32 },
    /// A server that is not configured.
    #[error("no server is called '{server}': {}", meant_or(nearest.as_deref(), "a pattern such as prod-* may name servers that are not there"))]
    UnknownServer { server: String, nearest: Option<String> },
    /// A pattern that matches no server.
    #[error("no configured server is called '{pattern}'")]
    NoServer { pattern: String },
    /// A tool that its server does not have.
    #[error("{server} lists no tool '{tool}'{}", meant(nearest.as_deref()))]
    UnknownTool { server: String, tool: String, nearest: Option<String> },
    /// An argument that the tool does not have.
    #[error("{tool} has no argument '{argument}': {}", meant_or(nearest.as_deref(), &listed(known)))]
    UnknownArgument { argument: String, tool: String, nearest: Option<String>, known: Vec<String> },
    /// A path through a value without members or elements.
    #[error("'{argument}' leads through {declared} of {tool}{}", elements(declared, "write [] behind the list's name"))]
    NoMembers { argument: String, tool: String, declared: String },
    /// A condition on a value of another type than the tool accepts.
    #[error(
        "'{condition}' on '{argument}' applies to {wanted}, but {tool} takes {declared}{}",
        elements(declared, "write [] behind the argument's name")
    )]
    WrongType { condition: &'static str, argument: String, tool: String, wanted: String, declared: String },
    /// A value that the tool does not accept.
    #[error("'{value}' is not among the values of '{argument}' that {tool} takes{}", meant(nearest.as_deref()))]
    Unlisted { argument: String, value: String, tool: String, nearest: Option<String> },
    /// A condition that makes sense only for some of the rule's tools.
    #[error("{fault}; rule '{rule}' treats the condition as unknown there")]
    NotEverywhere { fault: Box<ProblemKind>, rule: String },
    /// Too many entries.
    #[error("{used} {what}; the limit is {limit}")]
    TooMany { what: &'static str, limit: usize, used: usize },
}

impl ProblemKind {
    pub(crate) fn at(self, offset: usize) -> Located {
        Located { offset, fault: self }
    }

    pub(crate) fn unknown_key(place: &str, key: &str, known: &'static [&'static str]) -> Self {
        let nearest = belljar_model::nearest(key, known.iter().copied())
            .and_then(|nearest| known.iter().copied().find(|known| *known == nearest));
        Self::UnknownKey { place: place.to_owned(), key: shown(key), nearest, known }
    }
}

/// An error at a byte offset in the file.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) offset: usize,
    pub(crate) fault: ProblemKind,
}

impl Located {
    pub(crate) fn into_problem(self, text: &str) -> Problem {
        Problem { position: Position::of(text, self.offset), fault: self.fault }
    }
}

/// A name from the file, on one line and shortened, for a message.
pub(crate) fn shown(name: &str) -> String {
    let mut short: String = name.chars().take(80).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    line(&short).into_owned()
}

fn within(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" in {place}") }
}

fn suggestion(nearest: Option<&str>, known: &[&str]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean '{nearest}'?"),
        None => format!("the keys are {}", known.join(", ")),
    }
}

/// The most names that a message lists.
const LISTED: usize = 12;

fn listed(names: &[String]) -> String {
    let more = if names.len() > LISTED { ", …" } else { "" };
    match names.get(..LISTED.min(names.len())) {
        Some(names) if !names.is_empty() => format!("it has {}{more}", names.join(", ")),
        _ => "it has none".to_owned(),
    }
}

fn labelled(names: &[String]) -> String {
    match names {
        [] => "declare it in [labels], with the tools whose answers carry it".to_owned(),
        names => format!("[labels] has {}", names.join(", ")),
    }
}

fn meant_or(nearest: Option<&str>, otherwise: &str) -> String {
    nearest.map_or_else(|| otherwise.to_owned(), |nearest| format!("did you mean '{nearest}'?"))
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!(": did you mean '{nearest}'?"))
}

/// A suggestion in case the argument is a list and the rule overlooked that.
fn elements(declared: &str, help: &str) -> String {
    if declared == "an array" { format!("; for its elements, {help}") } else { String::new() }
}
