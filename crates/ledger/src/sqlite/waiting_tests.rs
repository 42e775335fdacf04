//! A busy principal neither hides the questions of others nor ends their runs.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use belljar_approvals::{Binding, By, Change, Channel, Decision, Question, QuestionId, Refusal};
use belljar_model::{AskWay, AskWays, ByteSize, Effect, LedgerKeep, RunId, ToolPath, Usage};

use super::{Options, SqliteLedger, questions::MAX_OPEN};
use crate::{
    entry::{Asker, Entry, RunEnd, RunRest, RunStart},
    ledger::Ledger as _,
    query::{Filter, Purge, QuestionFilter},
};

const HOUR: Duration = Duration::from_secs(3600);
const WAITING: QuestionFilter = QuestionFilter { open: false, waiting: true, desk: None, id: None, run: None };

fn ledger(folder: &Path, bytes: ByteSize) -> SqliteLedger {
    SqliteLedger::new(Some(folder), Options { fsync: false, keep: LedgerKeep { bytes, ..LedgerKeep::default() } })
}

fn question(id: u64, run: u64, principal: &str, expires: SystemTime) -> Question {
    let binding = Binding {
        run: RunId::from_bits(run),
        number: id,
        tool: ToolPath::new("fs", "write_file"),
        arguments: [1; 32],
        definition: [2; 32],
        rule: None,
        ways: AskWays::NONE.with(AskWay::Cli),
        principal: principal.into(),
        expires,
    };
    Question {
        id: QuestionId::from_bits(id),
        binding,
        effect: Effect::Mutating,
        why: None,
        arguments: "x".repeat(100),
        so_far: Vec::new(),
        asked: expires - 2 * HOUR,
        desk: None,
        for_command: true,
        allow_yes: false,
    }
}

async fn ask(ledger: &SqliteLedger, question: Question) -> Result<(), Refusal> {
    ledger.change_question(Change::Ask(Box::new(question))).await.expect("a ledger")
}

async fn named(ledger: &SqliteLedger, filter: QuestionFilter) -> Vec<u64> {
    let found = ledger.questions(filter).await.expect("a ledger");
    found.iter().map(|kept| kept.question.id.bits()).collect()
}

fn start(run: u64, at: SystemTime) -> RunStart {
    let asker = Asker::new(None, None);
    RunStart { run: RunId::from_bits(run), at, origin: "test", asker, source_bytes: None, source: None }
}

async fn rest(ledger: &SqliteLedger, run: u64, until: SystemTime, bytes: usize) {
    let (took, usage, start) = (Duration::ZERO, Usage::default(), start(run, SystemTime::now() - HOUR));
    let rest = RunRest { start, took, usage, calls: Vec::new(), until, asked: None, state: vec![7; bytes] };
    ledger.commit(Entry::Rest(Box::new(rest))).await.expect("kept");
}

async fn runs(ledger: &SqliteLedger) -> Vec<u64> {
    let found = ledger.runs(Filter { limit: u32::MAX, ..Filter::default() }).await.expect("a ledger");
    let mut runs: Vec<u64> = found.iter().map(|run| run.run.bits()).collect();
    runs.sort_unstable();
    runs
}

#[tokio::test]
async fn however_much_one_asks_the_questions_of_others_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = ledger(folder.path(), LedgerKeep::default().bytes);
    let now = SystemTime::now();
    rest(&ledger, 1, now - HOUR, 10).await;
    // More than are read at once, all of them undecided.
    for id in 1..=1_100 {
        assert_eq!(ask(&ledger, question(id, 1, "robot", now - HOUR)).await, Ok(()), "one that has expired counts");
    }
    assert!(named(&ledger, WAITING).await.is_empty());
    for id in 2_000..2_000 + u64::from(MAX_OPEN) {
        assert_eq!(ask(&ledger, question(id, 2, "robot", now + HOUR)).await, Ok(()));
    }
    let refused = ask(&ledger, question(3_000, 2, "robot", now + HOUR)).await.expect_err("one too many");
    assert_eq!(refused, Refusal::TooManyOpen(MAX_OPEN));
    assert!(refused.to_string().starts_with("500 questions of the same principal wait for the owner"), "{refused}");
    // The other principal's question is asked, listed, and found by its run and its name.
    assert_eq!(ask(&ledger, question(4_000, 3, "owner", now + HOUR)).await, Ok(()));
    let all = named(&ledger, WAITING).await;
    assert!(all.len() == 501 && all.contains(&4_000), "{}", all.len());
    assert_eq!(ledger.waiting_questions().await.expect("a ledger"), 501);
    assert_eq!(named(&ledger, QuestionFilter { run: Some(RunId::from_bits(3)), ..WAITING }).await, [4_000]);
    assert_eq!(named(&ledger, QuestionFilter { id: Some(QuestionId::from_bits(4_000)), ..WAITING }).await, [4_000]);
    // A decision makes room.
    let decision = Decision { approve: false, by: By::Owner, channel: Channel::Command, at: SystemTime::now() };
    let decided = ledger.change_question(Change::Decide(QuestionId::from_bits(2_000), decision)).await;
    assert_eq!(decided.expect("a ledger"), Ok(()));
    assert_eq!(ask(&ledger, question(3_000, 2, "robot", now + HOUR)).await, Ok(()));
}

#[tokio::test]
async fn for_its_size_a_ledger_forgets_no_run_that_waits_for_its_owner() {
    let folder = tempfile::tempdir().expect("a folder");
    // The file stays far below its size limit while it is filled; it is then opened again with a
    // smaller one.
    let filled = ledger(folder.path(), LedgerKeep::default().bytes);
    let now = SystemTime::now();
    for run in 10..100 {
        let end = RunEnd {
            start: start(run, now),
            took: Duration::ZERO,
            error: None,
            line: None,
            usage: Usage::default(),
            calls: Vec::new(),
            recording: None,
        };
        filled.commit(Entry::End(Box::new(end))).await.expect("kept");
    }
    // The oldest runs: one that is suspended, one that has expired, and one that waits in its slot.
    rest(&filled, 1, now + HOUR, 300_000).await;
    assert_eq!(ask(&filled, question(1, 1, "owner", now + HOUR)).await, Ok(()));
    rest(&filled, 2, now - HOUR, 300_000).await;
    assert_eq!(ask(&filled, question(2, 2, "robot", now - HOUR)).await, Ok(()));
    filled.commit(Entry::Begin(start(3, now - HOUR))).await.expect("kept");
    assert_eq!(ask(&filled, question(3, 3, "owner", now + HOUR)).await, Ok(()));
    // The content that is shown counts towards the size of what waits; expired questions do not.
    let waits = filled.resting_bytes().await.expect("a ledger");
    assert!((300_200..301_000).contains(&waits), "{waits}");

    let bounded = ledger(folder.path(), ByteSize::kib(100));
    bounded.purge(Purge::Kept).await.expect("tidied");
    assert_eq!(runs(&bounded).await, [1, 3], "history goes, and what has expired");
    assert_eq!(named(&bounded, WAITING).await, [1, 3]);
    assert_eq!(bounded.waiting_questions().await.expect("a ledger"), 2);
}
