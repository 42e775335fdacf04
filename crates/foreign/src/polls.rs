//! `wasi:io/poll`: which timers and streams are ready depends on the time of the question, so the
//! answers are recorded, and a replay does not wait.

use wasmtime::component::{HasData, Resource, ResourceTable};
use wasmtime_wasi_io::{
    bindings::wasi::io::poll::{Host, HostPollable},
    poll::DynPollable,
};

use crate::{calls::Calls, tape::Tape};

/// The pollables of a run, and its tape.
pub(crate) struct Polls<'a> {
    pub(crate) table: &'a mut ResourceTable,
    pub(crate) tape: &'a Tape,
    pub(crate) calls: &'a Calls,
}

/// Marks that each run has polls.
pub(crate) struct HasPolls;

impl HasData for HasPolls {
    type Data<'a> = Polls<'a>;
}

impl Host for Polls<'_> {
    async fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> wasmtime::Result<Vec<u32>> {
        if pollables.is_empty() {
            return Err(wasmtime::Error::msg("there is nothing to wait for"));
        }
        let count = u32::try_from(pollables.len()).unwrap_or(u32::MAX);
        if let Some(recalled) = self.tape.recalled_poll(count, true) {
            return Ok(recalled?);
        }
        let busy = self.calls.busy();
        let ready = self.table.poll(pollables).await?;
        drop(busy);
        self.tape.polled(count, true, &ready);
        Ok(ready)
    }
}

impl HostPollable for Polls<'_> {
    async fn block(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        if let Some(recalled) = self.tape.recalled_poll(1, true) {
            return recalled.map(drop).map_err(Into::into);
        }
        let busy = self.calls.busy();
        self.table.block(pollable).await?;
        drop(busy);
        self.tape.polled(1, true, &[0]);
        Ok(())
    }

    async fn ready(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<bool> {
        if let Some(recalled) = self.tape.recalled_poll(1, false) {
            return Ok(!recalled?.is_empty());
        }
        let is_ready = self.table.ready(pollable).await?;
        self.tape.polled(1, false, if is_ready { &[0] } else { &[] });
        Ok(is_ready)
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        HostPollable::drop(self.table, pollable)
    }
}
