//! A message to an address of the owner's, when a call begins to wait for their decision.
//!
//! It tells and cannot decide: what the address answers is not looked at, beyond whether it took
//! the message. It is signed, so that whoever gets it can tell it from others; it has arguments of
//! calls only where the owner says so.
//!
//! Nothing here ever holds up a run: what is told goes into a bounded queue, and a task sends it, a
//! few messages at a time, each within bounds of time, size and attempts. What cannot be told is
//! said in the log and lost. The address is the owner's, so the connection goes wherever their
//! network leads it; no redirect is followed, and no proxy of the environment is used.
//!
//! `message.rs` is what is said, `signature.rs` proves by whom, `sender.rs` sends it.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod message;
mod sender;
mod signature;

use std::{fmt, time::Duration};

use belljar_approvals::Question;
use parking_lot::{Mutex, MutexGuard};
use reqwest::Url;
use tokio::{sync::mpsc, task::JoinHandle, time::timeout};

pub use signature::{DELIVERY_HEADER, SIGNATURE_HEADER, signature};

/// Questions that may wait to be told.
const QUEUE: usize = 256;

/// Where to, and how.
#[derive(Clone)]
pub struct Settings {
    /// The address.
    pub url: String,
    /// The key of the signature.
    pub secret: String,
    /// Whether the arguments of calls are told.
    pub arguments: bool,
    /// What belljar calls itself.
    pub agent: String,
}

impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The rest of an address is as good as a password with many services.
        formatter.debug_struct("Settings").field("arguments", &self.arguments).finish_non_exhaustive()
    }
}

/// Why there is no webhook.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The address is not a URL.
    #[error("the webhook's address is not a URL")]
    Url,
    /// There is no HTTP client.
    #[error("an HTTP client for the webhook could not be made: {0}")]
    Client(reqwest::Error),
}

/// An address that is told. Its task begins with the first question, and ends when this is dropped
/// and all is told.
pub struct Webhook {
    settings: Settings,
    url: Url,
    client: reqwest::Client,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    queue: Option<mpsc::Sender<Box<Question>>>,
    task: Option<JoinHandle<()>>,
    is_closed: bool,
}

impl Webhook {
    /// A webhook with these settings. Nothing is sent yet.
    ///
    /// # Errors
    /// [`WebhookError`].
    pub fn new(settings: Settings) -> Result<Self, WebhookError> {
        let url = Url::parse(&settings.url).map_err(|_| WebhookError::Url)?;
        let client = sender::client(&settings.agent).map_err(WebhookError::Client)?;
        Ok(Self { settings, url, client, state: Mutex::default() })
    }

    /// Tells that this question was asked, soon. It never waits; a runtime has to be there.
    pub fn tell(&self, question: &Question) {
        let mut state = self.lock();
        if state.is_closed {
            return;
        }
        let queue = match &state.queue {
            Some(queue) => queue.clone(),
            None => {
                let (queue, questions) = mpsc::channel(QUEUE);
                let (client, url, settings) = (self.client.clone(), self.url.clone(), self.settings.clone());
                state.task = Some(tokio::spawn(sender::send_all(client, url, settings, questions)));
                state.queue = Some(queue.clone());
                queue
            }
        };
        drop(state);
        if queue.try_send(Box::new(question.clone())).is_err() {
            tracing::warn!("the webhook is slower than calls that wait: one of them is not told");
        }
    }

    /// Waits until all is told, so long at most. Nothing is told any more.
    pub async fn close(&self, patience: Duration) {
        let task = {
            let mut state = self.lock();
            state.is_closed = true;
            state.queue = None;
            state.task.take()
        };
        if let Some(mut task) = task
            && timeout(patience, &mut task).await.is_err()
        {
            task.abort();
            tracing::warn!("the webhook did not take all that there was to tell in time");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}
