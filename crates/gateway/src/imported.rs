//! The tools of a component's run: those that it imports, or any if it finds them by their names.
//! Nothing else can be seen of the owner's servers.
//!
//! The process of a component may be taken over, and then asks what scripts may ask. Lists and
//! searches are answered from what the run was granted, as [`Tools`] does by itself; no question
//! reaches the catalogue.

use std::{sync::Arc, time::Duration};

use belljar_model::{JsonText, RunStep, ToolPath};
use belljar_sandbox::{AnswerRoom, CallError, Directory, GrantedTool, Namespace, Tools, Unavailable};
use futures::future::BoxFuture;

use crate::grant::Grant;

/// The grant of a run, without the servers of which it has no tool.
pub(crate) struct ImportedTools {
    grant: Arc<Grant>,
    /// The positions of the servers of which it has a tool.
    servers: Vec<usize>,
}

impl ImportedTools {
    pub(crate) fn new(grant: Arc<Grant>) -> Self {
        let all = grant.namespaces().len();
        let servers = (0..all).filter(|server| grant.has_granted(*server)).collect();
        Self { grant, servers }
    }
}

impl Tools for ImportedTools {
    fn namespaces(&self) -> Vec<Namespace> {
        let all = self.grant.namespaces();
        self.servers.iter().filter_map(|server| all.get(*server).cloned()).collect()
    }

    fn directory(&self, namespace: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
        match self.servers.get(namespace) {
            Some(server) => self.grant.directory(*server),
            None => Box::pin(std::future::ready(Err(Unavailable { reason: "the run has no such server".to_owned() }))),
        }
    }

    fn call(
        &self,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        self.grant.call(tool, arguments, limit)
    }

    fn begin(
        &self,
        number: u64,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
        room: AnswerRoom,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        self.grant.begin(number, tool, arguments, limit, room)
    }

    fn announce(&self, number: u64, tool: &GrantedTool) -> Box<dyn Send> {
        self.grant.announce(number, tool)
    }

    fn handing_over(&self, number: u64, tool: &ToolPath, answer: Result<&JsonText, &CallError>) {
        self.grant.handing_over(number, tool, answer);
    }

    fn observe(&self, step: RunStep) {
        self.grant.observe(step);
    }

    fn is_watched(&self) -> bool {
        self.grant.is_watched()
    }
}
