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
    /// Reports every mistake in the rules, with line and column.
    Check(PolicyOptions),
    /// Runs the tests in the rules file.
    Test(PolicyOptions),
    /// Shows what would happen to a call, and what each rule says about it. Calls nothing.
    Explain(PolicyExplainArguments),
    /// Shows how servers describe pinned tools now, and accepts this after you type a code. Starts
    /// no server.
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
    /// The arguments, as a JSON object; @FILE reads them from a file, - from stdin.
    #[arg(long, value_name = "JSON|@FILE|-", default_value = "{}")]
    pub(crate) input: String,
    /// Who makes the call: the name of a token, or owner.
    #[arg(long, value_name = "NAME", default_value = "owner")]
    pub(crate) principal: String,
    /// The profile that rules see, as given to belljar serve --profile.
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// A label that the run carries; may be repeated.
    #[arg(long, value_name = "LABEL")]
    pub(crate) carries: Vec<String>,
    /// A rule with 'after' whose earlier call is assumed to have succeeded; may be repeated.
    #[arg(long, value_name = "RULE")]
    pub(crate) after: Vec<String>,
    /// The count to assume for the 'measure' of a rule.
    #[arg(long, value_name = "COUNT")]
    pub(crate) measured: Option<u64>,
    /// The time of the call, as in 'mon 10:30' [default: now].
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
    /// Skips the prompt, if belljar.toml has `[approvals] allow_yes = true`.
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
