//! How a child is kept: stopping when idle, the maximum number of calls, turns, repeats, lost
//! state, health, the circuit breaker, tool lists on disk.

use std::sync::Arc;

use belljar_model::{Activation, Asks, Effect, EffectRules, Framing, JsonText, Repeat};
use belljar_upstream::{Caller, Exit, StartError};
use cap_std::{ambient_authority, fs::Dir};
use serde_json::json;

use super::*;

fn spec_with(arguments: &[&str], change: impl FnOnce(&mut belljar_model::Life)) -> ServerSpec {
    let mut spec = spec(arguments);
    change(&mut spec.life);
    spec
}

fn number(value: usize) -> std::num::NonZeroUsize {
    value.try_into().expect("it is not zero")
}

async fn counted(upstream: &Upstream) -> Value {
    call(upstream, "count", json!({})).await.expect("a result")["structuredContent"]["count"].clone()
}

#[tokio::test]
async fn an_idle_child_is_stopped_and_comes_back_on_demand() {
    let upstream = upstream(spec_with(&["stateful"], |life| life.idle = Some(Duration::from_secs(2))));
    let mut changes = upstream.subscribe();
    assert_eq!((counted(&upstream).await, counted(&upstream).await), (json!(1), json!(2)));
    state_when(&mut changes, ServerState::Stopping).await;
    let cold = state_when(&mut changes, ServerState::Cold).await;
    assert_eq!((cold.pid, cold.uptime_ms, cold.last_error, cold.tools), (None, None, None, Some(7)));
    assert_eq!(counted(&upstream).await, 1, "it is another life");
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_child_is_not_idle_while_it_starts() {
    let upstream = upstream(spec_with(&["slow-list", "3000"], |life| life.idle = Some(Duration::from_secs(1))));
    let called = tokio::time::timeout(AMPLE, call(&upstream, "echo", json!({}))).await;
    called.expect("it is not stopped before anybody can call it").expect("a result");
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_stateful_child_is_stopped_neither_for_idleness_nor_after_many_calls() {
    let upstream = upstream(spec_with(&["stateful"], |life| {
        (life.stateful, life.idle, life.max_calls) = (true, Some(Duration::from_millis(1)), Some(number(2)));
    }));
    let mut changes = upstream.subscribe();
    for expected in 1..=5 {
        assert_eq!(counted(&upstream).await, expected);
    }
    while let Ok(change) = changes.try_recv() {
        assert!(!matches!(change.state, ServerState::Stopping | ServerState::Cold), "{change:?}");
    }
    upstream.shutdown().await;
}

#[tokio::test]
async fn after_its_calls_a_child_is_replaced_and_no_call_is_lost() {
    let upstream = upstream(spec_with(&["echo"], |life| life.max_calls = Some(number(3))));
    // The slow calls are in flight when the last call is admitted: they are waited for.
    let calls = (0..10).map(|_| {
        let upstream = upstream.clone();
        tokio::spawn(async move { call(&upstream, "slow", json!({"ms": 50})).await.map(drop) })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.expect("no panic").expect("a result");
    }
    let status = status(&upstream);
    assert_eq!((status.restarts, status.calls), (3, 10));
    upstream.shutdown().await;
}

#[tokio::test]
async fn calls_wait_for_their_turn_and_not_too_long_and_not_too_many() {
    let upstream = upstream(spec_with(&["probe"], |life| life.concurrency = number(1)));
    upstream.tools("child").await.expect("it starts");
    let path = ToolPath::new("child", "hang");
    let hanging = tokio::spawn({
        let (upstream, path) = (upstream.clone(), path.clone());
        async move { upstream.call(&path, Map::new(), AMPLE * 10).await }
    });
    let mut busy = status(&upstream);
    while busy.state != ServerState::Busy {
        tokio::task::yield_now().await;
        busy = status(&upstream);
    }
    let fault = upstream.call(&path, Map::new(), SHORT).await.expect_err("it is not its turn");
    assert!(matches!(fault, CallError::QueueTimeout { limit: SHORT, .. }), "{fault:?}");
    let mut waiting = Vec::new();
    let mut refused = 0;
    for _ in 0..1_100 {
        let mut call = Box::pin(upstream.call(&path, Map::new(), AMPLE * 10));
        match futures_poll(call.as_mut()).await {
            Some(Err(CallError::QueueFull { waiting: 1_024, .. })) => refused += 1,
            Some(other) => panic!("{other:?}"),
            None => waiting.push(call),
        }
    }
    assert_eq!((waiting.len(), refused), (1_024, 76));
    drop(waiting);
    hanging.abort();
    // The cancelled call made room.
    assert!(call(&upstream, "cancelled", json!({})).await.is_ok());
    upstream.shutdown().await;
}

/// Polls once.
async fn futures_poll<T>(mut future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        std::task::Poll::Ready(value) => std::task::Poll::Ready(Some(value)),
        std::task::Poll::Pending => std::task::Poll::Ready(None),
    })
    .await
}

#[tokio::test]
async fn a_call_is_repeated_once_and_only_where_its_owner_and_its_tool_allow_it() {
    for (tool, repeat, is_trusted, is_repeated) in [
        ("echo", Repeat::Never, true, false),
        ("echo", Repeat::ReadOnly, true, true),
        ("echo", Repeat::ReadOnly, false, false),
        ("fail", Repeat::ReadOnly, true, false),
        ("fail", Repeat::Idempotent, true, true),
        ("fail", Repeat::Idempotent, false, false),
        ("slow", Repeat::Idempotent, true, false),
    ] {
        let file = scratch_file();
        let mut spec = spec_with(&["crash-once", &file.to_string_lossy()], |life| life.repeat = repeat);
        spec.effects.trust_hints = is_trusted;
        let upstream = upstream(spec);
        let answer = call(&upstream, tool, json!({"ms": 0})).await;
        match answer {
            Ok(_) => assert!(is_repeated, "{tool} {repeat:?}"),
            Err(fault) => {
                assert!(!is_repeated && matches!(fault, CallError::Died { .. }), "{tool} {repeat:?}: {fault}")
            }
        }
        upstream.shutdown().await;
        std::fs::remove_file(&file).expect("the child has died once");
    }
    // It is repeated once, and not again.
    let mut spec = spec_with(&["stateful"], |life| life.repeat = Repeat::Idempotent);
    spec.effects = EffectRules::trusting();
    let upstream = upstream(spec);
    for tool in ["look", "set"] {
        let before = status(&upstream).calls;
        let fault = call(&upstream, tool, json!({})).await.expect_err("it dies each time");
        assert!(matches!(fault, CallError::Died { .. }), "{fault:?}");
        assert_eq!(status(&upstream).calls, before + 2);
    }
    upstream.shutdown().await;
}

#[tokio::test]
async fn an_owners_word_on_a_tool_counts_for_repeats() {
    let file = scratch_file();
    let mut spec = spec_with(&["crash-once", &file.to_string_lossy()], |life| life.repeat = Repeat::ReadOnly);
    spec.effects.declared.insert("slow".to_owned(), Effect::ReadOnly);
    let upstream = upstream(spec);
    assert!(call(&upstream, "slow", json!({"ms": 0})).await.is_ok());
    upstream.shutdown().await;
    std::fs::remove_file(&file).expect("the child has died once");

    let mut spec = spec_with(&["crash-once", &file.to_string_lossy()], |life| life.repeat = Repeat::Idempotent);
    spec.effects.idempotent.insert("slow".to_owned());
    let upstream = self::upstream(spec);
    assert!(call(&upstream, "slow", json!({"ms": 0})).await.is_ok());
    upstream.shutdown().await;
    std::fs::remove_file(&file).expect("the child has died once");
}

#[tokio::test]
async fn the_next_caller_is_told_when_the_state_is_gone() {
    let upstream = upstream(spec_with(&["stateful"], |life| life.stateful = true));
    assert_eq!(counted(&upstream).await, 1);
    let fault = call(&upstream, "crash", json!({})).await.expect_err("it dies");
    assert!(matches!(fault, CallError::Died { .. }), "{fault:?}");
    let fault = call(&upstream, "count", json!({})).await.expect_err("its state is gone");
    assert!(matches!(&fault, CallError::StateLost { server, .. } if server == "child"), "{fault:?}");
    assert!(fault.to_string().contains("exit status: 7"), "{fault}");
    assert_eq!(counted(&upstream).await, 1, "who was told goes on with a fresh one");
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_child_that_dies_again_and_again_is_left_alone() {
    let upstream = upstream(spec_with(&["crash-on-call"], |life| life.breaker.failures = number(3)));
    let mut changes = upstream.subscribe();
    for _ in 0..3 {
        let fault = call(&upstream, "echo", json!({})).await.expect_err("it dies");
        assert!(matches!(fault, CallError::Died { .. }), "{fault:?}");
    }
    let open = state_when(&mut changes, ServerState::Open).await;
    assert!(open.hint.is_some_and(|hint| hint.contains("again and again")));
    let fault = call(&upstream, "echo", json!({})).await.expect_err("the circuit is open");
    let CallError::Unavailable { fault, .. } = fault else { panic!("{fault:?}") };
    assert!(
        matches!(&*fault, StartError::Open { failures: 3, last, .. } if last.contains("exit status: 7")),
        "{fault}"
    );
    upstream.shutdown().await;
}

#[tokio::test]
async fn after_the_rest_there_is_one_probe_which_may_close_the_circuit() {
    let file = scratch_file();
    let rest = Duration::from_millis(200);
    let upstream = upstream(spec_with(&["crash-once", &file.to_string_lossy()], |life| {
        (life.breaker.failures, life.breaker.rest) = (number(1), rest);
    }));
    let mut changes = upstream.subscribe();
    call(&upstream, "echo", json!({})).await.expect_err("it dies once");
    state_when(&mut changes, ServerState::Open).await;
    let probe = async {
        loop {
            match call(&upstream, "echo", json!({})).await {
                Ok(_) => return,
                Err(CallError::Unavailable { fault, .. }) => {
                    let StartError::Open { retry_in, .. } = &*fault else { panic!("{fault:?}") };
                    tokio::time::sleep(*retry_in).await;
                }
                Err(fault) => panic!("{fault:?}"),
            }
        }
    };
    tokio::time::timeout(AMPLE, probe).await.expect("the circuit closes");
    assert_eq!(status(&upstream).state, ServerState::Ready);
    upstream.shutdown().await;
    std::fs::remove_file(&file).expect("the child has died once");
}

#[tokio::test]
async fn a_warm_child_comes_back_by_itself() {
    let upstream = upstream(spec_with(&["stateful"], |life| life.warm = true));
    let mut changes = upstream.subscribe();
    upstream.begin_warm();
    state_when(&mut changes, ServerState::Ready).await;
    call(&upstream, "crash", json!({})).await.expect_err("it dies");
    state_when(&mut changes, ServerState::Failing).await;
    assert_eq!(state_when(&mut changes, ServerState::Ready).await.restarts, 1);
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_child_that_hears_nothing_more_is_replaced_and_one_that_is_slow_is_not() {
    let file = scratch_file();
    let (deaf, slow) = (upstream(spec(&["deaf", &file.to_string_lossy()])), child(&["probe"]));
    let mut changes = deaf.subscribe();
    slow.tools("child").await.expect("it starts");
    let timed_out = |fault: CallError| assert!(matches!(fault, CallError::Timeout { .. }), "{fault:?}");
    let hang = ToolPath::new("child", "hang");
    for tool in ["deafen", "hear", "hear"] {
        let path = ToolPath::new("child", tool);
        let (deaf, slow) = tokio::join!(deaf.call(&path, Map::new(), SHORT), slow.call(&hang, Map::new(), SHORT));
        timed_out(deaf.expect_err("nobody answers"));
        timed_out(slow.expect_err("nobody answers"));
    }
    // Ten seconds: how long a suspect child has to say anything.
    let gone = state_when(&mut changes, ServerState::Failing).await;
    assert!(gone.last_error.is_some_and(|error| error.contains("no longer")), "it is said why");
    assert!(call(&deaf, "hear", json!({})).await.is_ok());
    assert!(call(&slow, "cancelled", json!({})).await.is_ok());
    assert_eq!(status(&slow).restarts, 0);
    tokio::join!(deaf.shutdown(), slow.shutdown());
    std::fs::remove_file(&file).expect("it was deaf once");
}

#[tokio::test]
async fn calls_of_on_start_are_made_after_each_start_and_before_all_others() {
    let activate =
        |arguments: Value| Activation { tool: "activate".to_owned(), arguments: super::arguments(arguments) };
    let server = upstream(spec_with(&["stateful"], |life| {
        life.on_start = vec![activate(json!({"project": "a"})), activate(json!({"mode": 1}))];
    }));
    for _ in 0..2 {
        let seen = call(&server, "started", json!({})).await.expect("a result");
        assert_eq!(seen["structuredContent"]["activated"], json!([{"project": "a"}, {"mode": 1}]));
        call(&server, "crash", json!({})).await.expect_err("it dies");
    }
    server.shutdown().await;
    let server = upstream(spec_with(&["stateful"], |life| life.on_start = vec![activate(json!({"fail": true}))]));
    let fault = server.start("child").await.expect_err("the activation fails");
    assert_eq!(fault.reason(), "the call of 'activate' in 'on_start' failed: there is no such project");
    server.shutdown().await;
}

#[tokio::test]
async fn a_child_may_put_headers_before_its_messages() {
    let upstream = upstream(spec_with(&["lengths"], |life| life.framing = Framing::ContentLength));
    assert_eq!(upstream.tools("child").await.expect("it starts").len(), 3);
    for text in ["a\nb", "ä", &"x".repeat(100_000)] {
        let result = call(&upstream, "echo", json!({"text": text})).await.expect("a result");
        assert_eq!(result["structuredContent"]["text"], text);
    }
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_response_beyond_the_servers_own_limit_fails_its_call_and_no_other() {
    let upstream = upstream(spec_with(&["probe"], |life| life.max_response = belljar_model::ByteSize::kib(100)));
    for (bytes, id_last) in [(110_000, false), (20_000_000, false), (20_000_000, true)] {
        let large = call(&upstream, "large", json!({"bytes": bytes, "id_last": id_last})).await;
        let limit = belljar_model::ByteSize::kib(100);
        assert!(matches!(&large, Err(CallError::TooLarge { limit: seen }) if *seen == limit), "{large:?}");
    }
    assert!(call(&upstream, "large", json!({"bytes": 90_000})).await.is_ok());
    assert_eq!(status(&upstream).restarts, 0);
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_servers_own_time_limits_hold_beside_the_callers() {
    let upstream = upstream(spec_with(&["probe"], |life| life.call_timeout = Some(SHORT)));
    upstream.tools("child").await.expect("it starts");
    let fault = call(&upstream, "hang", json!({})).await.expect_err("it hangs");
    assert!(matches!(fault, CallError::Timeout { limit: SHORT, .. }), "{fault:?}");
    upstream.shutdown().await;
}

struct Folder(PathBuf, Arc<Dir>);

impl Folder {
    fn new() -> Self {
        let path = scratch_file();
        std::fs::create_dir_all(&path).expect("a folder");
        let folder = Dir::open_ambient_dir(&path, ambient_authority()).expect("it is there");
        Self(path, Arc::new(folder))
    }

    fn upstream(&self, specs: Vec<ServerSpec>) -> Upstream {
        let mut options = options();
        options.cache = Some(self.1.clone());
        upstream_with(specs, options)
    }
}

impl Folder {
    /// Makes a server list its tools, and one more, and returns how many there were before. It has
    /// as many again after a restart.
    async fn learn_a_list_that_grows(&self) -> usize {
        let upstream = self.upstream(vec![spec(&["probe"])]);
        let mut changes = upstream.subscribe();
        let before = upstream.tools("child").await.expect("it starts").len();
        call(&upstream, "grow", json!({})).await.expect("a result");
        status_when(&mut changes, |status| status.tools == Some(before + 1)).await;
        upstream.shutdown().await;
        before
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn a_list_that_was_learned_is_known_to_the_next_process_without_a_start() {
    let folder = Folder::new();
    let first = folder.upstream(vec![spec(&["many", "500"])]);
    let learned = first.tools("child").await.expect("it starts");
    first.shutdown().await;
    let second = folder.upstream(vec![spec(&["many", "500"])]);
    assert_eq!(second.tools("child").await.expect("they are known"), learned);
    let status = status(&second);
    assert_eq!((status.state, status.pid, status.tools), (ServerState::Cold, None, Some(500)));
    // An equal list is the same allocation, so nothing is derived from it again.
    let known = second.tools("child").await.expect("they are known");
    call(&second, "tool_00001", json!({})).await.expect("it starts for a call");
    assert!(Arc::ptr_eq(&known, &second.tools("child").await.expect("they are known")));
    second.shutdown().await;
    // Another argument is another server.
    let third = folder.upstream(vec![spec(&["many", "3"])]);
    assert_eq!(third.tools("child").await.expect("it starts").len(), 3);
    third.shutdown().await;
}

#[tokio::test]
async fn a_list_that_is_known_can_be_asked_for_without_any_start() {
    let folder = Folder::new();
    let first = folder.upstream(vec![spec(&["many", "5"])]);
    assert!(first.known_tools("child").await.is_none() && first.known_tools("nobody").await.is_none());
    assert_eq!(status(&first).state, ServerState::Cold);
    let learned = first.tools("child").await.expect("it starts");
    first.shutdown().await;
    let second = folder.upstream(vec![spec(&["many", "5"])]);
    assert_eq!(second.known_tools("child").await, Some(learned));
    assert_eq!(status(&second).state, ServerState::Cold);
    second.shutdown().await;
}

#[tokio::test]
async fn a_list_that_is_old_serves_at_once_and_is_asked_for_anew_behind_it() {
    let folder = Folder::new();
    let before = folder.learn_a_list_that_grows().await;
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(30 * 24 * 3600);
    for entry in std::fs::read_dir(&folder.0).expect("a folder") {
        let file = std::fs::File::options().write(true).open(entry.expect("a file").path()).expect("it can be written");
        file.set_modified(long_ago).expect("it has a time");
    }
    let mut options = options();
    options.cache = Some(folder.1.clone());
    options.refresh = true;
    let second = upstream_with(vec![spec(&["probe"])], options);
    let mut changes = second.subscribe();
    assert_eq!(second.tools("child").await.expect("they are known").len(), before + 1);
    // The server that was started in the background has the shorter list.
    status_when(&mut changes, |status| status.tools == Some(before)).await;
    assert_eq!(second.tools("child").await.expect("they are known").len(), before);
    second.shutdown().await;
}

#[tokio::test]
async fn a_list_that_changes_is_written_anew_and_garbage_is_as_good_as_nothing() {
    let folder = Folder::new();
    let before = folder.learn_a_list_that_grows().await;
    let second = folder.upstream(vec![spec(&["probe"])]);
    assert_eq!(second.tools("child").await.expect("they are known").len(), before + 1);
    second.shutdown().await;
    for entry in std::fs::read_dir(&folder.0).expect("a folder") {
        std::fs::write(entry.expect("a file").path(), "{\"format\":1,\"tools\":[nonsense").expect("it can be written");
    }
    let third = folder.upstream(vec![spec(&["probe"])]);
    assert_eq!(third.tools("child").await.expect("it is asked again").len(), before);
    third.shutdown().await;
}

#[tokio::test]
async fn what_a_child_asks_goes_to_the_client_of_the_only_run_and_to_nobody_else() {
    let mut spec = spec(&["probe"]);
    spec.asks = Asks { elicitation: true, sampling: true, roots: true };
    let upstream = upstream(spec);
    upstream.set_client_abilities(asked::EVERYTHING);
    let caller = Caller::new(Some(Arc::new(asked::Somebody)));
    let path = ToolPath::new("child", "ask");
    let ask = async |method: &str, params: Value| {
        let asked = JsonText::from_value(&json!({"method": method, "params": params}));
        let answer = upstream.call_text(&path, asked, AMPLE, &caller).await.expect("an answer");
        answer.to_value().expect("an object")["structuredContent"].clone()
    };
    let sampling = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 5});
    assert_eq!(ask("sampling/createMessage", sampling.clone()).await["result"]["model"], "somebody's");
    let elicitation = json!({"message": "who?", "requestedSchema": {"type": "object", "properties": {}}});
    assert_eq!(ask("elicitation/create", elicitation.clone()).await["result"]["action"], "cancel");
    assert_eq!(ask("roots/list", json!({})).await["result"]["roots"][0]["uri"], "file:///work");
    // If a call of another caller is in flight, it is unclear whom the child means.
    let other = tokio::spawn({
        let upstream = upstream.clone();
        async move { upstream.call(&ToolPath::new("child", "hang"), Map::new(), AMPLE).await }
    });
    while status(&upstream).state != ServerState::Busy {
        tokio::task::yield_now().await;
    }
    assert_eq!(ask("sampling/createMessage", sampling).await["error"]["code"], -32600);
    assert_eq!(ask("elicitation/create", elicitation).await["result"]["action"], "decline");
    assert_eq!(ask("roots/list", json!({})).await["error"]["code"], -32600);
    other.abort();
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_child_asks_what_its_owner_allows_and_a_run_is_asked_only_so_often() {
    let sampling = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 5});
    let elicitation = json!({"message": "who?", "requestedSchema": {"type": "object", "properties": {}}});
    for (asks, is_allowed) in [(Asks::default(), true), (Asks::NOTHING, false)] {
        let mut spec = spec(&["probe"]);
        spec.asks = asks;
        let upstream = upstream(spec);
        upstream.set_client_abilities(asked::EVERYTHING);
        let path = ToolPath::new("child", "ask");
        let ask = async |caller: &Caller, method: &str, params: &Value| {
            let asked = JsonText::from_value(&json!({"method": method, "params": params}));
            let answer = upstream.call_text(&path, asked, AMPLE, caller).await.expect("an answer");
            answer.to_value().expect("an object")["structuredContent"].clone()
        };
        let caller = Caller::new(Some(Arc::new(asked::Somebody)));
        assert_eq!(ask(&caller, "sampling/createMessage", &sampling).await["error"]["code"], -32601);
        assert_eq!(ask(&caller, "roots/list", &json!({})).await["error"]["code"], -32601);
        let mut answered = 0;
        for _ in 0..30 {
            let answer = ask(&caller, "elicitation/create", &elicitation).await;
            answered += usize::from(answer["result"]["action"] == "cancel");
        }
        assert_eq!(answered, if is_allowed { 20 } else { 0 });
        // Another run has its own count.
        let caller = Caller::new(Some(Arc::new(asked::Somebody)));
        let action = if is_allowed { "cancel" } else { "decline" };
        assert_eq!(ask(&caller, "elicitation/create", &elicitation).await["result"]["action"], action);
        upstream.shutdown().await;
    }
}

mod asked {
    #![expect(
        deprecated,
        reason = "sampling and roots are deprecated, and children of the initialize era ask for them"
    )]

    use belljar_upstream::{AskClient, ClientAbilities};
    use rmcp::{
        ErrorData,
        model::{
            CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitationAction,
            ListRootsResult,
        },
    };
    use serde_json::json;

    type Answer<T> = std::pin::Pin<Box<dyn Future<Output = Result<T, ErrorData>> + Send>>;

    /// Everything that a client can declare.
    pub(super) const EVERYTHING: ClientAbilities =
        ClientAbilities { sampling: true, sampling_tools: true, elicitation: true, elicitation_url: true, roots: true };

    /// A client that answers everything.
    pub(super) struct Somebody;

    impl AskClient for Somebody {
        fn abilities(&self) -> ClientAbilities {
            EVERYTHING
        }

        fn create_message(&self, request: CreateMessageRequestParams) -> Answer<CreateMessageResult> {
            assert_eq!(request.max_tokens, 5);
            let answer = json!({"role": "assistant", "model": "somebody's", "content": {"type": "text", "text": "ho"}});
            Box::pin(async move { Ok(serde_json::from_value(answer).expect("an answer")) })
        }

        fn elicit(&self, _request: ElicitRequestParams) -> Answer<ElicitResult> {
            Box::pin(async { Ok(ElicitResult::new(ElicitationAction::Cancel)) })
        }

        fn list_roots(&self) -> Answer<ListRootsResult> {
            let roots = json!({"roots": [{"uri": "file:///work"}]});
            Box::pin(async move { Ok(serde_json::from_value(roots).expect("roots")) })
        }
    }
}

#[tokio::test]
async fn an_exit_is_told_as_the_system_tells_it() {
    let upstream = child(&["hang-call"]);
    upstream.tools("child").await.expect("it starts");
    let pid = status(&upstream).pid.and_then(|pid| i32::try_from(pid).ok()).expect("it runs");
    let (called, ()) = tokio::join!(call(&upstream, "echo", json!({})), async {
        let child = nix::unistd::Pid::from_raw(pid);
        nix::sys::signal::kill(child, nix::sys::signal::Signal::SIGUSR1).expect("it can be killed");
    });
    let Err(CallError::Died { exit: Some(Exit::Process(exit)), .. }) = called else { panic!("{called:?}") };
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&exit), Some(10));
    upstream.shutdown().await;
}
