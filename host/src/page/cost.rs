//! What runs cost: tokens of definitions, and times over time.

use std::time::{Duration, SystemTime};

use belljar_ledger::{Filter, KeptRun, RunState};
use belljar_measures::{Listed, report::Tokens, tokens};
use belljar_model::Transport;
use belljar_page::NotShown;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::{
    source::{LedgerSource, unreadable},
    tools::lists,
};
use crate::serve::definitions;

/// The most runs that are counted, the latest first.
const MAX_RUNS: u32 = 10_000;
/// The most parts of the time, each of which has a place in the plots.
const MAX_PARTS: u64 = 60;
/// Possible lengths of a part, in milliseconds. The shortest that makes few enough parts is used.
const PARTS: [u64; 9] = [1_000, 10_000, 60_000, 300_000, 3_600_000, 21_600_000, 86_400_000, 604_800_000, 2_592_000_000];
/// How long the count of tokens is kept: counting looks up many tools.
const TOKENS_LIVE: Duration = Duration::from_secs(30);

/// How long figures from the ledger are kept: pages ask after each run.
const TIMES_LIVE: Duration = Duration::from_secs(3);

pub(super) async fn shown(source: &LedgerSource) -> Result<Value, NotShown> {
    let tokens = source.tokens.or_make(TOKENS_LIVE, counted(source)).await?;
    let times = source.times.or_make(TIMES_LIVE, timed(source)).await?;
    Ok(json!({ "tokens": tokens, "times": times, "most_runs": MAX_RUNS }))
}

async fn timed(source: &LedgerSource) -> Result<Value, NotShown> {
    let filter = Filter { limit: MAX_RUNS, ..Filter::default() };
    let runs = source.ledger()?.runs(filter).await.map_err(unreadable)?;
    on_a_thread(move || over_time(&runs)).await
}

/// What definitions take of a model's context, as `belljar bench` counts it. No server is started.
async fn counted(source: &LedgerSource) -> Result<Value, NotShown> {
    let generation = source.generations.current();
    let tools = lists(&generation).await;
    let servers = generation.setup.servers.iter().zip(tools).map(|(spec, tools)| Listed {
        name: spec.name.clone(),
        tools,
        is_built_in: matches!(spec.transport, Transport::BuiltIn(_)),
    });
    let servers: Vec<Listed> = servers.collect();
    let counted: Tokens =
        on_a_thread(move || tokens(&servers, &definitions::before_a_model(), "belljar servers")).await?;
    Ok(json!(counted))
}

async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, NotShown> {
    spawn_blocking(work).await.map_err(|error| NotShown::Failed(format!("the figures cannot be made: {error}")))
}

/// The runs of one part of the time.
#[derive(Default)]
struct Part {
    runs: u64,
    failed: u64,
    calls: u64,
    fuel: u64,
    /// How long each run took, in milliseconds.
    took: Vec<f64>,
}

/// Runs by parts of the time in which they began, the earliest first.
fn over_time(runs: &[KeptRun]) -> Value {
    let (Some(last), Some(first)) = (runs.iter().map(began).max(), runs.iter().map(began).min()) else {
        return json!({ "part_ms": null, "parts": [] });
    };
    let count = |length: u64| last / length - first / length + 1;
    let length = PARTS.into_iter().find(|length| count(*length) <= MAX_PARTS).unwrap_or(last - first + 1);
    let mut parts: Vec<Part> = (0..count(length).min(MAX_PARTS)).map(|_| Part::default()).collect();
    let mut all = Part::default();
    for run in runs {
        let at = usize::try_from(began(run) / length - first / length).unwrap_or(usize::MAX);
        parts.get_mut(at).into_iter().chain([&mut all]).for_each(|part| part.add(run));
    }
    let start = first / length * length;
    let told = (0_u64..).zip(&mut parts).map(|(at, part)| part.told(start + at * length));
    json!({ "part_ms": length, "parts": told.collect::<Vec<_>>(), "all": all.told(start), "until_ms": last })
}

fn began(run: &KeptRun) -> u64 {
    let since = run.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or_default()
}

impl Part {
    fn add(&mut self, run: &KeptRun) {
        self.runs += 1;
        self.failed += u64::from(matches!(run.state, RunState::Failed | RunState::Interrupted));
        self.calls = self.calls.saturating_add(run.calls);
        self.fuel = self.fuel.saturating_add(run.fuel.unwrap_or(0));
        self.took.extend(run.took.map(|took| took.as_secs_f64() * 1e3));
    }

    fn told(&mut self, from: u64) -> Value {
        self.took.sort_unstable_by(f64::total_cmp);
        let quantile = |hundredths: usize| {
            let rank = (self.took.len() * hundredths).div_ceil(100).max(1);
            self.took.get(rank - 1)
        };
        json!({
            "from_ms": from,
            "runs": self.runs,
            "failed": self.failed,
            "calls": self.calls,
            "fuel": self.fuel,
            "p50_ms": quantile(50),
            "p95_ms": quantile(95),
        })
    }
}

#[cfg(test)]
mod tests {
    use belljar_model::RunId;

    use super::*;

    fn run(at: u64, took: u64, state: RunState) -> KeptRun {
        KeptRun {
            run: RunId::from_bits(at),
            at: SystemTime::UNIX_EPOCH + Duration::from_millis(at),
            origin: "test".to_owned(),
            principal: None,
            client: None,
            state,
            took: Some(Duration::from_millis(took)),
            error: None,
            line: None,
            source_bytes: None,
            source: None,
            key: None,
            calls: 2,
            unanswered: 0,
            fuel: Some(5),
            computed: None,
            peak_memory: None,
            recording: None,
            recording_bytes: None,
        }
    }

    #[test]
    fn each_run_is_in_one_part_and_no_run_in_none() {
        assert_eq!(over_time(&[])["parts"], json!([]));
        for step in [1, 999, 60_000, 86_400_000, 10_000_000_000] {
            let runs: Vec<KeptRun> = (0..100).map(|at| run(7 + at * step, at, RunState::Ok)).collect();
            let told = over_time(&runs);
            let parts = told["parts"].as_array().expect("parts");
            assert!(parts.len() as u64 <= MAX_PARTS, "{step}: {}", parts.len());
            let counted: u64 = parts.iter().filter_map(|part| part["runs"].as_u64()).sum();
            assert_eq!(
                (counted, &told["all"]["runs"], &told["all"]["calls"]),
                (100, &json!(100), &json!(200)),
                "{step}"
            );
        }
    }

    #[test]
    fn quantiles_are_times_that_were_taken_and_failures_are_counted() {
        let runs: Vec<KeptRun> = (1..=100).map(|took| run(1_000, took, RunState::Failed)).collect();
        let all = &over_time(&runs)["all"];
        assert_eq!((&all["p50_ms"], &all["p95_ms"], &all["failed"]), (&json!(50.0), &json!(95.0), &json!(100)));
        let waiting = KeptRun { took: None, ..run(1, 0, RunState::Resting) };
        assert_eq!(over_time(&[waiting])["all"]["p50_ms"], Value::Null);
    }
}
