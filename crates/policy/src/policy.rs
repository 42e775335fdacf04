//! All rules of a file.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use belljar_model::{Position, ToolPath, TrustedEffect, Verdict};
use serde_json::{Map, Value};

use crate::{Broken, Counts, LocalTime, fault::Problems, read, rule::Rule, test_row::TestRow, tool_policy::ToolPolicy};

/// What the host knows of the file system. Asked only by `under` and `not_under`.
pub trait Places: Send + Sync {
    /// Whether `path`, as this server would take it, certainly leads into one of `folders` (true),
    /// or certainly into none (false). `None` where neither is certain.
    fn is_under(&self, server: &str, path: &str, folders: &[PathBuf]) -> Option<bool>;
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
    /// The profile that the owner gave the entry through which the call came. `None` where there is none.
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
    /// Who counts calls.
    pub counts: &'c dyn Counts,
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
}

/// The owner's rules.
#[derive(Debug)]
pub struct Policy {
    /// In the order of `Effect::ALL`.
    pub(crate) defaults: [Verdict; 3],
    pub(crate) rules: Vec<Rule>,
    pub(crate) tests: Vec<TestRow>,
    pub(crate) text: String,
}

impl Policy {
    /// Reads rules. `folder` says which folder of this machine a text means, with variables and relative to the file.
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

    /// How many rules there are.
    pub fn rules(&self) -> usize {
        self.rules.len()
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
