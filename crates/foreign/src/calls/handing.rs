//! Passes answers to the component, one after the other, and collects what is left of the calls in
//! the end.

use std::{
    sync::atomic::Ordering::SeqCst,
    task::{Context, Poll},
    time::Instant,
};

use belljar_model::CallRecord;
use belljar_sandbox::{
    GrantedTool, apart,
    common::{CallEnd, Stop},
};
use futures::StreamExt as _;

use super::{Calls, Came, Ended, Handed, State};

impl Calls {
    /// The next answer in the recording, which must belong to a call for which `is_open` returns
    /// true.
    pub(super) fn recalled(&self, is_open: impl Fn(u64) -> bool) -> Result<(u64, Came), Stop> {
        let (number, result, kept) = self.tape.recalled_answer(is_open)?;
        let tool = self.state.lock().open.get(&number).map(|open| open.tool.clone());
        let record = kept.zip(tool).map(|(kept, tool)| kept.of(&tool));
        Ok((number, Came { result, record, counted: None }))
    }

    /// Notes that the component gets this answer, and returns it.
    pub(super) fn taken(&self, number: u64, Came { result, record, counted }: Came) -> Handed {
        self.tape.answer(number, &result, record.as_ref());
        let mut state = self.state.lock();
        let path = state.open.get(&number).map(|open| open.tool.path.clone());
        if let Some(record) = record {
            self.keeper.keep_record(&record);
            state.ended.push(record);
        }
        state.order.push(number);
        if let Some(open) = state.open.get_mut(&number) {
            open.is_made = false;
        }
        if let Ok(result) = &result {
            state.largest_result = state.largest_result.max(result.as_str().len() as u64);
        }
        drop(state);
        if let Some(path) = path {
            self.tools.handing_over(number, &path, result.as_ref());
        }
        (result, counted)
    }

    /// Passes the next answer to a component that cannot continue without one. A component that
    /// continues after it `yields` might get answers at any time: then its run cannot be repeated.
    /// Returns whether there was an answer.
    pub(crate) fn give_next(&self, context: &mut Context<'_>, yields: bool) -> bool {
        let mut beside = self.beside.lock();
        while let Poll::Ready(Some(came)) = beside.poll_next_unpin(context) {
            // The answer to a call that was given up is not wanted any more.
            if let Ok(came) = came {
                self.state.lock().came.push_back(came);
            }
        }
        drop(beside);
        if self.blocked.load(SeqCst) > 0 {
            return false;
        }
        let waits = |number: u64| self.state.lock().open.get(&number).is_some_and(|open| open.gate.is_some());
        let (number, came) = if self.tape.is_replay() {
            let is_waiting = self.state.lock().open.values().any(|open| open.gate.is_some());
            if yields || !is_waiting {
                return false;
            }
            // If there is none, the run ends.
            let Ok(recalled) = self.recalled(waits) else { return false };
            recalled
        } else {
            let Some(next) = self.state.lock().next_wanted() else { return false };
            if yields {
                self.tape.spoil("the component looked for answers without waiting for them");
            }
            next
        };
        let gate = self.state.lock().open.get_mut(&number).and_then(|open| open.gate.take());
        if let Some((gate, _)) = gate {
            let _ = gate.send(self.taken(number, came));
        }
        true
    }

    /// Everything about the calls, when the run has ended.
    pub(crate) fn end(&self) -> Ended {
        self.beside.lock().clear();
        let mut state = self.state.lock();
        let mut calls = std::mem::take(&mut state.ended);
        let mut left = std::mem::take(&mut state.given_up);
        let open = std::mem::take(&mut state.open).into_iter().filter(|(_, open)| open.is_made);
        left.extend(open.map(|(number, open)| (number, (open.tool, open.begun))));
        let mut late = std::mem::take(&mut state.late);
        late.extend(std::mem::take(&mut state.came).into_iter().map(|(number, came)| (number, came.record)));
        let unanswered: Vec<(u64, Option<CallRecord>)> = match self.tape.is_replay() {
            true => {
                let of = |(number, kept): (u64, Option<CallEnd>)| {
                    (number, kept.zip(left.get(&number)).map(|(kept, (tool, _))| kept.of(tool)))
                };
                self.tape.recalled_unanswered().into_iter().map(of).collect()
            }
            false => {
                let of = |(number, (tool, begun)): (u64, (GrantedTool, Instant))| match late.remove(&number) {
                    Some(record) => (number, record),
                    None => (number, Some(apart::unanswered(&tool, begun))),
                };
                left.into_iter().map(of).collect()
            }
        };
        for (number, record) in unanswered {
            self.tape.unanswered(number, record.as_ref());
            calls.extend(record);
        }
        Ended {
            calls,
            order: std::mem::take(&mut state.order),
            begun: state.begun,
            concurrent: state.concurrent,
            largest_arguments: state.largest_arguments,
            largest_result: state.largest_result,
            peak_held: self.keeper.peak(),
        }
    }
}

impl State {
    /// The next answer that the component waits for. Answers to calls that it gave up are kept for
    /// the outcome.
    fn next_wanted(&mut self) -> Option<(u64, Came)> {
        while let Some((number, came)) = self.came.pop_front() {
            if self.open.get(&number).is_some_and(|open| open.gate.is_some()) {
                return Some((number, came));
            }
            self.late.insert(number, came.record);
        }
        None
    }
}
