//! Has the daemon do the work, so that this process shares its warm servers with all others.

use std::{sync::Arc, time::Duration};

use belljar_daemon::{
    DaemonClient,
    requests::{AskEffect, Call, Execute, Method, Reload, Reloaded, Search, Servers, Told, ToolEffect},
};
use belljar_upstream::ClientAbilities;
use futures::{FutureExt as _, future::BoxFuture};
use parking_lot::Mutex;
use serde_json::value::RawValue;

use super::{
    instructions::instructions,
    port::{Backend, Backends, Cancelled, Meanwhile},
};
use crate::{
    approvals::Asking,
    arguments::ConfigArguments,
    artifacts::KeptArtifacts,
    daemon::{self, Place},
    envelope::Isolation,
    failure::Failure,
    render::progress::{self, Progress},
    setup::{self, Loaded},
};

/// A connection to the daemon.
pub(super) struct Remote {
    client: DaemonClient,
}

impl Remote {
    pub(super) fn new(client: DaemonClient) -> Self {
        Self { client }
    }

    fn ask<'a, M>(&'a mut self, asked: M, cancelled: Cancelled<'a>) -> BoxFuture<'a, Result<M::Answer, Failure>>
    where
        M: Method<Answer: Send> + Send + Sync + 'a,
    {
        async move { self.client.ask_until(&asked, cancelled).await.map_err(daemon::failed) }.boxed()
    }
}

impl Backend for Remote {
    /// A script's logs in the daemon are not sent before its end, and questions of children do not
    /// pass through the daemon.
    fn execute<'a>(
        &'a mut self,
        asked: Execute,
        _: Meanwhile,
        cancelled: Cancelled<'a>,
    ) -> BoxFuture<'a, Result<Told, Failure>> {
        self.ask(asked, cancelled)
    }

    fn call<'a>(&'a mut self, asked: Call, cancelled: Cancelled<'a>) -> BoxFuture<'a, Result<Box<RawValue>, Failure>> {
        self.ask(asked, cancelled)
    }

    fn effect(&mut self, asked: AskEffect) -> BoxFuture<'_, Result<ToolEffect, Failure>> {
        self.ask(asked, std::future::pending().boxed())
    }

    fn search(&mut self, asked: Search) -> BoxFuture<'_, Result<Told, Failure>> {
        self.ask(asked, std::future::pending().boxed())
    }

    fn servers<'a>(
        &'a mut self,
        asked: Servers,
        cancelled: Cancelled<'a>,
    ) -> BoxFuture<'a, Result<Box<RawValue>, Failure>> {
        self.ask(asked, cancelled)
    }

    fn progress(&self) -> Progress {
        progress::show_of_daemon(&self.client)
    }

    fn isolation(&self) -> Isolation {
        Isolation::Agent
    }

    /// Hanging up cancels unfinished requests at the daemon.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        std::future::ready(()).boxed()
    }
}

/// A connection for each request. The configuration is read again each time: if it or belljar has
/// changed, the daemon is replaced, as by any command.
pub(crate) struct RemoteEachTime {
    config: ConfigArguments,
    instructions: Arc<str>,
    asking: Asking,
    /// The artifacts of the configuration with this fingerprint.
    artifacts: Mutex<(String, Option<KeptArtifacts>)>,
    longest: Duration,
}

impl RemoteEachTime {
    /// The instructions for clients, and how they are asked, come from `loaded`, for as long as
    /// this process runs.
    pub(crate) fn new(config: ConfigArguments, loaded: &Loaded) -> Self {
        let longest = loaded.limits().timeout;
        Self {
            config,
            instructions: instructions(loaded).into(),
            asking: Asking::of(loaded),
            artifacts: Mutex::new((daemon::fingerprint(loaded), KeptArtifacts::of(loaded))),
            longest,
        }
    }
}

impl Backends for RemoteEachTime {
    /// The daemon, even for the built-in demo.
    fn backend(&self) -> BoxFuture<'_, Result<Box<dyn Backend>, Failure>> {
        async {
            let loaded = setup::read(&self.config)?;
            let client = match daemon::reach_in_any_case(&loaded).await? {
                Some(client) => client,
                None => daemon::start_at(&Place::of(&loaded)?, &loaded).await?,
            };
            Ok(Box::new(Remote::new(client)) as Box<dyn Backend>)
        }
        .boxed()
    }

    fn instructions(&self) -> Arc<str> {
        self.instructions.clone()
    }

    fn asking(&self) -> Asking {
        self.asking.clone()
    }

    /// The artifacts of the configuration as it is now: its owner may have turned them off.
    fn artifacts(&self) -> Option<KeptArtifacts> {
        let loaded = match setup::read(&self.config) {
            Ok(loaded) => loaded,
            Err(failure) => {
                let (message, _) = failure.told();
                tracing::warn!("artifacts cannot be read as long as the configuration cannot be: {message}");
                return None;
            }
        };
        let fingerprint = daemon::fingerprint(&loaded);
        let mut known = self.artifacts.lock();
        if known.0 != fingerprint {
            *known = (fingerprint, KeptArtifacts::of(&loaded));
        }
        known.1.clone()
    }

    fn longest(&self) -> Duration {
        self.longest
    }

    fn is_heard_meanwhile(&self) -> bool {
        false
    }

    fn set_client_abilities(&self, _: ClientAbilities) {}

    /// Makes the daemon read its configuration again, if it is running. A daemon that starts later
    /// reads it anyway.
    fn reload(&self) -> BoxFuture<'_, Result<Option<Reloaded>, Failure>> {
        async {
            let place = Place::of(&setup::read_to_call(&self.config)?)?;
            match DaemonClient::connect(&place.address).await.map_err(daemon::unreachable)? {
                Some(mut client) => client.ask(&Reload {}).await.map(Some).map_err(daemon::failed),
                None => Ok(None),
            }
        }
        .boxed()
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}
