//! What one reading of the configuration gave.

use std::sync::Arc;

use belljar_engine::Engine;
use belljar_gateway::Gateway;
use tokio::sync::watch;

use super::instructions::instructions;
use crate::{
    approvals::Asking,
    daemon,
    setup::{Loaded, Setup},
};

/// What one reading gave. Whoever has it keeps its children alive.
#[derive(Clone)]
pub(super) struct Generation {
    pub(super) gateway: Gateway,
    /// The children, and the limits that go with them.
    pub(super) setup: Arc<Setup>,
    /// How clients of the MCP server are asked about calls.
    pub(super) asking: Asking,
    /// What clients of the MCP server are told.
    pub(super) instructions: Arc<str>,
    /// Of the configuration and the version.
    pub(super) fingerprint: Arc<str>,
    _in_use: watch::Receiver<()>,
}

impl Generation {
    /// The generation of this configuration, none of whose children is started. What comes with it
    /// is closed when nobody has the generation any more.
    pub(super) fn new(loaded: Loaded, engine: Engine, profile: Option<&str>) -> (Self, watch::Sender<()>) {
        let (instructions, asking) = (instructions(&loaded).into(), Asking::of(&loaded));
        let fingerprint = daemon::fingerprint(&loaded).into();
        let setup = Arc::new(Setup::to_stay(loaded));
        let gateway = setup.gateway_with(engine);
        let gateway = match profile {
            Some(profile) => gateway.with_profile(profile),
            None => gateway,
        };
        let (in_use, _in_use) = watch::channel(());
        (Self { gateway, setup, asking, instructions, fingerprint, _in_use }, in_use)
    }
}
