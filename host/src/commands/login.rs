//! `belljar login`.

use std::{process::ExitCode, sync::Arc};

use belljar_model::{ErrorKind, RunError, ServerSpec, Transport, nearest};
use belljar_upstream::auth::{LoginError, begin};
use clap::Args;

use crate::{arguments::ConfigArguments, failure::Failure, help, output, setup, signals};

#[derive(Args)]
#[command(after_help = help::LOGIN)]
pub(crate) struct LoginArguments {
    /// The name of the server in the configuration.
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
    /// Prints one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) async fn login(arguments: LoginArguments) -> Result<ExitCode, Failure> {
    let loaded = setup::read(&arguments.config)?;
    let server = &arguments.server;
    let Some(spec) = loaded.config.servers.iter().find(|spec| spec.name == *server) else {
        return Err(unknown(server, &loaded.config.servers));
    };
    let Transport::Http(endpoint) = &spec.transport else {
        return Err(Failure::usage(
            format!("server '{server}' is not a remote server, so it has no login"),
            "a program's secrets belong in its 'env'",
        ));
    };
    let folder = setup::credentials()
        .ok_or_else(|| Failure::internal("there is no folder to keep the login in: set XDG_STATE_HOME to a folder"))?;
    let agent = concat!("belljar/", env!("CARGO_PKG_VERSION"));
    let interrupted = signals::told_to_end();
    let pending = begin(endpoint, Arc::new(folder), agent).await.map_err(|fault| failure(&fault))?;
    let scopes = pending.scopes();
    if !scopes.is_empty() {
        output::say(format_args!("it asks for: {}", output::visible(&scopes.join(" "))));
    }
    output::say("open this page to log in:");
    if arguments.json {
        output::say(output::visible(pending.url()));
    } else {
        output::print(output::visible(pending.url()));
    }
    tokio::select! {
        finished = pending.finish() => finished.map_err(|fault| failure(&fault))?,
        () = interrupted => return Err(Failure::from(RunError::new(ErrorKind::Cancelled, "the login was given up"))),
    }
    if arguments.json {
        output::print_json(&serde_json::json!({ "server": server, "loggedIn": true }));
    } else {
        output::say(format_args!("logged in at {}", output::visible(server)));
    }
    Ok(ExitCode::SUCCESS)
}

fn unknown(server: &str, servers: &[ServerSpec]) -> Failure {
    let names = servers.iter().map(|spec| spec.name.as_str());
    let hint = match nearest(server, names.clone()) {
        Some(nearest) => format!("did you mean '{nearest}'?"),
        None => format!("there are: {}", names.collect::<Vec<_>>().join(", ")),
    };
    Failure::usage(format!("no server named '{server}' is configured"), hint)
}

fn failure(fault: &LoginError) -> Failure {
    let error = RunError::new(ErrorKind::Tool, fault.to_string());
    Failure::from(match fault.hint() {
        Some(hint) => error.with_hint(hint),
        None => error,
    })
}
