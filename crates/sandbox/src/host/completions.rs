//! The import of `completions`: the one place where a run takes in what comes of its calls and timers.

use belljar_model::JsonText;

use super::{
    RunState,
    glass::belljar::sandbox::{
        completions::{Completion, Event, Host},
        tools::CallError,
    },
};
use crate::inbox;

impl Host for RunState {
    async fn next(&mut self) -> wasmtime::Result<Completion> {
        if self.outstanding == 0 {
            return Err(wasmtime::Error::msg("the guest waits, and no call and no timer is outstanding"));
        }
        let inbox::Completion { number, event } = self.turn.wait_for(self.inbox.next()).await;
        self.outstanding -= 1;
        self.journal.handed_over(number);
        let event = match event {
            inbox::Event::Answer(inbox::Answer { result, record }) => {
                self.journal.end(number, record);
                match result {
                    Ok(text) => Event::Answer(JsonText::into_string(text)),
                    Err(fault) => {
                        Event::Fault(CallError { message: fault.message, hint: fault.hint, refused: fault.is_refusal })
                    }
                }
            }
            inbox::Event::Elapsed => Event::Elapsed,
        };
        Ok(Completion { number: u32::try_from(number)?, event })
    }
}
