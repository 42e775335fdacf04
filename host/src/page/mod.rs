//! The owner's page: a server in this process that shows what its runs do.
//!
//! It listens from the first request to open it. `source.rs` answers the page's requests:
//! `runs.rs`, `questions.rs` and `cost.rs` from the ledger and from what is known about live runs,
//! `tools.rs` and `rules.rs` in the same way as the command line. `calls.rs` makes a call that was
//! written on the page. `kept.rs` compares, repeats and exports runs. `handover.rs` passes a ticket
//! to a browser.

mod calls;
mod cost;
mod handover;
mod kept;
mod questions;
mod rules;
mod runs;
mod source;
mod tools;

use std::sync::Arc;

use belljar_daemon::requests::PageAddress;
use belljar_http::{PageAnswer, PageRequest, StillValid};
use belljar_page::{Bearer, EmbeddedPage, PageHandle, PageServer};
use futures::{FutureExt as _, future::BoxFuture};
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use crate::{backend::Generations, failure::Failure};
pub(crate) use handover::Handover;
use source::LedgerSource;

/// The page on the HTTP server of a process.
pub(crate) fn embedded(generations: Arc<Generations>) -> Arc<dyn belljar_http::Page> {
    generations.telemetry().watch_runs();
    Arc::new(OverHttp(EmbeddedPage::new(Arc::new(LedgerSource::new(generations)))))
}

struct OverHttp(EmbeddedPage);

impl belljar_http::Page for OverHttp {
    fn answer(&self, request: PageRequest, bearer: Option<StillValid>) -> BoxFuture<'_, PageAnswer> {
        let bearer = bearer.map(|valid| {
            let still = valid.clone();
            Bearer::new(valid.name(), move || still.is())
        });
        self.0.answer(request, bearer).boxed()
    }
}

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

    /// Serves the page, if it is not being served yet, and makes a ticket for it.
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
