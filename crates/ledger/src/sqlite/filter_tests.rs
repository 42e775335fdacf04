//! Runs are found by who asked for them and by whether they wait, however many others there are.

use std::{
    collections::BTreeSet,
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use belljar_approvals::{Binding, By, Change, Channel, Decision, Question, QuestionId};
use belljar_model::{AskWay, AskWays, Effect, LedgerKeep, RunId, ToolPath, Usage};
use rusqlite::{Connection, params};

use super::{Options, SqliteLedger, file};
use crate::{
    entry::{Asker, Call, CallEnd, CallState, Entry, RunEnd, RunRest, RunStart},
    ledger::Ledger as _,
    query::Filter,
};

const HOUR: Duration = Duration::from_secs(3600);

fn ledger(folder: &Path) -> SqliteLedger {
    SqliteLedger::new(Some(folder), Options { fsync: false, keep: LedgerKeep::default() })
}

fn start(run: u64, principal: Option<&str>, client: Option<&str>) -> RunStart {
    let (run, at) = (RunId::from_bits(run), SystemTime::now() - 2 * HOUR);
    RunStart { run, at, origin: "serve", asker: Asker::new(principal, client), source_bytes: None, source: None }
}

async fn end(ledger: &SqliteLedger, start: RunStart) {
    let call = Call {
        number: 0,
        tool: ToolPath::new("fs", "read"),
        effect: Effect::ReadOnly,
        trusted: Effect::ReadOnly,
        begun: Duration::ZERO,
        arguments_bytes: 2,
        arguments: None,
        verdict: None,
        rule: None,
        may_repeat: false,
        end: Some(CallEnd { state: CallState::Ok, took: Duration::ZERO, answer_bytes: None, answer: None }),
    };
    let (took, usage, calls) = (Duration::ZERO, Usage::default(), vec![call]);
    let end = RunEnd { start, took, error: None, line: None, usage, calls, recording: None };
    ledger.commit(Entry::End(Box::new(end))).await.expect("kept");
}

async fn rest(ledger: &SqliteLedger, run: u64) {
    let (took, usage, until) = (Duration::ZERO, Usage::default(), SystemTime::now() + HOUR);
    let (start, calls) = (start(run, None, None), Vec::new());
    let rest = RunRest { start, took, usage, calls, until, asked: None, state: vec![7; 10] };
    ledger.commit(Entry::Rest(Box::new(rest))).await.expect("kept");
}

async fn ask(ledger: &SqliteLedger, run: u64, expires: SystemTime) {
    let binding = Binding {
        run: RunId::from_bits(run),
        number: 0,
        tool: ToolPath::new("fs", "write"),
        arguments: [1; 32],
        definition: [2; 32],
        rule: None,
        ways: AskWays::NONE.with(AskWay::Cli),
        principal: "owner".into(),
        expires,
    };
    let question = Question {
        id: QuestionId::from_bits(run),
        binding,
        effect: Effect::Mutating,
        why: None,
        arguments: "{}".to_owned(),
        so_far: Vec::new(),
        asked: expires - 2 * HOUR,
        desk: None,
        for_command: true,
        allow_yes: false,
    };
    ledger.change_question(Change::Ask(Box::new(question))).await.expect("a ledger").expect("asked");
}

fn milliseconds(at: SystemTime) -> i64 {
    i64::try_from(at.duration_since(SystemTime::UNIX_EPOCH).expect("a time").as_millis()).expect("a number")
}

fn all() -> Filter {
    Filter { limit: u32::MAX, ..Filter::default() }
}

async fn found(ledger: &SqliteLedger, filter: Filter) -> BTreeSet<u64> {
    let runs = ledger.runs(filter).await.expect("a ledger");
    runs.iter().map(|run| run.run.bits()).collect()
}

/// Puts later runs of others into the file, more than any list shows.
fn crowd(folder: &Path) {
    let mut connection = Connection::open(folder.join(file::NAME)).expect("opened");
    let crowd = connection.transaction().expect("begun");
    let later = milliseconds(SystemTime::now());
    for id in 1_000_000..1_010_001_i64 {
        let sql =
            "INSERT INTO runs(id, started_ms, process, state, origin, client) VALUES (?1, ?2, 1, 1, 'run', 'crowd')";
        crowd.execute(sql, params![id, later]).expect("kept");
    }
    crowd.commit().expect("kept");
}

#[tokio::test]
async fn runs_are_found_by_a_part_of_who_asked_in_whatever_case_behind_however_many_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = ledger(folder.path());
    for (run, principal, client) in [
        (1, Some("Laptop"), None),
        (2, None, Some("Ärger 100% _1_")),
        (3, Some("robot"), Some("Claude Code")),
        (4, None, None),
    ] {
        end(&ledger, start(run, principal, client)).await;
    }
    crowd(folder.path());
    let of = async |text: &str| found(&ledger, Filter { client: Some(text.to_owned()), ..all() }).await;
    assert_eq!(of("laptop").await, BTreeSet::from([1]));
    assert_eq!(of("LAPT").await, BTreeSet::from([1]));
    assert_eq!(of("ÄRGER").await, BTreeSet::from([2]));
    assert_eq!(of("code").await, BTreeSet::from([3]));
    assert_eq!(of("Serve").await, BTreeSet::from([1, 2, 3, 4]), "it is their origin");
    // None of the characters has a special meaning.
    assert_eq!((of("%").await, of("_1").await), (BTreeSet::from([2]), BTreeSet::from([2])));
    assert_eq!((of("' OR 1=1 --").await, of("Laptop\0").await), (BTreeSet::new(), BTreeSet::new()));
    let with = async |filter: Filter| found(&ledger, Filter { client: Some("robot".to_owned()), ..filter }).await;
    let tool = |server: &str| Filter { tool: Some((server.to_owned(), None)), ..all() };
    assert_eq!((with(tool("fs")).await, with(tool("web")).await), (BTreeSet::from([3]), BTreeSet::new()));
    assert_eq!(with(Filter { effect: Some(Effect::ReadOnly), ..all() }).await, BTreeSet::from([3]));
    assert_eq!(with(Filter { failed: true, ..all() }).await, BTreeSet::new());
    assert_eq!(with(Filter { limit: 0, ..all() }).await, BTreeSet::new());
}

#[tokio::test]
async fn a_run_waits_as_long_as_it_is_put_aside_or_its_question_can_be_decided() {
    let folder = tempfile::tempdir().expect("a folder");
    let gone = ledger(folder.path());
    let (later, before) = (SystemTime::now() + HOUR, SystemTime::now() - HOUR);
    gone.commit(Entry::Begin(start(1, None, None))).await.expect("kept");
    ask(&gone, 1, later).await;
    rest(&gone, 2).await;
    ask(&gone, 2, later).await;
    gone.close().await;
    drop(gone);

    let ledger = ledger(folder.path());
    for run in [3, 4, 5] {
        ledger.commit(Entry::Begin(start(run, None, Some("Here")))).await.expect("kept");
    }
    ask(&ledger, 3, later).await;
    ask(&ledger, 4, before).await;
    end(&ledger, start(6, None, Some("here"))).await;
    rest(&ledger, 7).await;
    crowd(folder.path());
    let waiting = || Filter { waiting: true, ..all() };
    // Nobody waits for the question of run 1 any more; that of 4 has expired, 5 has none, and 6 has
    // ended.
    assert_eq!(found(&ledger, waiting()).await, BTreeSet::from([2, 3, 7]));
    let asking = ledger.asking_runs().await.expect("a ledger");
    assert_eq!(asking, BTreeSet::from([2, 3].map(RunId::from_bits)));
    assert_eq!(ledger.waiting_questions().await.expect("a ledger"), 2);
    assert_eq!(found(&ledger, Filter { client: Some("HERE".to_owned()), ..waiting() }).await, BTreeSet::from([3]));
    let none = Filter { tool: Some(("fs".to_owned(), Some("read".to_owned()))), ..waiting() };
    assert_eq!(found(&ledger, none).await, BTreeSet::new());

    let decision = Decision { approve: false, by: By::Owner, channel: Channel::Command, at: SystemTime::now() };
    let decided = ledger.change_question(Change::Decide(QuestionId::from_bits(3), decision)).await;
    assert_eq!(decided.expect("a ledger"), Ok(()));
    assert_eq!(found(&ledger, waiting()).await, BTreeSet::from([2, 7]));
}

#[tokio::test]
async fn runs_of_a_server_are_found_in_one_pass_however_many_tools_it_has() {
    const RUNS: i64 = 20_000;
    // Recent enough that the ledger's tidying, which nobody waits for, does not forget them.
    let first = milliseconds(SystemTime::now() - HOUR);
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = ledger(folder.path());
    end(&ledger, start(1, None, None)).await;
    let mut connection = Connection::open(folder.path().join(file::NAME)).expect("opened");
    let filling = connection.transaction().expect("begun");
    // Each run called one of 3,000 tools of a server, and the one tool of another.
    for (id, server) in (10..3_010).map(|id| (id, "many")).chain([(9, "one")]) {
        filling
            .execute("INSERT INTO tools(id, server, tool) VALUES (?1, ?2, ?3)", params![id, server, id.to_string()])
            .expect("kept");
    }
    for run in 0..RUNS {
        let sql = "INSERT INTO runs(id, started_ms, process, state, origin, effects) VALUES (?1, ?1, 1, 1, 'run', ?2)";
        filling.execute(sql, params![first + run, if run % 2 == 0 { 4 } else { 1 }]).expect("kept");
        for tool in [9, 10 + run % 3_000] {
            let sql = "INSERT INTO called(tool, started_ms, run) VALUES (?1, ?2, ?2)";
            filling.execute(sql, params![tool, first + run]).expect("kept");
        }
    }
    filling.commit().expect("kept");
    let of = async |server: &str, name: Option<&str>| {
        let tool = Some((server.to_owned(), name.map(str::to_owned)));
        let filter = Filter { tool, effect: Some(Effect::External), limit: 5, ..Filter::default() };
        let began = Instant::now();
        let runs = ledger.runs(filter).await.expect("a ledger");
        let runs: Vec<u64> = runs.iter().map(|run| run.run.bits()).collect();
        (runs, began.elapsed())
    };
    let (latest, mut by_one) = of("one", None).await;
    let last = (first + RUNS - 1).cast_unsigned();
    assert_eq!(latest, [last - 1, last - 3, last - 5, last - 7, last - 9]);
    assert_eq!(of("one", Some("9")).await.0, latest);
    let (of_many, mut by_many) = of("many", None).await;
    assert_eq!(of_many, latest, "the latest first, each once");
    // The fastest of some, since anything may come between.
    for _ in 0..5 {
        by_one = by_one.min(of("one", None).await.1);
        by_many = by_many.min(of("many", None).await.1);
    }
    assert!(by_many < by_one * 50, "{by_many:?} for 3,000 tools, {by_one:?} for one");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_waits_for_any_more_is_not_read_to_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = ledger(folder.path());
    end(&ledger, start(1, None, None)).await;
    let (begun, has_begun) = tokio::sync::oneshot::channel();
    let (ended, has_ended) = tokio::sync::oneshot::channel();
    let reading = ledger.read(move |reader| {
        begun.send(()).expect("somebody waits for it");
        let read = reader.endless();
        ended.send(read.is_err()).expect("somebody waits for it");
        read
    });
    let mut reading = Box::pin(reading);
    tokio::select! {
        read = &mut reading => panic!("it has no end: {read:?}"),
        begun = has_begun => begun.expect("begun"),
    }
    drop(reading);
    assert!(has_ended.await.expect("it tells"), "it was interrupted");
}
