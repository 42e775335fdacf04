//! What was created from one reading of the configuration.

use std::sync::Arc;

use belljar_engine::Engine;
use belljar_gateway::Gateway;
use tokio::sync::watch;

use super::instructions::instructions;
use crate::{
    approvals::Asking,
    artifacts::KeptArtifacts,
    daemon,
    setup::{Loaded, Setup},
};

/// What was created from one reading. Holding it keeps its children alive.
#[derive(Clone)]
pub(crate) struct Generation {
    pub(crate) gateway: Gateway,
    /// The children, and their limits.
    pub(crate) setup: Arc<Setup>,
    /// How clients of the MCP server are asked about calls.
    pub(super) asking: Asking,
    /// The artifacts that clients of the MCP server can read.
    pub(super) artifacts: Option<KeptArtifacts>,
    /// What clients of the MCP server are told.
    pub(super) instructions: Arc<str>,
    /// The digest of the configuration and the version.
    pub(super) fingerprint: Arc<str>,
    _in_use: watch::Receiver<()>,
}

impl Generation {
    /// The generation of this configuration, none of whose children is started. Its resources are
    /// released when nobody holds it any more.
    pub(super) fn new(loaded: Loaded, engine: Engine, profile: Option<&str>) -> (Self, watch::Sender<()>) {
        let (instructions, asking) = (instructions(&loaded).into(), Asking::of(&loaded));
        let artifacts = KeptArtifacts::of(&loaded);
        let fingerprint = daemon::fingerprint(&loaded).into();
        let setup = Arc::new(Setup::to_stay(loaded));
        let gateway = setup.gateway_with(engine);
        let gateway = match profile {
            Some(profile) => gateway.with_profile(profile),
            None => gateway,
        };
        let (in_use, _in_use) = watch::channel(());
        (Self { gateway, setup, asking, artifacts, instructions, fingerprint, _in_use }, in_use)
    }
}
