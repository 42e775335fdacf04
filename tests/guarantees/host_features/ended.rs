//! The end of a run is the end of its calls in the host.

use std::{sync::Arc, time::Duration};

use belljar_model::{Effect, ErrorKind, Limits};
use belljar_sandbox::{CallStyle, ScriptValue, Tool, ToolSet};
use tokio::sync::mpsc;

use super::engines;

/// What happens to calls: that one began, and that its future was dropped.
#[derive(Debug, PartialEq)]
enum Seen {
    Begun,
    Dropped,
}

struct Tell(mpsc::UnboundedSender<Seen>);

impl Drop for Tell {
    fn drop(&mut self) {
        let _ = self.0.send(Seen::Dropped);
    }
}

/// A function `wait` that never answers.
fn waits() -> (ToolSet, mpsc::UnboundedReceiver<Seen>) {
    let (tell, seen) = mpsc::unbounded_channel();
    let tools = ToolSet::new().with_function(CallStyle::Positional, Tool::new("wait", Effect::External), move |_| {
        let tell = Tell(tell.clone());
        async move {
            let _ = tell.0.send(Seen::Begun);
            std::future::pending::<()>().await;
            drop(tell);
            Ok(ScriptValue::Null)
        }
    });
    (tools, seen)
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_a_run_drops_the_calls_that_it_had_begun() {
    for engine in engines().await {
        let (tools, mut seen) = waits();
        let mut run =
            Box::pin(engine.run("await Promise.all([wait(1), wait(2)])").tools(Arc::new(tools)).into_future());
        let begun = async {
            for _ in 0..2 {
                assert_eq!(seen.recv().await, Some(Seen::Begun));
            }
        };
        tokio::select! {
            outcome = &mut run => panic!("it waits for ever: {outcome:#?}"),
            () = begun => {}
        }
        drop(run);
        for _ in 0..2 {
            assert_eq!(seen.recv().await, Some(Seen::Dropped));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_cancelled_or_too_late_drops_its_calls_before_it_ends() {
    for engine in engines().await {
        for (limits, kind) in [
            (Limits { timeout: Duration::from_secs(5), ..Limits::default() }, ErrorKind::Timeout),
            (Limits::default(), ErrorKind::Cancelled),
        ] {
            let (tools, seen) = waits();
            let seen = Arc::new(tokio::sync::Mutex::new(seen));
            let watched = seen.clone();
            let cancelled = async move {
                assert_eq!(watched.lock().await.recv().await, Some(Seen::Begun));
                if kind == ErrorKind::Timeout {
                    std::future::pending::<()>().await;
                }
            };
            let outcome = engine.run("await wait()").limits(&limits).tools(Arc::new(tools)).cancel_on(cancelled).await;
            assert_eq!(outcome.result.expect_err("it ended early").kind, kind);
            assert_eq!(seen.lock().await.recv().await, Some(Seen::Dropped), "{kind}");
        }
    }
}
