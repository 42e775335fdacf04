//! Runs as the page shows them: those of the ledger, and what is known of live ones.

use std::collections::BTreeSet;

use belljar_ledger::{Filter, KeptCall, KeptRecording, KeptRun, QuestionFilter, RunState};
use belljar_model::{LimitsPatch, RunId};
use belljar_page::{NotShown, RunsAsked};
use belljar_recording::{Answer, Entry, Recording};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::source::{LedgerSource, unreadable};

/// Runs of a list, where the page asks for no number.
const USUAL: u32 = 200;
/// The most runs of a list.
const MAX_RUNS: u32 = 10_000;
/// Bytes of one text that a tool was given or gave. `belljar runs show --json` has all of it.
const MAX_TEXT: usize = 32 * 1024;
/// Bytes of all such texts of a run, and of its source.
const MAX_TEXTS: usize = 2 * 1024 * 1024;

pub(super) async fn list(source: &LedgerSource, asked: RunsAsked) -> Result<Value, NotShown> {
    let RunsAsked { client, tool, effect, failed, waiting, limit } = asked;
    let tool = tool.map(|path| match path.split_once('.') {
        Some((server, tool)) => (server.to_owned(), Some(tool.to_owned())),
        None => (path, None),
    });
    let effect = effect.map(|effect| effect.parse()).transpose();
    let effect = effect.map_err(|error: belljar_model::UnknownEffect| NotShown::Wrong(error.to_string()))?;
    let shown = usize::try_from(limit.unwrap_or(USUAL).min(MAX_RUNS)).unwrap_or(usize::MAX);
    let (ledger, is_narrow) = (source.ledger()?, client.is_some() || waiting);
    // The ledger does not know who waits, nor what a client's name begins with.
    let limit = if is_narrow { MAX_RUNS } else { u32::try_from(shown).unwrap_or(MAX_RUNS).saturating_add(1) };
    let is_all = tool.is_none() && effect.is_none() && !failed;
    let runs = ledger.runs(Filter { tool, effect, failed, since: None, limit }).await.map_err(unreadable)?;
    let asking = ledger.questions(QuestionFilter { waiting: true, ..QuestionFilter::default() }).await;
    let asking: BTreeSet<RunId> = asking.map_err(unreadable)?.iter().map(|kept| kept.question.run()).collect();
    let known: BTreeSet<RunId> = runs.iter().map(|run| run.run).collect();
    let waits = |run: &KeptRun| run.state == RunState::Resting || asking.contains(&run.run);
    let fits = |run: &&KeptRun| (!waiting || waits(run)) && client.as_deref().is_none_or(|name| is_of(run, name));
    let mut fitting = runs.iter().filter(fits);
    let rows: Vec<Value> = fitting.by_ref().take(shown).map(|run| row(run, waits(run))).collect();
    // Runs at level off are in no ledger.
    let live = source.generations.telemetry().runs();
    let live: Vec<_> = live.into_iter().filter(|run| is_all && !is_narrow && !known.contains(&run.run)).collect();
    Ok(json!({ "runs": rows, "more": fitting.next().is_some(), "unkept": live, "waiting": asking.len() }))
}

fn row(run: &KeptRun, waits: bool) -> Value {
    let mut row = json!(run);
    if let Some(row) = row.as_object_mut() {
        row.insert("waits".to_owned(), waits.into());
    }
    row
}

/// Whether the origin, principal or client of a run contains this text.
fn is_of(run: &KeptRun, name: &str) -> bool {
    let name = name.to_lowercase();
    let names = [Some(&run.origin), run.principal.as_ref(), run.client.as_ref()];
    names.into_iter().flatten().any(|known| known.to_lowercase().contains(&name))
}

pub(super) async fn one(source: &LedgerSource, name: String) -> Result<Value, NotShown> {
    let unknown = || NotShown::Unknown(format!("there is no run {name}"));
    let run: RunId = name.parse().map_err(|_| unknown())?;
    let ledger = source.ledger()?;
    let (kept, live) = (ledger.run(run).await.map_err(unreadable)?, source.generations.telemetry().run(run));
    let Some((kept, calls)) = kept else {
        let live = live.ok_or_else(unknown)?;
        return Ok(json!({ "run": null, "calls": [], "live": live, "limits": limits(source) }));
    };
    let recording = ledger.recording(run).await.map_err(unreadable)?;
    // It may be large.
    let taken = spawn_blocking(move || recording.as_ref().map(taken)).await;
    let taken = taken.map_err(|error| NotShown::Failed(format!("the recording cannot be read: {error}")))?;
    let asking = QuestionFilter { waiting: true, run: Some(run), ..QuestionFilter::default() };
    let asking = ledger.questions(asking).await.map_err(unreadable)?;
    let asking: Vec<Value> =
        asking.iter().map(|kept| json!({ "id": kept.question.id, "call": kept.question.binding.number })).collect();
    Ok(whole(source, &kept, &calls, (taken.transpose()?, live.map(|live| json!(live)), asking)))
}

fn whole(
    source: &LedgerSource,
    kept: &KeptRun,
    calls: &[KeptCall],
    (taken, live, asking): (Option<Value>, Option<Value>, Vec<Value>),
) -> Value {
    let waits = kept.state == RunState::Resting || !asking.is_empty();
    json!({
        "run": row(kept, waits),
        "calls": calls,
        "recording": taken,
        "live": live,
        "asking": asking,
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
        let most = start.source.floor_char_boundary(MAX_TEXTS);
        start.source.get(..most).unwrap_or_default()
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
