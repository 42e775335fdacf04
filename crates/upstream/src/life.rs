//! One life of a child, from its start to its end, as one task that owns all of it.
//!
//! A life ends in exactly one of three ways: it could not be started, it died, or it was stopped. In each of them nothing
//! of the child is left when its state says so.

use std::{pin::pin, sync::Arc, time::Duration};

use rmcp::{
    RoleClient,
    service::{
        ClientCacheConfig, ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle,
    },
};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;

use crate::{
    channel::LinkWire,
    child::Core,
    client::Client,
    connection::{Connection, Death, RequestFault},
    fault::{Exit, StartFault, StartStep},
    limits,
    link::Link,
    listing::{self, Listing},
    text::one_line,
};

/// Starts the child, watches over it, and cleans up after it.
pub(crate) async fn live(core: Arc<Core>) {
    let mut unfinished = Unfinished(Some(core.clone()));
    match start(core.clone()).await {
        Ok((running, listing)) => {
            core.became_ready(running.connection.clone(), listing);
            let exit = watch_over(core.stop.clone(), running).await;
            unfinished.0 = None;
            core.stopped(exit);
        }
        Err(fault) => {
            unfinished.0 = None;
            core.failed(fault);
        }
    }
}

/// Sets the state right when a life is aborted or panics.
struct Unfinished(Option<Arc<Core>>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(core) = &self.0 {
            core.broke_off();
        }
    }
}

/// A child that is up.
struct Running {
    link: Link,
    service: RunningService<RoleClient, Client>,
    connection: Arc<Connection>,
    death: watch::Sender<Option<Death>>,
}

async fn start(core: Arc<Core>) -> Result<(Running, Listing), StartFault> {
    let deadline = Instant::now() + core.spec.start_timeout;
    let opening = Link::open(&core.spec, &core.options, &core.built_ins);
    let (mut link, wire) = timeout_at(deadline, opening).await.map_err(|_| {
        let (limit, stderr) = (core.spec.start_timeout, Vec::new());
        StartFault::NoAnswer { step: StartStep::Initialize, limit, stderr }
    })??;
    core.spawned(link.pid(), link.group());
    match connect(core, &mut link, wire, deadline).await {
        Ok((service, connection, death, listing)) => Ok((Running { link, service, connection, death }, listing)),
        Err(fault) => {
            link.kill().await;
            Err(fault)
        }
    }
}

type Connected = (RunningService<RoleClient, Client>, Arc<Connection>, watch::Sender<Option<Death>>, Listing);

async fn connect(core: Arc<Core>, link: &mut Link, wire: LinkWire, deadline: Instant) -> Result<Connected, StartFault> {
    let tools_changed = Arc::<Notify>::default();
    let client = Client {
        name: core.options.client_name.clone(),
        version: core.options.client_version.clone(),
        progress: Default::default(),
        tools_changed: tools_changed.clone(),
    };
    let progress = client.progress.clone();
    // `Auto` would cost ten seconds with servers that ignore what they do not know.
    let serving = serve_client_with_lifecycle(client, wire, ClientLifecycleMode::Initialize);
    let initialize = async move { serving.await.map_err(StepFault::from) };
    let start = Start { stop: core.stop.clone(), limit: core.spec.start_timeout, deadline };
    let service = step(&start, link, StartStep::Initialize, initialize).await?;
    service.peer().set_response_cache_config(ClientCacheConfig::disabled()).await;

    let (death, news_of_death) = watch::channel(None);
    let (connection, announcing) = Connection::new(service.peer().clone(), progress, news_of_death);
    link.own(announcing);
    let connection = Arc::new(connection);
    let (listed, limit) = (connection.clone(), start.limit);
    let list = async move { listing::list(&listed, limit).await.map_err(StepFault::from) };
    let listing = step(&start, link, StartStep::ListTools, list).await?;
    if let Some(complaint) = &listing.complaint {
        tracing::warn!(server = core.spec.name, "{complaint}");
    }
    link.own(relist(core.clone(), connection.clone(), tools_changed));
    Ok((service, connection, death, listing))
}

/// What bounds a start.
struct Start {
    stop: CancellationToken,
    limit: Duration,
    deadline: Instant,
}

/// Why a step of a start has no result.
enum StepFault {
    Closed,
    Wrong(String),
}

/// Waits for `answer`, for the child's end, for the time limit and for a shutdown, whichever comes first.
async fn step<T>(
    start: &Start,
    link: &mut Link,
    step: StartStep,
    answer: impl Future<Output = Result<T, StepFault>>,
) -> Result<T, StartFault> {
    tokio::select! {
        biased;
        () = start.stop.cancelled() => Err(StartFault::ShuttingDown),
        answer = answer => match answer {
            Ok(answer) => Ok(answer),
            Err(StepFault::Closed) => {
                let exit = link.ended_soon().await;
                Err(StartFault::Exited { exit, stderr: link.last_words().await })
            }
            Err(StepFault::Wrong(message)) => Err(StartFault::Protocol { step, message, stderr: link.words() }),
        },
        exit = link.ended() => Err(StartFault::Exited { exit, stderr: link.last_words().await }),
        () = sleep_until(start.deadline) => {
            Err(StartFault::NoAnswer { step, limit: start.limit, stderr: link.words() })
        }
    }
}

/// Waits for the end of a child that is up, tells those who wait for its answers, and leaves nothing of it.
async fn watch_over(stop: CancellationToken, running: Running) -> Option<Exit> {
    let Running { mut link, service, connection, death } = running;
    let cancellation = service.cancellation_token();
    let mut serving = pin!(service.waiting());
    let exit = tokio::select! {
        biased;
        () = stop.cancelled() => None,
        exit = link.ended() => {
            // Its last answers may still be on their way.
            let _ = timeout(limits::EXIT_WAIT, &mut serving).await;
            Some(exit)
        }
        _ = &mut serving => Some(link.ended_soon().await),
    };
    match exit {
        None => {
            death.send_replace(Some(Death::Stopped));
            cancellation.cancel();
            link.stop().await;
        }
        Some(exit) => {
            let stderr = link.last_words().await;
            death.send_replace(Some(Death::Died { exit, stderr }));
            cancellation.cancel();
            link.kill().await;
        }
    }
    drop(connection);
    exit
}

/// Lists the tools anew when the child says that they have changed, and not before it has stopped saying so.
async fn relist(core: Arc<Core>, connection: Arc<Connection>, tools_changed: Arc<Notify>) {
    loop {
        tools_changed.notified().await;
        sleep(limits::RELIST_QUIET).await;
        match listing::list(&connection, limits::RELIST_TIMEOUT).await {
            Ok(listing) => core.relisted(listing),
            // The child has ended, of which others tell.
            Err(RequestFault::Closed) => return,
            Err(fault) => tracing::warn!(server = core.spec.name, "its changed tools could not be listed: {fault:?}"),
        }
    }
}

impl From<ClientInitializeError> for StepFault {
    fn from(error: ClientInitializeError) -> Self {
        use ClientInitializeError as Error;
        match error {
            Error::ConnectionClosed(_) | Error::TransportError { .. } | Error::Cancelled => Self::Closed,
            Error::JsonRpcError(error) => Self::Wrong(one_line(&error.message, limits::MESSAGE_CHARS)),
            Error::ExpectedInitResult(_) => Self::Wrong("its answer is none to that request".to_owned()),
            error => Self::Wrong(one_line(&error.to_string(), limits::MESSAGE_CHARS)),
        }
    }
}

impl From<RequestFault> for StepFault {
    fn from(fault: RequestFault) -> Self {
        match fault {
            RequestFault::Closed => Self::Closed,
            RequestFault::TooLong => Self::Wrong("its answer is too long".to_owned()),
            RequestFault::Timeout { limit } => Self::Wrong(format!("it did not answer within {limit:?}")),
            RequestFault::Protocol { code, message } => Self::Wrong(format!("{message} (JSON-RPC error {code})")),
        }
    }
}
