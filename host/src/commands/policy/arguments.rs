//! The arguments of `belljar policy`.

use belljar_model::ToolPath;
use belljar_policy::LocalTime;
use clap::{Args, Subcommand};

use crate::arguments::ConfigArguments;

#[derive(Args)]
pub(crate) struct PolicyArguments {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

#[derive(Subcommand)]
pub(crate) enum PolicyCommand {
    /// Says all that is wrong with the rules, each with line and column.
    Check(PolicyOptions),
    /// Runs the tests in the file of the rules.
    Test(PolicyOptions),
    /// Says what happens to a call, and what each rule says of it. Nothing is called.
    Explain(PolicyExplainArguments),
    /// Shows how servers describe pinned tools now, and accepts it once you have typed a code. No
    /// server is started.
    Accept(PolicyAcceptArguments),
}

impl PolicyCommand {
    pub(crate) fn is_json(&self) -> bool {
        match self {
            Self::Check(options) | Self::Test(options) => options.json,
            Self::Explain(arguments) => arguments.json,
            Self::Accept(arguments) => arguments.json,
        }
    }
}

#[derive(Args)]
pub(crate) struct PolicyOptions {
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct PolicyExplainArguments {
    /// The tool, as in fs.write_file.
    #[arg(value_name = "SERVER.TOOL")]
    pub(crate) path: ToolPath,
    /// The arguments, a JSON object; @FILE reads it from a file, - from stdin.
    #[arg(long, value_name = "JSON|@FILE|-", default_value = "{}")]
    pub(crate) input: String,
    /// Who calls: the name of a token, or the owner.
    #[arg(long, value_name = "NAME", default_value = "owner")]
    pub(crate) principal: String,
    /// The profile of the entry through which the call comes.
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// A label that the run carries; may be given more than once.
    #[arg(long, value_name = "LABEL")]
    pub(crate) carries: Vec<String>,
    /// A rule with 'after', whose earlier call is assumed to have succeeded; may be given more than
    /// once.
    #[arg(long, value_name = "RULE")]
    pub(crate) after: Vec<String>,
    /// The count that the 'measure' of a rule would give.
    #[arg(long, value_name = "COUNT")]
    pub(crate) measured: Option<u64>,
    /// When, as in 'mon 10:30' [default: now].
    #[arg(long, value_name = "DAY TIME", value_parser = local_time)]
    pub(crate) at: Option<LocalTime>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct PolicyAcceptArguments {
    /// Only this server, or this tool.
    #[arg(value_name = "SERVER[.TOOL]")]
    pub(crate) tool: Option<String>,
    /// Accepts without a person typing, where your belljar.toml says `allow_yes = true` for
    /// approvals.
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object, and accepts nothing unless --yes is given.
    #[arg(long)]
    pub(crate) json: bool,
}

fn local_time(text: &str) -> Result<LocalTime, String> {
    text.parse().map_err(|()| "write a day and a time, as in 'mon 10:30'".to_owned())
}
