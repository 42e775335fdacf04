//! Suspended runs: the state from which they are resumed, and the gate at which their calls wait
//! for people.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_approvals::{Past, QuestionId};
use belljar_ledger::Digest;
use belljar_model::{Effect, ErrorKind, LedgerLevel, RunError, RunId, ToolPath, TraceContext, Verdict, WaitingCall};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// How many tools the message of a waiting run names.
const NAMED: usize = 5;

/// Where the calls of a run wait for people. When the run is put aside the gate is closed. No call
/// passes it any more, so no call is sent whose answer nobody would take.
pub(crate) struct Gate {
    state: Mutex<GateState>,
    /// Why the run cannot be put aside, once that is known. All waiters, current and later, are
    /// told.
    refused: watch::Sender<Option<Arc<str>>>,
    /// The questions that were asked before the run was put aside, by call number.
    before: BTreeMap<u64, QuestionId>,
}

#[derive(Default)]
struct GateState {
    waiting: BTreeMap<u64, Waits>,
    is_closed: bool,
}

/// What a call waits for.
#[derive(Debug, Clone)]
pub(crate) struct Waits {
    pub(crate) question: QuestionId,
    pub(crate) tool: ToolPath,
    pub(crate) rule: Option<Arc<str>>,
    pub(crate) until: SystemTime,
}

/// A call that waits.
pub(crate) struct Waiting<'g> {
    gate: &'g Gate,
    number: u64,
}

impl Gate {
    /// The gate of a run that asked these questions before it was put aside.
    pub(crate) fn new(before: BTreeMap<u64, QuestionId>) -> Self {
        Self { state: Mutex::default(), refused: watch::Sender::new(None), before }
    }

    /// The question about a call that the run made before it was put aside.
    pub(crate) fn asked_before(&self, number: u64) -> Option<QuestionId> {
        self.before.get(&number).copied()
    }

    /// Notes that a call begins to wait.
    pub(crate) fn enter(&self, number: u64, waits: Waits) -> Waiting<'_> {
        self.state.lock().waiting.insert(number, waits);
        Waiting { gate: self, number }
    }

    /// Closes the gate, if exactly this many calls wait at it.
    pub(crate) fn close(&self, waiting: u64) -> bool {
        let mut state = self.state.lock();
        state.is_closed |= waiting > 0 && state.waiting.len() as u64 == waiting;
        state.is_closed
    }

    /// Whether it is closed: the run is put aside, and its questions stay open.
    pub(crate) fn is_closed(&self) -> bool {
        self.state.lock().is_closed
    }

    /// Tells all current and later waiters that the run cannot be put aside.
    pub(crate) fn refuse(&self, reason: impl Into<Arc<str>>) {
        self.refused.send_replace(Some(reason.into()));
    }

    /// Waits until it is known that the run cannot be put aside, and why.
    pub(crate) async fn refused(&self) -> Arc<str> {
        let mut refused = self.refused.subscribe();
        let reason = match refused.wait_for(Option::is_some).await {
            Ok(reason) => (*reason).clone(),
            Err(_) => None,
        };
        match reason {
            Some(reason) => reason,
            None => std::future::pending().await,
        }
    }

    /// What waits, by call number.
    pub(crate) fn waiting(&self) -> BTreeMap<u64, Waits> {
        self.state.lock().waiting.clone()
    }
}

impl Waiting<'_> {
    /// Notes that the call stops waiting, and continues. If the gate is closed the call does not
    /// continue: this never completes, and the code that suspended the run drops it.
    pub(crate) async fn leave(self) {
        let is_closed = {
            let mut state = self.gate.state.lock();
            if !state.is_closed {
                state.waiting.remove(&self.number);
            }
            state.is_closed
        };
        if is_closed {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.gate.state.lock();
        if !state.is_closed {
            state.waiting.remove(&self.number);
        }
    }
}

/// What is kept of a run besides its recording, so that it continues as it would have.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Terms {
    pub(crate) profile: Option<String>,
    pub(crate) ceiling: Option<Effect>,
    /// The labels that the run carries. Those of what it read between runs are not in its
    /// recording.
    #[serde(default)]
    pub(crate) labels: Vec<String>,
    /// The workspace whose things the run has, if it has any.
    #[serde(default)]
    pub(crate) workspace: Option<String>,
    /// The name of the level at which the ledger keeps the run.
    pub(crate) level: Option<String>,
    /// The rules' verdicts on its calls.
    pub(crate) judged: Vec<Judged>,
    /// What its rules have counted.
    pub(crate) counts: BTreeMap<String, u32>,
    /// The successful calls that rules ask for.
    pub(crate) passed: Vec<(String, String)>,
    pub(crate) past: Vec<Past>,
    pub(crate) questions: u64,
    /// Its remarks and events.
    pub(crate) remarks: (Vec<String>, Vec<String>),
    pub(crate) waits: Vec<KeptWait>,
    /// The digest of the request and its asker.
    pub(crate) asked: Option<Digest>,
    /// Where the calls of each server are sent.
    #[serde(default)]
    pub(crate) places: BTreeMap<String, String>,
    /// Its first span, as a traceparent, if it is traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<String>,
}

/// The rules' verdict on a call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Judged {
    pub(crate) number: u64,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) verdict: Verdict,
    pub(crate) rule: Option<String>,
}

/// A call that waits.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeptWait {
    pub(crate) number: u64,
    question: u64,
    pub(crate) said: WaitingCall,
    until_ms: u64,
}

impl KeptWait {
    pub(crate) fn question(&self) -> QuestionId {
        QuestionId::from_bits(self.question)
    }

    pub(crate) fn until(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(self.until_ms)).unwrap_or(SystemTime::UNIX_EPOCH)
    }
}

impl Terms {
    pub(crate) fn with_level(self, level: LedgerLevel) -> Self {
        Self { level: Some(level.as_str().to_owned()), ..self }
    }

    pub(crate) fn level(&self) -> Option<LedgerLevel> {
        self.level.as_deref()?.parse().ok()
    }

    /// The same for a run with this first span.
    pub(crate) fn with_trace(self, trace: Option<TraceContext>) -> Self {
        Self { trace: trace.map(|trace| trace.to_string()), ..self }
    }

    /// The run's first span.
    pub(crate) fn trace(&self) -> Option<TraceContext> {
        self.trace.as_deref()?.parse().ok()
    }

    /// The same, for a run whose calls wait like this.
    pub(crate) fn with_waits(self, waiting: BTreeMap<u64, Waits>) -> Self {
        let waits = waiting.into_iter().map(|(number, Waits { question, tool, rule, until })| {
            let since = until.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let rule = rule.map(|rule| rule.to_string());
            KeptWait {
                number,
                question: question.bits(),
                said: WaitingCall { tool: tool.to_string(), rule, until: rfc3339(until) },
                until_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            }
        });
        Self { waits: waits.collect(), ..self }
    }

    /// The questions, by call number.
    pub(crate) fn questions_by_call(&self) -> BTreeMap<u64, QuestionId> {
        self.waits.iter().map(|wait| (wait.number, wait.question())).collect()
    }

    /// Until when the run waits: as long as any of its calls does.
    pub(crate) fn until(&self) -> SystemTime {
        self.waits.iter().map(KeptWait::until).max().unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// The stored form: this state and the recording.
    pub(crate) fn with_recording(&self, recording: &[u8]) -> Option<Vec<u8>> {
        let terms = serde_json::to_vec(self).ok()?;
        let length = u32::try_from(terms.len()).ok()?;
        Some([&length.to_be_bytes()[..], &terms, recording].concat())
    }

    /// Parses the stored form.
    pub(crate) fn and_recording(state: &[u8]) -> Option<(Self, &[u8])> {
        let (length, rest) = state.split_first_chunk()?;
        let (terms, recording) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
        Some((serde_json::from_slice(terms).ok()?, recording))
    }
}

/// The message for the caller of a run that waits. It names neither a question nor the command that
/// decides it.
pub(crate) fn waiting_error(run: RunId, waits: &[KeptWait], is_command: bool) -> RunError {
    let mut tools: BTreeMap<String, usize> = BTreeMap::new();
    for KeptWait { said, .. } in waits {
        let rule = said.rule.as_ref().map(|rule| format!(" (rule '{rule}')")).unwrap_or_default();
        *tools.entry(format!("{}{rule}", said.tool)).or_default() += 1;
    }
    let others = tools.len().saturating_sub(NAMED);
    let mut named: Vec<String> = tools
        .into_iter()
        .take(NAMED)
        .map(|(tool, calls)| if calls > 1 { format!("{tool}, {calls} times") } else { tool })
        .collect();
    if others > 0 {
        named.push(format!("{others} others"));
    }
    let until = waits.iter().map(|wait| wait.said.until.as_str()).min().unwrap_or_default();
    let calls = if waits.len() == 1 { "a call" } else { "calls" };
    let message = format!(
        "the run waits: the owner was asked about {calls} that a rule wants them to decide, and can decide until {until}: {}",
        named.join("; ")
    );
    let hint = if is_command {
        format!("when the owner has decided, go on with: belljar resume {run}")
    } else {
        format!(
            "to go on, call execute_code with {{ \"run\": \"{run}\" }} and without code; what the run did is not done again"
        )
    };
    let mut error = RunError::new(ErrorKind::Approval, message).with_hint(hint);
    error.waits = waits.iter().map(|wait| wait.said.clone()).collect();
    error
}

/// A time in RFC 3339, in whole seconds.
fn rfc3339(time: SystemTime) -> String {
    jiff::Timestamp::try_from(time)
        .and_then(|time| time.round(jiff::Unit::Second))
        .map(|time| time.to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn waits(tool: &str) -> Waits {
        let until = SystemTime::UNIX_EPOCH + Duration::from_secs(100);
        Waits { question: QuestionId::from_bits(3), tool: ToolPath::new("fs", tool), rule: Some("w".into()), until }
    }

    #[test]
    fn a_gate_closes_while_all_wait_and_lets_nobody_leave_then() {
        let gate = Gate::new(BTreeMap::new());
        let (first, second) = (gate.enter(1, waits("write")), gate.enter(2, waits("write")));
        first.leave().now_or_never().expect("it is open");
        assert!(!gate.close(2), "one has left");
        assert!(!gate.close(0), "a run without calls does not wait");
        assert!(gate.close(1) && gate.is_closed());
        assert!(second.leave().now_or_never().is_none());
        assert_eq!(gate.waiting().keys().copied().collect::<Vec<_>>(), [2], "what waited is known for good");
    }

    #[test]
    fn what_a_run_goes_on_from_is_read_as_it_was_written_and_cut_off_it_is_nothing() {
        let terms = Terms { questions: 7, ..Terms::default() }
            .with_level(LedgerLevel::Calls)
            .with_waits([(4, waits("write"))].into());
        let state = terms.with_recording(b"recording").expect("it is small");
        let (read, recording) = Terms::and_recording(&state).expect("it is whole");
        assert_eq!((read.questions, read.level(), recording), (7, Some(LedgerLevel::Calls), &b"recording"[..]));
        assert_eq!(read.questions_by_call(), [(4, QuestionId::from_bits(3))].into());
        assert_eq!(read.until(), SystemTime::UNIX_EPOCH + Duration::from_secs(100));
        for end in 0..state.len() - b"recording".len() {
            assert!(Terms::and_recording(&state[..end]).is_none(), "{end}");
        }
    }

    #[test]
    fn whoever_asked_is_told_what_waits_and_how_to_go_on_and_not_how_to_decide() {
        let all = (0..).zip(["a", "a", "b", "c", "d", "e", "f", "g"].map(waits));
        let terms = Terms::default().with_waits(all.collect());
        let error = waiting_error(RunId::from_bits(1), &terms.waits, false);
        assert_eq!(
            error.message,
            "the run waits: the owner was asked about calls that a rule wants them to decide, and can decide until \
             1970-01-01T00:01:40Z: fs.a (rule 'w'), 2 times; fs.b (rule 'w'); fs.c (rule 'w'); fs.d (rule 'w'); \
             fs.e (rule 'w'); 2 others"
        );
        let hint = error.hint.expect("a hint");
        assert!(hint.contains(r#"{ "run": "r_0000000000001" }"#) && !hint.contains("approve"), "{hint}");
        assert_eq!(error.waits.len(), 8);
    }
}
