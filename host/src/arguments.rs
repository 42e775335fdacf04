//! The command line, as clap reads it.

mod limits;

use std::{
    net::SocketAddr,
    path::PathBuf,
    process::ExitCode,
    time::{Duration, SystemTime},
};

use belljar_catalog::Detail;
use belljar_config::import::Client;
use belljar_http::Scope;
use belljar_model::{Effect, ErrorKind, LedgerLevel, Outcome, RunError, RunId, RunIdStart, ToolPath};
use belljar_policy::LocalTime;
use clap::{Args, Parser, Subcommand};

use self::limits::LimitArguments;
use crate::{commands::install::InstallClient, envelope, help, output};

/// Model-written code, under glass: runs JavaScript and TypeScript over your MCP servers, in a WebAssembly sandbox.
#[derive(Parser)]
#[command(name = "belljar", version, about, after_help = help::BELLJAR, max_term_width = 110)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Says more on stderr; twice, still more.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,

    /// Says nothing on stderr but errors: no notes, no usage, no spinner.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Runs a script and prints its value.
    Run(RunArguments),
    /// Serves MCP on stdin and stdout or over HTTP, with two tools: search_docs and execute_code.
    #[command(after_help = help::SERVE)]
    Serve(ServeArguments),
    /// Repeats a recorded run without its servers, and says where it differs.
    Replay(ReplayArguments),
    /// Lists the runs that the ledger has, and says what happened in one.
    Runs(RunsArguments),
    /// Replays recordings and fixtures that lie in a folder, and says what differs.
    Test(TestArguments),
    /// Lists the calls that wait for your decision, with all that would be sent.
    Approvals(ApprovalsArguments),
    /// Lets a call be sent that waits for your decision: once, and only if nothing about it has changed.
    #[command(after_help = help::APPROVE)]
    Approve(DecideArguments),
    /// Refuses a call that waits for your decision.
    Deny(DecideArguments),
    /// Goes on with a run that waits for your decision about calls.
    #[command(after_help = help::RESUME)]
    Resume(ResumeArguments),
    /// The tokens of belljar serve --http.
    #[command(after_help = help::TOKEN)]
    Token(TokenArguments),
    /// The owner's rules for calls: checks, tests and explains them.
    #[command(after_help = help::POLICY)]
    Policy(PolicyArguments),
    /// Searches the tools of all servers.
    Search(SearchArguments),
    /// Calls one tool.
    Call(CallArguments),
    /// Carries out one request of an orchestrator: a JSON object in, a JSON object out.
    Request(RequestArguments),
    /// Starts each server and shows its state.
    Servers(ServersArguments),
    /// Checks that everything works: the image, the folders, the daemon, and each server.
    #[command(after_help = help::DOCTOR)]
    Doctor(ServersArguments),
    /// Measures what belljar costs on this machine: starts, calls, runs, memory, limits, search and tokens.
    Bench(BenchArguments),
    /// Adds a server to belljar.toml.
    Add(AddArguments),
    /// Removes a server from belljar.toml.
    Remove(RemoveArguments),
    /// Writes belljar's entry into the configuration of an MCP client.
    Install(InstallArguments),
    /// Prints the completions for a shell.
    #[command(after_help = help::COMPLETIONS)]
    Completions(CompletionsArguments),
    /// Prints the manual page, or writes those of all commands into a folder.
    #[command(after_help = help::MAN)]
    Man(ManArguments),
    /// The warm process that keeps servers between commands.
    #[command(after_help = help::DAEMON)]
    Daemon(DaemonArguments),
    /// Takes over the servers that MCP clients are configured with.
    Import(ImportArguments),
    /// Logs in at a remote server.
    Login(LoginArguments),
}

#[derive(Args, Clone)]
pub(crate) struct ConfigArguments {
    /// The configuration: a belljar.toml, or the JSON of an MCP client.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

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
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Uses the daemon's servers, which it shares with commands and other clients.
    #[cfg_attr(unix, arg(long, conflicts_with_all = ["http", "socket"]))]
    #[cfg_attr(not(unix), arg(long, conflicts_with = "http"))]
    pub(crate) daemon: bool,
    /// Serves HTTP at this address, in place of stdin and stdout; 127.0.0.1:8765 if none is named.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8765")]
    pub(crate) http: Option<SocketAddr>,
    /// Serves HTTP at a Unix socket, for processes of this user, who need no token there.
    #[cfg(unix)]
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// With --http: a name that clients may have for this server, such as that of a proxy in front of it.
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// With --http: an origin whose pages may send requests, as `https://app.example`.
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) allow_origin: Vec<String>,
    /// A name for this entry, which rules in policy.toml can ask for.
    #[arg(long, value_name = "NAME", conflicts_with = "daemon")]
    pub(crate) profile: Option<String>,
}

impl ServeArguments {
    /// Whether it serves HTTP, in place of stdin and stdout.
    pub(crate) fn is_over_http(&self) -> bool {
        #[cfg(unix)]
        let has_socket = self.socket.is_some();
        #[cfg(not(unix))]
        let has_socket = false;
        self.http.is_some() || has_socket
    }
}

#[derive(Args)]
pub(crate) struct ApprovalsArguments {
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct DecideArguments {
    /// The question's name, or its beginning, as belljar approvals lists it.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Decides without a person typing, where the owner's belljar.toml says `allow_yes = true` for approvals.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args)]
pub(crate) struct ResumeArguments {
    /// The name of the run.
    #[arg(value_name = "RUN")]
    pub(crate) run: RunId,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints the whole outcome as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
}

#[derive(Args)]
pub(crate) struct TokenArguments {
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

#[derive(Subcommand)]
pub(crate) enum TokenCommand {
    /// Makes a token and shows it, once.
    Add {
        /// Whose it is: the principal that its requests are of.
        name: String,
        /// What it is good for: search, run, run:read-only or admin; may be repeated [default: search and run].
        #[arg(long, value_name = "SCOPE")]
        scope: Vec<Scope>,
    },
    /// Shows the names and scopes of all tokens.
    List {
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Gives a token a new secret and shows it, once. The old one is good no more.
    Rotate {
        /// Whose it is.
        name: String,
    },
    /// Removes a token.
    Remove {
        /// Whose it is.
        name: String,
    },
}

impl TokenCommand {
    fn is_json(&self) -> bool {
        matches!(self, Self::List { json: true })
    }
}

#[derive(Args)]
pub(crate) struct PolicyArguments {
    #[command(subcommand)]
    pub(crate) command: PolicyCommand,
}

#[derive(Subcommand)]
pub(crate) enum PolicyCommand {
    /// Says all that is wrong with the rules, each with line and column.
    Check(PolicyOptions),
    /// Runs the tests that stand in the file of the rules.
    Test(PolicyOptions),
    /// Says what becomes of a call, and what each rule says of it. Nothing is called.
    Explain(PolicyExplainArguments),
    /// Shows how servers describe pinned tools now, and accepts it once you have typed a code. No server is started.
    Accept(PolicyAcceptArguments),
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
    /// A rule with 'after' whose earlier call there was; may be given more than once.
    #[arg(long, value_name = "RULE")]
    pub(crate) after: Vec<String>,
    /// What the calls count that rules want to be made first.
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
    /// Accepts without a person typing, where your belljar.toml says `allow_yes = true` for approvals.
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object, and accepts nothing unless --yes is given.
    #[arg(long)]
    pub(crate) json: bool,
}

impl PolicyCommand {
    fn is_json(&self) -> bool {
        match self {
            Self::Check(options) | Self::Test(options) => options.json,
            Self::Explain(arguments) => arguments.json,
            Self::Accept(arguments) => arguments.json,
        }
    }
}

/// Whether a command may use the daemon.
#[derive(Args, Clone, Copy)]
pub(crate) struct NoDaemon {
    /// Does everything in this process, and starts no daemon.
    #[arg(long)]
    pub(crate) no_daemon: bool,
}

#[derive(Args)]
#[command(after_help = help::REPLAY)]
pub(crate) struct ReplayArguments {
    /// The recording, as run --record writes it, or a run of which the ledger has one.
    #[arg(value_name = "FILE|RUN")]
    pub(crate) file: PathBuf,
    /// Runs this script in the place of the recorded one. Calls are answered where their tool and arguments were recorded.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) source: Option<PathBuf>,
    /// Writes a fixture of the run into this new file, for belljar test.
    #[arg(long, value_name = "OUT")]
    pub(crate) fixture: Option<PathBuf>,
    /// Makes the fixture one whose calls are answered by tool and arguments, in any order. With --source it is one in any case.
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
    fn wants_json(&self) -> bool {
        match &self.command {
            None => self.json,
            Some(RunsCommand::Show(arguments)) => arguments.json,
            Some(RunsCommand::Diff(arguments)) => arguments.json,
            Some(RunsCommand::Export(_)) => false,
            Some(RunsCommand::Purge(arguments)) => arguments.json,
        }
    }
}

#[derive(Args)]
#[command(after_help = help::SEARCH)]
pub(crate) struct SearchArguments {
    /// What to look for; nothing lists the servers and their tools.
    pub(crate) query: Vec<String>,
    /// How much to say of each tool: names, brief or full.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) detail: Option<Detail>,
    /// Only tools of this server.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Only tools with this effect: read_only, mutating or external.
    #[arg(long, value_name = "EFFECT")]
    pub(crate) effect: Option<Effect>,
    /// The most tools to show.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// The most tokens that the answer may take [default: 2000].
    #[arg(long, value_name = "N")]
    pub(crate) budget: Option<usize>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = help::CALL)]
pub(crate) struct CallArguments {
    /// The tool, as in fs.read_file.
    #[arg(value_name = "SERVER.TOOL")]
    pub(crate) path: ToolPath,
    /// The arguments, a JSON object; @FILE reads it from a file, - from stdin.
    #[arg(long, value_name = "JSON|@FILE|-", default_value = "{}")]
    pub(crate) input: String,
    /// What to show of the value: a filter in jq's language, as in '.issues[] | {id, title}'.
    #[arg(long, value_name = "FILTER")]
    pub(crate) select: Option<String>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
    /// Prints one JSON object, with the raw result in it, or without it where there is a --select.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = help::REQUEST)]
pub(crate) struct RequestArguments {
    /// The request; - or nothing reads it from stdin.
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
}

#[derive(Args)]
#[command(after_help = help::SERVERS)]
pub(crate) struct ServersArguments {
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    #[command(flatten)]
    pub(crate) daemon: NoDaemon,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = help::BENCH)]
pub(crate) struct BenchArguments {
    /// Takes a few seconds: fewer rounds, and without the cost of limits.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Writes a page with plots, that needs nothing but a browser.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = help::ADD)]
pub(crate) struct AddArguments {
    /// What scripts and commands will call it.
    pub(crate) name: String,
    /// The address of a remote server.
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "env"])]
    pub(crate) url: Option<String>,
    /// A header for each request to it, as in 'Authorization: Bearer ${TOKEN}'.
    #[arg(long = "header", value_name = "NAME: VALUE", requires = "url", value_parser = header)]
    pub(crate) headers: Vec<(String, String)>,
    /// A variable of the program's environment, as in 'TOKEN=${TOKEN}'.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub(crate) env: Vec<(String, String)>,
    /// The program that is the server, and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// It keeps a state that must not be lost: it is not stopped for being idle.
    #[arg(long)]
    pub(crate) stateful: bool,
    /// It is started with the daemon, and not only when it is needed.
    #[arg(long)]
    pub(crate) warm: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = help::REMOVE)]
pub(crate) struct RemoveArguments {
    /// The server's name.
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = help::INSTALL)]
pub(crate) struct InstallArguments {
    /// The client.
    pub(crate) client: InstallClient,
    /// Writes without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Takes the entry out again.
    #[arg(long)]
    pub(crate) undo: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args)]
pub(crate) struct ManArguments {
    /// Where to write the pages; nothing prints the first.
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct DaemonArguments {
    #[command(subcommand)]
    pub(crate) command: DaemonCommand,
}

#[derive(Subcommand)]
pub(crate) enum DaemonCommand {
    /// Starts it, if it is not running.
    Start(DaemonOptions),
    /// Shows what it is and does; exit code 1 where there is none.
    Status(DaemonOptions),
    /// Ends it, when what it has running has ended.
    Stop(DaemonOptions),
    /// Has it read its configuration again; what runs goes on with the servers that it began with.
    Reload(DaemonOptions),
    /// Ends it and starts a new one.
    Restart(DaemonOptions),
    /// Is the daemon, in this process.
    #[command(hide = true)]
    Run(DaemonOptions),
}

#[derive(Args)]
pub(crate) struct DaemonOptions {
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

impl DaemonCommand {
    pub(crate) fn options(&self) -> &DaemonOptions {
        match self {
            Self::Start(options)
            | Self::Status(options)
            | Self::Stop(options)
            | Self::Reload(options)
            | Self::Restart(options)
            | Self::Run(options) => options,
        }
    }
}

#[derive(Args)]
#[command(after_help = help::LOGIN)]
pub(crate) struct LoginArguments {
    /// The server, by its name in the configuration.
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
#[command(after_help = help::IMPORT)]
pub(crate) struct ImportArguments {
    /// Only of this file or client: claude-desktop, claude-code, cursor or vscode [default: the user's own files of all clients].
    #[arg(long, value_name = "FILE|CLIENT", value_parser = ImportFrom::parse)]
    pub(crate) from: Option<ImportFrom>,
    /// Writes them into the configuration, after a copy of what is there.
    #[arg(long)]
    pub(crate) write: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where servers are taken from.
#[derive(Clone)]
pub(crate) enum ImportFrom {
    Client(Client),
    File(PathBuf),
}

impl ImportFrom {
    #[expect(clippy::unnecessary_wraps, reason = "clap wants it so")]
    fn parse(text: &str) -> Result<Self, String> {
        let client = Client::ALL.into_iter().find(|client| client.as_str() == text);
        Ok(client.map_or_else(|| Self::File(PathBuf::from(text)), Self::Client))
    }
}

impl Arguments {
    /// Whether this process is a daemon, which logs to a file.
    pub(crate) fn is_daemon(&self) -> bool {
        matches!(&self.command, Command::Daemon(DaemonArguments { command: DaemonCommand::Run(_) }))
    }

    /// Whether errors are to be printed as JSON too.
    pub(crate) fn wants_json(&self) -> bool {
        match &self.command {
            Command::Run(arguments) => arguments.json,
            Command::Resume(arguments) => arguments.json,
            Command::Replay(arguments) => arguments.json,
            Command::Runs(arguments) => arguments.wants_json(),
            Command::Test(arguments) => arguments.json,
            Command::Token(arguments) => arguments.command.is_json(),
            Command::Approvals(arguments) => arguments.json,
            Command::Approve(_) | Command::Deny(_) => false,
            Command::Policy(arguments) => arguments.command.is_json(),
            Command::Search(arguments) => arguments.json,
            Command::Call(arguments) => arguments.json,
            Command::Servers(arguments) | Command::Doctor(arguments) => arguments.json,
            Command::Bench(arguments) => arguments.json,
            Command::Add(arguments) => arguments.json,
            Command::Remove(arguments) => arguments.json,
            Command::Daemon(arguments) => arguments.command.options().json,
            Command::Import(arguments) => arguments.json,
            Command::Login(arguments) => arguments.json,
            Command::Install(arguments) => arguments.json,
            // One writes JSON in any case, one speaks a protocol, and two print what is in the form of shells and of `man`.
            Command::Request(_) | Command::Serve(_) | Command::Completions(_) | Command::Man(_) => false,
        }
    }
}

/// Reads the command line. What is wrong with it has been said when this returns an exit code.
pub(crate) fn parse() -> Result<Arguments, ExitCode> {
    Arguments::try_parse().map_err(|error| {
        let is_help = error.exit_code() == 0;
        let wants_json = std::env::args_os().any(|argument| argument == "--json");
        let is_request = std::env::args_os().skip(1).find(|argument| !argument.as_encoded_bytes().starts_with(b"-"));
        if is_request.is_some_and(|command| command == "request") && !is_help {
            output::print_json(&envelope::outcome(usage(&error.render().to_string()).into()));
        } else if wants_json && !is_help {
            output::print_json(&Outcome::refused(usage(&error.render().to_string())));
        } else {
            // clap prints help to stdout and errors to stderr; if neither can be written to, nobody is there to be told.
            let _ = error.print();
        }
        ExitCode::from(if is_help { 0 } else { 2 })
    })
}

/// clap's complaint as an error: what is wrong stands in its first paragraph, and what to try after "tip:".
fn usage(complaint: &str) -> RunError {
    let mut lines = complaint.lines().map(str::trim);
    let message: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    let message = message.join(" ");
    let tips = lines.filter_map(|line| line.strip_prefix("tip: "));
    let hint: Vec<&str> = tips.chain(["belljar --help says what there is"]).collect();
    RunError::new(ErrorKind::Usage, message.trim_start_matches("error: ")).with_hint(hint.join("; "))
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("write it like 'Name: value'")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it like NAME=value")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn duration(text: &str) -> Result<Duration, String> {
    belljar_model::parse_duration(text).map_err(|fault| fault.to_string())
}

fn local_time(text: &str) -> Result<LocalTime, String> {
    text.parse().map_err(|()| "write a day and a time, as in 'mon 10:30'".to_owned())
}

/// A time, or how long ago it was.
fn since(text: &str) -> Result<SystemTime, String> {
    let midnight = || humantime::parse_rfc3339_weak(&format!("{text} 00:00:00"));
    if let Ok(at) = humantime::parse_rfc3339_weak(text).or_else(|_| midnight()) {
        return Ok(at);
    }
    let ago = duration(text).map_err(|_| "write a duration such as 2h, or a time such as 2026-11-22".to_owned())?;
    SystemTime::now().checked_sub(ago).ok_or_else(|| "so long ago there is no time".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
