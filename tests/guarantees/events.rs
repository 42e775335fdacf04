//! What happens in runs, as those hear it who watch: each step in its order, and of what a slow one
//! loses, how much it was.

use std::sync::Arc;

use belljar_gateway::{Gateway, RunEvents, Watched};
use belljar_image::Image;
use belljar_model::{Limits, LimitsPatch, RunId, RunStep};
use belljar_sandbox::{Sandbox, SandboxOptions};
use serde_json::{Value, json};

use crate::stub_server::{Stub, gateway, text};

fn stub() -> Stub {
    let tools =
        json!([{ "name": "look", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } }]);
    Stub::new(tools, |_, _| text("seen"))
}

/// A gateway that runs one script at a time.
fn one_at_a_time() -> Gateway {
    let options = SandboxOptions { max_live: 1, ..SandboxOptions::default() };
    let sandbox = Arc::new(Sandbox::new(&Image::embedded(), options).unwrap());
    Gateway::new(gateway(&[("kid", stub())], Vec::new()).toolbox().clone(), sandbox, Limits::default())
}

/// The names of the steps of a run, up to its end.
async fn steps(events: &mut RunEvents, run: RunId) -> Vec<String> {
    let mut names = Vec::new();
    while names.last().is_none_or(|name| name != "ended") {
        match events.next().await.unwrap() {
            Watched::Event(event) if event.run == run => {
                let said: Value = serde_json::to_value(&event).unwrap();
                names.push(said["event"].as_str().unwrap().to_owned());
            }
            Watched::Event(_) => {}
            Watched::Lost(lost) => panic!("{lost} events are lost"),
        }
    }
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_watches_hears_each_step_of_a_run_in_its_order() {
    let gateway = one_at_a_time().with_origin("test");
    let (mut ones, mut others) = (gateway.toolbox().events(), gateway.toolbox().events());
    let source =
        "console.warn('before'); const it = await kid.look({}); await new Promise(end => setTimeout(end, 1)); it";
    let patch = LimitsPatch::default();
    let (one, other) =
        futures::join!(gateway.execute(source.to_owned(), &patch), gateway.execute("1".to_owned(), &patch));
    assert_eq!(one.result.unwrap().as_str(), "\"seen\"");
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
    assert_eq!(steps(&mut ones, one.run.unwrap()).await, of_one);
    let of_other = ["begun", "queued", "admitted", "started", "ended"];
    assert_eq!(steps(&mut others, other.run.unwrap()).await, of_other);

    // What they say, and no more of a text than a view shows.
    let mut events = gateway.toolbox().events();
    let source = "console.log('é'.repeat(2000)); throw new Error('on purpose')";
    let long = gateway.execute(source.to_owned(), &patch).await;
    let mut said = Vec::new();
    while said.last().is_none_or(|step| !matches!(step, RunStep::Ended { .. })) {
        let Watched::Event(event) = events.next().await.unwrap() else { panic!("some are lost") };
        assert_eq!(Some(event.run), long.run);
        said.push(event.step);
    }
    assert_eq!(said.first(), Some(&RunStep::Begun { origin: "test" }));
    let cut = said.iter().find_map(|step| match step {
        RunStep::Log { text, .. } => Some(text.len()),
        _ => None,
    });
    assert_eq!((cut, long.logs[0].text.len()), (Some(RunStep::MAX_TEXT), 4000));
    assert_eq!(said.last(), Some(&RunStep::Ended { error: Some(belljar_model::ErrorKind::Exception) }));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_slow_loses_events_is_told_how_many_and_holds_up_no_run() {
    let gateway = one_at_a_time();
    let mut events = gateway.toolbox().events();
    let outcome =
        gateway.execute("for (let i = 0; i < 3000; i++) console.log(i)".to_owned(), &LimitsPatch::default()).await;
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
            Watched::Lost(more) => panic!("{more} more are lost, and nothing happens"),
        }
    }
    // Begun, admitted, started, ended, and the logs.
    assert_eq!(lost + heard, 3004);
    assert!(heard >= 1000, "{heard}");
    // Whoever comes later hears what happens from then on.
    let mut later = gateway.toolbox().events();
    gateway.execute("1".to_owned(), &LimitsPatch::default()).await;
    assert!(matches!(later.next().await, Some(Watched::Event(event)) if matches!(event.step, RunStep::Begun { .. })));
}
