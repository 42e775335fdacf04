//! Does the work in this process.

use std::sync::Arc;

use belljar_catalog::Query;
use belljar_daemon::requests::{
    AskEffect, Call, Execute, MAX_WORKSPACE_BYTES, Origin, Search, Servers, Told, ToolEffect,
};
use belljar_gateway::{Approvals, Asker, Gateway, Holder, Toolbox, report};
use belljar_model::{
    Effect, ErrorKind, MEASURED_DAYS, Outcome, RequestFailure, RequestTrace, RunError, RunId, ServerFigures,
};
use belljar_upstream::Caller;
use futures::{
    FutureExt as _,
    future::{BoxFuture, join_all},
};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{
    generation::Generation,
    limits,
    port::{Backend, Cancelled, Meanwhile},
};
use crate::{
    approvals,
    envelope::Isolation,
    failure::Failure,
    render::progress::{self, Progress},
    setup::Setup,
    traces::{Asked, Searching},
};

/// A backend of this process.
pub(super) struct Local {
    setup: Arc<Setup>,
    /// `None` until a run needs the engine.
    gateway: Option<Gateway>,
    children: Children,
}

/// Who owns the children.
enum Children {
    /// This command, which ends them.
    Own,
    /// A generation, which lives as long as this.
    Shared { _generation: Box<Generation> },
}

/// What `belljar servers --stats --json` prints.
#[derive(Serialize)]
struct ServersFigures {
    /// The number of days that they cover.
    days: u32,
    servers: Vec<ServerFigures>,
}

/// What is to be run.
enum Work {
    Script(String),
    Run(RunId),
}

impl Local {
    /// A backend with children of its own, none of them started.
    pub(super) fn alone(setup: Setup) -> Self {
        Self { setup: Arc::new(setup), gateway: None, children: Children::Own }
    }

    /// A backend with the children of a generation.
    pub(super) fn of(generation: Generation) -> Self {
        let (setup, gateway) = (generation.setup.clone(), Some(generation.gateway.clone()));
        Self { setup, gateway, children: Children::Shared { _generation: Box::new(generation) } }
    }

    fn toolbox(&self) -> &Arc<Toolbox> {
        &self.setup.toolbox
    }

    /// The gateway, which starts the engine if there is none yet.
    async fn gateway(&mut self) -> Result<Gateway, Failure> {
        let gateway = match self.gateway.take() {
            Some(gateway) => gateway,
            None => self.setup.gateway().await?,
        };
        Ok(self.gateway.insert(gateway).clone())
    }

    /// Executes a run. `request` is left in place if no run has begun for it.
    async fn run(
        &mut self,
        mut asked: Execute,
        request: &mut Option<Asked>,
        meanwhile: Meanwhile,
        cancelled: Cancelled<'_>,
    ) -> Result<Outcome, Failure> {
        let work = match (asked.code.take(), asked.run) {
            (Some(code), None) => Work::Script(code),
            (None, Some(run)) => Work::Run(run),
            _ => return Err(usage("it takes either code or run")),
        };
        let asker =
            Asker::new(asked.principal.as_ref().map(|principal| principal.name.as_str()), asked.client.as_deref());
        let gateway = self.gateway().await?.with_asker(asker).with_holder(holder(&mut asked)?);
        let (mut gateway, limits) = limits::of_run(gateway, &self.setup.limits, &asked);
        // A program with its own process cannot be resumed later, and has no origin but the
        // library.
        if !(matches!(self.children, Children::Own) && asked.origin == Origin::Daemon) {
            gateway = gateway.with_origin(asked.origin.as_str()).with_approvals(self.approvals(&asked, &work));
        }
        if asked.origin == Origin::Serve {
            gateway = gateway.with_previews();
        }
        if let Some(request) = asked.request.take() {
            gateway = gateway.with_request(request);
        }
        if let Some(follower) = meanwhile.follower {
            gateway = gateway.with_follower(follower);
        }
        let mut caller = Caller::new(meanwhile.client);
        if let Some(principal) = &asked.principal {
            // All requests of one principal take turns as one client.
            gateway = gateway.for_client(format!("for {}", principal.name));
            caller = caller.of_principal(&principal.name);
            if let Some(ceiling) = principal.ceiling {
                gateway = gateway.with_ceiling(ceiling);
            }
        }
        if let Some(max) = asked.max_recording {
            gateway = gateway.with_recording(max);
        }
        if let Some(level) = asked.ledger {
            gateway = gateway.with_ledger_level(level);
        }
        let execution = match work {
            Work::Script(code) => gateway.execute(code).limits(&limits),
            Work::Run(run) => gateway.resume(run),
        };
        let outcome = execution.caller(caller).cancel_on(cancelled).await;
        if gateway.has_run_for_request() {
            *request = None;
        }
        Ok(outcome)
    }

    async fn found(&mut self, asked: Search) -> Result<Told, Failure> {
        let detail = asked.detail.as_deref().map(str::parse).transpose();
        let query = Query {
            text: asked.query,
            server: asked.server,
            effect: asked.effect,
            detail: detail.map_err(|error: belljar_catalog::UnknownDetail| usage(error.to_string()))?,
            limit: asked.limit,
            budget: asked.budget,
        };
        if self.toolbox().has_skills() {
            // The parameters of named scripts are read by the gateway's engine.
            self.gateway().await?;
            self.toolbox().refresh_skills().await;
        }
        let answer = self.toolbox().search(&query).await;
        let text = answer.to_text();
        Ok(Told { answer: json(&answer)?, text, media: Vec::new(), recording: None })
    }

    /// Who can be asked about calls of the run.
    fn approvals(&self, asked: &Execute, work: &Work) -> Approvals {
        let settings = &self.setup.approvals;
        match (asked.origin, work) {
            (Origin::Run, Work::Script(_)) => approvals::asked_at_command(settings, asked.desk),
            (Origin::Run, Work::Run(_)) => approvals::asked(settings, approvals::at_terminal(asked.desk), true),
            (Origin::Serve, _) => approvals::asked_by_client(settings, asked.desk, asked.asked_with_answer),
            // Such a request cannot be resumed later.
            (Origin::Daemon, _) => approvals::asked(settings, approvals::at_client(asked.desk), false),
        }
    }
}

impl Backend for Local {
    fn execute<'a>(
        &'a mut self,
        asked: Execute,
        meanwhile: Meanwhile,
        cancelled: Cancelled<'a>,
    ) -> BoxFuture<'a, Result<Told, Failure>> {
        async move {
            let mut request = Some(Asked::now(|| asked.request.clone().map(RequestTrace::bounded)));
            let outcome = self.run(asked, &mut request, meanwhile, cancelled).await;
            if let Some(refused) = request {
                let kind = match &outcome {
                    Ok(outcome) => outcome.result.as_ref().err().map(|error| error.kind),
                    Err(failure) => Some(failure.kind()),
                };
                // A run that waits for a person has not failed.
                let kind = kind.filter(|kind| *kind != ErrorKind::Approval);
                refused.ended(kind.map(|kind| RequestFailure::Tool(Some(kind))));
            }
            told(outcome?)
        }
        .boxed()
    }

    fn call<'a>(&'a mut self, asked: Call, cancelled: Cancelled<'a>) -> BoxFuture<'a, Result<Box<RawValue>, Failure>> {
        async move {
            let limit = limits::of_call(&asked, &self.setup.limits);
            let effect = asked.effect.unwrap_or(Effect::ReadOnly);
            tokio::select! {
                answer = self.toolbox().call_as(&asked.tool, asked.arguments, limit, effect) => json(&answer),
                () = cancelled => {
                    let message = "the call was interrupted; it may have taken effect";
                    Err(RunError::new(ErrorKind::Cancelled, message).into())
                }
            }
        }
        .boxed()
    }

    fn effect(&mut self, asked: AskEffect) -> BoxFuture<'_, Result<ToolEffect, Failure>> {
        async move {
            Ok(match self.toolbox().trusted_effect(&asked.tool).await {
                Ok((path, trusted)) => {
                    ToolEffect { tool: Some(path.to_string()), effect: Some(trusted.effect()), error: None }
                }
                Err(error) => ToolEffect { tool: None, effect: None, error: Some(json(&error)?) },
            })
        }
        .boxed()
    }

    fn search(&mut self, mut asked: Search) -> BoxFuture<'_, Result<Told, Failure>> {
        async move {
            let searching = Searching::now(asked.request.take());
            let found = self.found(asked).await;
            searching.ended(found.as_ref().err().map(Failure::kind));
            found
        }
        .boxed()
    }

    fn servers<'a>(
        &'a mut self,
        asked: Servers,
        cancelled: Cancelled<'a>,
    ) -> BoxFuture<'a, Result<Box<RawValue>, Failure>> {
        async move {
            if asked.stats {
                return json(&ServersFigures { days: MEASURED_DAYS, servers: self.toolbox().figures().await });
            }
            if asked.start {
                // A server's state is known only after it has been asked; the reason for a failure
                // is in the state.
                let upstream = self.toolbox().upstream();
                let names: Vec<&str> = upstream.names().collect();
                let asked = join_all(names.iter().map(|name| upstream.start(name)));
                tokio::select! {
                    _ = asked => {}
                    () = cancelled => {}
                }
            }
            json(&self.toolbox().seen_servers(usize::MAX).await.0)
        }
        .boxed()
    }

    fn progress(&self) -> Progress {
        progress::show(self.toolbox().upstream())
    }

    fn isolation(&self) -> Isolation {
        Isolation::Subprocess
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        async move {
            let Self { setup, gateway, children } = *self;
            drop(gateway);
            if matches!(children, Children::Own) {
                futures::join!(setup.toolbox.shutdown(), setup.told.close());
                // The process ends, and frees its memory: freeing a catalogue tool by tool takes
                // longer than answering from it.
                std::mem::forget(setup);
            }
        }
        .boxed()
    }
}

/// The answer for an outcome.
fn told(mut outcome: Outcome) -> Result<Told, Failure> {
    let text = report(&outcome);
    let (media, recording) = (std::mem::take(&mut outcome.media), outcome.recording.take());
    Ok(Told { answer: json(&outcome)?, text, media, recording })
}

/// Who owns what is kept between the runs of this caller.
fn holder(asked: &mut Execute) -> Result<Holder, Failure> {
    let workspace = asked.workspace.take().unwrap_or_default();
    if workspace.len() > MAX_WORKSPACE_BYTES {
        let message = format!(
            "the name of the workspace has {} bytes; the limit is {MAX_WORKSPACE_BYTES}: give a shorter one",
            workspace.len()
        );
        return Err(usage(message));
    }
    // The whole name: two principals might differ only in the part that would be cut off.
    let principal = asked.principal.as_ref().map(|principal| principal.name.as_str().into());
    Ok(Holder { principal, workspace: workspace.into() })
}

fn usage(message: impl Into<String>) -> Failure {
    RunError::new(ErrorKind::Usage, message).into()
}

fn json(value: &impl Serialize) -> Result<Box<RawValue>, Failure> {
    to_raw_value(value).map_err(|error| Failure::internal(format!("the answer is not JSON: {error}")))
}
