//! One life of a child, from its start to its end, as one task that owns all of it.
//!
//! A life ends in one of three ways: it could not be started, it died, or it was stopped. In each
//! case nothing of the child is left when its state says so.

use std::{num::NonZeroUsize, pin::pin, sync::Arc, time::Duration};

use belljar_model::{Activation, ByteSize, JsonText, MAX_DURATION, Redactor, ServerSpec, ToolPath, Transport};
use parking_lot::Mutex;
use rmcp::{
    RoleClient,
    service::{ClientCacheConfig, ClientInitializeError, RunningService, serve_client_with_lifecycle},
};
use serde_json::Value;
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;

use crate::{
    child::{core::Core, state::Demand, status::Spoken},
    connection::{
        answering::Watch,
        client::ChildClient,
        client_requests::Caller,
        in_flight::InFlightCalls,
        link::{Link, LinkWire},
        listing::{self, Listing},
        protocol_revision::{self, First},
        requests::{Connection, Death, RequestError},
    },
    error::{CallError, Exit, StartError, StartStep},
    framing::wire::Heard,
    limits,
    pace::{LinePace, RelistPace},
    process::walls,
    redaction::redacted_line,
    text::one_line,
};

/// Starts the child, watches it, and cleans up after it; repeatedly, if it is kept up.
pub(crate) async fn live(core: Arc<Core>) {
    loop {
        live_once(&core).await;
        if !core.spec.life.warm || !wait_for_next(&core).await {
            return;
        }
    }
}

async fn live_once(core: &Arc<Core>) {
    let mut unfinished = Unfinished(Some(core.clone()));
    let predecessor = core.predecessor.lock().take();
    if let Some(predecessor) = predecessor {
        predecessor.await;
    }
    let begun = Instant::now();
    match start(core.clone()).await {
        Ok((running, listing)) => {
            core.became_ready(running.connection.clone(), running.spoken.clone(), listing, begun.elapsed());
            let exit = watch_over(core, running).await;
            unfinished.0 = None;
            match exit {
                Some(exit) => core.died(exit),
                None => core.stopped(),
            }
        }
        Err(fault) => {
            unfinished.0 = None;
            core.failed(fault);
        }
    }
}

/// Waits until a child that is kept up may be started again. Returns whether this life should still
/// do that.
async fn wait_for_next(core: &Core) -> bool {
    loop {
        if core.shared.stop.is_cancelled() {
            return false;
        }
        match core.demand() {
            Demand::Begin => return true,
            // Another life has begun.
            Demand::Use | Demand::Wait => return false,
            Demand::WaitUntil(_) | Demand::Refused(_) => {
                let Some(time) = core.next_try() else { return false };
                tokio::select! {
                    () = sleep_until(time) => {}
                    () = core.shared.stop.cancelled() => return false,
                }
            }
        }
    }
}

/// Corrects the state when a life is aborted or panics.
struct Unfinished(Option<Arc<Core>>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(core) = &self.0 {
            core.broke_off();
        }
    }
}

/// A running child.
struct Running {
    link: Link,
    service: RunningService<RoleClient, ChildClient>,
    connection: Arc<Connection>,
    death: watch::Sender<Option<Death>>,
    /// Cancelled when the child's calls after its start are no longer valid.
    unresponsive: CancellationToken,
    spoken: Spoken,
}

async fn start(core: Arc<Core>) -> Result<(Running, Listing), StartError> {
    let deadline = Instant::now() + core.spec.start_timeout.min(MAX_DURATION);
    let first = core.opening.chosen();
    match start_with(core.clone(), first, deadline).await {
        // Tries again in the other era, before the fault is reported.
        Err(fault) if let Some(other) = core.opening.other(first, &fault) => {
            match start_with(core.clone(), other, deadline).await {
                Ok(started) => {
                    core.opening.remember(other);
                    Ok(started)
                }
                Err(_) => Err(fault),
            }
        }
        started => started,
    }
}

/// Starts the child as one of this era.
async fn start_with(core: Arc<Core>, first: First, deadline: Instant) -> Result<(Running, Listing), StartError> {
    let opening = Link::open(&core.spec, &core.shared.options, &core.shared.built_ins);
    let (mut link, wire) = timeout_at(deadline, opening).await.map_err(|_| {
        let (limit, stderr) = (core.spec.start_timeout, Vec::new());
        StartError::NoAnswer { step: StartStep::Initialize, limit, stderr }
    })??;
    core.spawned(link.pid(), link.group());
    match connect(core, &mut link, wire, first, deadline).await {
        Ok(Connected { service, connection, death, unresponsive, spoken, listing }) => {
            Ok((Running { link, service, connection, death, unresponsive, spoken }, listing))
        }
        Err(fault) => {
            link.kill().await;
            Err(fault)
        }
    }
}

/// A child that has been greeted, has listed its tools, and has received its owner's calls.
struct Connected {
    service: RunningService<RoleClient, ChildClient>,
    connection: Arc<Connection>,
    death: watch::Sender<Option<Death>>,
    unresponsive: CancellationToken,
    spoken: Spoken,
    listing: Listing,
}

async fn connect(
    core: Arc<Core>,
    link: &mut Link,
    wire: LinkWire,
    first: First,
    deadline: Instant,
) -> Result<Connected, StartError> {
    let (tools_changed, heard) = (Arc::<Notify>::default(), wire.heard());
    let abilities = *core.shared.abilities.lock();
    let client = ChildClient {
        server: core.spec.name.clone(),
        watch: Watch {
            server: core.spec.name.clone(),
            transport: core.spec.transport.network(),
            heard: core.shared.options.requests.clone(),
        },
        name: core.shared.options.client_name.clone(),
        version: core.shared.options.client_version.clone(),
        progress: Default::default(),
        tools_changed: tools_changed.clone(),
        abilities: abilities.allowed(core.spec.asks),
        callers: Default::default(),
        is_remote: matches!(core.spec.transport, Transport::Http(_)),
        redactor: link.redactor().clone(),
        log_pace: Arc::new(Mutex::new(LinePace::new(Instant::now()))),
    };
    let serving = serve_client_with_lifecycle(client.clone(), wire, first.mode());
    let initialize = async move { serving.await.map_err(StepError::from) };
    let start = Start { stop: core.shared.stop.clone(), limit: core.spec.start_timeout, deadline };
    let service = step(&start, link, StartStep::Initialize, initialize).await?;
    service.peer().set_response_cache_config(ClientCacheConfig::disabled()).await;
    let spoken = service.peer().peer_info().map(|info| Spoken::of(&info, link.redactor())).unwrap_or_default();

    let (death, news_of_death) = watch::channel(None);
    let life = &core.spec.life;
    let in_flight = InFlightCalls::new(life.max_calls.filter(|_| !is_kept(&core.spec)).map(NonZeroUsize::get));
    let (connection, announcing) =
        Connection::new(service.peer().clone(), client, in_flight, life.max_response, news_of_death, heard.clone());
    link.own(announcing);
    let connection = Arc::new(connection);
    let (listed, limit) = (connection.clone(), start.limit);
    let list = async move { listing::list(&listed, limit).await.map_err(StepError::from) };
    let mut listing = step(&start, link, StartStep::ListTools, list).await?;
    let redactor = link.redactor().clone();
    redact(&mut listing, &redactor);
    if let Some(complaint) = &listing.complaint {
        tracing::warn!(server = core.spec.name, "{complaint}");
    }
    for activation in life.on_start.clone() {
        let (called, server) = (connection.clone(), core.spec.name.clone());
        let tool = activation.tool.clone();
        let activate = async move { activate(&called, server, activation, limit).await };
        match step(&start, link, StartStep::Activate, activate).await {
            Err(StartError::Protocol { message, .. }) => return Err(StartError::Activation { tool, message }),
            other => other?,
        }
    }
    if first == First::Discover {
        link.own(protocol_revision::subscribe(core.spec.name.clone(), service.peer().clone(), tools_changed.clone()));
    }
    link.own(relist(core.clone(), connection.clone(), tools_changed, redactor));
    let unresponsive = CancellationToken::new();
    if !life.stateful {
        link.own(check_health(connection.clone(), heard, unresponsive.clone()));
    }
    Ok(Connected { service, connection, death, unresponsive, spoken, listing })
}

/// Makes a call that the owner configured for each start.
async fn activate(
    connection: &Connection,
    server: String,
    activation: Activation,
    limit: Duration,
) -> Result<(), StepError> {
    let path = ToolPath::new(server, activation.tool);
    let max_result = ByteSize::b(u64::try_from(limits::ACTIVATION_BYTES).unwrap_or(u64::MAX));
    let arguments = JsonText::from_value(&Value::Object(activation.arguments));
    let answer = connection.call(&path, arguments, limit.into(), max_result, &Caller::default()).await;
    match answer.map(|answer| answer.to_value()) {
        Ok(Ok(result)) if result.get("isError").and_then(Value::as_bool) == Some(true) => {
            let text = result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or("the tool gave no reason");
            Err(StepError::Wrong(one_line(text, limits::MESSAGE_CHARS + Redactor::REACH)))
        }
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(StepError::Wrong(error.to_string())),
        Err(CallError::Died { .. } | CallError::Cancelled { .. }) => Err(StepError::Closed),
        Err(fault) => Err(StepError::Wrong(fault.to_string())),
    }
}

/// The time limit of a start.
struct Start {
    stop: CancellationToken,
    limit: Duration,
    deadline: Instant,
}

/// Why a step of a start has no result.
enum StepError {
    Closed,
    /// A request's own limit has passed. It is at most as long as that of the start.
    NoAnswer {
        limit: Duration,
    },
    /// What was wrong, possibly in the child's words: to be redacted and shortened.
    Wrong(String),
}

/// Waits for `answer`, for the child's end, for the time limit and for a shutdown, whichever comes
/// first.
async fn step<T>(
    start: &Start,
    link: &mut Link,
    step: StartStep,
    answer: impl Future<Output = Result<T, StepError>>,
) -> Result<T, StartError> {
    tokio::select! {
        biased;
        () = start.stop.cancelled() => Err(StartError::ShuttingDown),
        answer = answer => match answer {
            Ok(answer) => Ok(answer),
            Err(StepError::Closed) => {
                let exit = link.ended_soon().await;
                if let Some(fault) = link.loss() {
                    return Err(StartError::Remote { fault });
                }
                Err(walls::exited(exit, link.last_words().await))
            }
            Err(StepError::NoAnswer { limit }) => {
                Err(StartError::NoAnswer { step, limit, stderr: link.words() })
            }
            Err(StepError::Wrong(message)) => {
                let message = redacted_line(&message, limits::MESSAGE_CHARS, link.redactor());
                Err(StartError::Protocol { step, message, stderr: link.words() })
            }
        },
        exit = link.ended() => match link.loss() {
            Some(fault) => Err(StartError::Remote { fault }),
            None => Err(walls::exited(exit, link.last_words().await)),
        },
        () = sleep_until(start.deadline) => {
            Err(StartError::NoAnswer { step, limit: start.limit, stderr: link.words() })
        }
    }
}

/// Whether a child is kept running because of its state. One inside this process costs nothing
/// while it is idle.
fn is_kept(spec: &ServerSpec) -> bool {
    spec.life.stateful || matches!(spec.transport, Transport::BuiltIn(_))
}

/// Why a running child ends.
enum End {
    /// belljar ends.
    Shutdown,
    /// It has been idle for too long, has made its calls, or must make room.
    Retirement,
    /// By itself, or because it no longer answers.
    Death(Exit),
}

/// Waits for the end of a running child, informs the callers that wait for its answers, and cleans
/// up.
async fn watch_over(core: &Core, running: Running) -> Option<Exit> {
    let Running { mut link, service, connection, death, unresponsive, spoken: _ } = running;
    let (stop, in_flight) = (&core.shared.stop, connection.in_flight.clone());
    in_flight.open();
    let idle = core.spec.life.idle.filter(|_| !is_kept(&core.spec) && !core.spec.life.warm);
    let cancellation = service.cancellation_token();
    let mut serving = pin!(service.waiting());
    let mut retiring = pin!(async {
        tokio::select! {
            () = in_flight.idle(idle) => {}
            () = in_flight.used_up() => {}
            () = core.retire.notified() => in_flight.close(),
        }
        core.stopping();
        // Calls in flight end within their own limits.
        in_flight.drained().await;
    });
    let end = tokio::select! {
        biased;
        () = stop.cancelled() => End::Shutdown,
        exit = link.ended() => {
            // Its last answers may still be on their way.
            let _ = timeout(limits::EXIT_WAIT, &mut serving).await;
            End::Death(exit)
        }
        _ = &mut serving => End::Death(link.ended_soon().await),
        () = unresponsive.cancelled() => End::Death(Exit::Unresponsive),
        () = &mut retiring => End::Retirement,
    };
    in_flight.close();
    match end {
        End::Shutdown | End::Retirement => {
            if matches!(end, End::Shutdown) {
                core.stopping();
            }
            death.send_replace(Some(Death::Stopped));
            cancellation.cancel();
            link.stop().await;
            None
        }
        End::Death(exit) => {
            let stderr = link.last_words().await;
            death.send_replace(Some(Death::Died { exit, stderr }));
            cancellation.cancel();
            link.kill().await;
            Some(exit)
        }
    }
}

/// Asks a suspect child for its tools, which it has listed before, and gives it up if it sends
/// nothing at all.
async fn check_health(connection: Arc<Connection>, heard: Heard, unresponsive: CancellationToken) {
    loop {
        connection.in_flight.suspected().await;
        let before = heard.count();
        let answer = listing::list(&connection, limits::HEALTH_TIMEOUT).await;
        if matches!(answer, Err(RequestError::Timeout { .. })) && heard.count() == before && !heard.is_held_back() {
            return unresponsive.cancel();
        }
    }
}

/// Lists the tools again when the child reports that they have changed: soon, so that several
/// changes become one, but less and less often if it never stops reporting changes.
async fn relist(core: Arc<Core>, connection: Arc<Connection>, tools_changed: Arc<Notify>, redactor: Arc<Redactor>) {
    let mut pace = RelistPace::default();
    loop {
        tools_changed.notified().await;
        sleep(pace.rest(Instant::now())).await;
        match listing::list(&connection, limits::RELIST_TIMEOUT).await {
            Ok(mut listing) => {
                redact(&mut listing, &redactor);
                core.relisted(listing);
            }
            // The child has ended, which is reported elsewhere.
            Err(RequestError::Closed) => return,
            Err(fault) => {
                let fault = redacted_line(&format!("{fault:?}"), limits::MESSAGE_CHARS, &redactor);
                tracing::warn!(server = core.spec.name, "its changed tools could not be listed: {fault}");
            }
        }
    }
}

/// Masks the secrets of the server in the report on its list.
fn redact(listing: &mut Listing, redactor: &Redactor) {
    if let Some(complaint) = &mut listing.complaint {
        *complaint = redactor.redact(complaint).into_owned();
    }
}

impl From<ClientInitializeError> for StepError {
    fn from(error: ClientInitializeError) -> Self {
        use ClientInitializeError as Error;
        match error {
            Error::ConnectionClosed(_) | Error::TransportError { .. } | Error::Cancelled => Self::Closed,
            Error::JsonRpcError(error) => Self::Wrong(error.message.into_owned()),
            Error::ExpectedInitResult(_) => Self::Wrong("its answer does not fit the request".to_owned()),
            error => Self::Wrong(error.to_string()),
        }
    }
}

impl From<RequestError> for StepError {
    fn from(fault: RequestError) -> Self {
        match fault {
            RequestError::Closed => Self::Closed,
            RequestError::TooLong => Self::Wrong("its answer is longer than its 'max_response' allows".to_owned()),
            RequestError::Timeout { limit } => Self::NoAnswer { limit },
            RequestError::Protocol { code, message } => Self::Wrong(format!("{message} (JSON-RPC error {code})")),
        }
    }
}
