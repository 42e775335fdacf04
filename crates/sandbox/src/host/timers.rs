//! The imports of `timers`.

use std::time::Duration;

use tokio::time::Instant;

use super::state::RunState;
use crate::bindings::belljar::sandbox::timers::Host;

impl Host for RunState {
    fn begin(&mut self, milliseconds: u32) -> wasmtime::Result<u32> {
        let number = self.admit()?;
        if let Some(stand_in) = &mut self.stand_in {
            stand_in.timer(number.into(), milliseconds)?;
        }
        self.recorder.timer(number.into(), milliseconds);
        self.inbox.begin_timer(number.into(), Instant::now() + Duration::from_millis(milliseconds.into()));
        Ok(number)
    }

    fn cancel(&mut self, number: u32) -> wasmtime::Result<()> {
        if self.inbox.cancel_timer(number.into()) {
            self.outstanding -= 1;
            if let Some(stand_in) = &mut self.stand_in {
                stand_in.cancel_timer(number.into());
            }
        }
        Ok(())
    }
}
