//! Detects which of MCP's two eras a server belongs to, at no cost to servers of the first.
//!
//! A server of the first era is greeted with `initialize`, one of the second with
//! `server/discover`. All servers in use today know the first; many ignore an unknown method, and
//! some exit on one. So `initialize` comes first, and nobody waits for an answer that does not
//! come. If a server refuses it, as one of the second era must, it is started again and greeted the
//! other way. The result is remembered, also in the folder of the tool lists.

use std::{io::Read as _, num::NonZeroUsize, sync::Arc};

use belljar_model::{Era, ServerSpec};
use cap_std::fs::{Dir, OpenOptions};
use parking_lot::Mutex;
use rmcp::{
    RoleClient,
    model::{ProtocolVersion, SubscriptionFilter},
    service::{ClientLifecycleMode, Peer, SubscriptionEnd},
};
use tokio::{sync::Notify, time::sleep};

use crate::{
    error::{StartError, StartStep},
    limits,
    tools::cache,
};

/// The greeting of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum First {
    Initialize,
    Discover,
}

impl First {
    pub(crate) fn mode(self) -> ClientLifecycleMode {
        match self {
            Self::Initialize => ClientLifecycleMode::Initialize,
            Self::Discover => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Initialize => Self::Discover,
            Self::Discover => Self::Initialize,
        }
    }
}

/// How one server is greeted, and what is remembered of it.
pub(crate) struct Opening {
    configured: Era,
    place: Option<(Arc<Dir>, String)>,
    known: Mutex<Option<First>>,
}

/// The content of the file of a server of the second era. Other servers have no such file.
const DISCOVER: &[u8] = b"discover\n";

impl Opening {
    /// How `spec` is greeted. The result is stored in `folder`, if there is one.
    pub(crate) fn of(spec: &ServerSpec, folder: Option<&Arc<Dir>>, version: &str) -> Self {
        let place =
            folder.zip(cache::identity(spec, version)).map(|(folder, hash)| (folder.clone(), format!("era-{hash}")));
        Self { configured: spec.era, place, known: Mutex::default() }
    }

    pub(crate) fn chosen(&self) -> First {
        match self.configured {
            Era::Initialize => First::Initialize,
            Era::Discover => First::Discover,
            _ => *self.known.lock().get_or_insert_with(|| self.read()),
        }
    }

    /// The other greeting, if `fault` may mean that `tried` was the wrong one.
    pub(crate) fn other(&self, tried: First, fault: &StartError) -> Option<First> {
        let may_be_wrong = match fault {
            StartError::Protocol { step: StartStep::Initialize, .. } => true,
            StartError::Remote { fault } => fault.is_refusal(),
            _ => false,
        };
        (self.configured == Era::Auto && may_be_wrong).then_some(tried.other())
    }

    /// Greets the server like this from now on.
    pub(crate) fn remember(&self, first: First) {
        *self.known.lock() = Some(first);
        let Some((folder, name)) = &self.place else { return };
        let written = match first {
            First::Discover => {
                let mut options = OpenOptions::new();
                options.write(true).create(true).truncate(true);
                belljar_files::open(folder, name, &mut options)
                    .and_then(|mut file| std::io::Write::write_all(&mut file, DISCOVER))
            }
            First::Initialize => folder.remove_file(name),
        };
        if let Err(error) = written {
            tracing::info!("the era of a server cannot be remembered in {name}: {error}");
        }
    }

    fn read(&self) -> First {
        let mut text = Vec::new();
        let file = self.place.as_ref().and_then(|(folder, name)| folder.open(name).ok());
        let length = u64::try_from(DISCOVER.len()).unwrap_or(u64::MAX);
        let read = file.map(|file| file.take(length).read_to_end(&mut text));
        if matches!(read, Some(Ok(_))) && text == DISCOVER { First::Discover } else { First::Initialize }
    }
}

/// Subscribes to changed tools at a server of the second era, which does not send them otherwise.
pub(crate) async fn subscribe(server: String, peer: Peer<RoleClient>, tools_changed: Arc<Notify>) {
    const WAITING: NonZeroUsize = NonZeroUsize::new(64).expect("it is not zero");
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    loop {
        let mut subscription = match peer.listen_with_capacity(filter.clone(), WAITING).await {
            Ok(subscription) => subscription,
            Err(error) => {
                tracing::debug!(server, "no news of changed tools: {error}");
                return;
            }
        };
        while let Ok(Some(_)) = subscription.next().await {
            tools_changed.notify_one();
        }
        // Any missed change shows in the list.
        if !matches!(subscription.end(), Some(SubscriptionEnd::Lagged { .. } | SubscriptionEnd::Graceful(_))) {
            return;
        }
        sleep(limits::STREAM_RETRY).await;
        tools_changed.notify_one();
    }
}
