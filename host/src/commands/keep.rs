//! `belljar keep`: the values that scripts keep for later runs.

use std::{process::ExitCode, time::Duration};

use belljar_ledger::{Holder, KeepBounds, Keeps as _, KeptEntry, LedgerError, SqliteLedger};
use belljar_model::{ErrorKind, JsonBounds, JsonText, KeepSettings, RunError};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;

use crate::{
    arguments::{ConfigArguments, WorkspaceArgument},
    failure::Failure,
    output::{self, visible_line},
    render::{count::counted, runs::ago},
    setup,
};

#[derive(Args)]
pub(crate) struct KeepArguments {
    #[command(subcommand)]
    pub(crate) command: KeepCommand,
}

#[derive(Subcommand)]
pub(crate) enum KeepCommand {
    /// Lists the values of a workspace, without their content.
    List {
        #[command(flatten)]
        holder: HolderArguments,
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Prints one value, as JSON.
    Get {
        /// The name of the value, as in keep.NAME.
        name: String,
        #[command(flatten)]
        holder: HolderArguments,
        /// Prints it inside a JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Removes values, and overwrites them in the ledger's file.
    Rm {
        /// The names of the values.
        #[arg(value_name = "NAME", required_unless_present = "all", conflicts_with = "all")]
        names: Vec<String>,
        /// Removes all values of the workspace.
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        holder: HolderArguments,
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
}

/// Whose values they are.
#[derive(Args)]
pub(crate) struct HolderArguments {
    #[command(flatten)]
    workspace: WorkspaceArgument,
    /// The principal of belljar serve --http whose values to use, such as the name of a token
    /// [default: you].
    #[arg(long, value_name = "NAME")]
    principal: Option<String>,
    #[command(flatten)]
    config: ConfigArguments,
}

/// A value in a list.
#[derive(Serialize)]
struct Listed<'e> {
    name: &'e str,
    bytes: u64,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    labels: &'e [String],
    changed: String,
    touched: String,
    run: String,
}

impl KeepCommand {
    pub(crate) fn is_json(&self) -> bool {
        match self {
            Self::List { json, .. } | Self::Get { json, .. } | Self::Rm { json, .. } => *json,
        }
    }
}

pub(crate) async fn keep(arguments: KeepArguments) -> Result<ExitCode, Failure> {
    match arguments.command {
        KeepCommand::List { holder, json } => list(&holder, json).await,
        KeepCommand::Get { name, holder, json } => get(&name, &holder, json).await,
        KeepCommand::Rm { names, holder, json, .. } => rm(names, &holder, json).await,
    }
}

/// What a command works on.
struct Place {
    ledger: SqliteLedger,
    holder: Holder,
    settings: KeepSettings,
}

impl Place {
    fn of(arguments: &HolderArguments) -> Result<Self, Failure> {
        let loaded = setup::read(&arguments.config)?;
        let principal = arguments.principal.as_deref().map(Into::into);
        let holder = Holder { principal, workspace: arguments.workspace.or_folder().into() };
        Ok(Self { ledger: setup::ledger_of(&loaded.config.ledger), holder, settings: loaded.config.keep })
    }

    fn bounds(&self) -> KeepBounds {
        let KeepSettings { max_bytes, max_keys, days, .. } = self.settings;
        KeepBounds { max_bytes, max_keys, age: Duration::from_secs(u64::from(days) * 24 * 60 * 60) }
    }

    async fn entries(&self) -> Result<Vec<KeptEntry>, Failure> {
        self.ledger.kept_entries(self.holder.clone(), self.bounds()).await.map_err(unreadable)
    }

    /// The workspace, for people.
    fn shown(&self) -> String {
        match &*self.holder.workspace {
            "" => "the workspace without a name".to_owned(),
            name => visible_line(name).into_owned(),
        }
    }
}

async fn list(arguments: &HolderArguments, json: bool) -> Result<ExitCode, Failure> {
    let place = Place::of(arguments)?;
    let entries = place.entries().await?;
    let bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
    let max = place.settings.max_bytes;
    if json {
        let time = |at| humantime::format_rfc3339_millis(at).to_string();
        let listed: Vec<Listed<'_>> = entries
            .iter()
            .map(|entry| Listed {
                name: &entry.name,
                bytes: entry.bytes,
                labels: &entry.labels,
                changed: time(entry.changed),
                touched: time(entry.touched),
                run: entry.run.to_string(),
            })
            .collect();
        let (workspace, principal) = (&place.holder.workspace, &place.holder.principal);
        output::print_json(&json!({
            "workspace": &**workspace, "principal": principal.as_deref(), "values": listed, "bytes": bytes, "max_bytes": max.as_u64(),
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let width = entries.iter().map(|entry| visible_line(&entry.name).chars().count()).max().unwrap_or_default();
    for KeptEntry { name, bytes, labels, changed, run, .. } in &entries {
        let labels: String = labels.iter().map(|label| format!("  {}", visible_line(label))).collect();
        let name = visible_line(name);
        output::print(format_args!("{name:<width$}  {bytes:>9} bytes  {run}, {}{labels}", ago(*changed)));
    }
    let values = counted(entries.len(), "value");
    output::say(format_args!("{values} in {}: {bytes} bytes of {}", place.shown(), max.as_u64()));
    Ok(ExitCode::SUCCESS)
}

async fn get(name: &str, arguments: &HolderArguments, json: bool) -> Result<ExitCode, Failure> {
    let place = Place::of(arguments)?;
    let found = place.ledger.kept(place.holder.clone(), name.to_owned(), place.bounds()).await.map_err(unreadable)?;
    let Some(found) = found else { return Err(missing(name, &place).await) };
    let damaged = |fault| Failure::internal(format!("the kept value '{}' is damaged: {fault}", visible_line(name)));
    let bounds = JsonBounds::with_bytes(usize::try_from(KeepSettings::MOST_BYTES.as_u64()).unwrap_or(usize::MAX));
    let value = JsonText::parse(found.text, &bounds).map_err(damaged)?;
    if json {
        output::print_json(&json!({ "name": name, "value": value, "labels": found.labels }));
    } else {
        output::print_json_text(value.as_str());
    }
    Ok(ExitCode::SUCCESS)
}

async fn rm(names: Vec<String>, arguments: &HolderArguments, json: bool) -> Result<ExitCode, Failure> {
    let place = Place::of(arguments)?;
    let mut forgotten = 0;
    if names.is_empty() {
        forgotten += place.ledger.forget_kept(place.holder.clone(), None).await.map_err(unreadable)?;
    }
    for name in names {
        let found = place.ledger.forget_kept(place.holder.clone(), Some(name.clone())).await.map_err(unreadable)?;
        if found == 0 {
            return Err(missing(&name, &place).await);
        }
        forgotten += found;
    }
    if json {
        output::print_json(&json!({ "forgotten": forgotten }));
    } else {
        let values = counted(usize::try_from(forgotten).unwrap_or(usize::MAX), "value");
        output::print(format_args!("{values} forgotten"));
    }
    Ok(ExitCode::SUCCESS)
}

/// The error of a name that no value has, with the nearest one.
async fn missing(name: &str, place: &Place) -> Failure {
    let entries = place.entries().await.unwrap_or_default();
    let near = belljar_model::nearest(name, entries.iter().map(|entry| entry.name.as_str()));
    let hint = match near {
        Some(near) => format!("did you mean {}?", visible_line(near)),
        None => "belljar keep list shows the names; --workspace chooses another workspace".to_owned(),
    };
    let message = format!("nothing is kept as '{}' in {}", visible_line(name), place.shown());
    RunError::new(ErrorKind::Exception, message).with_hint(hint).into()
}

fn unreadable(error: LedgerError) -> Failure {
    RunError::new(ErrorKind::Internal, error.to_string()).with_hint(error.hint()).into()
}
