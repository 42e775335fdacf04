//! Sends a message to an address of the owner when a call begins to wait for their decision.
//!
//! The webhook only informs; it cannot decide, since only the status of its answer is examined.
//! Messages are signed, so that the receiver can verify them. They contain arguments of calls only
//! if the owner enables that.
//!
//! Nothing here ever delays a run: messages go into a bounded queue, and a task sends them, a few
//! at a time, with bounds on time, size and attempts. A message that cannot be sent is logged and
//! dropped. The address is the owner's choice, so it may be anywhere in their network; no redirect
//! is followed, and proxies from the environment are not used.
//!
//! `message.rs` composes messages, `signature.rs` signs them, and `sender.rs` sends them.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod message;
mod sender;
mod signature;

use std::{fmt, time::Duration};

use belljar_approvals::Question;
use parking_lot::Mutex;
use reqwest::Url;
use tokio::{sync::mpsc, task::JoinHandle, time::timeout};

pub use signature::{DELIVERY_HEADER, SIGNATURE_HEADER, signature};

/// Questions that may wait to be sent.
const QUEUE: usize = 256;

/// The settings.
#[derive(Clone)]
pub struct Settings {
    /// The address.
    pub url: String,
    /// The key of the signature.
    pub secret: String,
    /// Whether messages contain the arguments of calls.
    pub arguments: bool,
    /// The name under which belljar sends messages.
    pub agent: String,
}

impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // At many services, the rest of an address works like a password.
        formatter.debug_struct("Settings").field("arguments", &self.arguments).finish_non_exhaustive()
    }
}

/// Why there is no webhook.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The address is not a URL.
    #[error("the webhook's address is not a URL")]
    Url,
    /// The HTTP client cannot be created.
    #[error("an HTTP client for the webhook could not be made: {0}")]
    Client(reqwest::Error),
}

/// A webhook. Its task starts with the first question, and ends when this is dropped and everything
/// has been sent.
pub struct Webhook {
    settings: Settings,
    url: Url,
    client: reqwest::Client,
    state: Mutex<WebhookState>,
}

#[derive(Default)]
struct WebhookState {
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

    /// Queues a message about this question. It never waits; a runtime must exist.
    pub fn tell(&self, question: &Question) {
        let mut state = self.state.lock();
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
            tracing::warn!("the webhook is too slow: one waiting call is not reported");
        }
    }

    /// Waits until everything is sent, but no longer than `patience`. Further messages are not
    /// accepted.
    pub async fn close(&self, patience: Duration) {
        let task = {
            let mut state = self.state.lock();
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
}
