//! What the daemon does for its clients: the gateway's work, behind the socket.

use std::{sync::Arc, time::Duration};

use belljar_catalog::{Detail, Query};
use belljar_daemon::{
    Answer, Fault, Service, codes,
    requests::{AskEffect, Call, Execute, Method, Origin, Reload, Search, Servers, Told, ToolEffect},
};
use belljar_gateway::{Asker, report};
use belljar_model::LimitsPatch;
use belljar_upstream::Caller;
use futures::{FutureExt as _, future::BoxFuture, future::join_all};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio_util::sync::CancellationToken;

use crate::{
    approvals,
    generations::{Generation, Generations},
    serve::asking::Asked,
};

/// The gateways of this daemon.
pub(crate) struct GatewayService(pub(crate) Arc<Generations>);

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
            Execute::NAME => execute(current, params, cancelled).boxed(),
            Call::NAME => call(current, params, cancelled).boxed(),
            AskEffect::NAME => effect(current, params).boxed(),
            Search::NAME => search(current, params).boxed(),
            Servers::NAME => servers(current, params, cancelled).boxed(),
            Reload::NAME => reload(self.0.clone()).boxed(),
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
    let Execute { code, run, limits: asked, max_recording, ledger, origin, client, desk, asked_with_answer, principal } =
        parsed::<Execute>(&params)?;
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
    json(&Told { answer: json(&outcome)?, text, media, recording })
}

async fn call(current: Generation, params: Box<RawValue>, cancelled: CancellationToken) -> Answer {
    let Call { tool, arguments, timeout_ms } = parsed::<Call>(&params)?;
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
    let AskEffect { tool } = parsed::<AskEffect>(&params)?;
    json(&match current.gateway.toolbox().trusted_effect(&tool).await {
        Ok(trusted) => ToolEffect { effect: Some(trusted.effect()), error: None },
        Err(error) => ToolEffect { effect: None, error: Some(json(&error)?) },
    })
}

async fn search(current: Generation, params: Box<RawValue>) -> Answer {
    let asked: Search = parsed(&params)?;
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
    json(&Told { answer: json(&answer)?, text, media: Vec::new(), recording: None })
}

async fn servers(current: Generation, params: Box<RawValue>, cancelled: CancellationToken) -> Answer {
    let Servers { start } = parsed::<Servers>(&params)?;
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

fn parsed<M: Method>(params: &RawValue) -> Result<M, Fault> {
    serde_json::from_str(params.get())
        .map_err(|error| Fault::new(codes::INVALID_PARAMS, format!("the parameters are wrong: {error}")))
}

fn json(value: &impl Serialize) -> Answer {
    to_raw_value(value).map_err(|error| Fault::new(codes::INTERNAL, format!("the answer is no JSON: {error}")))
}
