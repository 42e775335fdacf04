//! The owner's rules for calls: where they are, and that a mistake in them ends the command before anything is called.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use belljar_config::{Config, Variables};
use belljar_policy::{Policy, Problems};

use crate::failure::Failure;

/// The file that is looked for beside a configuration that names none.
const BESIDE: &str = "policy.toml";

/// Rules, and where they were read.
pub(crate) struct LoadedPolicy {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) policy: Arc<Policy>,
}

/// The rules of the configuration at `path`: those in the file that it names, or in a policy.toml beside it.
pub(crate) fn load(path: &Path, config: &Config, variables: &Variables<'_>) -> Result<Option<LoadedPolicy>, Failure> {
    let file = config.policy.clone().unwrap_or_else(|| path.with_file_name(BESIDE));
    let Some(text) = belljar_config::text(&file)? else {
        if config.policy.is_none() {
            return Ok(None);
        }
        let message = format!("{}: there is no such file", file.display());
        return Err(Failure::config(message, "'[policy] file' names it: without it, nothing is run"));
    };
    let directory = file.parent().unwrap_or(Path::new(""));
    let folder = |text: &str| belljar_config::folder(text, directory, variables);
    match Policy::parse(&text, &folder) {
        Ok(policy) => Ok(Some(LoadedPolicy { path: file, text, policy: Arc::new(policy) })),
        Err(problems) => Err(refused(&file, &problems)),
    }
}

/// Rules with mistakes.
pub(crate) fn refused(file: &Path, problems: &Problems) -> Failure {
    let places = problems.problems.iter().map(|problem| {
        let at = problem.position;
        format!("{}:{}:{}: {}", file.display(), at.line, at.column, problem.fault)
    });
    Failure::config(places.collect::<Vec<_>>().join("\n"), "docs/POLICY.md says what rules can say; nothing was run")
}
