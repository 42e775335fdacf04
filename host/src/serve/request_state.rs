//! The state that a client returns with its answers: which run and calls it was asked about, for
//! which request, and until when.
//!
//! The client keeps it and may do anything with it. It is sealed with a key beside the ledger, so
//! that it is valid after a restart, but cannot be read or changed. The ledger knows whether an
//! answer was given before.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_approvals::{Question, QuestionId};
use belljar_ledger::{Ledger, Purpose};
use belljar_model::RunId;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::requests::ExecuteRequest;

/// The longest text that is examined. One about the maximum number of questions of a run has some
/// ten thousand bytes.
const MAX_BYTES: usize = 64 * 1024;

/// What a client was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RequestState {
    /// The run that waits.
    pub(super) run: RunId,
    /// Who asked; `None` for the owner.
    pub(super) principal: Option<String>,
    /// The digest of the request.
    pub(super) request: [u8; 32],
    /// The place where its questions are asked.
    pub(super) desk: u64,
    /// The questions of this round, by call number.
    asked: Vec<(u64, u64)>,
    /// Those of earlier rounds.
    before: Vec<u64>,
    until_ms: u64,
}

/// Why a returned state is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Useless {
    Altered,
    OfAnother,
    OtherRun,
    OtherRequest,
    TooLate,
}

impl fmt::Display for Useless {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Altered => "requestState is not one that belljar gave, or it was changed",
            Self::OfAnother => "requestState was given to somebody else",
            Self::OtherRun => "requestState belongs to another run than the one that 'run' names",
            Self::OtherRequest => "requestState belongs to a request with other arguments",
            Self::TooLate => "it is too late: the question has expired",
        })
    }
}

impl RequestState {
    /// The state of a round with these questions, after those of earlier rounds.
    pub(super) fn new(
        run: RunId,
        (principal, request, desk): (Option<String>, [u8; 32], u64),
        questions: &[Question],
        before: Vec<u64>,
    ) -> Self {
        let asked = questions.iter().map(|question| (question.binding.number, question.id.bits())).collect();
        let until = questions.iter().map(|question| question.binding.expires).max().unwrap_or(SystemTime::UNIX_EPOCH);
        let since = until.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let until_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        Self { run, principal, request, desk, asked, before, until_ms }
    }

    /// The questions of this round, by call number.
    pub(super) fn questions(&self) -> impl Iterator<Item = (u64, QuestionId)> {
        self.asked.iter().map(|(call, question)| (*call, QuestionId::from_bits(*question)))
    }

    /// All questions asked so far.
    pub(super) fn all(&self) -> Vec<u64> {
        self.before.iter().copied().chain(self.asked.iter().map(|(_, question)| *question)).collect()
    }

    /// The sealed text for the client, or `None` if it cannot be sealed.
    pub(super) fn sealed(&self, ledger: &Arc<dyn Ledger>) -> Option<String> {
        let sealed = ledger.seal(Purpose::RequestState, &serde_json::to_vec(self).ok()?)?;
        Some(sealed.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The state that the client returned with this request.
    ///
    /// # Errors
    /// It does not belong to it.
    pub(super) fn opened(
        text: &str,
        ledger: &Arc<dyn Ledger>,
        principal: Option<&str>,
        request: &ExecuteRequest,
    ) -> Result<Self, Useless> {
        let sealed = bytes_of(text).ok_or(Useless::Altered)?;
        let opened = ledger.unseal(Purpose::RequestState, &sealed).ok_or(Useless::Altered)?;
        let state: Self = serde_json::from_slice(&opened).map_err(|_| Useless::Altered)?;
        let until = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(state.until_ms));
        if state.principal.as_deref() != principal {
            Err(Useless::OfAnother)
        } else if request.run.is_some_and(|run| run != state.run) {
            Err(Useless::OtherRun)
        } else if request_digest(request) != state.request {
            Err(Useless::OtherRequest)
        } else if until.is_none_or(|until| SystemTime::now() >= until) {
            Err(Useless::TooLate)
        } else {
            Ok(state)
        }
    }
}

/// The digest of a request. The order of a client's arguments does not matter.
pub(super) fn request_digest(request: &ExecuteRequest) -> [u8; 32] {
    let ExecuteRequest { code, run, limits } = request;
    Sha256::digest(serde_json::json!([code, run, limits]).to_string()).into()
}

/// The bytes of a hexadecimal text.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    if text.len() > MAX_BYTES || !text.len().is_multiple_of(2) {
        return None;
    }
    let digit = |character: u8| char::from(character).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, _) = text.as_bytes().as_chunks::<2>();
    pairs.iter().map(|[high, low]| Some((digit(*high)? << 4) | digit(*low)?)).collect()
}

#[cfg(test)]
mod tests {
    use belljar_ledger::{Options, SqliteLedger};
    use belljar_model::{LedgerKeep, LimitsPatch};

    use super::*;

    fn asks(code: Option<&str>, run: Option<u64>) -> ExecuteRequest {
        ExecuteRequest { code: code.map(str::to_owned), run: run.map(RunId::from_bits), limits: LimitsPatch::default() }
    }

    fn given(request: &ExecuteRequest, principal: Option<&str>, until: SystemTime) -> RequestState {
        let since = until.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        RequestState {
            run: RunId::from_bits(7),
            principal: principal.map(str::to_owned),
            request: request_digest(request),
            desk: 5,
            asked: vec![(3, 9)],
            before: vec![8],
            until_ms: u64::try_from(since.as_millis()).unwrap(),
        }
    }

    #[test]
    fn what_a_client_gives_back_counts_for_its_request_alone_and_each_difference_has_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { fsync: false, keep: LedgerKeep::default() };
        let ledger: Arc<dyn Ledger> = Arc::new(SqliteLedger::new(Some(folder.path()), options));
        let later = SystemTime::now() + Duration::from_secs(600);
        let request = asks(Some("1"), None);
        let state = given(&request, None, later);
        let text = state.sealed(&ledger).unwrap();
        assert_eq!(RequestState::opened(&text, &ledger, None, &request), Ok(state.clone()));
        assert_eq!((state.all(), state.questions().count()), (vec![8, 9], 1));
        // Another process with the same folder.
        let other: Arc<dyn Ledger> = Arc::new(SqliteLedger::new(Some(folder.path()), options));
        assert_eq!(RequestState::opened(&text, &other, None, &request), Ok(state));

        let opened = |text: &str, principal: Option<&str>, request: &ExecuteRequest| {
            RequestState::opened(text, &ledger, principal, request)
        };
        assert_eq!(opened(&text, Some("ann"), &request), Err(Useless::OfAnother));
        assert_eq!(opened(&text, None, &asks(Some("2"), None)), Err(Useless::OtherRequest));
        assert_eq!(opened(&text, None, &asks(None, Some(7))), Err(Useless::OtherRequest));
        assert_eq!(opened(&text, None, &asks(None, Some(8))), Err(Useless::OtherRun));
        let ended = given(&request, None, SystemTime::now()).sealed(&ledger).unwrap();
        assert_eq!(opened(&ended, None, &request), Err(Useless::TooLate));
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(opened(&changed, None, &request), Err(Useless::Altered), "{at}");
            assert_eq!(opened(&text[..at], None, &request), Err(Useless::Altered), "{at}");
        }
        for text in ["", "0", "zz", "é", &"0".repeat(MAX_BYTES + 2)] {
            assert_eq!(opened(text, None, &request), Err(Useless::Altered));
        }
    }
}
