//! The daemon's service: a local backend behind the socket.

use std::sync::Arc;

use belljar_daemon::{
    Answer, DaemonError, HostConnection, Service, codes,
    requests::{
        AskEffect, AskHook, AskLive, AskMetrics, AwaitPage, Call, Execute, Method, Metrics, OpenPage, PageOpened,
        Reload, Search, Servers, Warm,
    },
};
use belljar_host_protocol::{Ends, LineSink, SessionLimits};
use belljar_model::ServerFigures;
use futures::{FutureExt as _, future::BoxFuture};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio_util::sync::CancellationToken;

use super::{
    generations::Generations,
    hooks,
    hosted::{HostAsker, HostRunner},
    local::Local,
    port::{Backend as _, Meanwhile},
};
use crate::{daemon, failure::Failure, page::Page};

/// The gateways of this daemon, and the page that shows what they do.
pub(crate) struct GatewayService(Arc<Generations>, Arc<Page>);

impl GatewayService {
    /// A service that answers from these generations and this page.
    pub(crate) fn new(generations: Arc<Generations>) -> Self {
        let page = Arc::new(Page::new(generations.clone()));
        Self(generations, page)
    }
}

impl Service for GatewayService {
    fn answer(
        &self,
        client: u64,
        method: &str,
        params: Box<RawValue>,
        cancelled: CancellationToken,
    ) -> Option<BoxFuture<'static, Answer>> {
        // Each request continues with the servers that it began with.
        let local = || {
            let mut current = self.0.current();
            current.gateway = current.gateway.for_client(client.to_string());
            Local::of(current)
        };
        let cancelled = cancelled.cancelled_owned().boxed();
        Some(match method {
            Execute::NAME => {
                let mut local = local();
                async move { said(local.execute(parsed(&params)?, Meanwhile::default(), cancelled).await) }.boxed()
            }
            Call::NAME => {
                let mut local = local();
                async move { said(local.call(parsed(&params)?, cancelled).await) }.boxed()
            }
            AskEffect::NAME => {
                let mut local = local();
                async move { said(local.effect(parsed(&params)?).await) }.boxed()
            }
            Search::NAME => {
                let mut local = local();
                async move { said(local.search(parsed(&params)?).await) }.boxed()
            }
            Servers::NAME => {
                let mut local = local();
                async move { said(local.servers(parsed(&params)?, cancelled).await) }.boxed()
            }
            AskHook::NAME => {
                let generations = self.0.clone();
                async move { json(&hooks::answer(&generations, &parsed(&params)?)) }.boxed()
            }
            Warm::NAME => {
                let generations = self.0.clone();
                async move { json(&hooks::warm(&generations, &parsed(&params)?)?) }.boxed()
            }
            Reload::NAME => {
                let generations = self.0.clone();
                async move { reloaded(generations.reload().await) }.boxed()
            }
            AskMetrics::NAME => {
                let generations = self.0.clone();
                async move { json(&Metrics { text: generations.metrics().await }) }.boxed()
            }
            AskLive::NAME => {
                let generations = self.0.clone();
                async move {
                    let AskLive { run } = parsed(&params)?;
                    json(&generations.live(run).await?)
                }
                .boxed()
            }
            OpenPage::NAME => {
                let page = self.1.clone();
                async move { said(page.open().await) }.boxed()
            }
            AwaitPage::NAME => {
                let page = self.1.clone();
                async move {
                    let AwaitPage { ticket } = parsed(&params)?;
                    tokio::select! {
                        opened = page.opened(&ticket) => json(&PageOpened { opened }),
                        () = cancelled => json(&PageOpened { opened: false }),
                    }
                }
                .boxed()
            }
            _ => return None,
        })
    }

    fn host(&self, connection: HostConnection) -> BoxFuture<'static, ()> {
        let HostConnection { lines, output, draining, stopping } = connection;
        // Only processes of the owner connect.
        let runner = Arc::new(HostRunner::new(self.0.clone(), HostAsker::Owner));
        let ends = Ends { draining, now: stopping };
        async move {
            belljar_host_protocol::serve(lines, LineSink::new(output), runner, SessionLimits::default(), &ends).await
        }
        .boxed()
    }

    fn fingerprint(&self) -> String {
        self.0.current().fingerprint.to_string()
    }

    fn figures(&self) -> BoxFuture<'static, Vec<ServerFigures>> {
        let toolbox = self.0.current().gateway.toolbox().clone();
        async move { toolbox.figures().await }.boxed()
    }

    fn is_needed(&self) -> bool {
        self.0.current().gateway.toolbox().upstream().keeps_state() || self.1.is_watched()
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        self.1.end();
        self.0.shutdown().boxed()
    }
}

fn parsed<M: Method>(params: &RawValue) -> Result<M, DaemonError> {
    serde_json::from_str(params.get())
        .map_err(|error| DaemonError::new(codes::INVALID_PARAMS, format!("the parameters are wrong: {error}")))
}

fn said(answer: Result<impl Serialize, Failure>) -> Answer {
    json(&answer.map_err(|failure| daemon::fault_of(&failure))?)
}

/// An invalid configuration changes nothing, whatever is wrong with it.
fn reloaded(answer: Result<impl Serialize, Failure>) -> Answer {
    json(&answer.map_err(|failure| DaemonError { code: codes::INVALID_CONFIG, ..daemon::fault_of(&failure) })?)
}

fn json(value: &impl Serialize) -> Answer {
    to_raw_value(value).map_err(|error| DaemonError::new(codes::INTERNAL, format!("the answer is not JSON: {error}")))
}
