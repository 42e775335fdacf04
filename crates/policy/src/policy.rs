//! All rules of a file.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use belljar_model::{AskWay, Position, ToolPath, TrustedEffect, Verdict};
use serde_json::{Map, Value};

use crate::{
    AskTerms, Broken, Gate, History, Labels, LocalTime,
    error::{Problem, ProblemKind, Problems},
    labels::LabelRules,
    pin::Pins,
    read,
    rule::Rule,
    test_row::TestRow,
    tool_policy::ToolPolicy,
};

/// What the host knows about the file system. Used only for `under` and `not_under`.
pub trait Places: Send + Sync {
    /// Whether `path`, as this server would read it, certainly leads into one of `folders` (true),
    /// or certainly into none (false). `None` if neither is certain.
    fn is_under(&self, server: &str, path: &str, folders: &[PathBuf]) -> Option<bool>;

    /// The arguments as this server would get them, if the host resolves paths in them before it
    /// sends a call. Used only for the tests in a file: the arguments of a judged call are already
    /// resolved.
    ///
    /// # Errors
    /// The reason if such a call is refused.
    fn as_sent(
        &self,
        _server: &str,
        _principal: Option<&str>,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        Ok(arguments)
    }
}

/// No file system: nothing is known about any path.
impl Places for () {
    fn is_under(&self, _: &str, _: &str, _: &[PathBuf]) -> Option<bool> {
        None
    }
}

/// The caller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caller<'c> {
    /// The principal, according to the transport. `None` if it is unknown.
    pub principal: Option<&'c str>,
    /// The profile of the client entry, which the owner chose. `None` if there is none.
    pub profile: Option<&'c str>,
}

/// One call to judge.
#[derive(Clone, Copy)]
pub struct Call<'c> {
    /// The caller.
    pub caller: Caller<'c>,
    /// The arguments as they would be sent.
    pub arguments: &'c Map<String, Value>,
    /// The file system.
    pub places: &'c dyn Places,
    /// The earlier calls.
    pub history: &'c dyn History,
    /// The owner's local time. `None` if it is unknown.
    pub at: Option<LocalTime>,
}

/// The verdict on a call, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The verdict.
    pub verdict: Verdict,
    /// The rule that decided; `None` if no rule did, so that the default for the effect decided.
    pub rule: Option<Arc<str>>,
    /// The owner's reason, as given in the rule.
    pub why: Option<Arc<str>>,
    /// How the rule asks the owner, if it asks.
    pub ask: AskTerms,
    /// What the rule measured, for the person who decides.
    pub measured: Option<Arc<str>>,
}

/// The owner's rules.
#[derive(Debug)]
pub struct Policy {
    /// The verdicts if no rule decides, in the order of `Effect::ALL`.
    pub(crate) defaults: [Verdict; 3],
    pub(crate) rules: Vec<Rule>,
    /// The positions of the rules with `after`.
    pub(crate) gates: Vec<usize>,
    pub(crate) labels: LabelRules,
    pub(crate) pins: Option<Pins>,
    pub(crate) tests: Vec<TestRow>,
    pub(crate) text: String,
}

impl Policy {
    /// Parses rules. `folder` resolves a text from the file to a folder on this machine: it expands
    /// variables, and relative paths are relative to the file.
    ///
    /// # Errors
    /// [`Problems`]: everything that is wrong, with its position.
    pub fn parse(text: &str, folder: &dyn Fn(&str) -> Result<PathBuf, String>) -> Result<Self, Problems> {
        read::read(text.strip_prefix('\u{feff}').unwrap_or(text), folder)
    }

    /// The rules for one tool. The caller should keep the result, because everything that can be
    /// decided in advance is part of it.
    pub fn for_tool(self: &Arc<Self>, tool: &ToolPath, trusted: TrustedEffect) -> ToolPolicy {
        self.for_tool_but(tool, trusted, &Broken::default())
    }

    /// The same, given the conditions that make no sense with the list of the tool's server.
    pub fn for_tool_but(self: &Arc<Self>, tool: &ToolPath, trusted: TrustedEffect, broken: &Broken) -> ToolPolicy {
        ToolPolicy::new(self.clone(), tool, trusted, broken)
    }

    /// The tests in the file.
    pub fn tests(&self) -> &[TestRow] {
        &self.tests
    }

    /// Whether a person may have to be asked about calls.
    pub fn asks(&self) -> bool {
        let asks = self.defaults.contains(&Verdict::Ask) || self.rules.iter().any(|rule| rule.verdict == Verdict::Ask);
        asks || self.pins.is_some()
    }

    /// If rules need a webhook, the error for the case that there is none, at the first such rule.
    pub fn wants_webhook(&self) -> Option<Problem> {
        let names = |rule: &&Rule| rule.ask.who.is_some_and(|ways| ways.has(AskWay::Webhook));
        let rule = self.rules.iter().find(names)?;
        Some(Problem {
            position: self.position(rule.offset),
            fault: ProblemKind::NoWebhook { rule: rule.id.to_string() },
        })
    }

    /// How many rules there are.
    pub fn rules(&self) -> usize {
        self.rules.len()
    }

    /// The labels that a run carries after an answer of this tool.
    pub fn labels_of(&self, tool: &ToolPath) -> Labels {
        self.labels.of(tool)
    }

    /// The names of these labels.
    pub fn label_names(&self, labels: Labels) -> impl Iterator<Item = &str> {
        self.labels.names(labels)
    }

    /// All labels, in the order of the file.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.labels.labels.iter().map(|label| label.name.as_str())
    }

    /// The label of this name, if there is one.
    pub fn label(&self, name: &str) -> Option<Labels> {
        self.labels.named(name)
    }

    /// The gates that a call of this tool can open.
    pub fn gates_of(&self, tool: &ToolPath) -> impl Iterator<Item = &Gate> {
        let gates = self.gates.iter().filter_map(|at| self.rules.get(*at)?.after.as_ref());
        gates.filter(|gate| gate.tools.iter().any(|glob| glob.matches(tool)))
    }

    /// Whether there is a rule of this name that requires an earlier call.
    pub fn has_gate(&self, rule: &str) -> bool {
        self.rules.iter().any(|known| *known.id == *rule && known.after.is_some())
    }

    /// Whether the definition of this tool is pinned.
    pub fn is_pinned(&self, tool: &ToolPath) -> bool {
        self.pins.as_ref().is_some_and(|pins| pins.has(tool))
    }

    /// Whether definitions of tools of this server may be pinned.
    pub fn pins_server(&self, name: &str) -> bool {
        self.pins.as_ref().is_some_and(|pins| pins.has_server(name))
    }

    /// How long a principal carries the labels of its runs; `None` if each run carries only its
    /// own.
    pub fn memory(&self) -> Option<Duration> {
        self.labels.memory
    }

    pub(crate) fn position(&self, offset: usize) -> Position {
        Position::of(&self.text, offset)
    }
}

/// Takes a folder literally, for rules that do not come from a file.
///
/// # Errors
/// The folder is relative.
pub fn absolute_folder(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    if path.is_absolute() { Ok(path.to_owned()) } else { Err("it is relative".to_owned()) }
}
