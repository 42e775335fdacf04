//! Several processes write to a ledger, are killed at any time, and have failing disks.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::{Command, Stdio},
    sync::OnceLock,
    thread,
    time::{Duration, SystemTime},
};

use belljar_model::{ArtifactSettings, ByteSize, Effect, LedgerKeep, RunId, ToolPath, Usage, Verdict};
use rusqlite::Connection;

use super::{Options, SqliteLedger, file, points, writer};
use crate::{
    Artifacts as _, Content, Holder, NewArtifact,
    entry::{Asker, Call, CallEnd, CallState, Entry, KeptRecording, RunEnd, RunStart},
    error::LedgerError,
    ledger::Ledger as _,
    query::{Filter, KeptCall, KeptRun, Purge, RunState},
};

fn ledger(folder: &Path) -> SqliteLedger {
    SqliteLedger::new(Some(folder), Options { fsync: false, keep: LedgerKeep::default() })
}

/// Keeps an entry, and returns when all of its connections are closed: closing one later would
/// still write to the file.
async fn keep(folder: &Path, entry: Entry) {
    let ledger = ledger(folder);
    ledger.commit(entry).await.expect("kept");
    ledger.close().await;
}

fn start(bits: u64) -> RunStart {
    static BEGAN: OnceLock<SystemTime> = OnceLock::new();
    let (run, at) = (RunId::from_bits(bits), *BEGAN.get_or_init(SystemTime::now));
    let asker = Asker::new(Some("laptop"), Some("client 1.0"));
    RunStart { run, at, origin: "test", asker, source_bytes: Some(3), source: Some([7; 16]) }
}

fn call(number: u64, trusted: Effect) -> Call {
    Call {
        number,
        tool: ToolPath::new("fs", format!("tool{}", number % 3)),
        effect: Effect::Mutating,
        trusted,
        begun: Duration::from_micros(number),
        arguments_bytes: 2,
        arguments: Some([1; 16]),
        verdict: None,
        rule: None,
        may_repeat: false,
        end: None,
    }
}

fn ok() -> CallEnd {
    CallEnd { state: CallState::Ok, took: Duration::from_micros(5), answer_bytes: Some(9), answer: Some([2; 16]) }
}

fn end(start: RunStart, calls: Vec<Call>) -> Entry {
    let (took, usage) = (Duration::from_millis(1), Usage { fuel: Some(5), ..Usage::default() });
    Entry::End(Box::new(RunEnd { start, took, error: None, line: None, usage, calls, recording: None }))
}

fn all() -> Filter {
    Filter { limit: u32::MAX, ..Filter::default() }
}

async fn read(folder: &Path, run: u64) -> (KeptRun, Vec<KeptCall>) {
    ledger(folder).run(RunId::from_bits(run)).await.expect("a ledger").expect("a run")
}

#[tokio::test]
async fn what_is_written_is_read_back_and_filtered() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = ledger(folder.path());
    assert!(ledger.runs(all()).await.expect("nothing is no fault").is_empty());
    assert!(!folder.path().join(file::NAME).exists(), "reading makes no file");

    ledger.write(Entry::Begin(start(1))).await.expect("written");
    ledger.commit(Entry::Calls { start: start(1), calls: vec![call(4, Effect::External)] }).await.expect("kept");
    let (run, calls) = ledger.run(RunId::from_bits(1)).await.expect("a ledger").expect("a run");
    assert_eq!((run.state, run.calls, run.unanswered), (RunState::Running, 1, 1));
    assert_eq!((run.principal.as_deref(), run.client.as_deref()), (Some("laptop"), Some("client 1.0")));
    assert!(calls[0].may_have_happened());

    ledger.write(Entry::Answered { run: RunId::from_bits(1), number: 4, end: ok() }).await.expect("written");
    let calls = vec![Call { effect: Effect::ReadOnly, end: Some(ok()), ..call(1, Effect::ReadOnly) }];
    ledger.write(end(start(1), calls)).await.expect("written");
    let failed = RunEnd { start: start(2), error: Some(belljar_model::ErrorKind::Exception), line: Some(3), ..empty() };
    let recording = Some(KeptRecording::Whole(vec![5; 100_000]));
    ledger.write(Entry::End(Box::new(RunEnd { recording: recording.clone(), ..failed }))).await.expect("written");

    let (run, calls) = ledger.run(RunId::from_bits(1)).await.expect("a ledger").expect("a run");
    assert_eq!((run.state, run.fuel, run.calls, run.unanswered), (RunState::Ok, Some(5), 2, 0));
    assert_eq!(
        calls.iter().map(|call| (call.number, call.state)).collect::<Vec<_>>(),
        [(1, CallState::Ok), (4, CallState::Ok)]
    );
    assert_eq!((calls[1].arguments, calls[1].answer), (Some([1; 16]), Some([2; 16])));
    let (run, _) = ledger.run(RunId::from_bits(2)).await.expect("a ledger").expect("a run");
    assert_eq!((run.state, run.error.as_deref(), run.line), (RunState::Failed, Some("exception"), Some(3)));
    assert_eq!(run.recording_bytes, Some(100_000));
    assert_eq!(ledger.recording(RunId::from_bits(2)).await.expect("a ledger"), recording);
    assert_eq!(ledger.recording(RunId::from_bits(1)).await.expect("a ledger"), None);

    let names = async |filter: Filter| {
        let runs = ledger.runs(filter).await.expect("runs");
        runs.iter().map(|run| run.run.bits()).collect::<BTreeSet<_>>()
    };
    assert_eq!(names(all()).await, BTreeSet::from([1, 2]));
    assert_eq!(names(Filter { failed: true, ..all() }).await, BTreeSet::from([2]));
    assert_eq!(names(Filter { effect: Some(Effect::ReadOnly), ..all() }).await, BTreeSet::from([1]));
    assert_eq!(names(Filter { effect: Some(Effect::Mutating), ..all() }).await, BTreeSet::from([1]));
    assert_eq!(names(Filter { effect: Some(Effect::External), ..all() }).await, BTreeSet::new());
    let tool = |tool: Option<&str>| Some(("fs".to_owned(), tool.map(str::to_owned)));
    assert_eq!(names(Filter { tool: tool(None), ..all() }).await, BTreeSet::from([1]));
    assert_eq!(names(Filter { tool: tool(Some("tool1")), ..all() }).await, BTreeSet::from([1]));
    assert_eq!(names(Filter { tool: tool(Some("tool2")), ..all() }).await, BTreeSet::new());
    assert_eq!(names(Filter { tool: tool(None), failed: true, ..all() }).await, BTreeSet::new());
    assert_eq!(names(Filter { tool: tool(None), effect: Some(Effect::ReadOnly), ..all() }).await, BTreeSet::from([1]));
    assert_eq!(names(Filter { tool: tool(None), limit: 0, ..all() }).await, BTreeSet::new());
    let between = async |first, last| {
        ledger.between(RunId::from_bits(first), RunId::from_bits(last)).await.expect("a ledger").len()
    };
    assert_eq!((between(2, 9).await, between(0, 9).await, between(3, u64::MAX >> 1).await), (1, 2, 0));
    let later = SystemTime::now() + Duration::from_secs(5);
    assert_eq!(names(Filter { since: Some(later), ..all() }).await, BTreeSet::new());
    assert_eq!(names(Filter { limit: 1, ..all() }).await.len(), 1);
    #[cfg(unix)]
    for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.key"] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(folder.path().join(name)).expect(name).permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    ledger.close().await;
    assert!(matches!(ledger.commit(Entry::Begin(start(9))).await, Err(LedgerError::Closed)));
}

#[tokio::test]
async fn verdicts_are_counted_by_rule_over_all_runs_that_are_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = ledger(folder.path());
    assert_eq!(ledger.verdicts().await.expect("readable"), []);
    let by = |number, rule: Option<&str>, verdict| Call {
        verdict,
        rule: rule.map(Into::into),
        ..call(number, Effect::External)
    };
    let calls = vec![
        by(0, Some("never"), Some(Verdict::Deny)),
        by(1, None, Some(Verdict::Allow)),
        by(2, Some("never"), Some(Verdict::Deny)),
        by(3, None, None),
    ];
    ledger.commit(end(start(1), calls)).await.expect("kept");
    ledger.commit(end(start(2), vec![by(0, Some("never"), Some(Verdict::Deny))])).await.expect("kept");
    let counted = ledger.verdicts().await.expect("readable");
    let told = counted.iter().map(|kept| (kept.rule.as_deref(), kept.verdict, kept.calls)).collect::<Vec<_>>();
    assert_eq!(told, [(Some("never"), Verdict::Deny, 3), (None, Verdict::Allow, 1)]);
    assert!(counted.iter().all(|kept| kept.last_ms > 0));
}

fn empty() -> RunEnd {
    match end(start(0), Vec::new()) {
        Entry::End(end) => *end,
        _ => unreachable!("it is an end"),
    }
}

/// The child process: it writes runs until it is killed, and prints which ones were confirmed.
#[tokio::test]
#[ignore = "it is the other process of the tests below"]
async fn child() {
    let Some(folder) = std::env::var_os("LEDGER_CHILD") else { return };
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(point) = number("LEDGER_STOP") {
        points::stop_at(point);
    }
    let ledger = ledger(Path::new(&folder));
    let first = number("LEDGER_FIRST").unwrap_or(0);
    for bits in first..first + number("LEDGER_RUNS").unwrap_or(u64::MAX / 2) {
        let run = RunId::from_bits(bits);
        let start_of_all = start(bits);
        ledger.commit(Entry::Begin(start(bits))).await.expect("kept");
        println!("\nkept {bits}");
        for number in 0..3 {
            let calls = vec![call(number, Effect::External)];
            ledger.commit(Entry::Calls { start: start_of_all.clone(), calls }).await.expect("kept");
            println!("\nkept {bits} {number}");
            ledger.write(Entry::Answered { run, number, end: ok() }).await.expect("written");
        }
        ledger.write(end(start(bits), vec![call(3, Effect::ReadOnly)])).await.expect("written");
    }
    ledger.close().await;
}

fn spawn(folder: &Path, variables: &[(&str, u64)]) -> std::process::Child {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", "sqlite::tests::child", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env("LEDGER_CHILD", folder).stdout(Stdio::piped()).stderr(Stdio::null());
    for (name, value) in variables {
        command.env(name, value.to_string());
    }
    command.spawn().expect("started")
}

/// The runs and calls whose writing was confirmed to a child.
fn told(stdout: &[u8]) -> BTreeMap<u64, BTreeSet<u64>> {
    let mut told: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for line in String::from_utf8_lossy(stdout).lines() {
        let mut words = line.strip_prefix("kept ").unwrap_or_default().split(' ').filter_map(|word| word.parse().ok());
        if let Some(run) = words.next() {
            told.entry(run).or_default().extend(words);
        }
    }
    told
}

/// Checks that everything confirmed is there, and that unfinished runs are marked as interrupted.
async fn nothing_is_forgotten(folder: &Path, told: &BTreeMap<u64, BTreeSet<u64>>) {
    for (run, numbers) in told {
        let (kept, calls) = read(folder, *run).await;
        let kept_numbers: BTreeSet<u64> = calls.iter().map(|call| call.number).collect();
        assert!(kept_numbers.is_superset(numbers), "{run}: {numbers:?} {calls:?}");
        match kept.state {
            RunState::Ok => assert_eq!(kept_numbers.len(), 4),
            RunState::Interrupted => {
                assert!(calls.iter().all(|call| call.state == CallState::Ok || call.may_have_happened()))
            }
            other => panic!("{run} is {other:?}"),
        }
    }
}

/// Lets a child run until it has stopped at its point, and kills it there. Returns its output, and
/// whether it had finished before.
fn killed_where_it_stops(mut child: std::process::Child) -> (Vec<u8>, bool) {
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut said = Vec::new();
    let stops = |said: &[u8]| said.strip_suffix(b"\n").is_some_and(|line| line.ends_with(points::STOPPED.as_bytes()));
    while output.read_until(b'\n', &mut said).expect("a pipe") > 0 {
        if stops(&said) {
            child.kill().expect("killed");
            break;
        }
    }
    output.read_to_end(&mut said).expect("a pipe");
    (said, child.wait().expect("it ends").success())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_between_any_two_steps_of_a_write_forgets_nothing() {
    let (mut points, mut interrupted) = (0, 0);
    loop {
        let folder = tempfile::tempdir().expect("a folder");
        let child = spawn(folder.path(), &[("LEDGER_STOP", points), ("LEDGER_RUNS", 6)]);
        let (said, came_to_its_end) = killed_where_it_stops(child);
        let told = told(&said);
        nothing_is_forgotten(folder.path(), &told).await;
        is_sound(folder.path());
        let runs = ledger(folder.path()).runs(all()).await.expect("the file opens");
        interrupted += runs.iter().filter(|run| run.state == RunState::Interrupted).count();
        // The next process continues to write, and records the fate of the others.
        let next = ledger(folder.path());
        next.commit(Entry::Begin(start(99))).await.expect("it goes on");
        let open = next.runs(all()).await.expect("runs").into_iter().filter(|run| run.state == RunState::Running);
        assert_eq!(open.map(|run| run.run.bits()).collect::<Vec<_>>(), [99]);
        next.close().await;
        if came_to_its_end {
            assert_eq!(told.len(), 6);
            break;
        }
        points += 1;
    }
    assert!(points > 60 && interrupted > 30, "{points} points, {interrupted} interrupted runs");
}

/// Checks that SQLite finds no error in the file, and that each call belongs to a run and is found
/// by its tool.
fn is_sound(folder: &Path) {
    let path = folder.join(file::NAME);
    if !path.exists() {
        return;
    }
    let connection = Connection::open(path).expect("opened");
    let is_made: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("a version");
    if is_made == 0 {
        return;
    }
    let ok: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a check");
    assert_eq!(ok, "ok");
    let lost = "SELECT (SELECT count(*) FROM calls WHERE run NOT IN (SELECT id FROM runs))
        + (SELECT count(*) FROM calls c JOIN runs r ON r.id = c.run
            WHERE NOT EXISTS (SELECT 1 FROM called x WHERE (x.tool, x.started_ms, x.run) = (c.tool, r.started_ms, r.id)))
        + (SELECT count(*) FROM called x WHERE NOT EXISTS (SELECT 1 FROM calls c WHERE c.run = x.run AND c.tool = x.tool))";
    let lost: i64 = connection.query_row(lost, [], |row| row.get(0)).expect("a count");
    assert_eq!(lost, 0);
}

#[tokio::test]
async fn a_call_is_found_with_its_run_though_the_start_of_that_was_not_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let intent = Entry::Calls { start: start(5), calls: vec![call(0, Effect::External)] };
    keep(folder.path(), intent).await;
    let runs = ledger(folder.path()).runs(all()).await.expect("runs");
    assert_eq!(runs.iter().map(|run| (run.run.bits(), run.unanswered)).collect::<Vec<_>>(), [(5, 1)]);
    is_sound(folder.path());
}

#[tokio::test]
async fn a_ledger_of_version_1_is_brought_up_to_date_and_nothing_in_it_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = ledger(folder.path());
    for bits in 0..40 {
        let calls = (0..bits % 4).map(|number| call(number, Effect::ReadOnly)).collect();
        made.write(end(start(bits), calls)).await.expect("written");
    }
    made.close().await;
    let tool2 = Filter { tool: Some(("fs".to_owned(), Some("tool2".to_owned()))), ..all() };
    let mutating = Filter { effect: Some(Effect::Mutating), ..all() };
    let before = [tool2.clone(), mutating.clone()];
    let names = async |filter: Filter| {
        let runs = ledger(folder.path()).runs(filter).await.expect("runs");
        runs.iter().map(|run| run.run.bits()).collect::<Vec<_>>()
    };
    let expected = [names(before[0].clone()).await, names(before[1].clone()).await];
    assert_eq!(expected.each_ref().map(Vec::len), [10, 30]);
    // The file of version 1.
    let connection = Connection::open(folder.path().join(file::NAME)).expect("opened");
    let back = "DROP TABLE called; DROP INDEX runs_by_start; ALTER TABLE runs DROP COLUMN principal;
        ALTER TABLE runs DROP COLUMN client; ALTER TABLE runs DROP COLUMN effects;
        CREATE INDEX runs_by_start ON runs(started_ms); ALTER TABLE calls DROP COLUMN verdict;
        ALTER TABLE calls DROP COLUMN rule; DROP TABLE questions; DROP TABLE resting;
        DROP TABLE grants; DROP TABLE kept; DROP TABLE artifact_holders;
        DROP TABLE artifacts; DROP TABLE artifact_pieces; DROP TABLE artifact_passages; DROP TABLE artifact_pages;
        ALTER TABLE calls DROP COLUMN may_repeat; PRAGMA user_version = 1;";
    connection.execute_batch(back).expect("changed");
    drop(connection);
    // The first reader migrates it too.
    assert_eq!([names(tool2).await, names(mutating).await], expected);
    is_sound(folder.path());
    let next = ledger(folder.path());
    next.commit(end(start(99), vec![call(2, Effect::External)])).await.expect("kept");
    assert_eq!(next.runs(all()).await.expect("runs").len(), 41);
    next.close().await;
    is_sound(folder.path());
}

#[tokio::test]
async fn ledgers_from_before_kept_values_and_artifacts_get_their_tables() {
    let artifacts = "DROP TABLE artifact_holders; DROP TABLE artifacts; DROP TABLE artifact_pieces;
        DROP TABLE artifact_passages; DROP TABLE artifact_pages; PRAGMA user_version = 7;";
    let kept = "DROP TABLE kept; PRAGMA user_version = 6;";
    for (version, back) in [(7, artifacts.to_owned()), (6, format!("{artifacts}{kept}"))] {
        let folder = tempfile::tempdir().expect("a folder");
        let made = ledger(folder.path());
        made.commit(end(start(1), vec![call(1, Effect::External)])).await.expect("kept");
        made.close().await;
        let connection = Connection::open(folder.path().join(file::NAME)).expect("opened");
        connection.execute_batch(&back).unwrap_or_else(|fault| panic!("version {version}: {fault}"));
        drop(connection);
        let next = ledger(folder.path());
        assert_eq!(next.runs(all()).await.expect("runs").len(), 1);
        let store = next.artifacts(ArtifactSettings::default());
        let holder = Holder { principal: None, workspace: "w".into() };
        let content = Content::Text("a text".into());
        let artifact = NewArtifact { content, name: None, mime: None, run: None, labels: Vec::new() };
        let stored = store.store(holder.clone(), artifact).await.expect("stored");
        let whole = store.whole(holder, stored.id).await.expect("read");
        assert_eq!(whole.as_deref(), Some(&b"a text"[..]), "version {version}");
        next.close().await;
        is_sound(folder.path());
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_at_any_moment_forgets_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut runs = 0;
    for round in 0..30_u64 {
        let mut child = spawn(folder.path(), &[("LEDGER_FIRST", round * 1_000_000)]);
        let mut output = Vec::new();
        // Every other child has certainly begun to write, however slow the machine is.
        if round % 2 == 1 {
            let mut begun = BufReader::with_capacity(1, child.stdout.take().expect("piped"));
            while told(&output).is_empty() {
                assert_ne!(begun.read_until(b'\n', &mut output).expect("read"), 0, "it writes until it is killed");
            }
            child.stdout = Some(begun.into_inner());
        }
        // The moment varies, but the result must always be the same.
        thread::sleep(Duration::from_millis(5 + round * 7 % 60));
        child.kill().expect("killed");
        output.extend(child.wait_with_output().expect("it ends").stdout);
        let told = told(&output);
        runs += told.len();
        nothing_is_forgotten(folder.path(), &told).await;
    }
    assert!(runs > 0, "no child came to write");
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_write_at_once_lose_nothing_of_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let children: Vec<_> =
        (0..3).map(|child| spawn(folder.path(), &[("LEDGER_FIRST", child * 1000), ("LEDGER_RUNS", 60)])).collect();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success());
        assert_eq!(told(&output.stdout).len(), 60);
    }
    let runs = ledger(folder.path()).runs(all()).await.expect("runs");
    assert_eq!(runs.len(), 180);
    assert!(runs.iter().all(|run| run.state == RunState::Ok && run.calls == 4 && run.unanswered == 0), "{runs:?}");
}

/// The errors of a write to the ledger of a folder, and of a read.
async fn faults(folder: &Path) -> (Result<(), LedgerError>, Result<Vec<KeptRun>, LedgerError>) {
    let ledger = ledger(folder);
    (ledger.commit(Entry::Begin(start(1))).await, ledger.runs(all()).await)
}

#[tokio::test]
async fn a_file_that_is_no_ledger_of_ours_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(file::NAME);
    let unchanged = async |expected: &str| {
        let before = fs::read(&path).expect("there");
        let (written, read) = faults(folder.path()).await;
        for fault in [written.expect_err("refused"), read.expect_err("refused")] {
            assert!(fault.to_string().contains(expected), "{fault}");
            assert!(fault.hint().contains("move the file away"), "{}", fault.hint());
        }
        assert_eq!(fs::read(&path).expect("there"), before);
    };

    fs::write(&path, "not a database, and longer than a header of one has to be, by far: ".repeat(20))
        .expect("written");
    unchanged("is damaged: file is not a database").await;

    fs::remove_file(&path).expect("removed");
    Connection::open(&path)
        .expect("made")
        .execute_batch(&format!("CREATE TABLE somebodys(x); PRAGMA user_version = {}", file::VERSION))
        .expect("made");
    unchanged("a file of another program").await;

    fs::remove_file(&path).expect("removed");
    keep(folder.path(), Entry::Begin(start(1))).await;
    let newer = Connection::open(&path).expect("opened");
    let next = file::VERSION + 1;
    newer.execute_batch(&format!("PRAGMA user_version = {next}; PRAGMA wal_checkpoint(TRUNCATE)")).expect("changed");
    drop(newer);
    unchanged(&format!("has version {next}; this belljar knows versions up to {}", file::VERSION)).await;
}

#[tokio::test]
async fn a_damaged_page_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger_of_many = ledger(folder.path());
    for bits in 0..200 {
        ledger_of_many
            .write(end(start(bits), (0..3).map(|number| call(number, Effect::ReadOnly)).collect()))
            .await
            .expect("written");
    }
    ledger_of_many.close().await;
    let path = folder.path().join(file::NAME);
    Connection::open(&path).expect("opened").execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("copied");
    let whole = fs::read(&path).expect("read");
    for at in (100..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[at..].iter_mut().take(64).for_each(|byte| *byte ^= 0xa5);
        fs::write(&path, &bytes).expect("written");
        let (written, read) = faults(folder.path()).await;
        for fault in written.err().into_iter().chain(read.err()) {
            assert!(!fault.hint().is_empty());
        }
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("written");
    let (written, _) = faults(&file.join("state")).await;
    let fault = written.expect_err("there is no folder");
    assert!(fault.to_string().contains("file/state"), "{fault}");
    let nowhere = SqliteLedger::new(None, Options { fsync: false, keep: LedgerKeep::default() });
    assert!(matches!(nowhere.commit(Entry::Begin(start(1))).await, Err(LedgerError::NoFolder)));
    assert!(matches!(nowhere.runs(all()).await, Err(LedgerError::NoFolder)));
}

#[tokio::test]
async fn a_lock_that_is_not_given_back_is_waited_for_in_bounds_and_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = ledger(folder.path());
    ledger.commit(Entry::Begin(start(1))).await.expect("kept");
    let other = Connection::open(folder.path().join(file::NAME)).expect("opened");
    other.execute_batch("BEGIN IMMEDIATE").expect("locked");
    for _ in 0..3 {
        let fault = ledger.commit(Entry::Begin(start(2))).await.expect_err("it is locked");
        assert!(fault.to_string().contains("in use by another process"), "{fault}");
    }
    assert_eq!(ledger.runs(all()).await.expect("others read meanwhile").len(), 1);
    other.execute_batch("COMMIT").expect("unlocked");
    // For a moment, no other attempt is made.
    let fault = ledger.commit(Entry::Begin(start(2))).await.expect_err("it was locked just now");
    assert!(matches!(fault, LedgerError::Busy { .. }), "{fault}");
    tokio::time::sleep(writer::REST).await;
    ledger.commit(Entry::Begin(start(2))).await.expect("it is tried again");
    assert_eq!(ledger.runs(all()).await.expect("runs").len(), 2);
}

#[tokio::test]
async fn a_full_disk_is_named_and_what_was_kept_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("there").join(file::NAME);
    points::bound_pages(&path);
    let ledger = ledger(folder.path());
    let mut kept = 0;
    let fault = loop {
        let recording = Some(KeptRecording::Whole(vec![3; 10_000]));
        let large = Entry::End(Box::new(RunEnd { start: start(kept), recording, ..empty() }));
        match ledger.commit(large).await {
            Ok(()) => kept += 1,
            Err(fault) => break fault,
        }
    };
    assert!(matches!(fault, LedgerError::Full { .. }), "{fault}");
    assert!(fault.hint().contains("make room"), "{}", fault.hint());
    assert_eq!(ledger.runs(all()).await.expect("runs").len() as u64, kept);
}

#[tokio::test]
async fn what_is_too_old_or_too_much_is_forgotten_the_oldest_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let keep = LedgerKeep { days: 2, bytes: ByteSize::kib(400) };
    let bounded = SqliteLedger::new(Some(folder.path()), Options { fsync: false, keep });
    let day = Duration::from_secs(24 * 3600);
    let old = RunStart { at: SystemTime::now() - 3 * day, ..start(1) };
    let recent = RunStart { at: SystemTime::now() - day, ..start(2) };
    // The first write tidies up after itself.
    bounded.commit(end(recent, vec![call(1, Effect::External)])).await.expect("kept");
    bounded.commit(end(old, vec![call(1, Effect::External)])).await.expect("kept");
    bounded.purge(Purge::Kept).await.expect("tidied");
    let runs = bounded.runs(all()).await.expect("runs");
    assert_eq!(runs.iter().map(|run| run.run.bits()).collect::<Vec<_>>(), [2]);
    for bits in 10..3_000 {
        let start = RunStart { at: SystemTime::now() + Duration::from_millis(bits), ..start(bits) };
        bounded
            .write(end(start, (0..2).map(|number| call(number, Effect::ReadOnly)).collect()))
            .await
            .expect("written");
    }
    bounded.purge(Purge::Kept).await.expect("tidied");
    let left = bounded.runs(all()).await.expect("runs");
    assert!(!left.is_empty() && left.len() < 2_990, "{}", left.len());
    assert_eq!(left[0].run.bits(), 2_999, "the latest stay");
    bounded.close().await;
    let connection = Connection::open(folder.path().join(file::NAME)).expect("opened");
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("copied");
    let bytes = fs::metadata(folder.path().join(file::NAME)).expect("there").len();
    assert!(bytes <= 400 * 1024, "{bytes} bytes");
    drop(connection);
    is_sound(folder.path());
}

#[tokio::test]
async fn what_is_purged_is_gone_though_rows_had_moved_from_page_to_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = ledger(folder.path());
    // Random names, and rows that are part of a page: each insertion moves others.
    let name = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let value = |number: u64| format!("the value of run {number:04}.");
    let repeated = [1, 9, 23, 40, 58];
    for (number, times) in (0..300).zip(repeated.into_iter().cycle()) {
        let recording = Some(KeptRecording::Whole(value(number).repeat(times).into_bytes()));
        let run = RunEnd { start: start(name(number)), recording, ..empty() };
        ledger.commit(Entry::End(Box::new(run))).await.expect("kept");
    }
    let purged: Vec<u64> = (0..300).filter(|number| number % 7 == 3).collect();
    let named = purged.iter().map(|number| RunId::from_bits(name(*number))).collect();
    assert_eq!(ledger.purge(Purge::Runs(named)).await.expect("purged"), purged.len() as u64);
    let files = ["ledger.db", "ledger.db-wal"].map(|name| fs::read(folder.path().join(name)).unwrap_or_default());
    let holds = |number: u64| {
        let value = value(number).into_bytes();
        files.iter().any(|file| file.windows(value.len()).any(|part| part == value))
    };
    for number in (0..300).step_by(3) {
        assert_eq!(holds(number), !purged.contains(&number), "{number}");
    }
    is_sound(folder.path());
}

#[tokio::test]
async fn what_is_purged_is_gone_from_the_files() {
    const VALUE: &[u8] = b"a value that is to be forgotten";
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = ledger(folder.path());
    assert_eq!(ledger.purge(Purge::All).await.expect("nothing is no fault"), 0);
    for bits in 0..5 {
        let recording = Some(KeptRecording::Redacted(VALUE.repeat(1000)));
        let run = RunEnd { start: start(bits), recording, ..empty() };
        ledger.write(Entry::End(Box::new(run))).await.expect("written");
    }
    let kept = |name: &str| fs::read(folder.path().join(name)).unwrap_or_default();
    let holds = || {
        ["ledger.db", "ledger.db-wal"].map(kept).iter().any(|file| file.windows(VALUE.len()).any(|part| part == VALUE))
    };
    assert_eq!(ledger.runs(all()).await.expect("runs")[0].recording, Some("verifiable"));
    assert!(holds());
    assert_eq!(ledger.purge(Purge::Runs(vec![RunId::from_bits(3), RunId::from_bits(77)])).await.expect("purged"), 1);
    assert_eq!(ledger.runs(all()).await.expect("runs").len(), 4);
    assert_eq!(ledger.purge(Purge::Before(SystemTime::now() - Duration::from_secs(60))).await.expect("purged"), 0);
    assert_eq!(ledger.purge(Purge::All).await.expect("purged"), 4);
    assert!(ledger.runs(all()).await.expect("runs").is_empty());
    assert!(!holds());
}
