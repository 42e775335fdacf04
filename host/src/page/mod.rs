//! The owner's page: a server of this process, which shows what its runs do.
//!
//! It listens from the first request to open it. `source.rs` answers the page's questions, with
//! `runs.rs` and `questions.rs`, from the ledger and from what is known of live runs; `handover.rs`
//! brings a ticket to a browser.

mod handover;
mod questions;
mod runs;
mod source;

use std::sync::Arc;

use belljar_daemon::requests::PageAddress;
use belljar_page::{PageHandle, PageServer};
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use crate::{backend::Generations, failure::Failure};
pub(crate) use handover::Handover;
use source::LedgerSource;

/// The page of a process, open or not.
pub(crate) struct Page {
    generations: Arc<Generations>,
    serving: Mutex<Option<Serving>>,
    /// One opening at a time.
    opening: tokio::sync::Mutex<()>,
}

struct Serving {
    handle: PageHandle,
    task: JoinHandle<()>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Page {
    /// A page that is not open.
    pub(crate) fn new(generations: Arc<Generations>) -> Self {
        Self { generations, serving: Mutex::default(), opening: tokio::sync::Mutex::default() }
    }

    /// Serves the page, if that is not done yet, and makes a ticket for it.
    pub(crate) async fn open(&self) -> Result<PageAddress, Failure> {
        let _one = self.opening.lock().await;
        let handle = match self.handle() {
            Some(handle) => handle,
            None => self.serve().await?,
        };
        let no_ticket = || Failure::internal("the system gave no random number for the page's ticket");
        Ok(PageAddress { url: handle.url(), ticket: handle.ticket().ok_or_else(no_ticket)? })
    }

    async fn serve(&self) -> Result<PageHandle, Failure> {
        self.generations.telemetry().watch_runs();
        let source = Arc::new(LedgerSource::new(self.generations.clone()));
        let server = PageServer::bind(source)
            .await
            .map_err(|error| Failure::internal(format!("the page cannot listen on the loopback: {error}")))?;
        let handle = server.handle();
        tracing::info!(url = handle.url(), "the page is served");
        *self.serving.lock() = Some(Serving { handle: handle.clone(), task: tokio::spawn(server.serve()) });
        Ok(handle)
    }

    fn handle(&self) -> Option<PageHandle> {
        self.serving.lock().as_ref().map(|serving| serving.handle.clone())
    }

    /// Waits until a ticket was used, and returns whether it was.
    pub(crate) async fn opened(&self, ticket: &str) -> bool {
        match self.handle() {
            Some(handle) => handle.used(ticket).await,
            None => false,
        }
    }

    /// Whether a browser shows it.
    pub(crate) fn is_watched(&self) -> bool {
        self.handle().is_some_and(|handle| handle.is_watched())
    }

    /// Ends it, and all connections to it.
    pub(crate) fn end(&self) {
        self.serving.lock().take();
    }
}
