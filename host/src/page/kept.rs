//! Repeats, exports and compares runs in the ledger, as `belljar replay`, `belljar runs export`,
//! `show --json` and `diff` do.

use belljar_ledger::WholeRun;
use belljar_model::RunId;
use belljar_page::{Export, NotShown};
use belljar_recording::Recording;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::{
    calls::{cut, text_of},
    runs::row,
    source::{LedgerSource, refused, unreadable},
};
use crate::{failure::Failure, kept_run};

/// How many calls of each of two runs are shown side by side.
const MAX_COMPARED: usize = 1000;

/// Repeats a run from its recording, and reports the outcome. No tool is called.
pub(super) async fn replayed(source: &LedgerSource, name: &str) -> Result<Value, NotShown> {
    let recording = read_recording(replayable(source, name).await?).await?;
    let gateway = source.generations.current().gateway;
    match gateway.replay(&recording).await {
        Ok(outcome) => {
            let told = move || {
                let told = json!(outcome);
                let value = text_of(&told["value"]);
                Ok(json!({
                    "same": true,
                    "ok": told["ok"],
                    "value": cut(&value),
                    "value_bytes": value.len(),
                    "error": told["error"],
                    "fuel": told["usage"]["fuel"],
                }))
            };
            on_a_thread(told).await
        }
        Err(fault) => match refused(&Failure::from(fault)) {
            NotShown::Failed(fault) => Err(NotShown::Failed(fault)),
            other => Ok(json!({ "same": false, "why": other.to_string() })),
        },
    }
}

pub(super) async fn exported(source: &LedgerSource, name: &str, form: Export) -> Result<Vec<u8>, NotShown> {
    if form == Export::Recording {
        return replayable(source, name).await;
    }
    let (run, calls) = whole(source, name).await?;
    let kept = source.ledger()?.recording(run.run).await.map_err(unreadable)?;
    on_a_thread(move || {
        let recording = kept_run::read(run.run, kept.as_ref()).map_err(|failure| refused(&failure))?;
        let shown = kept_run::Shown::new(&run, &calls, recording.as_ref());
        serde_json::to_vec_pretty(&shown).map_err(|error| NotShown::Failed(format!("the run is not JSON: {error}")))
    })
    .await
}

/// Two runs, and where they first differ.
pub(super) async fn compared(source: &LedgerSource, one: &str, other: &str) -> Result<Value, NotShown> {
    let (one, other) = (whole(source, one).await?, whole(source, other).await?);
    let shown = |(run, calls): &WholeRun| {
        let first = calls.get(..MAX_COMPARED.min(calls.len())).unwrap_or_default();
        json!({ "run": row(run, false, None), "calls": first })
    };
    let compare = move || {
        let difference = kept_run::first_difference(&one, &other);
        Ok(json!({ "difference": difference, "one": shown(&one), "other": shown(&other) }))
    };
    on_a_thread(compare).await
}

async fn replayable(source: &LedgerSource, name: &str) -> Result<Vec<u8>, NotShown> {
    let run = run_of(name)?;
    let kept = source.ledger()?.recording(run).await.map_err(unreadable)?;
    kept_run::replayable(run, kept).map_err(|failure| refused(&failure))
}

/// On a thread of its own, since a large recording takes long to read.
async fn read_recording(bytes: Vec<u8>) -> Result<Recording, NotShown> {
    let unreadable = |error| NotShown::Failed(format!("the recording cannot be read: {error}"));
    on_a_thread(move || Recording::read(bytes).map_err(unreadable)).await
}

pub(super) async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, NotShown> + Send + 'static,
) -> Result<T, NotShown> {
    let done = spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(NotShown::Failed(format!("the run cannot be read: {error}"))))
}

async fn whole(source: &LedgerSource, name: &str) -> Result<WholeRun, NotShown> {
    let found = source.ledger()?.run(run_of(name)?).await.map_err(unreadable)?;
    found.ok_or_else(|| NotShown::Unknown(format!("the ledger has no run {name}")))
}

fn run_of(name: &str) -> Result<RunId, NotShown> {
    name.parse().map_err(|_| NotShown::Unknown(format!("there is no run {name}")))
}
