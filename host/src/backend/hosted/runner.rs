//! Executes runs for a program.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use belljar_gateway::{Gateway, HostedRun, OwnTools, Toolbox};
use belljar_host_protocol::{
    self as protocol, Error, Form, Hello, HostRun, PROTOCOL, RunRequest, Runner, Stream, codes,
};
use belljar_model::{LimitsPatch, Outcome, RunStep};
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::value::{RawValue, to_raw_value};
use tokio_util::sync::CancellationToken;

use super::{
    asker::HostAsker,
    functions::{Functions, LastOffer, Offer},
};
use crate::{
    approvals,
    backend::{generation::Generation, generations::Generations},
};

/// Executes the runs of one connection.
pub(crate) struct HostRunner {
    generations: Arc<Generations>,
    asker: HostAsker,
    last: Arc<LastOffer>,
    /// The connection's number in this process.
    connection: u64,
}

impl HostRunner {
    /// Creates the runner for a connection of this asker.
    pub(crate) fn new(generations: Arc<Generations>, asker: HostAsker) -> Self {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
        let last = Arc::new(LastOffer::of(&asker));
        Self { generations, asker, last, connection: CONNECTIONS.fetch_add(1, Relaxed) }
    }
}

impl Runner for HostRunner {
    fn hello(&self) -> Hello {
        let current = self.generations.current();
        Hello {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            limits: LimitsPatch::from(&current.setup.limits),
            ceiling: self.asker.ceiling(&current.setup),
            servers: current.setup.toolbox.upstream().names().map(str::to_owned).collect(),
        }
    }

    fn run(
        &self,
        request: RunRequest,
        host: HostRun,
        client: Option<Arc<str>>,
        cancelled: CancellationToken,
    ) -> BoxFuture<'static, Result<Box<RawValue>, Error>> {
        let run = HostedRequest {
            // Each run continues with the servers that it began with.
            generation: self.generations.current(),
            asker: self.asker.clone(),
            last: self.last.clone(),
            connection: self.connection,
            host,
            client,
        };
        async move {
            let outcome = run.outcome(request, cancelled).await?;
            to_raw_value(&outcome)
                .map_err(|error| Error::new(codes::INTERNAL, format!("the outcome is not JSON: {error}")))
        }
        .boxed()
    }
}

/// A run that a program asks for.
struct HostedRequest {
    generation: Generation,
    asker: HostAsker,
    last: Arc<LastOffer>,
    connection: u64,
    host: HostRun,
    client: Option<Arc<str>>,
}

impl HostedRequest {
    async fn outcome(self, request: RunRequest, cancelled: CancellationToken) -> Result<Outcome, Error> {
        let RunRequest { code, prelude, limits, builtins, namespaces, functions, belljar, stream, value, weight } =
            request;
        let Self { generation, asker, last, connection, host, client } = self;
        let (setup, toolbox) = (&generation.setup, &generation.setup.toolbox);
        let offer = Offer { namespaces, functions, builtins };
        let tools = last.tools(offer, weight, toolbox).await?;
        let own = own(toolbox, &belljar)?;
        own.check_beside(&tools, toolbox).map_err(|error| wrong(&error))?;
        let limits = match asker.limits(&limits, setup) {
            Ok(limits) => limits,
            Err(error) => return Ok(Outcome::refused(error)),
        };
        // This may start servers.
        let own = tokio::select! {
            own = own.clone().known(toolbox) => own.map_err(|error| wrong(&error))?,
            // The run begins, and ends at once.
            () = cancelled.cancelled() => own,
        };
        let gateway = asker
            .gateway(&generation.gateway, client.as_deref(), connection)
            .with_origin("host")
            .with_limits(limits.clone())
            // The owner decides with `belljar approve`, while the run waits.
            .with_approvals(approvals::asked(&setup.approvals, None, true));
        let gateway = match stream.contains(&Stream::Logs) {
            true => told_logs(&gateway, host.clone()),
            false => gateway,
        };
        let functions = Arc::new(Functions::new(host, &limits));
        let extended_value = value == Form::Extended;
        let run = HostedRun { tools, functions, own, prelude, builtins, extended_value };
        let execution = gateway.execute(code).hosted(run).caller(asker.caller());
        Ok(execution.cancel_on(cancelled.cancelled_owned()).await)
    }
}

/// Which of belljar's own tools it gets.
fn own(toolbox: &Toolbox, asked: &protocol::OwnTools) -> Result<OwnTools, Error> {
    match asked {
        protocol::OwnTools::None => Ok(OwnTools::default()),
        protocol::OwnTools::All => Ok(OwnTools::all(toolbox)),
        protocol::OwnTools::Some(which) => {
            OwnTools::some(toolbox, which.iter().map(String::as_str)).map_err(|error| wrong(&error))
        }
    }
}

/// Reports what the script logs while it runs.
fn told_logs(gateway: &Gateway, host: HostRun) -> Gateway {
    gateway.with_follower(Arc::new(move |step| {
        if let RunStep::Log { level, text } = step {
            host.log(*level, text);
        }
    }))
}

pub(super) fn wrong(error: &dyn std::error::Error) -> Error {
    Error::new(codes::INVALID_PARAMS, format!("the parameters of 'run' are wrong: {error}"))
}
