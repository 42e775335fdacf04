//! For systems on which scripts cannot have a process of their own.

use belljar_model::{Limits, Outcome};
use belljar_sandbox::{Recording, ReplayError, RunRequest, Runner};
use futures::future::BoxFuture;

/// A sandbox in a confined process of its own. This needs Unix: on this system, the type has no
/// values.
#[derive(Debug)]
pub enum ProcessEngine {}

impl ProcessEngine {
    pub(crate) async fn replay(&self, _recording: &Recording, _ceiling: &Limits) -> Result<Outcome, ReplayError> {
        match *self {}
    }

    pub(crate) async fn rehearse(
        &self,
        _source: &str,
        _recording: &Recording,
        _ceiling: &Limits,
    ) -> Result<Outcome, ReplayError> {
        match *self {}
    }
}

impl Runner for ProcessEngine {
    fn begin<'a>(&'a self, _request: RunRequest<'a>) -> BoxFuture<'a, Outcome> {
        match *self {}
    }
}
