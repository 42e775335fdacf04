//! The import of `timers`.

use std::time::Duration;

use tokio::{sync::oneshot, time::Instant};
use wasmtime::component::Accessor;

use super::{
    RunState,
    glass::belljar::sandbox::timers::{Host, HostWithStore},
};
use crate::delivery::Arrival;

impl Host for RunState {}

impl<T: Send> HostWithStore<T> for RunState {
    async fn sleep(accessor: &Accessor<T, Self>, milliseconds: u32) -> wasmtime::Result<()> {
        let waiting = accessor.with(|mut access| access.get().begin_sleep(milliseconds))?;
        waiting.await?;
        Ok(())
    }
}

impl RunState {
    fn begin_sleep(&mut self, milliseconds: u32) -> wasmtime::Result<oneshot::Receiver<()>> {
        let number = self.admit_task()?;
        let (sender, receiver) = oneshot::channel();
        let inbox = self.inbox.clone();
        // From now on, and not from when the task is first polled: timers set one after the other end in that order.
        let deadline = Instant::now() + Duration::from_millis(u64::from(milliseconds));
        self.tasks.spawn(async move {
            tokio::time::sleep_until(deadline).await;
            inbox.put(Arrival::Elapsed { number, waiting: sender });
        });
        Ok(receiver)
    }
}
