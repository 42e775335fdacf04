//! Servers that serve one thing at a time: an instance for each, and no more than allowed.

use belljar_model::{Activation, Affinity, JsonText, PathRules, Project, Projects, Share};
use belljar_upstream::{Caller, Instances};
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
    assert!(matches!(&fault, CallError::Key { argument, .. } if argument == "project"), "{fault:?}");
    upstream.shutdown().await;
}

#[cfg(unix)]
#[tokio::test]
async fn the_owners_projects_are_the_only_keys_and_their_folders_stay_where_they_were() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("it is there");
    for sub in ["shop/src", "outside"] {
        std::fs::create_dir_all(root.join(sub)).expect("a folder");
    }
    let shop = Project {
        name: "shop".to_owned(),
        path: Some(root.join("shop/src")),
        within: Some(root.join("shop")),
        ..Project::default()
    };
    let plain = Project { name: "plain".to_owned(), ..Project::default() };
    let upstream = keyed(2, |life| {
        life.projects =
            Some(Projects { argument: "project".to_owned(), all: vec![shop.clone(), plain.clone()], default: None });
        life.paths = Some(PathRules { arguments: vec!["path".to_owned()], ..PathRules::default() });
    });
    let tools = upstream.tools("child").await.expect("it starts for one of them");
    let properties = &tools.first().expect("a tool").input_schema["properties"];
    for name in ["project", "context", "projects"] {
        assert!(properties[name]["description"].is_string(), "{name}: {properties}");
    }
    assert!(upstream.adds(&ToolPath::new("child", "started"), "context"));
    let at = root.join("shop/src").to_string_lossy().into_owned();
    let seen = started(&upstream, "shop").await;
    assert_eq!(
        (&seen["arguments"], &seen["activated"]),
        (&json!([format!("--project={at}")]), &json!([{"project": at}]))
    );
    assert_eq!(started(&upstream, "plain").await["arguments"], json!(["--project=plain"]));
    let sent = call(&upstream, "path", json!({"project": "shop", "path": "a"})).await.expect("a result");
    assert_eq!(sent["structuredContent"]["path"], format!("{at}/a"), "a relative path starts in the project");
    let outside = call(&upstream, "path", json!({"project": "shop", "path": root.join("outside")})).await;
    assert!(matches!(outside, Err(CallError::Path { .. })), "{outside:?}");
    for other in ["shopp", "../shop", &at] {
        let refused = call(&upstream, "started", json!({"project": other})).await;
        assert!(matches!(refused, Err(CallError::Key { .. })), "{other}: {refused:?}");
    }
    std::fs::remove_dir(root.join("shop/src")).expect("it is there");
    std::os::unix::fs::symlink(root.join("outside"), root.join("shop/src")).expect("a link");
    let escaped = call(&upstream, "started", json!({"project": "shop"})).await;
    assert!(matches!(escaped, Err(CallError::Path { .. })), "{escaped:?}");
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
    assert!(matches!(hanging, Err(CallError::Timeout { .. })), "{hanging:?}");
    other.expect("its turn comes when the other has ended");
    assert_eq!(keys(&upstream), [Some("b".to_owned())]);
    upstream.shutdown().await;
}

#[tokio::test]
async fn an_instance_with_state_is_not_given_up() {
    let upstream = keyed(1, |life| life.stateful = true);
    started(&upstream, "a").await;
    let fault = call(&upstream, "started", json!({"project": "b"})).await.expect_err("there is no room");
    assert!(matches!(fault, CallError::NoInstance { limit: 1, .. }), "{fault:?}");
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
        assert!(matches!(&fault, CallError::Path { argument, .. } if argument == "project"), "{fault:?}");
        assert!(fault.to_string().ends_with("Projects are in the folder of projects."), "{fault}");
    }
    upstream.shutdown().await;
    std::fs::remove_dir_all(&folder).expect("it was ours");
}

/// Makes a call for a principal, and returns the process that answered.
async fn pid_for(upstream: &Upstream, principal: &str) -> Result<Value, CallError> {
    let caller = Caller::default().of_principal(principal);
    let arguments = JsonText::from_value(&json!({}));
    let answer = upstream.call_text(&ToolPath::new("child", "started"), arguments, AMPLE, &caller).await?;
    Ok(answer.to_value().expect("JSON")["structuredContent"]["pid"].take())
}

fn shared_by(share: Share, change: impl FnOnce(&mut belljar_model::Life, &mut Instances)) -> Upstream {
    let (mut spec, mut options) = (spec(&["stateful", "--for={principal}"]), options());
    spec.life.share = share;
    change(&mut spec.life, &mut options.instances);
    upstream_with(vec![spec], options)
}

#[tokio::test]
async fn each_principal_has_an_instance_of_its_own_and_the_owner_another() {
    let upstream = shared_by(Share::Principal, |_, _| ());
    let (ann, bob) = tokio::join!(pid_for(&upstream, "ann"), pid_for(&upstream, "bob"));
    let (ann, bob) = (ann.expect("a result"), bob.expect("a result"));
    let owner = call(&upstream, "started", json!({})).await.expect("a result")["structuredContent"].clone();
    assert!(ann != bob && owner["pid"] != ann && owner["pid"] != bob);
    assert_eq!(owner["arguments"], json!(["--for=(owner)"]));
    assert_eq!(pid_for(&upstream, "ann").await.expect("a result"), ann, "the warm instance is used");
    let mut principals: Vec<_> = upstream.status().into_iter().map(|status| status.principal).collect();
    principals.sort();
    assert_eq!(principals, [None, Some("ann".to_owned()), Some("bob".to_owned())]);
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_server_that_the_owner_shares_has_one_instance_for_all() {
    let upstream = shared_by(Share::Owner, |_, _| ());
    let ann = pid_for(&upstream, "ann").await.expect("a result");
    assert_eq!(pid_for(&upstream, "bob").await.expect("a result"), ann);
    assert_eq!(upstream.status().len(), 1);
    upstream.shutdown().await;
}

#[tokio::test]
async fn the_instance_that_listed_the_tools_is_the_first_callers() {
    let mut spec = spec(&["stateful"]);
    spec.life.stateful = true;
    let upstream = upstream(spec);
    upstream.tools("child").await.expect("it starts");
    let listed = status(&upstream).pid.map(Value::from);
    assert_eq!(Some(pid_for(&upstream, "ann").await.expect("a result")), listed);
    assert_ne!(Some(pid_for(&upstream, "bob").await.expect("a result")), listed, "it is ann's by now");
    let owner = call(&upstream, "started", json!({})).await.expect("a result")["structuredContent"]["pid"].clone();
    assert_ne!(Some(owner), listed);
    upstream.shutdown().await;
}

#[tokio::test]
async fn instances_for_principals_are_bounded_and_one_without_state_makes_room() {
    for (per_server, in_all) in [(2, 9), (9, 2)] {
        let upstream = shared_by(Share::Principal, |_, instances| {
            (instances.per_server, instances.in_all) = (per_server, in_all);
        });
        for name in ["ann", "bob", "cleo"] {
            pid_for(&upstream, name).await.expect("a result");
        }
        let mut principals: Vec<_> = upstream.status().into_iter().filter_map(|status| status.principal).collect();
        principals.sort();
        assert_eq!(principals, ["bob", "cleo"]);
        upstream.shutdown().await;
    }
}

#[tokio::test]
async fn the_state_of_a_principal_is_not_given_up_for_another_until_it_is_old_and_then_its_principal_is_told() {
    let upstream = shared_by(Share::Principal, |life, instances| {
        life.stateful = true;
        instances.per_server = 1;
    });
    pid_for(&upstream, "ann").await.expect("a result");
    let fault = pid_for(&upstream, "bob").await.expect_err("there is no room");
    assert!(matches!(&fault, CallError::NoPlace { limit: 1, .. }), "{fault:?}");
    upstream.shutdown().await;

    let upstream = shared_by(Share::Principal, |life, instances| {
        life.stateful = true;
        (instances.per_server, instances.kept) = (1, Duration::ZERO);
    });
    pid_for(&upstream, "ann").await.expect("a result");
    pid_for(&upstream, "bob").await.expect("the other is old");
    let fault = pid_for(&upstream, "ann").await.expect_err("its state is lost");
    assert!(matches!(&fault, CallError::StateLost { .. }), "{fault:?}");
    pid_for(&upstream, "ann").await.expect("it has been told");
    upstream.shutdown().await;
}

#[tokio::test]
async fn what_was_stopped_for_idleness_gives_its_place_to_another_server() {
    let (mut first, mut second) = (spec(&["stateful"]), spec(&["stateful"]));
    first.life.idle = Some(Duration::from_secs(2));
    second.name = "second".to_owned();
    let mut options = options();
    options.instances.in_all = 1;
    first.name = "child".to_owned();
    let upstream = upstream_with(vec![first, second], options);
    let mut changes = upstream.subscribe();
    pid_for(&upstream, "ann").await.expect("a result");
    status_when(&mut changes, |status| status.name == "child" && status.state == ServerState::Cold).await;
    let caller = Caller::default().of_principal("ann");
    let started = ToolPath::new("second", "started");
    let arguments = JsonText::from_value(&json!({}));
    upstream.call_text(&started, arguments, AMPLE, &caller).await.expect("there is room again");
    upstream.shutdown().await;
}
