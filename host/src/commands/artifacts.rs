//! `belljar artifacts`: what runs have kept for later ones.

use std::{
    collections::BTreeMap,
    io::{IsTerminal as _, Write as _},
    path::PathBuf,
    process::ExitCode,
    time::SystemTime,
};

use belljar_ledger::{
    ArtifactEntry, ArtifactError, Artifacts as _, Found, Holder, Ledger as _, MAX_LISTED, MAX_READ, Search,
    SqliteArtifacts, SqliteLedger,
};
use belljar_model::{ArtifactId, ArtifactKind, ArtifactRef, ByteSize, ErrorKind, JsonBounds, JsonText, RunError};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;

use super::recording::RecordingFile;
use crate::{
    arguments::{ConfigArguments, WorkspaceArgument},
    failure::Failure,
    output::{self, visible, visible_line},
    render::count::{counted, roughly},
    setup,
};

#[derive(Args)]
pub(crate) struct ArtifactsArguments {
    #[command(subcommand)]
    pub(crate) command: ArtifactsCommand,
}

#[derive(Subcommand)]
pub(crate) enum ArtifactsCommand {
    /// Lists the artifacts of a workspace, latest first, without their content.
    List {
        /// Lists the artifacts of all workspaces and principals.
        #[arg(long, conflicts_with_all = ["workspace", "principal"])]
        all_workspaces: bool,
        #[command(flatten)]
        holder: HolderArguments,
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Prints one artifact: a value as JSON, text as it is.
    Get {
        /// The id of the artifact, or the name under which it was saved.
        #[arg(value_name = "ID")]
        which: ArtifactRef,
        #[command(flatten)]
        holder: HolderArguments,
        /// Prints it inside a JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Finds passages that contain all of these words, or else parts of words.
    Search {
        /// The words.
        #[arg(required = true)]
        words: Vec<String>,
        /// Only in this artifact; may be repeated.
        #[arg(long = "in", value_name = "ID")]
        within: Vec<ArtifactRef>,
        /// Maximum number of passages to show.
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: u32,
        #[command(flatten)]
        holder: HolderArguments,
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Writes an artifact to a new file, byte for byte.
    Export {
        /// The id of the artifact, or the name under which it was saved.
        #[arg(value_name = "ID")]
        which: ArtifactRef,
        /// The file to write, which must not exist yet.
        #[arg(short, long, value_name = "FILE")]
        out: PathBuf,
        #[command(flatten)]
        holder: HolderArguments,
    },
    /// Removes artifacts.
    Rm {
        /// The ids or names of the artifacts.
        #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
        which: Vec<ArtifactRef>,
        /// Removes all artifacts of the workspace.
        #[arg(long)]
        all: bool,
        /// With --all: removes the artifacts of all workspaces and principals.
        #[arg(long, requires = "all", conflicts_with_all = ["which", "workspace", "principal"])]
        all_workspaces: bool,
        #[command(flatten)]
        holder: HolderArguments,
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
}

/// Whose artifacts they are.
#[derive(Args)]
pub(crate) struct HolderArguments {
    #[command(flatten)]
    workspace: WorkspaceArgument,
    /// The principal of belljar serve --http whose artifacts to use, such as the name of a token
    /// [default: you].
    #[arg(long, value_name = "NAME")]
    principal: Option<String>,
    #[command(flatten)]
    config: ConfigArguments,
}

/// An artifact in a list.
#[derive(Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    entry: &'a ArtifactEntry,
    workspace: &'a str,
    principal: Option<&'a str>,
}

impl ArtifactsCommand {
    pub(crate) fn is_json(&self) -> bool {
        match self {
            Self::List { json, .. } | Self::Get { json, .. } | Self::Search { json, .. } | Self::Rm { json, .. } => {
                *json
            }
            Self::Export { .. } => false,
        }
    }
}

pub(crate) async fn artifacts(arguments: ArtifactsArguments) -> Result<ExitCode, Failure> {
    match arguments.command {
        ArtifactsCommand::List { all_workspaces, holder, json } => list(&holder, all_workspaces, json).await,
        ArtifactsCommand::Get { which, holder, json } => get(which, &holder, json).await,
        ArtifactsCommand::Search { words, within, limit, holder, json } => {
            let search = Search { words: words.join(" "), within, limit };
            find(search, &holder, json).await
        }
        ArtifactsCommand::Export { which, out, holder } => export(which, &out, &holder).await,
        ArtifactsCommand::Rm { which, all, all_workspaces, holder, json } => {
            let which = (!all).then_some(which);
            remove(which, &holder, all_workspaces, json).await
        }
    }
}

/// What a command works on.
struct Place {
    ledger: SqliteLedger,
    artifacts: SqliteArtifacts,
    holder: Holder,
}

impl Place {
    fn of(arguments: &HolderArguments) -> Result<Self, Failure> {
        // The configuration says how long artifacts are kept, and every writer applies that.
        let config = setup::read(&arguments.config)?.config;
        let principal = arguments.principal.as_deref().map(Into::into);
        let holder = Holder { principal, workspace: arguments.workspace.or_folder().into() };
        let ledger = setup::ledger_of(&config.ledger);
        let artifacts = ledger.artifacts(config.artifacts);
        Ok(Self { ledger, artifacts, holder })
    }

    /// The holders that are meant.
    async fn holders(&self, all: bool) -> Result<Vec<Holder>, Failure> {
        if !all {
            return Ok(vec![self.holder.clone()]);
        }
        let totals = self.artifacts.totals().await.map_err(failed)?;
        Ok(totals.into_iter().map(|totals| totals.holder).collect())
    }

    /// The entry of an artifact that must be there.
    async fn entry(&self, which: &ArtifactRef) -> Result<ArtifactEntry, Failure> {
        let found = self.artifacts.entry(self.holder.clone(), which.clone()).await.map_err(failed)?;
        found.ok_or_else(|| failed(ArtifactError::NotThere(which.clone())))
    }

    /// Passes on each piece of an artifact's content.
    async fn content(
        &self,
        entry: &ArtifactEntry,
        mut take: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut at = 0;
        while at < entry.bytes {
            let range = at..at.saturating_add(MAX_READ).min(entry.bytes);
            let piece = self.artifacts.read(self.holder.clone(), entry.id, range).await.map_err(failed)?;
            let piece = piece.filter(|piece| !piece.is_empty());
            let piece = piece.ok_or_else(|| failed(ArtifactError::NotThere(ArtifactRef::Id(entry.id))))?;
            take(&piece)?;
            at = at.saturating_add(piece.len() as u64);
        }
        Ok(())
    }

    async fn whole(&self, entry: &ArtifactEntry) -> Result<Vec<u8>, Failure> {
        let mut whole = Vec::new();
        self.content(entry, |piece| {
            whole.extend_from_slice(piece);
            Ok(())
        })
        .await?;
        Ok(whole)
    }

    /// Makes sure that what was written is stored before the command ends.
    async fn close(self) {
        self.ledger.close().await;
    }

    /// The workspace, for people.
    fn shown(&self) -> String {
        match &*self.holder.workspace {
            "" => "the workspace without a name".to_owned(),
            name => visible_line(name).into_owned(),
        }
    }
}

async fn list(arguments: &HolderArguments, all: bool, json: bool) -> Result<ExitCode, Failure> {
    let place = Place::of(arguments)?;
    let mut found: Vec<(Holder, ArtifactEntry)> = Vec::new();
    for holder in place.holders(all).await? {
        let mut before: Option<ArtifactId> = None;
        loop {
            let page = place.artifacts.list(holder.clone(), before, MAX_LISTED).await.map_err(failed)?;
            before = page.last().map(|entry| entry.id);
            let is_last = page.len() < usize::try_from(MAX_LISTED).unwrap_or(usize::MAX);
            found.extend(page.into_iter().map(|entry| (holder.clone(), entry)));
            if is_last {
                break;
            }
        }
    }
    place.close().await;
    if json {
        let listed: Vec<Listed<'_>> = found
            .iter()
            .map(|(holder, entry)| Listed {
                entry,
                workspace: &holder.workspace,
                principal: holder.principal.as_deref(),
            })
            .collect();
        let bytes: u64 = found.iter().map(|(_, entry)| entry.bytes).sum();
        output::print_json(&json!({ "artifacts": listed, "bytes": bytes }));
        return Ok(ExitCode::SUCCESS);
    }
    if found.is_empty() {
        output::remark(match all {
            true => "there are no artifacts",
            false => "the workspace has no artifacts; --all-workspaces lists those of all",
        });
    }
    for (holder, entry) in &found {
        let whose = match all {
            true => format!("  in {}", visible_line(&owner(holder))),
            false => String::new(),
        };
        output::print(format_args!("{}{whose}", line(entry)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Who owns the artifacts, for people.
fn owner(holder: &Holder) -> String {
    match &holder.principal {
        None => holder.workspace.to_string(),
        Some(principal) => format!("{} of {principal}", holder.workspace),
    }
}

fn line(entry: &ArtifactEntry) -> String {
    let size = ByteSize::b(entry.bytes).display().iec().to_string();
    let kind = entry.mime.as_deref().unwrap_or(entry.kind.as_str());
    let age = roughly(SystemTime::now().duration_since(entry.used).unwrap_or_default());
    let name = entry.name.as_ref().map(|name| format!("  {}", visible_line(name.as_str()))).unwrap_or_default();
    let run = entry.run.map(|run| format!("  {run}")).unwrap_or_default();
    let labels: String = entry.labels.iter().map(|label| format!("  {}", visible_line(label))).collect();
    format!("{}  {size:>10}  {}  used {age} ago{run}{name}{labels}", entry.id, visible_line(kind))
}

async fn get(which: ArtifactRef, arguments: &HolderArguments, json: bool) -> Result<ExitCode, Failure> {
    let place = Place::of(arguments)?;
    let entry = place.entry(&which).await?;
    if entry.kind == ArtifactKind::Blob && (json || std::io::stdout().is_terminal()) {
        let message = format!("{which} is not text: it has {} bytes", entry.bytes);
        return Err(Failure::usage(message, format!("belljar artifacts export {which} --out FILE writes it")));
    }
    let whole = place.whole(&entry).await?;
    place.close().await;
    if entry.kind == ArtifactKind::Blob {
        let mut stdout = std::io::stdout();
        let written = stdout.write_all(&whole).and_then(|()| stdout.flush());
        written.map_err(|error| Failure::internal(format!("the artifact could not be written: {error}")))?;
        return Ok(ExitCode::SUCCESS);
    }
    let damaged = |what: &dyn std::fmt::Display| Failure::internal(format!("the artifact {which} is damaged: {what}"));
    let text = String::from_utf8(whole).map_err(|error| damaged(&error))?;
    let content = match entry.kind {
        ArtifactKind::Value => {
            let bounds = JsonBounds { bytes: text.len(), depth: JsonBounds::DEPTH, values: usize::MAX };
            Some(JsonText::parse(text.clone(), &bounds).map_err(|error| damaged(&error))?)
        }
        _ => None,
    };
    match (json, content) {
        (true, Some(value)) => output::print_json(&json!({ "artifact": entry, "value": value })),
        (true, None) => output::print_json(&json!({ "artifact": entry, "text": text })),
        (false, Some(value)) => output::print_json_text(value.as_str()),
        (false, None) => output::print(output::visible_text(text.trim_end_matches('\n'))),
    }
    Ok(ExitCode::SUCCESS)
}

async fn find(search: Search, arguments: &HolderArguments, json: bool) -> Result<ExitCode, Failure> {
    let place = Place::of(arguments)?;
    let Found { hits, pending } = place.artifacts.search(place.holder.clone(), search).await.map_err(failed)?;
    let shown = place.shown();
    place.close().await;
    if json {
        output::print_json(&json!({ "hits": hits, "pending": pending }));
        return Ok(ExitCode::SUCCESS);
    }
    if hits.is_empty() {
        output::remark(format_args!("no passage in {shown} has any of these words"));
    }
    for hit in &hits {
        let pointer = if hit.pointer.is_empty() { String::new() } else { format!(" {}", visible_line(&hit.pointer)) };
        output::print(format_args!("{}{pointer}  {:.2}", hit.artifact, hit.score));
        output::print(format_args!("    {}", visible(hit.text.trim())));
    }
    if pending > 0 {
        let some = counted(usize::try_from(pending).unwrap_or(usize::MAX), "artifact");
        output::warn(format_args!("{some} could not be searched yet: try again in some seconds"));
    }
    Ok(ExitCode::SUCCESS)
}

async fn export(which: ArtifactRef, out: &std::path::Path, arguments: &HolderArguments) -> Result<ExitCode, Failure> {
    let file = RecordingFile::new(out)?;
    let place = Place::of(arguments)?;
    let entry = place.entry(&which).await?;
    let whole = place.whole(&entry).await?;
    place.close().await;
    file.write_bytes(&whole)?;
    output::note(format_args!("written, {}: {}", ByteSize::b(entry.bytes).display().iec(), file.path().display()));
    Ok(ExitCode::SUCCESS)
}

async fn remove(
    which: Option<Vec<ArtifactRef>>,
    arguments: &HolderArguments,
    all: bool,
    json: bool,
) -> Result<ExitCode, Failure> {
    let place = Place::of(arguments)?;
    let mut removed = 0_u64;
    match which {
        None => {
            for holder in place.holders(all).await? {
                removed += place.artifacts.remove_all(holder).await.map_err(failed)?;
            }
        }
        Some(which) => {
            for one in &which {
                place.entry(one).await?;
            }
            removed += place.artifacts.remove(place.holder.clone(), which).await.map_err(failed)?;
        }
    }
    place.close().await;
    if json {
        output::print_json(&json!({ "removed": removed }));
    } else {
        output::print(format_args!("{} removed", counted(usize::try_from(removed).unwrap_or(usize::MAX), "artifact")));
    }
    Ok(ExitCode::SUCCESS)
}

/// How much is kept in total, and how full the fullest principal is: for `belljar doctor`.
pub(super) async fn totals(
    ledger: &SqliteLedger,
    settings: belljar_model::ArtifactSettings,
) -> Result<String, ArtifactError> {
    let totals = ledger.artifacts(settings).totals().await?;
    let mut by_principal: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    let (mut artifacts, mut bytes) = (0_u64, 0_u64);
    for holder in &totals {
        artifacts = artifacts.saturating_add(holder.artifacts);
        bytes = bytes.saturating_add(holder.bytes);
        let used = by_principal.entry(holder.holder.principal.as_deref()).or_default();
        *used = used.saturating_add(holder.bytes);
    }
    let most = by_principal.values().copied().max().unwrap_or_default();
    let limit = settings.max_bytes.as_u64().max(1);
    let share = u128::from(most) * 100 / u128::from(limit);
    let some = counted(usize::try_from(artifacts).unwrap_or(usize::MAX), "artifact");
    let places = counted(totals.len(), "workspace");
    let whose = match by_principal.len() {
        0 | 1 => String::new(),
        several => format!(" the fullest of {several} principals has"),
    };
    let size = ByteSize::b(bytes).display().iec().to_string();
    Ok(format!("{some} in {places}, {size};{whose} {share} % of {} ([artifacts] max_bytes)", settings.max_bytes))
}

fn failed(error: ArtifactError) -> Failure {
    let kind = match error {
        ArtifactError::Ledger(_) => ErrorKind::Internal,
        _ => ErrorKind::Exception,
    };
    let hint = match &error {
        ArtifactError::NotThere(_) => {
            "belljar artifacts list has the ids and names of a workspace; --all-workspaces lists all"
        }
        other => other.hint(),
    };
    RunError::new(kind, error.to_string()).with_hint(hint).into()
}
