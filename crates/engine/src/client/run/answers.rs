//! Sends the answers of a run's calls to its process.
//!
//! Answers that may be sent unasked are sent at once (see `allowance.rs`). All others wait here, in
//! memory or in the run's file, until the process reports that it has room. It decides that by its
//! own count, in the order in which its script needs the answers.

use std::sync::Arc;

use belljar_model::JsonText;
use belljar_sandbox::{
    CallError, GrantedTool,
    apart::{Answer, CallEnd, Counted},
};

use super::Run;
use crate::{
    client::lost::Violation,
    protocol::{from_worker::Take, outbox::Room, to_worker},
};

impl Run {
    /// Sends an answer, or lets it wait until the process has room for it. Until the answer is
    /// sent, its call is open, so that `max_concurrent_calls` bounds the waiting answers.
    pub(super) fn deliver(&self, number: u64, CallEnd { answer, record }: CallEnd) {
        self.tell_watched();
        let mut state = self.state.lock();
        let Some(call) = state.open.get_mut(&number) else { return };
        if !std::mem::replace(&mut call.is_answered, true)
            && let Some(record) = record
        {
            self.terms.keeper.keep_record(&record);
            state.ended.insert(number, record);
        }
        if state.ending.is_none() {
            return;
        }
        let bytes = answer.bytes();
        match answer {
            Answer::Here(answer) if state.allowance.grant(to_worker::answer_weight(bytes)) => {
                drop(state);
                let (result, counted) = answer.into_parts();
                self.hand_over(number, &result);
                self.outbox.send_counted(to_worker::call_answer(self.number, number, &result), counted);
            }
            answer => {
                state.waiting.insert(number, answer);
                drop(state);
                self.outbox.send(to_worker::answer_waits(self.number, number, bytes));
            }
        }
    }

    /// Sends an answer for which the process has room.
    pub(super) fn take_answer(self: &Arc<Self>, Take { number, admitted }: Take) -> Result<(), Violation> {
        let answer = {
            let mut state = self.state.lock();
            if state.ending.is_none() {
                return Ok(());
            }
            state.allowance.note_admitted(admitted)?;
            state.waiting.remove(&number).ok_or(Violation::Answer)?
        };
        let bytes = answer.bytes();
        match answer {
            Answer::Here(answer) => match self.outbox.room_now(bytes) {
                Some(room) => self.send(number, room, answer.into_parts()),
                None => {
                    let run = self.clone();
                    self.spawn(async move {
                        if let Some(room) = run.outbox.room_for(bytes).await {
                            run.send(number, room, answer.into_parts());
                        }
                    });
                }
            },
            Answer::There(answer) => {
                let run = self.clone();
                self.spawn(async move {
                    // There must be room for it in memory before it is read.
                    let Some(room) = run.outbox.room_for(bytes).await else { return };
                    let result = answer.read().await;
                    if let Err(fault) = &result {
                        run.note_error(number, fault);
                    }
                    run.send(number, room, (result, None));
                });
            }
        }
        Ok(())
    }

    /// The script no longer wants an answer that waits.
    pub(super) fn forget_answer(&self, number: u64) -> Result<(), Violation> {
        let answer = {
            let mut state = self.state.lock();
            if state.ending.is_none() {
                return Ok(());
            }
            state.waiting.remove(&number).ok_or(Violation::Answer)?
        };
        self.close_call(number);
        drop(answer);
        Ok(())
    }

    fn send(
        &self,
        number: u64,
        room: Room,
        (result, counted): (Result<JsonText, CallError>, impl Into<Option<Counted>>),
    ) {
        self.hand_over(number, &result);
        self.outbox.send_in(room, to_worker::call_answer(self.number, number, &result), counted.into());
    }

    /// The answer to a call was lost on its way to the script.
    fn note_error(&self, number: u64, fault: &CallError) {
        if let Some(record) = self.state.lock().ended.get_mut(&number) {
            (record.ok, record.error) = (false, Some(fault.message.clone()));
        }
    }

    /// Notes that an answer is about to be sent. The gateway cannot know when the process gives it
    /// to the script, so from now on all messages may depend on it.
    fn hand_over(&self, number: u64, result: &Result<JsonText, CallError>) {
        if let Some(tool) = self.close_call(number) {
            self.terms.tools.handing_over(number, &tool.path, result.as_ref());
        }
    }

    /// Lets another call begin in place of this one. Must be called before its answer is sent: the
    /// next call may come at once.
    fn close_call(&self, number: u64) -> Option<GrantedTool> {
        let call = {
            let mut state = self.state.lock();
            let call = state.open.remove(&number)?;
            state.held = state.held.saturating_sub(call.held);
            self.resting.close(number);
            call
        };
        self.terms.keeper.release_arguments(call.held);
        Some(call.tool)
    }
}
