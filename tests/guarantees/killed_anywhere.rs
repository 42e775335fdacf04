//! Wherever a process is killed, no call that may change something is sent twice, and no call that
//! the owner denied is sent at all.
//!
//! Forty calls at once, some of which the owner is asked about. Decisions are made in any order,
//! while the run is live and while it waits, and each process of the run is killed at any moment.
//! The server writes down what was sent.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::{Duration, Instant, SystemTime},
};

use belljar_approvals::{By, Change, Channel, Decision};
use belljar_ledger::{Ledger, Options, QuestionFilter, SqliteLedger};
use belljar_model::LedgerKeep;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::{dead_children::child, support::Terminal};

const CALLS: u64 = 40;
/// The number of rounds. Each has its own seed, but still differs each time, since processes vary
/// in speed.
const ROUNDS: u64 = 16;
/// The most processes that are killed in a round, before it runs to its end.
const KILLED: u64 = 4;
/// The longest life of a killed process: about as long as it takes from its start to its rest.
const LONGEST_MS: u64 = 400;
/// The same in every other round: usually so short that nothing has been sent.
const SHORTEST_MS: u64 = 60;

/// Numbers that look random, and are the same each time: xorshift64*.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % below
    }

    fn coin(&mut self) -> bool {
        self.next(2) == 0
    }
}

/// A run, its owner, and the server that writes down what it receives.
struct Round {
    numbers: Numbers,
    terminal: Terminal,
    received: PathBuf,
    asked: BTreeSet<u64>,
    /// The owner's decisions.
    decided: BTreeMap<u64, bool>,
    runtime: Runtime,
    owner: Option<SqliteLedger>,
    run: Option<String>,
    /// Processes that were killed, and that are to be killed.
    killed: u64,
    to_kill: u64,
    longest_ms: u64,
}

/// How a process of a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Killed,
    Rests,
    Over,
}

impl Round {
    fn new(seed: u64) -> Self {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let terminal = Terminal::new();
        let received = terminal.folder.path().join("received");
        fs::create_dir(&received).unwrap();
        let asked: BTreeSet<u64> = (0..CALLS).filter(|_| numbers.next(3) > 0).collect();
        let config = format!(
            "[approvals]\nhold = '300ms'\n[servers.kid]\ncommand = '{}'\nargs = ['record', '{}']\n",
            child().display(),
            received.display()
        );
        terminal.file("belljar.toml", config);
        let ids: Vec<u64> = asked.iter().copied().collect();
        let rule = format!("id = 'some'\ntools = 'kid.write'\nargs.id = {{ in = {ids:?} }}\nthen = 'ask'\n");
        terminal.file("policy.toml", format!("default = 'allow'\n[[rule]]\n{rule}"));
        let delays: Vec<u64> = (0..CALLS).map(|_| numbers.next(60)).collect();
        let source = format!(
            "const delays = {delays:?};\n\
             const calls = delays.map(async (ms, id) => {{\n\
               if (ms % 3 === 0) await kid.read({{ id, ms }});\n\
               return (await kid.write({{ id, ms }})).id;\n\
             }});\n\
             return (await Promise.allSettled(calls)).map((each) => each.value ?? each.reason.name)"
        );
        terminal.file("script.js", source);
        let runtime = Runtime::new().unwrap();
        let to_kill = 1 + numbers.next(KILLED);
        Self {
            numbers,
            terminal,
            received,
            asked,
            decided: BTreeMap::new(),
            runtime,
            owner: None,
            run: None,
            killed: 0,
            to_kill,
            longest_ms: if seed % 4 < 2 { SHORTEST_MS } else { LONGEST_MS },
        }
    }

    /// One process of the run, which is killed after this time if it is still running.
    fn process(&mut self, life: Option<Duration>) -> (Ended, Value) {
        let run = self.run.clone();
        let mut arguments = match &run {
            None => vec!["run", "script.js"],
            Some(run) => vec!["resume", run],
        };
        arguments.extend(["--json", "--no-daemon", "--config", "belljar.toml"]);
        let mut command = self.terminal.command(&arguments);
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        while let Some(life) = life
            && process.try_wait().unwrap().is_none()
        {
            if began.elapsed() >= life {
                process.kill().unwrap();
            } else if self.numbers.next(16) == 0 {
                self.decide(1);
            } else {
                thread::sleep(Duration::from_millis(5));
            }
        }
        let output = process.wait_with_output().unwrap();
        match output.status.code() {
            None => {
                self.killed += 1;
                self.run = self.run.take().or_else(|| self.name());
                (Ended::Killed, Value::Null)
            }
            Some(code) => {
                let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
                self.run = outcome["run"].as_str().map(str::to_owned).or(self.run.take());
                (if code == 4 { Ended::Rests } else { Ended::Over }, outcome)
            }
        }
    }

    /// The name of the run, if it is in the ledger.
    fn name(&self) -> Option<String> {
        let runs = self.terminal.belljar(&["runs", "--json"]).json();
        runs["runs"][0]["run"].as_str().map(str::to_owned)
    }

    /// Decides up to this many of the open questions, at random.
    fn decide(&mut self, most: usize) {
        let Some(folder) = found(self.terminal.folder.path(), "ledger.key") else { return };
        let options = Options { fsync: false, keep: LedgerKeep::default() };
        let _in_runtime = self.runtime.enter();
        let owner = self.owner.get_or_insert_with(|| SqliteLedger::new(Some(&folder), options));
        let filter = QuestionFilter { open: true, ..QuestionFilter::default() };
        let Ok(mut open) = self.runtime.block_on(owner.questions(filter)) else { return };
        for _ in 0..most {
            if open.is_empty() {
                return;
            }
            let at = usize::try_from(self.numbers.next(open.len() as u64)).unwrap();
            let question = open.swap_remove(at).question;
            let arguments: Value = serde_json::from_str(&question.arguments).unwrap();
            let approve = self.numbers.next(3) > 0;
            let decision = Decision { approve, by: By::Owner, channel: Channel::Command, at: SystemTime::now() };
            let change = Change::Decide(question.id, decision);
            // It may have been withdrawn meanwhile.
            if self.runtime.block_on(owner.change_question(change)).unwrap().is_ok() {
                let id = arguments["id"].as_u64().unwrap();
                assert!(self.decided.insert(id, approve).is_none(), "call {id} is decided about twice");
            }
        }
    }

    /// The run from its beginning to its end, whatever that is.
    fn plays(&mut self) -> (Ended, Value) {
        loop {
            // The first process is spared half of the time: a run that was killed before it was put
            // aside is over.
            let is_killed = self.killed < self.to_kill && (self.run.is_some() || self.numbers.coin());
            let life = is_killed.then(|| Duration::from_millis(self.numbers.next(self.longest_ms)));
            let (ended, outcome) = self.process(life);
            match ended {
                Ended::Over => return (ended, outcome),
                Ended::Killed if self.run.is_none() => return (ended, outcome),
                Ended::Killed | Ended::Rests => {}
            }
            let some = usize::try_from(self.numbers.next(8)).unwrap();
            self.decide(if self.killed < self.to_kill { some } else { usize::MAX });
        }
    }

    /// How often each call that may change something was received.
    fn sent(&self) -> BTreeMap<u64, usize> {
        wait_for_servers(&self.received);
        let mut sent = BTreeMap::new();
        for file in fs::read_dir(&self.received).unwrap() {
            let text = fs::read(file.unwrap().path()).unwrap();
            let call: Value = serde_json::from_slice(&text).unwrap_or_default();
            if call["tool"] == "write" {
                *sent.entry(call["arguments"]["id"].as_u64().unwrap()).or_default() += 1;
            }
        }
        sent
    }
}

/// The folder below this one that contains a file with this name.
fn found(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).ok()?.filter_map(Result::ok) {
            if entry.file_name() == name {
                return Some(folder);
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && entry.file_name() != "received" {
                folders.push(entry.path());
            }
        }
    }
    None
}

/// Waits until no server is left that could still do something. Its command line names this path.
pub(crate) fn wait_for_servers(path: &Path) {
    let path = path.to_str().unwrap();
    let began = Instant::now();
    let is_there = || {
        let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let lines = processes.filter_map(|process| fs::read_to_string(process.path().join("cmdline")).ok());
        lines.into_iter().any(|line| line.contains(path))
    };
    while is_there() {
        assert!(began.elapsed() < Duration::from_secs(30), "a server outlives the process that started it");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Plays a round. Returns whether its run came to its own end after it was killed, and how many
/// decisions there were.
fn plays(seed: u64) -> (bool, u64, usize) {
    let mut round = Round::new(seed);
    let (ended, outcome) = round.plays();
    let sent = round.sent();
    for (id, times) in &sent {
        assert!(*times == 1, "seed {seed}: call {id} was sent {times} times\n{outcome:#}");
        if round.asked.contains(id) {
            assert_eq!(
                round.decided.get(id),
                Some(&true),
                "seed {seed}: call {id} was sent and not approved\n{outcome:#}"
            );
        }
    }
    let is_whole = ended == Ended::Over && outcome["ok"] == true;
    if is_whole {
        for id in 0..CALLS {
            let approved = round.decided.get(&id).copied();
            let expected = if round.asked.contains(&id) { approved == Some(true) } else { true };
            // If a process is killed between the use of a decision and the call, the call is lost:
            // it is not sent, and that is reported.
            let is_lost =
                round.killed > 0 && expected && outcome["value"][usize::try_from(id).unwrap()] == "PolicyError";
            let is_sent = sent.contains_key(&id);
            assert_eq!(is_sent, expected && !is_lost, "seed {seed}: call {id}, decided {approved:?}\n{outcome:#}");
        }
    } else if ended == Ended::Over {
        // A run that cannot be resumed says why.
        let message = outcome["error"]["message"].as_str().unwrap();
        assert!(message.contains("cannot go on"), "seed {seed}: {outcome:#}");
    }
    (is_whole && round.killed > 0, round.killed, round.decided.len())
}

#[test]
fn of_forty_calls_at_once_none_is_sent_twice_or_against_a_denial_wherever_processes_are_killed() {
    let seeds = thread::scope(|scope| {
        let halves = [0, 1].map(|half| {
            scope.spawn(move || (1..=ROUNDS).filter(|seed| seed % 2 == half).map(plays).collect::<Vec<_>>())
        });
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect::<Vec<_>>()
    });
    let whole = seeds.iter().filter(|(is_whole, ..)| *is_whole).count();
    let killed: u64 = seeds.iter().map(|(_, killed, _)| killed).sum();
    let decided: usize = seeds.iter().map(|(.., decided)| decided).sum();
    println!(
        "{ROUNDS} rounds: {killed} processes killed, {decided} decisions, {whole} runs came to their end all the same"
    );
    assert!(killed >= ROUNDS && decided >= 40 && whole > 0, "{seeds:?}");
}
