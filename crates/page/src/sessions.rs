//! Identifies who sent a request: tickets, tokens, and confirmations of a decision.
//!
//! A ticket opens the page once: `belljar ui` passes it to a browser in a file. The page exchanges
//! it for a token, which it sends with each request, and for a second secret, which it sends with
//! each change. A decision also needs a confirmation, which is issued when the question is shown,
//! and is valid only once, for that very question.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rand::{TryRngCore as _, rngs::OsRng};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use crate::embedded::Bearer;

/// How long a ticket is valid.
pub const TICKET_LIVES: Duration = Duration::from_secs(120);
/// How long a page may be open.
const SESSION_LIVES: Duration = Duration::from_secs(12 * 3600);
/// How long a person may look at a question before deciding.
const CONFIRMATION_LIVES: Duration = Duration::from_secs(300);
/// The most unused tickets. The oldest one gives way.
const MAX_TICKETS: usize = 8;
/// The most open pages. The least recently used one gives way.
const MAX_SESSIONS: usize = 16;
/// The most undecided questions that one page has shown.
const MAX_CONFIRMATIONS: usize = 32;

/// A secret as it is stored: whoever reads it here cannot use it, and comparing it reveals nothing.
type Kept = [u8; 32];

/// Who may see the page.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    tickets: VecDeque<Ticket>,
    /// The sessions, the least recently used one first.
    sessions: VecDeque<Session>,
}

#[derive(Debug)]
struct Ticket {
    secret: Kept,
    until: Instant,
    is_used: watch::Sender<bool>,
}

#[derive(Debug)]
struct Session {
    token: Kept,
    change: Kept,
    opened: Instant,
    /// The bearer for whom it was opened, if it was not opened with a ticket.
    bearer: Option<Bearer>,
    confirmations: VecDeque<Confirmation>,
}

#[derive(Debug)]
struct Confirmation {
    secret: Kept,
    question: String,
    /// Identifies the question as it was shown.
    identity: String,
    until: Instant,
}

/// The secrets of a page that was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The secret for each request.
    pub(crate) token: String,
    /// The secret for each change.
    pub(crate) change: String,
}

/// The system returned no random numbers.
#[derive(Debug)]
pub(crate) struct NoSecret;

impl Sessions {
    /// Creates a ticket.
    pub(crate) fn ticket(&self, now: Instant) -> Result<String, NoSecret> {
        let (ticket, secret) = secret()?;
        let mut state = self.0.lock();
        state.tickets.retain(|ticket| now < ticket.until);
        if state.tickets.len() == MAX_TICKETS {
            state.tickets.pop_front();
        }
        state.tickets.push_back(Ticket { secret, until: now + TICKET_LIVES, is_used: watch::Sender::new(false) });
        Ok(ticket)
    }

    /// Completes with true when a ticket was used, and with false when it is gone: newer tickets
    /// may have displaced it.
    pub(crate) fn used(&self, ticket: &str) -> impl Future<Output = bool> + Send + 'static {
        let secret = kept(ticket);
        let state = self.0.lock();
        let used = state.tickets.iter().find(|ticket| ticket.secret == secret).map(|ticket| ticket.is_used.subscribe());
        async move {
            let Some(mut used) = used else { return false };
            used.wait_for(|used| *used).await.is_ok()
        }
    }

    /// Opens a page with a ticket, which is used up.
    pub(crate) fn open(&self, ticket: &str, now: Instant) -> Result<Option<Opened>, NoSecret> {
        let (opened, session) = Session::new(None, now)?;
        let asked = kept(ticket);
        let mut state = self.0.lock();
        state.tickets.retain(|ticket| now < ticket.until);
        // A used ticket stays known until its time is over, for whoever asks what happened to it.
        let is_good = |ticket: &&Ticket| ticket.secret == asked && !*ticket.is_used.borrow();
        let Some(ticket) = state.tickets.iter().find(is_good) else { return Ok(None) };
        ticket.is_used.send_replace(true);
        state.add(session, now);
        Ok(Some(opened))
    }

    /// Opens a page for somebody whose token is valid. It stays open only as long as the token is
    /// valid.
    pub(crate) fn open_for(&self, bearer: Bearer, now: Instant) -> Result<Opened, NoSecret> {
        let (opened, session) = Session::new(Some(bearer), now)?;
        self.0.lock().add(session, now);
        Ok(opened)
    }

    /// Closes the page with this token.
    pub(crate) fn close(&self, token: &str) {
        let token = kept(token);
        self.0.lock().sessions.retain(|session| session.token != token);
    }

    /// Whether this is the token of an open page.
    pub(crate) fn knows(&self, token: &str, now: Instant) -> bool {
        self.with(token, now, |_| true).unwrap_or(false)
    }

    /// The name of the token by which a page was opened, if it was opened by one.
    pub(crate) fn bearer(&self, token: &str) -> Option<String> {
        let token = kept(token);
        let state = self.0.lock();
        let session = state.sessions.iter().find(|session| session.token == token)?;
        session.bearer.as_ref().map(|bearer| bearer.name().to_string())
    }

    /// Whether a page with this token may change something, given its second secret.
    pub(crate) fn may_change(&self, token: &str, change: &str, now: Instant) -> bool {
        let change = kept(change);
        self.with(token, now, |session| session.change == change).unwrap_or(false)
    }

    /// Records that a page shows a question, and returns the confirmation for a decision about it.
    pub(crate) fn confirmation(
        &self,
        token: &str,
        (question, identity): (String, String),
        now: Instant,
    ) -> Result<Option<String>, NoSecret> {
        let (text, secret) = secret()?;
        let given = self.with(token, now, |session| {
            session.confirmations.retain(|known| now < known.until && known.question != question);
            if session.confirmations.len() == MAX_CONFIRMATIONS {
                session.confirmations.pop_front();
            }
            let until = now + CONFIRMATION_LIVES;
            session.confirmations.push_back(Confirmation { secret, question, identity, until });
            text
        });
        Ok(given)
    }

    /// The identity of the question as it was shown, if this confirmation is the right one for it.
    /// A confirmation is used up in any case.
    pub(crate) fn confirmed(&self, token: &str, question: &str, confirmation: &str, now: Instant) -> Option<String> {
        let secret = kept(confirmation);
        self.with(token, now, |session| {
            let at = session.confirmations.iter().position(|known| known.secret == secret)?;
            let known = session.confirmations.remove(at)?;
            (known.question == question && now < known.until).then_some(known.identity)
        })?
    }

    fn with<T>(&self, token: &str, now: Instant, act: impl FnOnce(&mut Session) -> T) -> Option<T> {
        let token = kept(token);
        let mut state = self.0.lock();
        let sessions = &mut state.sessions;
        sessions.retain(|session| session.is_open(now));
        let at = sessions.iter().position(|session| session.token == token)?;
        let mut session = sessions.remove(at)?;
        let acted = act(&mut session);
        sessions.push_back(session);
        Some(acted)
    }
}

impl State {
    fn add(&mut self, session: Session, now: Instant) {
        // A closed session takes no place.
        self.sessions.retain(|session| session.is_open(now));
        if self.sessions.len() == MAX_SESSIONS {
            self.sessions.pop_front();
        }
        self.sessions.push_back(session);
    }
}

impl Session {
    fn new(bearer: Option<Bearer>, opened: Instant) -> Result<(Opened, Self), NoSecret> {
        let ((token, kept_token), (change, kept_change)) = (secret()?, secret()?);
        let confirmations = VecDeque::new();
        let session = Self { token: kept_token, change: kept_change, opened, bearer, confirmations };
        Ok((Opened { token, change }, session))
    }

    fn is_open(&self, now: Instant) -> bool {
        let is_valid = self.bearer.as_ref().is_none_or(Bearer::is_valid);
        is_valid && now.saturating_duration_since(self.opened) < SESSION_LIVES
    }
}

/// A new secret, and the form in which it is stored.
fn secret() -> Result<(String, Kept), NoSecret> {
    let mut bytes = [0; 32];
    OsRng.try_fill_bytes(&mut bytes).map_err(|_| NoSecret)?;
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let kept = kept(&text);
    Ok((text, kept))
}

fn kept(secret: &str) -> Kept {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(sessions: &Sessions, now: Instant) -> Opened {
        let ticket = sessions.ticket(now).expect("random");
        sessions.open(&ticket, now).expect("random").expect("good")
    }

    #[test]
    fn a_ticket_opens_one_page_for_a_short_time() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let ticket = sessions.ticket(now).expect("random");
        assert!(sessions.open("", now).expect("random").is_none());
        let page = sessions.open(&ticket, now).expect("random").expect("good");
        assert!(sessions.open(&ticket, now).expect("random").is_none(), "it is used up");
        assert!(sessions.knows(&page.token, now) && !sessions.knows(&page.change, now));
        assert!(sessions.may_change(&page.token, &page.change, now));
        assert!(
            !sessions.may_change(&page.token, &page.token, now)
                && !sessions.may_change(&page.change, &page.change, now)
        );
        let other = opened(&sessions, now);
        sessions.close(&other.change);
        assert!(sessions.knows(&other.token, now), "another secret closes nothing");
        sessions.close(&other.token);
        assert!(!sessions.knows(&other.token, now) && sessions.knows(&page.token, now));
        let late = sessions.ticket(now).expect("random");
        assert!(sessions.open(&late, now + TICKET_LIVES).expect("random").is_none());
        assert!(!sessions.knows(&page.token, now + SESSION_LIVES));
    }

    #[test]
    fn a_confirmation_is_for_one_question_of_one_page_and_once() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let (page, other) = (opened(&sessions, now), opened(&sessions, now));
        let give = |question: &str| {
            let shown = (question.to_owned(), format!("{question} with 82"));
            sessions.confirmation(&page.token, shown, now).expect("random").expect("known")
        };
        let given = give("q1");
        assert_eq!(sessions.confirmed(&other.token, "q1", &given, now), None);
        assert_eq!(sessions.confirmed(&page.token, "q1", &given, now).as_deref(), Some("q1 with 82"));
        assert_eq!(sessions.confirmed(&page.token, "q1", &given, now), None, "it is used up");
        let given = give("q1");
        assert_eq!(sessions.confirmed(&page.token, "q2", &given, now), None);
        assert_eq!(sessions.confirmed(&page.token, "q1", &given, now), None, "it is used up");
        let (first, second) = (give("q1"), give("q1"));
        assert_eq!(sessions.confirmed(&page.token, "q1", &first, now), None, "it was shown again since");
        assert_eq!(sessions.confirmed(&page.token, "q1", &second, now + CONFIRMATION_LIVES), None);
    }

    #[test]
    fn tickets_pages_and_confirmations_are_bounded() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let first = sessions.ticket(now).expect("random");
        for _ in 0..MAX_TICKETS {
            sessions.ticket(now).expect("random");
        }
        assert!(sessions.open(&first, now).expect("random").is_none());
        let (oldest, used) = (opened(&sessions, now), opened(&sessions, now));
        for _ in 0..MAX_SESSIONS - 1 {
            assert!(sessions.knows(&used.token, now));
            opened(&sessions, now);
        }
        assert!(sessions.knows(&used.token, now) && !sessions.knows(&oldest.token, now));
    }
}
