//! `belljar`: the command line and the MCP server.
//!
//! Only this crate uses command-line arguments, standard output, the environment and exit codes.
//! The work of the commands is in the crates; here they are set up and called, and their answers
//! shown.

#![forbid(unsafe_code)]

mod approvals;
mod arguments;
mod artifacts;
mod backend;
mod command_line;
mod commands;
mod consent;
mod daemon;
mod envelope;
mod environment;
mod failure;
mod hardening;
mod help;
mod installed;
mod kept_run;
mod output;
mod page;
mod policy;
mod render;
mod select;
mod serve;
mod setup;
mod signals;
mod tokens;
mod traces;

use std::process::ExitCode;

use clap::CommandFactory as _;
use command_line::{Arguments, Command};
use failure::Failure;
use hardening::Role;

fn main() -> ExitCode {
    let role = Role::of_this_process();
    if let Err(error) = hardening::harden(role) {
        return Failure::internal(format!("the process cannot be hidden from others: {error}")).report(false);
    }
    match role {
        #[cfg(unix)]
        Role::Supervisor => return belljar_upstream::supervise(std::env::args_os().skip(2)),
        #[cfg(unix)]
        Role::Engine => {
            environment::log_to_stderr(0, false);
            return belljar_engine::serve(std::env::args_os().skip(2), &belljar_sandbox::Image::embedded());
        }
        #[cfg(unix)]
        Role::Component => {
            environment::log_to_stderr(0, false);
            return belljar_engine::serve_component(std::env::args_os().skip(2));
        }
        Role::Confiner => return belljar_upstream::confine(std::env::args_os().skip(2)),
        Role::Filter => return select::worker(std::env::args_os().skip(2)),
        Role::ResultFilter => return select::results_worker(std::env::args_os().skip(2)),
        Role::Checker => return belljar_gateway::check_arguments(std::env::args_os().skip(2)),
        _ => {}
    }
    // A hook always answers its client, even if the command line is wrong.
    if let Some(code) = commands::hook::answered() {
        return code;
    }
    let arguments = match command_line::parse() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let json = arguments.wants_json();
    match run(arguments) {
        Ok(code) => code,
        Err(failure) => failure.report(json),
    }
}

fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    // A daemon has no terminal; its log's path is known once its configuration is.
    if !arguments.is_daemon() {
        output::set_quiet(arguments.quiet);
        environment::log_to_stderr(arguments.verbose, arguments.quiet);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::internal(format!("the runtime cannot be started: {error}")))?;
    let code = runtime.block_on(async {
        let code = match arguments.command {
            Command::Run(arguments) => commands::run::run(arguments).await,
            Command::Check(arguments) => commands::check::check(arguments).await,
            Command::Resume(arguments) => commands::run::resume(arguments).await,
            Command::Replay(arguments) => commands::replay::replay(arguments).await,
            Command::Test(arguments) => commands::test::test(arguments).await,
            Command::Serve(arguments) => commands::serve::serve(arguments).await,
            Command::Host(arguments) => commands::host::host(arguments).await,
            Command::Runs(arguments) => commands::runs::runs(arguments).await,
            Command::Approvals(arguments) => commands::approvals::approvals(arguments).await,
            Command::Approve(arguments) => commands::approvals::approve(arguments).await,
            Command::Deny(arguments) => commands::approvals::deny(arguments).await,
            Command::Token(arguments) => commands::token::token(&arguments),
            Command::Policy(arguments) => commands::policy::policy(arguments).await,
            Command::Keep(arguments) => commands::keep::keep(arguments).await,
            Command::Skills(arguments) => commands::skills::skills(arguments).await,
            Command::Artifacts(arguments) => commands::artifacts::artifacts(arguments).await,
            Command::Search(arguments) => commands::search::search(arguments).await,
            Command::Call(arguments) => commands::call::call(arguments).await,
            Command::Route(arguments) => commands::route::route(&arguments),
            Command::Wit(arguments) => commands::wit::wit(arguments).await,
            Command::Typescript(arguments) => commands::typescript::typescript(arguments).await,
            Command::Request(arguments) => Ok(commands::request::request(arguments).await),
            Command::Servers(arguments) => commands::servers::servers(arguments).await,
            Command::Doctor(arguments) => commands::doctor::doctor(arguments).await,
            Command::Bench(arguments) => commands::bench::bench(arguments).await,
            Command::Add(arguments) => commands::edit::add(arguments),
            Command::Remove(arguments) => commands::edit::remove(arguments),
            Command::Install(arguments) => commands::install::install(&arguments),
            Command::Completions(arguments) => commands::generate::completions(&arguments, Arguments::command()),
            Command::Man(arguments) => commands::generate::man(&arguments, Arguments::command()),
            Command::Daemon(arguments) => commands::daemon::daemon(arguments).await,
            Command::Top(arguments) => commands::top::top(arguments).await,
            Command::Ui(arguments) => commands::ui::ui(arguments).await,
            Command::Import(arguments) => commands::import::import(arguments),
            Command::Hook(arguments) => commands::hook::hook(arguments).await,
            Command::Login(arguments) => commands::login::login(arguments).await,
        };
        traces::finish().await;
        code
    });
    // A read of stdin that never ends must not delay the end of the process.
    runtime.shutdown_background();
    code
}
