//! Where attacks run: a sandbox with a single slot, so that the run after an attack uses the same
//! slot.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_model::{ByteSize, ErrorKind, Limits, Outcome};
use belljar_sandbox::{Image, Program, Sandbox, SandboxOptions, Tools};
use parking_lot::Mutex;
use serde_json::Value;

use crate::support;

/// Only a guard against hanging: more than the busiest machine needs for the longest run below.
const CEILING: Duration = Duration::from_secs(300);

/// The recursion limit's error, as a script can catch it.
const CAUGHT: &str = "caught RangeError: Maximum call stack size exceeded";

/// The expected end of an attack.
#[derive(Debug, Clone)]
pub(crate) enum Expected {
    /// A limit of this name ends the run, whatever the script does about it.
    Limit(ErrorKind, &'static str),
    /// The interpreter's recursion limit or its stack ends the run; the depth is not measured. A
    /// script may catch the limit and go on.
    Stack,
    /// An error of the language whose name and message begin like this. A script may catch it and
    /// go on.
    Throws(&'static str),
    /// The run ends with an error of this kind, whose message begins like this.
    Fails(ErrorKind, &'static str),
    /// The script succeeds.
    Value(Value),
}

/// An attack: the line of the catalogue, the script, and its expected end.
pub(crate) type Row = (u8, String, Expected);

/// Ends endless loops after a tenth of a second or so, and hoarding after 20 MiB. The clocks are
/// there in case the other two fail.
pub(crate) fn small() -> Limits {
    Limits {
        fuel: 200_000_000,
        memory: ByteSize::mib(20),
        compute: Duration::from_secs(100),
        timeout: Duration::from_secs(200),
        max_calls: 50,
        ..Limits::default()
    }
}

/// A sandbox with one slot.
pub(crate) struct Arena {
    sandbox: Sandbox,
    tools: Arc<dyn Tools>,
}

impl Arena {
    /// With the tools of [`support::tools`].
    pub(crate) fn new() -> Self {
        Self::with(Arc::new(support::tools()))
    }

    pub(crate) fn with(tools: Arc<dyn Tools>) -> Self {
        let options = SandboxOptions { max_live: 1, ..SandboxOptions::default() };
        Self { sandbox: Sandbox::new(&Image::embedded(), options).unwrap(), tools }
    }

    /// Runs a script to its end, which must come.
    pub(crate) async fn run(&self, source: &str, limits: &Limits) -> Outcome {
        let run = self.sandbox.run(Program::new(source)).limits(limits).tools(self.tools.clone()).into_future();
        tokio::time::timeout(CEILING, run).await.unwrap_or_else(|_| panic!("it hangs: {}", shown(source)))
    }

    /// Runs an attack, compares its end with the expected one, and shows that the slot is as good
    /// as new.
    pub(crate) async fn attack(&self, row: &Row, limits: &Limits) -> Outcome {
        let (line, source, expected) = row;
        let begun = Instant::now();
        let outcome = self.run(source, limits).await;
        note(*line, &outcome, begun.elapsed());
        expected.check(&outcome, limits, source);
        // What a script may catch, and what not.
        let caught = format!("try {{\n{source}\n}} catch (e) {{ return 'caught ' + e }}");
        match expected {
            Expected::Stack if can_stand_in_a_block(source) => {
                let outcome = self.run(&caught, limits).await;
                let is_caught = outcome.result.as_ref().is_ok_and(|value| value.as_str() == format!("\"{CAUGHT}\""));
                if !is_caught {
                    expected.check(&outcome, limits, &caught);
                }
            }
            Expected::Limit(..) if can_stand_in_a_block(source) => {
                expected.check(&self.run(&caught, limits).await, limits, &caught);
            }
            Expected::Throws(message) if can_stand_in_a_block(source) => {
                let value = self.run(&caught, limits).await.result.unwrap().to_value().unwrap();
                assert!(
                    value.as_str().unwrap().starts_with(&format!("caught {message}")),
                    "{}\n{value}",
                    shown(source)
                );
            }
            _ => {}
        }
        self.assert_clean(source).await;
        outcome
    }

    /// The next run must behave as if there had been no other.
    pub(crate) async fn assert_clean(&self, after: &str) {
        let next = self.run("1 + 1", &Limits::default()).await;
        assert_eq!(next.result.map(|value| value.as_str().to_owned()), Ok("2".to_owned()), "after {}", shown(after));
    }

    /// All rows, one after the other.
    pub(crate) async fn all(&self, rows: &[Row], limits: &Limits) {
        for row in rows {
            self.attack(row, limits).await;
        }
    }
}

impl Expected {
    fn check(&self, outcome: &Outcome, limits: &Limits, source: &str) {
        let context = || format!("{}\nexpected {self:?}, got {:#?}", shown(source), outcome.result);
        match (self, &outcome.result) {
            (Self::Value(expected), Ok(value)) => assert_eq!(&value.to_value().unwrap(), expected, "{}", context()),
            (Self::Limit(kind, name), Err(error)) => {
                assert_eq!(error.kind, *kind, "{}", context());
                let limit = error.limit.as_ref().unwrap_or_else(|| panic!("no limit: {}", context()));
                assert_eq!(limit.name.as_str(), *name, "{}", context());
                assert_eq!(Some(limit.max), configured(limits, name), "{}", context());
                assert!(limit.used >= limit.max, "{}", context());
                assert!(error.recoverable && error.hint.is_some(), "{}", context());
            }
            (Self::Stack, Err(error)) => {
                assert_eq!(error.kind, ErrorKind::Stack, "{}", context());
                assert!(error.recoverable && error.hint.is_some(), "{}", context());
            }
            (Self::Throws(message), Err(error)) => {
                assert_eq!(error.kind, ErrorKind::Exception, "{}", context());
                assert!(error.message.starts_with(message), "{}", context());
            }
            (Self::Fails(kind, message), Err(error)) => {
                assert_eq!(error.kind, *kind, "{}", context());
                assert!(error.message.starts_with(message), "{}", context());
            }
            _ => panic!("{}", context()),
        }
    }
}

/// What was observed for a line of the catalogue, for the table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) got: BTreeMap<String, usize>,
    pub(crate) time: Duration,
}

static SEEN: Mutex<BTreeMap<u8, Seen>> = Mutex::new(BTreeMap::new());

/// The observations so far, by line.
pub(crate) fn seen() -> BTreeMap<u8, Seen> {
    SEEN.lock().clone()
}

/// Records an end for the table.
pub(crate) fn note(line: u8, outcome: &Outcome, time: Duration) {
    let got = match &outcome.result {
        Ok(_) => "success".to_owned(),
        Err(error) => match &error.limit {
            Some(limit) => format!("{} ({})", error.kind, limit.name.as_str()),
            None if error.kind == ErrorKind::Exception => {
                error.message.split(':').next().unwrap_or_default().chars().take(20).collect()
            }
            None => error.kind.to_string(),
        },
    };
    let mut seen = SEEN.lock();
    let seen = seen.entry(line).or_default();
    *seen.got.entry(got).or_default() += 1;
    seen.time += time;
}

/// The value of the limit with this name, in the unit in which it is reported.
fn configured(limits: &Limits, name: &str) -> Option<u64> {
    let milliseconds = |duration: Duration| u64::try_from(duration.as_millis()).unwrap();
    Some(match name {
        "timeout" => milliseconds(limits.timeout),
        "compute" => milliseconds(limits.compute),
        "fuel" => limits.fuel,
        "memory" => limits.memory.as_u64(),
        "max_calls" => limits.max_calls,
        "max_output" => limits.max_output.as_u64(),
        "max_source" => limits.max_source.as_u64(),
        _ => return None,
    })
}

/// Whether a script can be put into a `try`: returning and awaiting work there too, but syntax
/// errors cannot be caught.
fn can_stand_in_a_block(source: &str) -> bool {
    source.len() < 2_000
}

/// A script, shortened: some have a hundred thousand brackets.
fn shown(source: &str) -> String {
    source.chars().take(200).collect()
}

/// A row of the catalogue.
pub(crate) fn row(line: u8, source: impl Into<String>, expected: Expected) -> Row {
    (line, source.into(), expected)
}
