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

/// What the host knows of the file system. Asked only by `under` and `not_under`.
pub trait Places: Send + Sync {
    /// Whether `path`, as this server would take it, certainly leads into one of `folders` (true),
    /// or certainly into none (false). `None` where neither is certain.
    fn is_under(&self, server: &str, path: &str, folders: &[PathBuf]) -> Option<bool>;

    /// The arguments as this server would get them, where the host resolves paths among them before
    /// it sends a call. Asked for the tests of a file alone: a call that is judged has such
    /// arguments.
    ///
    /// # Errors
    /// Why such a call is refused.
    fn as_sent(
        &self,
        _server: &str,
        _principal: Option<&str>,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        Ok(arguments)
    }
}

/// No file system: of no path can anything be said.
impl Places for () {
    fn is_under(&self, _: &str, _: &str, _: &[PathBuf]) -> Option<bool> {
        None
    }
}

/// Who calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caller<'c> {
    /// Whose request it is, as the transport says. `None` where nobody knows.
    pub principal: Option<&'c str>,
    /// The profile that the owner gave the entry through which the call came. `None` where there is
    /// none.
    pub profile: Option<&'c str>,
}

/// One call that is to be judged.
#[derive(Clone, Copy)]
pub struct Call<'c> {
    /// Who calls.
    pub caller: Caller<'c>,
    /// The arguments as they would be sent.
    pub arguments: &'c Map<String, Value>,
    /// Who knows the file system.
    pub places: &'c dyn Places,
    /// Who knows what was before.
    pub history: &'c dyn History,
    /// When, where the owner is. `None` where nobody knows.
    pub at: Option<LocalTime>,
}

/// What becomes of a call, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What becomes of it.
    pub verdict: Verdict,
    /// The rule that says so; `None` where none did, and the default of the effect counts.
    pub rule: Option<Arc<str>>,
    /// The owner's reason, as the rule has it.
    pub why: Option<Arc<str>>,
    /// How the rule wants the owner to be asked, where it asks.
    pub ask: AskTerms,
    /// What the rule measured, for whoever decides.
    pub measured: Option<Arc<str>>,
}

/// The owner's rules.
#[derive(Debug)]
pub struct Policy {
    /// In the order of `Effect::ALL`.
    pub(crate) defaults: [Verdict; 3],
    pub(crate) rules: Vec<Rule>,
    /// The rules with `after`.
    pub(crate) gates: Vec<usize>,
    pub(crate) labels: LabelRules,
    pub(crate) pins: Option<Pins>,
    pub(crate) tests: Vec<TestRow>,
    pub(crate) text: String,
}

impl Policy {
    /// Reads rules. `folder` says which folder of this machine a text means, with variables and
    /// relative to the file.
    ///
    /// # Errors
    /// [`Problems`]: everything that is wrong, with its places.
    pub fn parse(text: &str, folder: &dyn Fn(&str) -> Result<PathBuf, String>) -> Result<Self, Problems> {
        read::read(text.strip_prefix('\u{feff}').unwrap_or(text), folder)
    }

    /// The rules as they concern one tool. It is worth keeping: what can be decided beforehand is.
    pub fn for_tool(self: &Arc<Self>, tool: &ToolPath, trusted: TrustedEffect) -> ToolPolicy {
        self.for_tool_but(tool, trusted, &Broken::default())
    }

    /// The same where the list of the tool's server has made some conditions meaningless.
    pub fn for_tool_but(self: &Arc<Self>, tool: &ToolPath, trusted: TrustedEffect, broken: &Broken) -> ToolPolicy {
        ToolPolicy::new(self.clone(), tool, trusted, broken)
    }

    /// What stands in the file as tests.
    pub fn tests(&self) -> &[TestRow] {
        &self.tests
    }

    /// Whether there are calls about which a person is to be asked.
    pub fn asks(&self) -> bool {
        let asks = self.defaults.contains(&Verdict::Ask) || self.rules.iter().any(|rule| rule.verdict == Verdict::Ask);
        asks || self.pins.is_some()
    }

    /// What is wrong where there is no webhook: the first rule that wants the owner to be told by
    /// one.
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

    /// The labels that a run carries once it has an answer of this tool.
    pub fn labels_of(&self, tool: &ToolPath) -> Labels {
        self.labels.of(tool)
    }

    /// What these labels are called.
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

    /// The gates for which a call of this tool counts.
    pub fn gates_of(&self, tool: &ToolPath) -> impl Iterator<Item = &Gate> {
        let gates = self.gates.iter().filter_map(|at| self.rules.get(*at)?.after.as_ref());
        gates.filter(|gate| gate.tools.iter().any(|glob| glob.matches(tool)))
    }

    /// Whether there is a rule of this name with an earlier call.
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

    /// How long a principal carries the labels of their runs; `None` where each run carries its own
    /// alone.
    pub fn memory(&self) -> Option<Duration> {
        self.labels.memory
    }

    pub(crate) fn position(&self, offset: usize) -> Position {
        Position::of(&self.text, offset)
    }
}

/// Folders that are taken as they are written: for rules without a file.
///
/// # Errors
/// The folder is relative.
pub fn absolute_folder(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    if path.is_absolute() { Ok(path.to_owned()) } else { Err("it is relative".to_owned()) }
}
