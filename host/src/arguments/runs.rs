//! Scripts and what became of them: `check`, `run`, `resume`, `replay`, `test` and `runs`.

use std::{path::PathBuf, time::SystemTime};

use belljar_model::{Effect, LedgerLevel, RunId, RunIdStart};
use clap::{Args, Subcommand};

use super::{
    common::{ConfigArguments, NoDaemon, since},
    limits::LimitArguments,
};
use crate::help;

#[derive(Args)]
#[command(after_help = help::RUN)]
pub(crate) struct RunArguments {
    /// The script; - or nothing reads it from stdin.
    #[arg(value_name = "FILE", conflicts_with = "code")]
    pub(crate) file: Option<PathBuf>,
    /// The script itself.
    #[arg(long, value_name = "TEXT")]
    pub(crate) code: Option<String>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints the whole outcome as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Records what the script takes in to a file, for belljar replay. It holds arguments and answers.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// What the ledger keeps of this run, whatever it keeps of others: off, calls or recordings.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) ledger: Option<LedgerLevel>,
    #[command(flatten)]
    pub(crate) limits: LimitArguments,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
}

#[derive(Args)]
pub(crate) struct CheckArguments {
    /// The script; - or nothing reads it from stdin.
    #[arg(value_name = "FILE", conflicts_with = "code")]
    pub(crate) file: Option<PathBuf>,
    /// The script itself.
    #[arg(long, value_name = "TEXT")]
    pub(crate) code: Option<String>,
    /// The profile of the entry through which the script would come, for the rules.
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ResumeArguments {
    /// The name of the run.
    #[arg(value_name = "RUN")]
    pub(crate) run: RunId,
    /// What became of the calls that it had sent when it was interrupted, where no answer is known. None of them is sent again.
    #[arg(long, value_enum, value_name = "failed|done", hide_possible_values = true)]
    pub(crate) assume: Option<Assume>,
    /// Assumes it without a person typing, where your belljar.toml says `allow_yes = true` for approvals.
    #[arg(long, requires = "assume")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints the whole outcome as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
}

/// What became of calls that were sent.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Assume {
    Failed,
    Done,
}

#[derive(Args)]
#[command(after_help = help::REPLAY)]
pub(crate) struct ReplayArguments {
    /// The recording, as run --record writes it, or a run of which the ledger has one.
    #[arg(value_name = "FILE|RUN")]
    pub(crate) file: PathBuf,
    /// Runs this script in the place of the recorded one. Calls are answered where their tool and
    /// arguments were recorded.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) source: Option<PathBuf>,
    /// Writes a fixture of the run into this new file, for belljar test.
    #[arg(long, value_name = "OUT")]
    pub(crate) fixture: Option<PathBuf>,
    /// Makes the fixture one whose calls are answered by tool and arguments, in any order. With
    /// --source it is one in any case.
    #[arg(long, requires = "fixture")]
    pub(crate) loose: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints the whole outcome as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = help::TEST)]
pub(crate) struct TestArguments {
    /// Recordings, fixtures, and folders that have some.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints what came of each test as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

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
    /// Only runs that failed or were interrupted.
    #[arg(long)]
    pub(crate) failed: bool,
    /// Only runs that began since then: a duration such as 2h, or a time such as 2026-11-22 or 2026-11-22T18:00:00Z.
    #[arg(long, value_name = "WHEN", value_parser = since)]
    pub(crate) since: Option<SystemTime>,
    /// The most runs to show.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: u32,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum RunsCommand {
    /// Shows one run: its calls in order, how it ended, and what it used.
    Show(RunsShowArguments),
    /// Says where two runs differ first: script, calls, arguments, answers, end, fuel.
    Diff(RunsDiffArguments),
    /// Writes the recording of a run, for belljar replay.
    Export(RunsExportArguments),
    /// Forgets runs: those named, those before a time, all, or those that the configured ledger does not keep.
    Purge(RunsPurgeArguments),
}

#[derive(Args)]
pub(crate) struct RunsDiffArguments {
    /// The one run.
    #[arg(value_name = "RUN")]
    pub(crate) one: RunIdStart,
    /// The other.
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
    /// A file that does not exist yet [default: stdout].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Writes a fixture, for belljar test: the same as a text that can be read in a diff.
    #[arg(long)]
    pub(crate) fixture: bool,
    /// Makes the fixture one whose calls are answered by tool and arguments, in any order.
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

#[derive(Args)]
pub(crate) struct RunsShowArguments {
    /// The run, as in r_0123456789abc, or a beginning of its name.
    #[arg(value_name = "RUN")]
    pub(crate) run: RunIdStart,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

impl RunsArguments {
    pub(super) fn wants_json(&self) -> bool {
        match &self.command {
            None => self.json,
            Some(RunsCommand::Show(arguments)) => arguments.json,
            Some(RunsCommand::Diff(arguments)) => arguments.json,
            Some(RunsCommand::Export(_)) => false,
            Some(RunsCommand::Purge(arguments)) => arguments.json,
        }
    }
}
