//! What listeners hear of runs: each step in order, and for a slow listener, how much it lost.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use belljar_engine::{Engine, ProcessEngine};
use belljar_gateway::{Gateway, RunEvents, Sampling, Toolbox, Watched};
use belljar_image::Image;
use belljar_model::{ErrorKind, Limits, RunEvent, RunId, RunStep, TraceContext};
use belljar_sandbox::{Sandbox, SandboxOptions};
use belljar_worker::WorkerProgram;
use parking_lot::Mutex;
use serde_json::json;
use tokio::{runtime::Handle, sync::Notify};

use crate::{
    stub_server::{Stub, gateway, text, toolbox_of},
    support::belljar,
};

/// A server whose one tool does this.
fn stub(look: impl Fn() + Send + Sync + 'static) -> Stub {
    let tools =
        json!([{ "name": "look", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } }]);
    Stub::new(tools, move |_, _| {
        look();
        text("seen")
    })
}

/// Engines that run one script at a time: one in this process, and one in a process of its own.
async fn engines() -> [Engine; 2] {
    let options = || SandboxOptions { max_live: 1, ..SandboxOptions::default() };
    let here = Arc::new(Sandbox::new(&Image::embedded(), options()).unwrap());
    let program = WorkerProgram { program: belljar().to_owned(), arguments: vec!["__engine".into()] };
    [here.into(), Arc::new(ProcessEngine::start(program, options()).await.unwrap()).into()]
}

fn over(engine: Engine, stub: Stub) -> Gateway {
    Gateway::new(gateway(&[("kid", stub)], Vec::new()).toolbox().clone(), engine, Limits::default())
}

/// Listens until this has completed, and returns the events.
async fn hear(events: &mut RunEvents, heard: &mut Vec<RunEvent>, until: impl Fn(&RunStep) -> bool) -> RunEvent {
    loop {
        match events.next().await.unwrap() {
            Watched::Event(event) => {
                heard.push(event.clone());
                if until(&event.step) {
                    return event;
                }
            }
            Watched::Child(_) => {}
            Watched::Lost(lost) => panic!("{lost} events are lost"),
        }
    }
}

/// The names of the steps of a run.
fn steps(heard: &[RunEvent], run: RunId) -> Vec<String> {
    let of_run = heard.iter().filter(|event| event.run == run);
    of_run.map(|event| serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned()).collect()
}

fn is_end(step: &RunStep) -> bool {
    matches!(step, RunStep::Ended { .. })
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_watches_hears_each_step_of_a_run_in_its_order() {
    for engine in engines().await {
        let (gate, handle) = (Arc::new(Notify::new()), Handle::current());
        let opened = gate.clone();
        let look = stub(move || tokio::task::block_in_place(|| handle.block_on(opened.notified())));
        let gateway = over(engine, look).with_origin("test");
        let (mut events, mut heard) = (gateway.toolbox().events(), Vec::new());
        let begin = |source: &str| {
            let (gateway, source) = (gateway.clone(), source.to_owned());
            tokio::spawn(async move { gateway.execute(source).await })
        };
        let one = begin(
            "console.warn('before'); const it = await kid.look({}); await new Promise(end => setTimeout(end, 1)); it",
        );
        hear(&mut events, &mut heard, |step| matches!(step, RunStep::Sent { .. })).await;
        let other = begin("1");
        hear(&mut events, &mut heard, |step| *step == RunStep::Queued).await;
        gate.notify_one();
        let (one, other) = (one.await.unwrap(), other.await.unwrap());
        assert_eq!(one.result.unwrap().as_str(), "\"seen\"");
        for _ in 0..2 {
            hear(&mut events, &mut heard, is_end).await;
        }
        let of_one = [
            "begun",
            "admitted",
            "started",
            "log",
            "call_begun",
            "sent",
            "answered",
            "handed_over",
            "handed_over",
            "ended",
        ];
        assert_eq!(steps(&heard, one.run.unwrap()), of_one);
        assert_eq!(steps(&heard, other.run.unwrap()), ["begun", "queued", "admitted", "started", "ended"]);

        // Their contents, with no more of a text than a view shows.
        let (mut events, mut said) = (gateway.toolbox().events(), Vec::new());
        let long = begin("console.log('é'.repeat(2000)); throw new Error('on purpose')").await.unwrap();
        hear(&mut events, &mut said, is_end).await;
        assert!(said.iter().all(|event| Some(event.run) == long.run));
        let said: Vec<RunStep> = said.into_iter().map(|event| event.step).collect();
        assert_eq!(said.first(), Some(&RunStep::Begun { origin: "test", principal: None, client: None, trace: None }));
        let cut = said.iter().find_map(|step| match step {
            RunStep::Log { text, .. } => Some(text.len()),
            _ => None,
        });
        assert_eq!((cut, long.logs[0].text.len()), (Some(RunStep::MAX_TEXT), 4000));
        let failed = |step: &RunStep| matches!(step, RunStep::Ended { error: Some(ErrorKind::Exception), .. });
        assert!(said.last().is_some_and(failed));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_begins_to_watch_hears_what_happens_in_a_run_from_then_on() {
    for engine in engines().await {
        let (toolbox, events) = (Arc::<OnceLock<Arc<Toolbox>>>::default(), Arc::<Mutex<Option<RunEvents>>>::default());
        let (of_stub, watched) = (toolbox.clone(), events.clone());
        let look = stub(move || *watched.lock() = of_stub.get().map(|toolbox| toolbox.events()));
        let gateway = over(engine, look);
        let _ = toolbox.set(gateway.toolbox().clone());
        let source = "console.log('a'); await kid.look({}); console.log('b')".to_owned();
        let run = gateway.execute(source).await.run.unwrap();
        let (mut events, mut heard) = (events.lock().take().unwrap(), Vec::new());
        hear(&mut events, &mut heard, is_end).await;
        assert_eq!(steps(&heard, run), ["answered", "handed_over", "log", "ended"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_slow_loses_events_is_told_how_many_and_holds_up_no_run() {
    let [here, _] = engines().await;
    let gateway = over(here, stub(|| {}));
    let mut events = gateway.toolbox().events();
    let outcome = gateway.execute("for (let i = 0; i < 3000; i++) console.log(i)".to_owned()).await;
    assert_eq!(outcome.logs.len(), 3000, "{:?}", outcome.result);
    let Some(Watched::Lost(lost)) = events.next().await else { panic!("nothing is lost") };
    let mut heard = 0;
    loop {
        match events.next().await.unwrap() {
            Watched::Event(event) => {
                heard += 1;
                if matches!(event.step, RunStep::Ended { .. }) {
                    break;
                }
            }
            Watched::Child(_) => {}
            Watched::Lost(more) => panic!("{more} more are lost, and nothing happens"),
        }
    }
    // Begun, admitted, started, ended, and the logs.
    assert_eq!(lost + heard, 3004);
    assert!(heard >= 1000, "{heard}");
    // A later listener hears what happens from then on.
    let mut later = gateway.toolbox().events();
    gateway.execute("1".to_owned()).await;
    assert!(matches!(later.next().await, Some(Watched::Event(event)) if matches!(event.step, RunStep::Begun { .. })));
}

/// Records all traces, or none.
#[derive(Default)]
struct Recorded(AtomicBool);

impl Sampling for Recorded {
    fn is_sampled(&self, _: u128, _: Option<&TraceContext>) -> bool {
        self.0.load(SeqCst)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_event_is_made_of_a_run_whose_trace_is_not_recorded_if_only_traces_listen() {
    for engine in engines().await {
        let recorded = Arc::<Recorded>::default();
        let toolbox = toolbox_of(&[("kid", stub(|| {}))], Vec::new(), |_| {}).with_sampling(recorded.clone());
        let gateway = Gateway::new(Arc::new(toolbox), engine, Limits::default());
        let run = async || {
            let source = "console.log('a'); await kid.look({}); 1".to_owned();
            gateway.execute(source).await.run.unwrap()
        };
        let mut events = gateway.toolbox().traced_events();
        run().await;
        let mut made = 0;
        while let Some(watched) = events.next_waiting() {
            made += usize::from(!matches!(watched, Watched::Child(_)));
        }
        assert_eq!(made, 0);

        recorded.0.store(true, SeqCst);
        let (id, mut heard) = (run().await, Vec::new());
        hear(&mut events, &mut heard, is_end).await;
        assert_eq!(steps(&heard, id).len(), heard.len(), "{heard:#?}");
        assert!(heard.len() >= 8, "{heard:#?}");

        // Whoever listens to all runs hears of all.
        recorded.0.store(false, SeqCst);
        let mut all = gateway.toolbox().events();
        let (id, mut of_all) = (run().await, Vec::new());
        hear(&mut all, &mut of_all, is_end).await;
        assert_eq!(steps(&of_all, id), steps(&heard, heard[0].run));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_that_panics_ends_alone() {
    let [here, _] = engines().await;
    let gateway = over(here, stub(|| {}));
    let (mut events, mut other) = (gateway.toolbox().events(), gateway.toolbox().events());
    let panics = tokio::spawn(async move {
        other.next().await;
        panic!("on purpose");
    });
    let outcome = gateway.execute("await kid.look({})".to_owned()).await;
    assert_eq!(outcome.result.unwrap().as_str(), "\"seen\"");
    assert!(panics.await.unwrap_err().is_panic());
    let outcome = gateway.execute("2".to_owned()).await;
    assert_eq!(outcome.result.unwrap().as_str(), "2");
    let mut heard = Vec::new();
    for _ in 0..2 {
        hear(&mut events, &mut heard, is_end).await;
    }
    assert_eq!(steps(&heard, outcome.run.unwrap()).last().map(String::as_str), Some("ended"));
}
