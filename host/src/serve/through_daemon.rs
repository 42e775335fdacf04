//! The two tools, answered by the daemon, so that this client shares its warm servers with all others.
//!
//! Each request has a connection of its own and reads the configuration anew: when that or belljar has changed, the daemon is
//! replaced, as by any command. What children ask of a client (sampling, elicitation, roots) does not go through the daemon.

use std::time::Duration;

use belljar_daemon::{
    Client,
    requests::{Execute, Method, Origin, Principal, Reload, Reloaded, Search, Told},
};
use belljar_http::{Admission, Scope};
use belljar_model::{Effect, display};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

use super::{
    ExecuteRequest, Requester, SearchRequest, answer,
    asking::{Asked, Asking},
};
use crate::{
    arguments::ConfigArguments,
    daemon::{self, Place},
    failure::Failure,
    setup::{self, Loaded},
};

/// The way to the daemon.
pub(crate) struct ThroughDaemon {
    pub(crate) config: ConfigArguments,
    /// What clients are told.
    pub(crate) instructions: String,
    /// How clients are asked about calls.
    pub(crate) asking: Asking,
    /// How long a run may take.
    pub(crate) longest: Duration,
}

impl ThroughDaemon {
    /// Has the daemon read its configuration again, if it runs. One that starts later reads it anyway.
    pub(crate) async fn reload(&self) -> Result<Option<Reloaded>, Failure> {
        let place = Place::of(&setup::read_to_call(&self.config)?)?;
        match Client::connect(&place.address).await.map_err(daemon::unreachable)? {
            Some(mut client) => client.ask(&Reload {}).await.map(Some).map_err(daemon::failed),
            None => Ok(None),
        }
    }

    pub(super) async fn search(&self, request: &SearchRequest, cancelled: impl Future<Output = ()>) -> CallToolResult {
        let asked = async {
            let loaded = setup::read(&self.config)?;
            let asked = Search {
                query: request.query.clone(),
                server: request.server.clone(),
                effect: None,
                detail: request.detail.clone(),
                limit: request.limit,
                budget: request.budget,
            };
            self.ask(&loaded, &asked, cancelled).await
        };
        answered(asked.await)
    }

    pub(super) async fn execute(
        &self,
        request: &ExecuteRequest,
        requester: &Requester,
        asked: Asked,
        cancelled: impl Future<Output = ()>,
    ) -> CallToolResult {
        let told = async {
            let loaded = setup::read(&self.config)?;
            // The daemon lets the owner raise limits. Whoever asks here is not the owner.
            if let Err(fault) = request.limits.within(&loaded.limits()) {
                let hint = "ask for less, or let the owner of belljar raise the limit in its configuration";
                return Err(Failure::usage(fault.to_string(), hint));
            }
            let asked = Execute {
                code: request.code.clone(),
                run: request.run,
                limits: request.limits.clone(),
                origin: Origin::Serve,
                client: requester.client.clone(),
                desk: asked.desk,
                asked_with_answer: asked.with_answer,
                principal: principal(requester.admission.as_ref()),
                ..Execute::default()
            };
            self.ask(&loaded, &asked, cancelled).await
        };
        answered(told.await)
    }

    async fn ask<M: Method>(
        &self,
        loaded: &Loaded,
        asked: &M,
        cancelled: impl Future<Output = ()>,
    ) -> Result<M::Answer, Failure> {
        let mut client = connected(loaded).await?;
        client.ask_until(asked, cancelled).await.map_err(daemon::failed)
    }
}

/// For whom the daemon is to act, and how far it may go; nobody but the owner at the socket, at stdin and stdout.
fn principal(admission: Option<&Admission>) -> Option<Principal> {
    let principal = admission?.principal();
    let ceiling = (!principal.may(Scope::Run)).then_some(Effect::ReadOnly);
    (!principal.is_owner()).then(|| Principal { name: principal.name().to_owned(), ceiling })
}

/// The daemon, also for the built-in demo.
async fn connected(loaded: &Loaded) -> Result<Client, Failure> {
    match daemon::reach_in_any_case(loaded).await? {
        Some(client) => Ok(client),
        None => daemon::start_at(&Place::of(loaded)?, loaded).await,
    }
}

fn answered(answer: Result<Told, Failure>) -> CallToolResult {
    let told = answer.and_then(|told| {
        let structured: Value = serde_json::from_str(told.answer.get())
            .map_err(|error| Failure::internal(format!("the daemon's answer cannot be understood: {error}")))?;
        Ok((told.text, told.media, structured))
    });
    match told {
        // An answer to a search has no 'ok', and is none that failed.
        Ok((text, media, structured)) => answer::of_outcome(text, media, structured),
        Err(failure) => {
            let (message, hint) = failure.told();
            let message = display::block(&message, "  ");
            let hint = hint.map(|hint| format!("\nhint: {}", display::block(&hint, "  ")));
            CallToolResult::error(vec![ContentBlock::text(format!("{message}{}", hint.unwrap_or_default()))])
        }
    }
}
