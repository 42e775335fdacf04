//! The import of `completions`: the only place where a run receives the results of its calls and
//! timers.

use belljar_model::{JsonText, RunStep};

use super::state::RunState;
use crate::{
    CallError,
    bindings::belljar::sandbox::{
        completions::{Completion, Event, Host},
        tools::CallError as WitCallError,
    },
    inbox::{self, Answer, Kept},
    replay::HandOver,
    rest::{self, Stood},
};

impl Host for RunState {
    async fn next(&mut self) -> wasmtime::Result<Completion> {
        self.is_waiting = true;
        let completion = self.next_completion().await?;
        self.is_waiting = false;
        Ok(completion)
    }
}

impl RunState {
    async fn next_completion(&mut self) -> wasmtime::Result<Completion> {
        if self.outstanding == 0 {
            return Err(wasmtime::Error::msg("the guest waits, and no call and no timer is outstanding"));
        }
        if self.stand_in.is_some()
            && let Some((number, event)) = self.replayed()?
        {
            self.outstanding -= 1;
            self.journal.handed_over(number);
            return Ok(Completion { number: u32::try_from(number)?, event });
        }
        // Taken only when the run has its turn: if it ends before, the inbox still has the results.
        let inbox::Completion { number, event } = loop {
            if let Some(next) = self.inbox.take() {
                break next;
            }
            if !self.inbox.can_come(|number| self.journal.is_open(number)) {
                return Err(wasmtime::Error::msg("the recorded order is of another run"));
            }
            let (inbox, journal) = (self.inbox.clone(), self.journal.clone());
            let (parking, meter, after) = (self.parking.clone(), self.meter.clone(), self.rest_after.clone());
            let standing = async move { rest::ready(&parking, &inbox, &journal, &meter, after.as_ref()).await };
            if self.turn.wait_for(standing).await == Stood::Long {
                let (open, recorded) = (self.journal.open_calls(), self.recorder.bytes());
                self.is_put_aside = self.turn.wait_for(self.tools.put_aside(open, recorded)).await;
                if self.is_put_aside {
                    return Err(wasmtime::Error::msg("the run is put aside"));
                }
            }
        };
        let event = match event {
            inbox::Event::Answer(answer) => self.hand_over(number, answer).await,
            inbox::Event::Elapsed => {
                self.recorder.elapsed(number);
                Event::Elapsed
            }
        };
        self.outstanding -= 1;
        self.journal.handed_over(number);
        self.tools.observe(RunStep::HandedOver { call: number });
        Ok(Completion { number: u32::try_from(number)?, event })
    }

    async fn hand_over(&mut self, number: u64, Answer { result, record }: Answer) -> Event {
        let (result, record) = match result {
            Ok(Kept::Here { text, room }) => {
                // It belongs to the guest from here on.
                drop(room);
                (Ok(text), record)
            }
            Ok(Kept::There(written)) => {
                let read = self.turn.wait_for(self.inbox.read(number, written, record)).await;
                (read, self.inbox.was_read())
            }
            Err(fault) => (Err(fault), record),
        };
        self.recorder.answer(number, &result, record.as_ref());
        if let Some(tool) = self.journal.end(number, record) {
            self.tools.handing_over(number, &tool.path, result.as_ref());
        }
        event(result)
    }

    /// The recording's next completion, or `None` where it ends and the run continues.
    fn replayed(&mut self) -> wasmtime::Result<Option<(u64, Event)>> {
        let Some(stand_in) = &mut self.stand_in else {
            return Err(wasmtime::Error::msg("there is no recording"));
        };
        match stand_in.next()? {
            HandOver::Live(recording, spent) => {
                self.stand_in = None;
                self.meter.go_on(spent);
                self.make_calls_again(&recording);
                Ok(None)
            }
            HandOver::PutAside => {
                self.is_put_aside = true;
                Err(wasmtime::Error::msg("the run was put aside"))
            }
            HandOver::Elapsed { number } => {
                if !self.inbox.cancel_timer(number) {
                    return Err(stand_in.not_open(number).into());
                }
                self.recorder.elapsed(number);
                Ok(Some((number, Event::Elapsed)))
            }
            HandOver::Answer { number, result, kept } => {
                let Some(tool) = self.journal.open_tool(number) else {
                    return Err(stand_in.not_open(number).into());
                };
                if let Ok(text) = &result {
                    self.journal.received(text.as_str().len());
                }
                let record = kept.map(|kept| kept.of(&tool));
                self.recorder.answer(number, &result, record.as_ref());
                self.journal.end(number, record);
                self.tools.handing_over(number, &tool.path, result.as_ref());
                Ok(Some((number, event(result))))
            }
        }
    }
}

fn event(result: Result<JsonText, CallError>) -> Event {
    match result {
        Ok(text) => Event::Answer(JsonText::into_string(text)),
        Err(CallError { message, hint, is_refusal, denial, name }) => {
            Event::Fault(WitCallError { message, hint, refused: is_refusal, denied: denial, name })
        }
    }
}
