//! Repeats a recorded run without its tools.

use std::{future::ready, sync::Arc, time::Duration};

use belljar_model::{ErrorKind, JsonText, Limits, Outcome, RunError};
use belljar_recording::Cause;
use belljar_sandbox::{
    CallError, Directory, GrantedTool, Namespace, Recording, ReplayError, Tools, Unavailable, apart,
    common::{Replay, compared},
};
use futures::future::BoxFuture;

use crate::{
    Component, Components, failure,
    run::{Ended, Prepared, ended, engine_id},
    server::Order,
    tape::Tape,
};

impl Components {
    /// Repeats the recorded run of a component: no tool is called, no timer waits, and no clock is
    /// read. It ends in the recorded outcome, with the same value, logs and calls, and with the
    /// same fuel if it is run by the same version of wasmtime. Remarks are not added.
    ///
    /// `ceiling` bounds the replay, as that of a script
    /// ([`Sandbox::replay`](belljar_sandbox::Sandbox::replay)).
    ///
    /// # Errors
    /// [`ReplayError`]: the recording is of another component, or of none; or the first difference.
    ///
    /// # Cancellation
    /// Dropping the future ends the replay.
    pub async fn replay(
        &self,
        component: &Component,
        recording: &Recording,
        ceiling: &Limits,
    ) -> Result<Outcome, ReplayError> {
        let refused = |text: &str, hint: &str| {
            ReplayError::Run(RunError::new(ErrorKind::Usage, text.to_owned()).with_hint(hint.to_owned()))
        };
        let start = recording.start();
        if !start.surroundings.component {
            return Err(refused("the recording is of a script, not of a component", "replay it without a component"));
        }
        if start.engine.component != component.digest {
            let text = "the recording is of another component: the SHA-256 of its file differs";
            return Err(refused(text, "name the very file that was run"));
        }
        let damaged = || refused("the recording does not say what the component was given", "record the run anew");
        let (servers, input) = Order::parse(&start.source).ok_or_else(damaged)?;
        let linked = self.link(component, &servers).map_err(|refusal| ReplayError::Run(refusal.error()))?;
        let end = recording.end().ok_or_else(damaged)?;
        let limits = apart::replay_limits(recording, ceiling)?;
        // A run that was ended from outside ends again at the fuel that it had used by then.
        let fuel = if end.cause == Cause::Script { limits.fuel } else { end.fuel.min(limits.fuel) };
        let limits = Limits { fuel, ..limits };
        let is_exact = start.engine == engine_id(component);
        let tape = Tape::of_replay(Replay::new(recording.clone(), is_exact));
        let tools = Arc::new(Recorded(start.servers.iter().map(Namespace::from).collect()));
        let (seed, linked) = (start.seed, &linked);
        let prepared = Prepared { linked, input, limits: &limits, time: ceiling, tools, seed, tape: tape.clone() };
        let Ended { outcome, overdue } = ended(self, prepared, std::future::pending()).await;
        let replay = tape.into_replay().ok_or_else(damaged)?;
        compared(outcome, overdue, replay, (&end, is_exact), |hit, _| failure::of_limit(hit))
    }
}

/// The servers of a recorded run. None of them is called.
struct Recorded(Vec<Namespace>);

impl Tools for Recorded {
    fn namespaces(&self) -> Vec<Namespace> {
        self.0.clone()
    }

    fn directory(&self, _: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
        Box::pin(ready(Err(Unavailable { reason: "it is not recorded".to_owned() })))
    }

    fn call(&self, _: &GrantedTool, _: JsonText, _: Duration) -> BoxFuture<'static, Result<JsonText, CallError>> {
        Box::pin(ready(Err(CallError::new("a replay calls nothing"))))
    }
}
