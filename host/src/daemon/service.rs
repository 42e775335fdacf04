//! What the daemon does for its clients: the gateway's work, behind the socket.

use std::{sync::Arc, time::Duration};

use belljar_catalog::{Detail, Query};
use belljar_daemon::{Answer, Fault, Service, codes};
use belljar_gateway::{Asker, report};
use belljar_model::{ByteSize, Effect, LimitsPatch, Media, Recorded, RunId, ToolPath};
use belljar_upstream::Caller;
use futures::{FutureExt as _, future::BoxFuture, future::join_all};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{
    Map, Value,
    value::{RawValue, to_raw_value},
};
use tokio_util::sync::CancellationToken;

use crate::{
    approvals,
    generations::{Generation, Generations},
    serve::asking::Asked,
};

/// The gateways of this daemon.
pub(crate) struct GatewayService(pub(crate) Arc<Generations>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExecuteParams {
    code: Option<String>,
    /// In place of the code: a run that waits, to go on with.
    run: Option<RunId>,
    #[serde(default)]
    limits: LimitsPatch,
    /// How many bytes a recording of the run may have, if there is to be one.
    max_recording: Option<ByteSize>,
    /// How much the ledger is to keep of the run, if that is not what it keeps of all.
    ledger: Option<String>,
    /// Who asks, for the ledger: by which way, and what the client calls itself for whom that is done.
    #[serde(default)]
    origin: Origin,
    client: Option<String>,
    /// Where a person can be asked about calls of the run, beside `belljar approve`.
    desk: Option<u64>,
    /// Whether that person is asked with the answer: the run is put aside as soon as it waits.
    #[serde(default)]
    asked_with_answer: bool,
    /// For whom it is, if that is not the owner. Only processes of the owner's are answered at all, so it is believed.
    principal: Option<PrincipalParams>,
}

/// One of those that a process of the owner's serves.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PrincipalParams {
    name: String,
    /// The most that a tool may do which the run calls.
    ceiling: Option<Effect>,
}

/// Who asks for a run.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Origin {
    Run,
    Serve,
    #[default]
    Daemon,
}

impl Origin {
    fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Serve => "serve",
            Self::Daemon => "daemon",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallParams {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    /// In the place of the configured limit.
    timeout_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EffectParams {
    tool: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchParams {
    #[serde(default)]
    query: String,
    server: Option<String>,
    effect: Option<Effect>,
    detail: Option<String>,
    limit: Option<usize>,
    budget: Option<usize>,
}

/// An answer for programs, and as a model reads it.
#[derive(Serialize)]
struct Said<T> {
    answer: T,
    text: String,
    /// What a script returned beside it that is no text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    media: Vec<Media>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recording: Option<Recorded>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServersParams {
    /// Whether each server is started first, where it is not running.
    #[serde(default)]
    start: bool,
}

impl Service for GatewayService {
    fn answer(
        &self,
        client: u64,
        method: &str,
        params: Box<RawValue>,
        cancelled: CancellationToken,
    ) -> Option<BoxFuture<'static, Answer>> {
        // Whatever is asked goes on with the servers that it began with.
        let mut current = self.0.current();
        current.gateway = current.gateway.for_client(client.to_string());
        Some(match method {
            "execute" => execute(current, params, cancelled).boxed(),
            "call" => call(current, params, cancelled).boxed(),
            "effect" => effect(current, params).boxed(),
            "search" => search(current, params).boxed(),
            "servers" => servers(current, params, cancelled).boxed(),
            "reload" => reload(self.0.clone()).boxed(),
            _ => return None,
        })
    }

    fn fingerprint(&self) -> String {
        self.0.current().fingerprint.to_string()
    }

    fn is_needed(&self) -> bool {
        self.0.current().gateway.toolbox().upstream().keeps_state()
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        self.0.shutdown().boxed()
    }
}

/// Reads the configuration again.
async fn reload(generations: Arc<Generations>) -> Answer {
    let reloaded = generations.reload().await.map_err(|failure| {
        let (message, hint) = failure.told();
        let fault = Fault::new(codes::INVALID_CONFIG, message);
        match hint {
            Some(hint) => fault.with_hint(hint),
            None => fault,
        }
    })?;
    json(&reloaded)
}

async fn execute(current: Generation, params: Box<RawValue>, cancelled: CancellationToken) -> Answer {
    let ExecuteParams {
        code,
        run,
        limits: asked,
        max_recording,
        ledger,
        origin,
        client,
        desk,
        asked_with_answer,
        principal,
    } = parsed(&params)?;
    let asker = Asker::new(principal.as_ref().map(|principal| principal.name.as_str()), client.as_deref());
    let mut gateway = current.gateway.with_origin(origin.as_str()).with_asker(asker);
    let (caller, asked) = match &principal {
        // Whoever may connect is the owner, who may raise a limit as on the command line.
        None => {
            gateway = gateway.with_limits(asked.over(&current.limits));
            (Caller::default(), LimitsPatch::default())
        }
        // Nobody else raises one. All that one principal asks takes turns as one client's.
        Some(principal) => {
            gateway = gateway.for_client(format!("for {}", principal.name));
            if let Some(ceiling) = principal.ceiling {
                gateway = gateway.with_ceiling(ceiling);
            }
            (Caller::default().of_principal(&principal.name), asked)
        }
    };
    let approvals = &current.approvals;
    gateway = gateway.with_approvals(match (origin, run) {
        (Origin::Run, None) => approvals::asked_at_command(approvals, desk),
        (Origin::Serve, _) => current.asking.approvals(Asked { desk, with_answer: asked_with_answer }),
        (Origin::Run, Some(_)) => approvals::asked(approvals, approvals::at_terminal(desk), true),
        // What is requested so has no way to go on later.
        (Origin::Daemon, _) => approvals::asked(approvals, approvals::at_client(desk), false),
    });
    if let Some(max) = max_recording {
        gateway = gateway.with_recording(max);
    }
    if let Some(level) = ledger {
        let level = level.parse().map_err(|error| Fault::new(codes::INVALID_PARAMS, format!("{error}")))?;
        gateway = gateway.with_ledger_level(level);
    }
    let cancelled = cancelled.cancelled();
    let mut outcome = match (code, run) {
        (Some(code), None) => Box::pin(gateway.execute_for(caller, code, &asked, cancelled)).await,
        (None, Some(run)) => gateway.resume_for(caller, run, cancelled).await,
        _ => return Err(Fault::new(codes::INVALID_PARAMS, "it takes either code or run")),
    };
    let text = report(&outcome);
    let media = std::mem::take(&mut outcome.media);
    let recording = outcome.recording.take();
    json(&Said { answer: outcome, text, media, recording })
}

async fn call(current: Generation, params: Box<RawValue>, cancelled: CancellationToken) -> Answer {
    let CallParams { tool, arguments, timeout_ms } = parsed(&params)?;
    let tool = path(&tool)?;
    let limit = timeout_ms.map_or(current.limits.call, Duration::from_millis);
    tokio::select! {
        answer = current.gateway.toolbox().call(&tool, arguments, limit) => json(&answer),
        () = cancelled.cancelled() => {
            Err(Fault::new(codes::CANCELLED, "the call was cancelled; it may have taken effect"))
        }
    }
}

/// What a call of a tool may change, as decisions take it; or why there is no such tool.
async fn effect(current: Generation, params: Box<RawValue>) -> Answer {
    let EffectParams { tool } = parsed(&params)?;
    json(&match current.gateway.toolbox().trusted_effect(&path(&tool)?).await {
        Ok(trusted) => serde_json::json!({ "effect": trusted.effect(), "error": null }),
        Err(error) => serde_json::json!({ "effect": null, "error": error }),
    })
}

fn path(tool: &str) -> Result<ToolPath, Fault> {
    tool.parse().map_err(|fault| Fault::new(codes::INVALID_PARAMS, format!("{fault}")))
}

async fn search(current: Generation, params: Box<RawValue>) -> Answer {
    let asked: SearchParams = parsed(&params)?;
    let detail = asked.detail.as_deref().map(str::parse::<Detail>).transpose();
    let query = Query {
        text: asked.query,
        server: asked.server,
        effect: asked.effect,
        detail: detail.map_err(|error| Fault::new(codes::INVALID_PARAMS, error.to_string()))?,
        limit: asked.limit,
        budget: asked.budget,
    };
    let answer = current.gateway.toolbox().search(&query).await;
    let text = answer.to_text();
    json(&Said { answer, text, media: Vec::new(), recording: None })
}

async fn servers(current: Generation, params: Box<RawValue>, cancelled: CancellationToken) -> Answer {
    let ServersParams { start } = parsed(&params)?;
    let toolbox = current.gateway.toolbox();
    if start {
        let names: Vec<&str> = toolbox.upstream().names().collect();
        // Why one failed is in its status.
        let asked = join_all(names.iter().map(|name| toolbox.upstream().start(name)));
        tokio::select! {
            _ = asked => {}
            () = cancelled.cancelled() => {}
        }
    }
    json(&toolbox.seen_servers().await)
}

fn parsed<T: DeserializeOwned>(params: &RawValue) -> Result<T, Fault> {
    serde_json::from_str(params.get())
        .map_err(|error| Fault::new(codes::INVALID_PARAMS, format!("the parameters are wrong: {error}")))
}

fn json(value: &impl Serialize) -> Answer {
    to_raw_value(value).map_err(|error| Fault::new(codes::INTERNAL, format!("the answer is no JSON: {error}")))
}
