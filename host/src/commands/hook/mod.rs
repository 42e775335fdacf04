//! `belljar hook`: what a coding agent is told before a tool call, and when its session begins.
//!
//! Whatever goes wrong, the client gets an answer that it takes for "go on", and exit code 0, since
//! some clients take another code for a refusal. This process loads no engine, and starts nothing
//! but the daemon, when a session begins. The daemon remembers what must be remembered. `input.rs`
//! reads what the client sends, `decision.rs` decides what is said, and `rehearse.rs` shows what
//! rules would say to recorded calls.

mod decision;
mod input;
mod rehearse;

use std::{ffi::OsString, path::PathBuf, process::ExitCode, time::Duration};

use belljar_hooks::{Event, GO_ON, SessionStart, Speaker, ToolUse};
use clap::{Args, Subcommand};

use crate::{
    arguments::{self, ConfigArguments},
    failure::Failure,
    help, output, setup,
};

/// How long the daemon may take before a tool call. It needs a millisecond, and an agent must not
/// wait for a stuck daemon.
const WAIT: Duration = Duration::from_millis(50);

#[derive(Args)]
#[command(after_help = help::HOOK, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct HookArguments {
    #[command(subcommand)]
    rehearsal: Option<HookCommand>,
    /// The client: claude-code, codex, vscode, copilot, cursor, gemini, or auto, which guesses from
    /// the input.
    #[arg(required = true)]
    client: Option<String>,
    /// The client's name for the event: PreToolUse, BeforeTool or SessionStart.
    #[arg(required = true)]
    event: Option<String>,
    /// How long to wait for the daemon before a tool call, and for the client's input if this is
    /// more than a second. After that, the agent goes on.
    #[arg(long, value_name = "DURATION", default_value = "50ms", value_parser = arguments::duration)]
    wait: Duration,
    #[command(flatten)]
    config: ConfigArguments,
}

#[derive(Subcommand)]
enum HookCommand {
    /// Shows what the rules would say to recorded calls. Asks no daemon, and starts nothing.
    #[command(after_help = help::HOOK_TEST)]
    Test(RehearseArguments),
}

#[derive(Args)]
struct RehearseArguments {
    /// A transcript with one JSON object per line: what a client sends before a tool call, or a
    /// transcript of Claude Code; - for stdin.
    #[arg(value_name = "FILE")]
    transcript: Option<PathBuf>,
    /// The client that made the calls; auto guesses.
    #[arg(long, value_name = "CLIENT", default_value = "auto")]
    client: String,
    #[command(flatten)]
    config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
}

/// How a hook was called.
struct Called {
    client: String,
    event: String,
    wait: Duration,
    config: ConfigArguments,
}

impl HookArguments {
    /// Whether errors are to be printed as JSON too.
    pub(crate) fn wants_json(&self) -> bool {
        matches!(&self.rehearsal, Some(HookCommand::Test(arguments)) if arguments.json)
    }
}

/// Answers if this process was started as a hook, without a parser that could refuse. Returns
/// `None` if it was not, or if help was asked for.
pub(crate) fn answered() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != "hook" {
        return None;
    }
    let words: Vec<OsString> = words.collect();
    let asks_for_help = |word: &OsString| word == "--help" || word == "-h";
    if words.first().is_none_or(|word| word == "test" || word == "help") || words.iter().any(asks_for_help) {
        return None;
    }
    let called = Called::leniently(words);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    Some(match runtime {
        Ok(runtime) => runtime.block_on(called.answer()),
        Err(error) => go_on(&format!("the runtime cannot be started: {error}")),
    })
}

/// The command as clap read it: a rehearsal, since [`answered`] has answered hooks.
pub(crate) async fn hook(arguments: HookArguments) -> Result<ExitCode, Failure> {
    let HookArguments { rehearsal, client, event, wait, config } = arguments;
    match (rehearsal, client, event) {
        (Some(HookCommand::Test(arguments)), ..) => rehearse::rehearse(&arguments),
        (None, Some(client), Some(event)) => Ok(Called { client, event, wait, config }.answer().await),
        _ => Err(Failure::usage("a hook has a client and an event", "belljar hook --help says which there are")),
    }
}

impl Called {
    /// Reads the known arguments, and ignores all others.
    fn leniently(words: Vec<OsString>) -> Self {
        let (mut positional, mut config, mut wait) = (Vec::new(), None, None);
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            if text == "--config" {
                config = words.next().map(Into::into);
            } else if let Some(path) = text.strip_prefix("--config=") {
                config = Some(path.into());
            } else if text == "--wait" {
                wait = words.next().map(|wait| wait.to_string_lossy().into_owned());
            } else if let Some(text) = text.strip_prefix("--wait=") {
                wait = Some(text.to_owned());
            } else if !text.starts_with('-') {
                positional.push(text.into_owned());
            }
        }
        let mut positional = positional.into_iter();
        let (client, event) = (positional.next().unwrap_or_default(), positional.next().unwrap_or_default());
        let wait = wait.and_then(|wait| arguments::duration(&wait).ok()).unwrap_or(WAIT);
        Self { client, event, wait, config: ConfigArguments { config } }
    }

    async fn answer(&self) -> ExitCode {
        match self.decide().await {
            Ok(answer) => {
                output::print_json_text(&answer);
                ExitCode::SUCCESS
            }
            Err(why) => go_on(&why),
        }
    }

    async fn decide(&self) -> Result<String, String> {
        let input = input::read(self.wait)?;
        let speaker = Speaker::named(&self.client)
            .ok_or("there is no such client: it is claude-code, codex, vscode, copilot, cursor, gemini or auto")?;
        let event = Event::named(&self.event)
            .ok_or("there is no such event: it is PreToolUse (or BeforeTool), or SessionStart")?;
        // A configuration in the current folder is never read here, so it is not worth a note each
        // time.
        output::set_quiet(true);
        let loaded = || setup::read(&self.config).map_err(|failure| failure.told().0);
        let (client, decision) = match event {
            Event::BeforeTool => {
                let call = ToolUse::read(speaker, &input).ok_or("the input is not a tool call")?;
                (call.client, decision::before_tool(loaded, &call, self.wait).await?)
            }
            Event::SessionStart => {
                let session = SessionStart::read(speaker, &input).ok_or("the input is not a session")?;
                (session.client, decision::session_start(&loaded()?, &session).await)
            }
        };
        Ok(belljar_hooks::answer(client, event, &decision))
    }
}

/// Lets whoever wrote the hook find out why it says nothing.
fn complain(why: &str) {
    output::say(format_args!("belljar hook: {}", output::visible_line(why)));
}

fn go_on(why: &str) -> ExitCode {
    complain(why);
    output::print(GO_ON);
    ExitCode::SUCCESS
}
