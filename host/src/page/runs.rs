//! Runs as the page shows them: those of the ledger, and what is known of live ones.

use std::collections::{BTreeMap, BTreeSet};

use belljar_ledger::{Filter, KeptCall, KeptRecording, KeptRun, QuestionFilter, RunState};
use belljar_model::{LimitsPatch, RunId};
use belljar_page::{NotShown, RunsAsked};
use belljar_recording::{Answer, Entry, Recording};
use belljar_telemetry::LiveRun;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::source::{LedgerSource, unreadable};

/// How many runs a list has if the page asks for no number.
const USUAL: u32 = 200;
/// The most runs that are listed, part by part.
const MAX_RUNS: u32 = 10_000;
/// The most runs of a part.
const MAX_PART: u32 = 1000;
/// How many bytes are shown of one text that a tool was given or returned.
/// `belljar runs show --json` has all of it.
const MAX_TEXT: usize = 32 * 1024;
/// How many bytes are shown of all such texts of a run, and of its source.
const MAX_TEXTS: usize = 2 * 1024 * 1024;

pub(super) async fn list(source: &LedgerSource, asked: RunsAsked) -> Result<Value, NotShown> {
    let RunsAsked { client, tool, effect, failed, waiting, from, limit } = asked;
    let tool = tool.map(|path| match path.split_once('.') {
        Some((server, tool)) => (server.to_owned(), Some(tool.to_owned())),
        None => (path, None),
    });
    let effect = effect.map(|effect| effect.parse()).transpose();
    let effect = effect.map_err(|error: belljar_model::UnknownEffect| NotShown::Wrong(error.to_string()))?;
    let from = from.min(MAX_RUNS);
    let most = limit.unwrap_or(USUAL).min(MAX_PART).min(MAX_RUNS - from);
    let ledger = source.ledger()?;
    let is_all = client.is_none() && tool.is_none() && effect.is_none() && !failed && !waiting;
    // One more shows whether there are further runs.
    let limit = (from + most).saturating_add(1);
    let filter = Filter { tool, effect, client, failed, waiting, since: None, limit };
    let runs = ledger.runs(filter).await.map_err(unreadable)?;
    let asking = ledger.asking_runs().await.map_err(unreadable)?;
    let known: BTreeSet<RunId> = runs.iter().map(|run| run.run).collect();
    let mut listed = runs.iter().skip(from as usize);
    let waits = |run: &KeptRun| run.state == RunState::Resting || asking.contains(&run.run);
    let live = source.generations.telemetry().runs();
    let state: BTreeMap<RunId, &str> = live.iter().map(|run| (run.run, run.state)).collect();
    let now = |run: &KeptRun| state.get(&run.run).copied();
    let rows: Vec<Value> = listed.by_ref().take(most as usize).map(|run| row(run, waits(run), now(run))).collect();
    // Runs at level off are not in the ledger.
    let live: Vec<_> = live.into_iter().filter(|run| from == 0 && is_all && !known.contains(&run.run)).collect();
    Ok(json!({ "runs": rows, "more": from + most < MAX_RUNS && listed.next().is_some(), "unkept": live }))
}

/// A run of the ledger. `live` is its state according to its events.
pub(super) fn row(run: &KeptRun, waits: bool, live: Option<&str>) -> Value {
    let mut row = json!(run);
    if let Some(row) = row.as_object_mut() {
        row.insert("waits".to_owned(), waits.into());
        // The ledger does not know of queues.
        if let (RunState::Running, Some("queued")) = (run.state, live) {
            row.insert("state".to_owned(), "queued".into());
        }
    }
    row
}

pub(super) async fn one(source: &LedgerSource, name: String) -> Result<Value, NotShown> {
    let unknown = || NotShown::Unknown(format!("there is no run {name}"));
    let run: RunId = name.parse().map_err(|_| unknown())?;
    let ledger = source.ledger()?;
    let (kept, live) = (ledger.run(run).await.map_err(unreadable)?, source.generations.telemetry().run(run));
    let Some((kept, calls)) = kept else {
        let live = live.ok_or_else(unknown)?;
        let (is_live, limits) = (source.generations.is_live(run), limits(source));
        return Ok(json!({ "run": null, "calls": [], "live": live, "can_be_cancelled": is_live, "limits": limits }));
    };
    let recording = ledger.recording(run).await.map_err(unreadable)?;
    // It may be large.
    let taken = spawn_blocking(move || recording.as_ref().map(taken)).await;
    let taken = taken.map_err(|error| NotShown::Failed(format!("the recording cannot be read: {error}")))?;
    let asking = QuestionFilter { waiting: true, run: Some(run), ..QuestionFilter::default() };
    let asking = ledger.questions(asking).await.map_err(unreadable)?;
    let asking: Vec<Value> =
        asking.iter().map(|kept| json!({ "id": kept.question.id, "call": kept.question.binding.number })).collect();
    Ok(whole(source, &kept, &calls, (taken.transpose()?, live, asking)))
}

/// Cancels a run of this process, whoever asked for it.
pub(super) fn cancelled(source: &LedgerSource, name: &str) -> Result<(), NotShown> {
    let run: RunId = name.parse().map_err(|_| NotShown::Unknown(format!("there is no run {name}")))?;
    match source.generations.cancel(run) {
        true => Ok(()),
        false => Err(NotShown::Refused(format!("nothing is cancelled: {run} has ended, or runs in another process"))),
    }
}

fn whole(
    source: &LedgerSource,
    kept: &KeptRun,
    calls: &[KeptCall],
    (taken, live, asking): (Option<Value>, Option<LiveRun>, Vec<Value>),
) -> Value {
    let waits = kept.state == RunState::Resting || !asking.is_empty();
    json!({
        "run": row(kept, waits, live.as_ref().map(|live| live.state)),
        "calls": calls,
        "recording": taken,
        "live": live,
        "asking": asking,
        "can_be_cancelled": source.generations.is_live(kept.run),
        "limits": limits(source),
    })
}

/// The limits of the configuration as it is now.
fn limits(source: &LedgerSource) -> Value {
    json!(LimitsPatch::from(&source.generations.limits()))
}

/// What the page shows of a recording.
fn taken(kept: &KeptRecording) -> Result<Value, NotShown> {
    let Some(bytes) = kept.bytes() else { return Ok(Value::Null) };
    let recording = Recording::read(bytes.to_vec())
        .map_err(|error| NotShown::Failed(format!("the recording cannot be read: {error}")))?;
    let mut room = MAX_TEXTS;
    let mut text = |text: &str| {
        let most = text.floor_char_boundary(MAX_TEXT.min(room));
        room -= most;
        json!({ "text": text.get(..most).unwrap_or_default(), "bytes": text.len() })
    };
    let start = recording.start();
    let source = {
        let script = start.script().unwrap_or_default();
        let most = script.floor_char_boundary(MAX_TEXTS);
        script.get(..most).unwrap_or_default()
    };
    let crossing = |entry| match entry {
        Entry::Call { number, arguments, fuel, .. } => {
            Some(json!({ "call": number, "given": text(arguments), "fuel": fuel }))
        }
        Entry::Answer { number, answer: Answer::Result(answer), .. } => {
            Some(json!({ "call": number, "answer": text(answer) }))
        }
        Entry::Answer { number, answer: Answer::Fault { message, .. }, .. } => {
            Some(json!({ "call": number, "fault": text(message) }))
        }
        _ => None,
    };
    let crossings: Vec<Value> = recording.entries().filter_map(crossing).collect();
    Ok(json!({ "source": source, "limits": LimitsPatch::from(&start.limits), "crossings": crossings }))
}
