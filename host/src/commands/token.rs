//! `belljar token`.

use std::{
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use belljar_http::{NewToken, Scope, Tokens};
use cap_std::fs::Dir;
use clap::{Args, Subcommand};

use crate::{
    arguments::ConfigArguments,
    consent,
    failure::Failure,
    output::{self, visible_line},
    setup, tokens,
};

#[derive(Args)]
pub(crate) struct TokenArguments {
    #[command(subcommand)]
    pub(crate) command: TokenCommand,
}

#[derive(Subcommand)]
pub(crate) enum TokenCommand {
    /// Creates a token and shows it once.
    Add {
        /// The name of the token, which is also the principal of its requests.
        name: String,
        /// What the token allows: search, run, run:read-only, metrics, or admin, which includes all
        /// of these; may be repeated [default: search and run].
        #[arg(long, value_name = "SCOPE")]
        scope: Vec<Scope>,
        #[command(flatten)]
        owner: TokenOwner,
    },
    /// Shows the names and scopes of all tokens.
    List {
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Gives a token a new secret and shows it once. The old secret stops working.
    Rotate {
        /// The name of the token.
        name: String,
        #[command(flatten)]
        owner: TokenOwner,
    },
    /// Removes a token.
    Remove {
        /// The name of the token.
        name: String,
        #[command(flatten)]
        owner: TokenOwner,
    },
}

impl TokenCommand {
    pub(crate) fn is_json(&self) -> bool {
        matches!(self, Self::List { json: true })
    }
}

/// How the owner confirms.
#[derive(Args)]
pub(crate) struct TokenOwner {
    /// Skips the prompt, if belljar.toml has `[approvals] allow_yes = true`.
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

pub(crate) fn token(arguments: &TokenArguments) -> Result<ExitCode, Failure> {
    let folder = setup::needed_state_folder()?;
    match &arguments.command {
        TokenCommand::Add { name, scope, owner } => {
            let scopes = usual(scope);
            agreed_to_add(owner.yes, &owner.config, name, scopes)?;
            show(&added(&folder, name, scopes)?);
        }
        TokenCommand::Rotate { name, owner } => {
            agreed(owner, &format!("give '{}' a new token", visible_line(name)))?;
            show(&tokens::change(&folder, |tokens| tokens.rotate(name, now()))?);
        }
        TokenCommand::Remove { name, owner } => {
            agreed(owner, &format!("remove the token of '{}'", visible_line(name)))?;
            tokens::change(&folder, |tokens| tokens.remove(name))?;
            output::remark(format_args!("the token '{name}' is no longer valid"));
        }
        TokenCommand::List { json } => list(&tokens::read(&folder)?, *json),
    }
    Ok(ExitCode::SUCCESS)
}

/// The same for a new token with these scopes.
pub(super) fn agreed_to_add(yes: bool, config: &ConfigArguments, name: &str, scopes: &[Scope]) -> Result<(), Failure> {
    let good_for: Vec<String> = scopes.iter().map(Scope::to_string).collect();
    let what = format!("make a token for '{}', good for {}", visible_line(name), good_for.join(", "));
    consent::owner_agrees(yes, || allows_yes(config), &what)
}

/// Waits for the owner to type a code, since a token lets its holder run scripts.
fn agreed(owner: &TokenOwner, what: &str) -> Result<(), Failure> {
    consent::owner_agrees(owner.yes, || allows_yes(&owner.config), what)
}

fn allows_yes(config: &ConfigArguments) -> Result<bool, Failure> {
    Ok(setup::find(config)?.config.approvals.allow_yes)
}

/// These scopes, or the default ones if there are none.
pub(super) fn usual(scopes: &[Scope]) -> &[Scope] {
    if scopes.is_empty() { &[Scope::Search, Scope::Run] } else { scopes }
}

/// Creates a token with these scopes.
pub(super) fn added(folder: &Dir, name: &str, scopes: &[Scope]) -> Result<NewToken, Failure> {
    tokens::change(folder, |tokens| tokens.add(name, scopes.iter().copied().collect(), now()))
}

/// In seconds of Unix time.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// The token alone on stdout, so that it can be piped.
fn show(token: &NewToken) {
    output::print(token.reveal());
    output::note("this is shown once; a client sends it as 'Authorization: Bearer …'");
}

fn list(tokens: &Tokens, json: bool) {
    if json {
        let tokens: Vec<_> = tokens
            .iter()
            .map(|token| serde_json::json!({ "name": token.name, "scopes": token.scopes, "created": token.created }))
            .collect();
        output::print_json(&serde_json::json!({ "tokens": tokens }));
        return;
    }
    if tokens.is_empty() {
        output::print("there is no token; 'belljar token add NAME' makes one");
    }
    for token in tokens.iter() {
        let scopes: Vec<String> = token.scopes.iter().map(Scope::to_string).collect();
        output::print(format_args!("{}  {}", token.name, scopes.join(" ")));
    }
}
