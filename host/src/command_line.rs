//! The command line: the commands, whose arguments are in their own files.

use std::process::ExitCode;

use belljar_model::{ErrorKind, Outcome, RunError};
use clap::{Parser, Subcommand};

use crate::{
    arguments::ServeArguments,
    commands::{
        approvals::{ApprovalsArguments, ApproveArguments, DecideArguments},
        artifacts::ArtifactsArguments,
        bench::BenchArguments,
        call::CallArguments,
        check::CheckArguments,
        daemon::{DaemonArguments, DaemonCommand},
        doctor::DoctorArguments,
        edit::{AddArguments, RemoveArguments},
        generate::{CompletionsArguments, ManArguments},
        hook::HookArguments,
        host::HostArguments,
        import::ImportArguments,
        install::InstallArguments,
        keep::KeepArguments,
        login::LoginArguments,
        policy::PolicyArguments,
        replay::ReplayArguments,
        request::RequestArguments,
        route::RouteArguments,
        run::{ResumeArguments, RunArguments},
        runs::RunsArguments,
        search::SearchArguments,
        servers::ServersArguments,
        skills::SkillsArguments,
        test::TestArguments,
        token::TokenArguments,
        top::TopArguments,
        typescript::TypescriptArguments,
        ui::UiArguments,
        wit::WitArguments,
    },
    envelope, help, output,
};

/// Model-written code, under glass: runs JavaScript and TypeScript with your MCP servers, in a
/// WebAssembly sandbox.
#[derive(Parser)]
#[command(name = "belljar", version, about, after_help = help::BELLJAR, max_term_width = 110)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Prints more on stderr; repeat for even more.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,

    /// Prints only errors on stderr: no notes, no usage, no spinner.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Runs a script and prints its value.
    Run(RunArguments),
    /// Shows which tools a script would call, and what the rules say about each call. Runs nothing
    /// and starts no server.
    #[command(after_help = help::CHECK)]
    Check(CheckArguments),
    /// Serves MCP on stdin and stdout or over HTTP, with two tools: search_docs and execute_code.
    #[command(after_help = help::SERVE)]
    Serve(ServeArguments),
    /// Runs scripts for another program, over JSON-RPC on stdin and stdout. The program serves the
    /// functions that the scripts call.
    Host(HostArguments),
    /// Repeats a recorded run without its servers, and shows where it differs.
    Replay(ReplayArguments),
    /// Lists the runs in the ledger, or shows what happened in one.
    Runs(RunsArguments),
    /// Replays recordings and fixtures, and reports differences.
    Test(TestArguments),
    /// Lists the calls that wait for your decision, with everything that would be sent.
    Approvals(ApprovalsArguments),
    /// Approves a call that waits for your decision: it is sent once, and only if nothing about it
    /// has changed.
    #[command(after_help = help::APPROVE)]
    Approve(ApproveArguments),
    /// Refuses a call that waits for your decision.
    Deny(DecideArguments),
    /// Continues a run that waits for your decision about calls.
    #[command(after_help = help::RESUME)]
    Resume(ResumeArguments),
    /// Manages the tokens for belljar serve --http.
    #[command(after_help = help::TOKEN)]
    Token(TokenArguments),
    /// Checks, tests and explains the owner's rules for calls.
    #[command(after_help = help::POLICY)]
    Policy(PolicyArguments),
    /// Manages the owner's named scripts, which other scripts call as skills.NAME.
    #[command(after_help = help::SKILLS)]
    Skills(SkillsArguments),
    /// Manages the values that scripts keep for later runs as keep.NAME.
    #[command(after_help = help::KEEP)]
    Keep(KeepArguments),
    /// Manages artifacts: data that runs keep for later runs because it is too large to show.
    #[command(after_help = help::ARTIFACTS)]
    Artifacts(ArtifactsArguments),
    /// Searches the tools of all servers.
    Search(SearchArguments),
    /// Calls one tool.
    Call(CallArguments),
    /// Shows which of a server's projects fits a description, with the parts of each score. Starts
    /// no server.
    Route(RouteArguments),
    /// Prints servers and their tools as WIT packages, for components in any language.
    Wit(WitArguments),
    /// Prints the tools as TypeScript declarations, and writes a client for your own programs.
    Typescript(TypescriptArguments),
    /// Carries out one request from an orchestrator: one JSON object in, one JSON object out.
    Request(RequestArguments),
    /// Starts each server and shows its state.
    Servers(ServersArguments),
    /// Checks that everything works: the image, the folders, the daemon, and each server.
    #[command(after_help = help::DOCTOR)]
    Doctor(DoctorArguments),
    /// Measures what belljar costs on this machine: starts, calls, runs, memory, limits, search and
    /// tokens.
    Bench(BenchArguments),
    /// Adds a server to belljar.toml.
    Add(AddArguments),
    /// Removes a server from belljar.toml.
    Remove(RemoveArguments),
    /// Writes belljar's entry into the configuration of an MCP client.
    Install(InstallArguments),
    /// Prints a completion script for a shell.
    #[command(after_help = help::COMPLETIONS)]
    Completions(CompletionsArguments),
    /// Prints the manual page, or writes the pages of all commands to a folder.
    #[command(after_help = help::MAN)]
    Man(ManArguments),
    /// Manages the warm process that keeps servers running between commands.
    #[command(after_help = help::DAEMON)]
    Daemon(DaemonArguments),
    /// Shows in the terminal what is running now: runs, calls, servers, and how many calls wait for
    /// your decision.
    #[command(after_help = help::TOP)]
    Top(TopArguments),
    /// Opens belljar's page in your browser: runs, calls, and decisions that wait for you.
    #[command(after_help = help::UI)]
    Ui(UiArguments),
    /// Imports the servers that MCP clients are configured with.
    Import(ImportArguments),
    /// Answers a coding agent's hook: what the owner's rules say about a tool call, or which
    /// servers there are.
    Hook(HookArguments),
    /// Logs in to a remote server.
    Login(LoginArguments),
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
            Command::Check(arguments) => arguments.json,
            Command::Resume(arguments) => arguments.json,
            Command::Replay(arguments) => arguments.json,
            Command::Runs(arguments) => arguments.wants_json(),
            Command::Test(arguments) => arguments.json,
            Command::Token(arguments) => arguments.command.is_json(),
            Command::Approvals(arguments) => arguments.json,
            Command::Approve(_) | Command::Deny(_) => false,
            Command::Policy(arguments) => arguments.command.is_json(),
            Command::Skills(arguments) => arguments.command.is_json(),
            Command::Keep(arguments) => arguments.command.is_json(),
            Command::Artifacts(arguments) => arguments.command.is_json(),
            Command::Search(arguments) => arguments.json,
            Command::Call(arguments) => arguments.json,
            Command::Route(arguments) => arguments.json,
            Command::Wit(arguments) => arguments.json,
            Command::Typescript(arguments) => arguments.json,
            Command::Servers(arguments) => arguments.json,
            Command::Doctor(arguments) => arguments.json,
            Command::Bench(arguments) => arguments.json,
            Command::Add(arguments) => arguments.json,
            Command::Remove(arguments) => arguments.json,
            Command::Daemon(arguments) => arguments.command.options().json,
            Command::Top(arguments) => arguments.json,
            Command::Ui(arguments) => arguments.json,
            Command::Import(arguments) => arguments.json,
            Command::Login(arguments) => arguments.json,
            Command::Install(arguments) => arguments.json,
            Command::Hook(arguments) => arguments.wants_json(),
            // One always writes JSON, two speak a protocol, and two print what shells and `man`
            // read.
            Command::Request(_) | Command::Serve(_) | Command::Host(_) | Command::Completions(_) | Command::Man(_) => {
                false
            }
        }
    }
}

/// Parses the command line. An exit code means that the error has already been printed.
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
            // clap prints help to stdout and errors to stderr; if neither can be written to, nobody
            // can be told.
            let _ = error.print();
        }
        ExitCode::from(if is_help { 0 } else { 2 })
    })
}

/// clap's message as an error: its first paragraph says what is wrong, and "tip:" what to try.
fn usage(complaint: &str) -> RunError {
    let mut lines = complaint.lines().map(str::trim);
    let message: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    let message = message.join(" ");
    let tips = lines.filter_map(|line| line.strip_prefix("tip: "));
    let hint: Vec<&str> = tips.chain(["see belljar --help"]).collect();
    RunError::new(ErrorKind::Usage, message.trim_start_matches("error: ")).with_hint(hint.join("; "))
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
