//! Servers that serve one thing at a time: an instance for each, and no more than allowed.

use belljar_model::{Activation, Affinity, PathRules};
use serde_json::json;

use super::*;

/// A server with an instance for each `project`, which it is started and activated with.
fn keyed(instances: usize, change: impl FnOnce(&mut belljar_model::Life)) -> Upstream {
    let mut spec = spec(&["stateful", "--project={key}"]);
    let instances = instances.try_into().expect("it is not zero");
    spec.life.affinity = Some(Affinity { template: "{project}".to_owned(), instances });
    spec.life.on_start =
        vec![Activation { tool: "activate".to_owned(), arguments: arguments(json!({"project": "{key}"})) }];
    change(&mut spec.life);
    upstream(spec)
}

async fn started(upstream: &Upstream, project: &str) -> Value {
    let seen = call(upstream, "started", json!({"project": project, "other": 1})).await.expect("a result");
    seen["structuredContent"].clone()
}

fn keys(upstream: &Upstream) -> Vec<Option<String>> {
    upstream.status().into_iter().map(|status| status.key).collect()
}

#[tokio::test]
async fn a_call_goes_to_the_instance_of_its_key() {
    let upstream = keyed(2, |_| ());
    let (a, b) = tokio::join!(started(&upstream, "a"), started(&upstream, "b"));
    assert_eq!((&a["arguments"], &b["arguments"]), (&json!(["--project=a"]), &json!(["--project=b"])));
    assert_eq!(a["activated"], json!([{"project": "a"}]));
    assert_eq!(a["call"], json!({"other": 1}), "the tool itself does not know of projects");
    assert_eq!(started(&upstream, "a").await["pid"], a["pid"], "the warm instance is used");
    assert_ne!(a["pid"], b["pid"]);
    upstream.shutdown().await;
}

#[tokio::test]
async fn scripts_are_asked_for_the_key() {
    let upstream = keyed(2, |_| ());
    let tools = upstream.tools("child").await.expect("it starts without a key");
    assert!(tools.iter().all(|tool| tool.input_schema["required"] == json!(["project"])));
    let fault = call(&upstream, "started", json!({})).await.expect_err("which one?");
    assert!(matches!(&fault, CallFault::Key { argument, .. } if argument == "project"), "{fault:?}");
    upstream.shutdown().await;
}

#[tokio::test]
async fn the_instance_whose_use_is_longest_ago_makes_room() {
    let upstream = keyed(2, |_| ());
    let a = started(&upstream, "a").await;
    started(&upstream, "b").await;
    started(&upstream, "a").await;
    started(&upstream, "c").await;
    let mut seen = keys(&upstream);
    seen.sort();
    assert_eq!(seen, [Some("a".to_owned()), Some("c".to_owned())]);
    assert_eq!(started(&upstream, "a").await["pid"], a["pid"]);
    upstream.shutdown().await;
}

#[tokio::test]
async fn an_instance_in_use_is_waited_for() {
    let mut spec = spec(&["probe"]);
    spec.life.affinity = Some(Affinity { template: "{project}".to_owned(), instances: 1.try_into().expect("one") });
    let upstream = upstream(spec);
    call(&upstream, "cancelled", json!({"project": "a"})).await.expect("a result");
    let hang = ToolPath::new("child", "hang");
    let hanging = upstream.call(&hang, arguments(json!({"project": "a"})), SHORT);
    let other = call(&upstream, "cancelled", json!({"project": "b"}));
    let (hanging, other) = tokio::join!(hanging, other);
    assert!(matches!(hanging, Err(CallFault::Timeout { .. })), "{hanging:?}");
    other.expect("its turn comes when the other has ended");
    assert_eq!(keys(&upstream), [Some("b".to_owned())]);
    upstream.shutdown().await;
}

#[tokio::test]
async fn an_instance_with_state_is_not_given_up() {
    let upstream = keyed(1, |life| life.stateful = true);
    started(&upstream, "a").await;
    let fault = call(&upstream, "started", json!({"project": "b"})).await.expect_err("there is no room");
    assert!(matches!(fault, CallFault::NoInstance { limit: 1, .. }), "{fault:?}");
    started(&upstream, "a").await;
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_path_is_resolved_before_it_is_a_key_and_refused_where_the_owner_says_so() {
    let folder = scratch_file();
    std::fs::create_dir_all(folder.join("one")).expect("a folder");
    std::fs::create_dir_all(folder.join("private")).expect("a folder");
    let real = folder.canonicalize().expect("it is there");
    let upstream = keyed(2, |life| {
        life.paths = Some(PathRules {
            arguments: vec!["project".to_owned()],
            roots: vec![folder.clone()],
            denied: vec![folder.join("private")],
            guidance: Some("Projects are in the folder of projects.".to_owned()),
        });
    });
    let one = started(&upstream, "one").await;
    let expected = format!("--project={}", real.join("one").display());
    assert_eq!(one["arguments"], json!([expected]));
    let same = started(&upstream, &format!("{}/./one/", folder.display())).await;
    assert_eq!(same["pid"], one["pid"], "another spelling is the same project");
    for refused in ["../one", "/etc", "private", "one\u{0}"] {
        let fault = call(&upstream, "started", json!({"project": refused})).await.expect_err(refused);
        assert!(matches!(&fault, CallFault::Path { argument, .. } if argument == "project"), "{fault:?}");
        assert!(fault.to_string().ends_with("Projects are in the folder of projects."), "{fault}");
    }
    upstream.shutdown().await;
    std::fs::remove_dir_all(&folder).expect("it was ours");
}
