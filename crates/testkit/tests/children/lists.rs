//! What a child may do to its tool list, and to its output in general.

use belljar_model::Effect;
use serde_json::json;

use super::*;

#[tokio::test]
async fn one_bad_tool_hides_no_other() {
    let upstream = child(&["bad-tools"]);
    let tools = upstream.tools("child").await.expect("it starts");
    assert_eq!(names(&tools), ["no_schema", "boolean_schema", "good", "nulls"]);
    assert!(tools.iter().all(|tool| tool.input_schema["type"] == "object"));
    let complaint = status(&upstream).last_error.expect("the owner is told");
    assert!(complaint.contains("has no name (2 times)"), "{complaint}");
    let result = call(&upstream, "good", json!({})).await.expect("an unknown content type is passed on");
    assert_eq!(result, json!({"content": [{"type": "hologram", "of": "good"}]}));
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_repeating_cursor_ends() {
    let upstream = child(&["loop-cursor"]);
    let tools = upstream.tools("child").await.expect("it starts");
    assert_eq!(names(&tools), ["first", "second"]);
    assert!(status(&upstream).last_error.is_some_and(|complaint| complaint.contains("a page names itself")));
    upstream.shutdown().await;
}

#[tokio::test]
async fn all_pages_of_a_long_list_are_read() {
    let upstream = child(&["many", "1234"]);
    let tools = upstream.tools("child").await.expect("it starts");
    assert_eq!((tools.len(), tools.last().map(|tool| tool.name.as_str())), (1234, Some("tool_01234")));
    assert_eq!(status(&upstream).last_error, None);
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_list_that_is_too_long_is_cut_and_the_owner_is_told() {
    let upstream = child(&["many", "10001"]);
    assert_eq!(upstream.tools("child").await.expect("it starts").len(), 10_000);
    assert!(status(&upstream).last_error.is_some_and(|complaint| complaint.contains("first 10000 tools")));
    upstream.shutdown().await;
}

#[tokio::test]
async fn noise_on_stdout_is_ignored() {
    let upstream = child(&["noise"]);
    assert_eq!(upstream.tools("child").await.expect("it starts").len(), 3);
    for number in 0..10 {
        let result = call(&upstream, "echo", json!({"number": number})).await.expect("a result");
        assert_eq!(result["structuredContent"], json!({"number": number}));
    }
    upstream.shutdown().await;
}

#[tokio::test]
async fn stderr_never_blocks_a_child() {
    let upstream = child(&["stderr-flood"]);
    for _ in 0..3 {
        call(&upstream, "echo", json!({})).await.expect("a result");
    }
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_changed_tool_list_is_read_again_once_however_often_it_is_announced() {
    let upstream = child(&["probe"]);
    let before = upstream.tools("child").await.expect("it starts").len();
    let mut changes = upstream.subscribe();
    call(&upstream, "grow", json!({})).await.expect("a result");
    status_when(&mut changes, |status| status.tools == Some(before + 1)).await;
    assert!(names(&upstream.tools("child").await.expect("it runs")).contains(&"grown"));
    let lists = call(&upstream, "lists", json!({})).await.expect("a result");
    assert_eq!(lists["structuredContent"]["lists"], 2);
    upstream.shutdown().await;
}

#[tokio::test]
async fn the_demo_lists_its_tools_and_answers_calls_in_process() {
    let upstream = demo();
    let tools = upstream.tools("child").await.expect("it starts");
    assert_eq!(tools.len(), 7);
    assert!(tools.iter().all(|tool| tool.description.is_some() && tool.output_schema.is_some()));
    let effect = |name: &str| {
        let tool = tools.iter().find(|tool| tool.name == name).expect("it is listed");
        Effect::from_annotations(&tool.annotations)
    };
    assert_eq!((effect("list_issues"), effect("create_issue")), (Effect::ReadOnly, Effect::Mutating));

    let open = call(&upstream, "list_issues", json!({"state": "open", "label": "urgent"})).await.expect("a result");
    assert_eq!(open["structuredContent"]["total"], 4);
    let created = call(&upstream, "create_issue", json!({"project": "atlas", "title": "New"})).await.expect("a result");
    assert_eq!(created["structuredContent"]["id"], 43);
    let unknown = call(&upstream, "get_issue", json!({"id": 999})).await.expect("a tool error is a result");
    assert_eq!(unknown["isError"], true);
    assert_eq!(unknown["content"][0]["text"], "there is no issue 999; issues 1 to 43 exist");

    let another = demo();
    let issues = call(&another, "list_issues", json!({})).await.expect("a result");
    assert_eq!(issues["structuredContent"]["total"], 42, "each connection has its own data");
    assert_eq!(status(&upstream).pid, None);
    tokio::join!(upstream.shutdown(), another.shutdown());
}

#[tokio::test]
async fn an_answer_that_comes_twice_is_taken_once() {
    let upstream = child(&["twice"]);
    for number in 0..10 {
        let result = call(&upstream, "echo", json!({"number": number})).await.expect("a result");
        assert_eq!(result["structuredContent"], json!({"number": number}));
    }
    upstream.shutdown().await;
}

#[tokio::test]
async fn an_answer_after_the_deadline_is_nobodys() {
    let upstream = child(&["late"]);
    upstream.tools("child").await.expect("it starts");
    for number in 0..5 {
        let late = upstream.call(&ToolPath::new("child", "slow"), Map::new(), SHORT).await;
        assert!(matches!(late, Err(CallError::Timeout { .. })), "{late:?}");
        let result = call(&upstream, "echo", json!({"number": number})).await.expect("a result");
        assert_eq!(result["structuredContent"], json!({"number": number}));
    }
    assert_eq!(status(&upstream).restarts, 0);
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_server_that_exits_on_an_unknown_method_is_asked_none_and_so_is_one_that_ignores_them() {
    for mode in ["exit-unknown", "ignore-unknown"] {
        let upstream = child(&[mode]);
        let begun = std::time::Instant::now();
        upstream.tools("child").await.expect(mode);
        assert!(begun.elapsed() < Duration::from_secs(10), "nothing was waited for in vain");
        call(&upstream, "echo", json!({})).await.expect(mode);
        assert_eq!(status(&upstream).restarts, 0);
        upstream.shutdown().await;
    }
}

#[tokio::test]
async fn a_flood_of_notifications_holds_up_no_answer() {
    let upstream = child(&["flood"]);
    for _ in 0..3 {
        call(&upstream, "echo", json!({})).await.expect("a result");
    }
    assert_eq!(status(&upstream).restarts, 0);
    upstream.shutdown().await;
}
