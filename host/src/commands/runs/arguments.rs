//! The arguments of `belljar runs`.

use std::{path::PathBuf, time::SystemTime};

use belljar_model::{Effect, RunId, RunIdStart};
use clap::{Args, Subcommand};

use crate::{
    arguments::{ConfigArguments, since},
    help,
};

#[derive(Args)]
#[command(after_help = help::RUNS, args_conflicts_with_subcommands = true)]
pub(crate) struct RunsArguments {
    #[command(subcommand)]
    pub(crate) command: Option<RunsCommand>,
    /// Only runs that called this tool, or any tool of this server.
    #[arg(long, value_name = "SERVER[.TOOL]")]
    pub(crate) tool: Option<String>,
    /// Only runs with a call of this effect: read_only, mutating or external.
    #[arg(long, value_name = "EFFECT")]
    pub(crate) effect: Option<Effect>,
    /// Only runs whose client, principal or origin contains this text.
    #[arg(long, value_name = "TEXT")]
    pub(crate) client: Option<String>,
    /// Only runs that failed or were interrupted.
    #[arg(long)]
    pub(crate) failed: bool,
    /// Only runs that wait for your decision.
    #[arg(long)]
    pub(crate) waiting: bool,
    /// Only runs that began since then: a duration such as 2h, or a time such as 2026-11-22 or
    /// 2026-11-22T18:00:00Z.
    #[arg(long, value_name = "WHEN", value_parser = since)]
    pub(crate) since: Option<SystemTime>,
    /// Maximum number of runs to show.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: u32,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

impl RunsArguments {
    pub(crate) fn wants_json(&self) -> bool {
        match &self.command {
            None => self.json,
            Some(RunsCommand::Show(arguments)) => arguments.json,
            Some(RunsCommand::Diff(arguments)) => arguments.json,
            Some(RunsCommand::Export(_)) => false,
            Some(RunsCommand::Purge(arguments)) => arguments.json,
        }
    }
}

#[derive(Subcommand)]
pub(crate) enum RunsCommand {
    /// Shows one run: its calls in order, how it ended, and what it used.
    Show(RunsShowArguments),
    /// Shows the first difference between two runs: script, calls, arguments, answers, end, fuel.
    Diff(RunsDiffArguments),
    /// Writes the recording of a run, for belljar replay.
    Export(RunsExportArguments),
    /// Removes runs: those named, those before a time, all, or by default those that exceed
    /// `[ledger] keep`.
    Purge(RunsPurgeArguments),
}

#[derive(Args)]
pub(crate) struct RunsShowArguments {
    /// The run, such as r_0123456789abc, or the beginning of its name.
    #[arg(value_name = "RUN")]
    pub(crate) run: RunIdStart,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct RunsDiffArguments {
    /// The first run.
    #[arg(value_name = "RUN")]
    pub(crate) one: RunIdStart,
    /// The second run.
    #[arg(value_name = "RUN")]
    pub(crate) other: RunIdStart,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct RunsExportArguments {
    /// The run.
    #[arg(value_name = "RUN")]
    pub(crate) run: RunIdStart,
    /// The file to write, which must not exist yet [default: stdout].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Writes a fixture for belljar test: the same content, as text that is readable in a diff.
    #[arg(long)]
    pub(crate) fixture: bool,
    /// Makes the fixture loose: its calls are answered by tool and arguments, in any order.
    #[arg(long, requires = "fixture")]
    pub(crate) loose: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

#[derive(Args)]
pub(crate) struct RunsPurgeArguments {
    /// The runs.
    #[arg(value_name = "RUN", conflicts_with_all = ["before", "all"])]
    pub(crate) runs: Vec<RunId>,
    /// Runs that began before then: a duration such as 7d, or a time such as 2026-11-22.
    #[arg(long, value_name = "WHEN", value_parser = since, conflicts_with = "all")]
    pub(crate) before: Option<SystemTime>,
    /// All runs.
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
