//! What `belljar-upstream` guarantees about its children, each tested with a child that breaks a
//! rule.

#[path = "children/calls.rs"]
mod calls;
#[path = "children/ends.rs"]
mod ends;
#[path = "children/instances.rs"]
mod instances;
#[path = "children/keeping.rs"]
mod keeping;
#[path = "children/lists.rs"]
mod lists;
#[path = "children/starts.rs"]
mod starts;

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use belljar_model::{ServerSpec, ToolPath, Transport};
use belljar_testkit::child_server;
use belljar_upstream::{Backoff, BuiltIns, CallError, Options, ServerState, ServerStatus, Supervisor, Upstream};
use serde_json::{Map, Value};

/// More than anything working takes, even on a busy machine.
const AMPLE: Duration = Duration::from_secs(20);
/// Short enough that a test may wait for it.
const SHORT: Duration = Duration::from_millis(300);

fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_belljar-testkit-child"))
}

/// The configuration of a child named `child`.
fn spec(arguments: &[&str]) -> ServerSpec {
    child_server("child", binary(), arguments)
}

fn options() -> Options {
    // Children find `sleep` and `sh` in the system's folders without a PATH.
    let mut options = Options::new("belljar-tests", "0");
    // Children are supervised, as in belljar.
    let arguments = vec!["supervise".to_owned()];
    options.supervisor = Some(Supervisor { program: binary().to_owned(), arguments });
    options.backoff = Backoff { first: Duration::from_millis(5), most: Duration::from_millis(20) };
    options
}

fn upstream_with(specs: Vec<ServerSpec>, options: Options) -> Upstream {
    Upstream::new(specs, BuiltIns::new().with("demo", belljar_demo::serve), options)
}

fn upstream(spec: ServerSpec) -> Upstream {
    upstream_with(vec![spec], options())
}

/// An upstream with one child, which misbehaves as `arguments` say.
fn child(arguments: &[&str]) -> Upstream {
    upstream(spec(arguments))
}

fn demo() -> Upstream {
    upstream(ServerSpec::new("child", Transport::BuiltIn("demo".to_owned())))
}

fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// Calls a tool of the child within an ample limit.
async fn call(upstream: &Upstream, tool: &str, value: Value) -> Result<Value, CallError> {
    upstream.call(&ToolPath::new("child", tool), arguments(value), AMPLE).await
}

fn status(upstream: &Upstream) -> ServerStatus {
    upstream.status().into_iter().next().expect("one child is configured")
}

fn names(tools: &[belljar_model::ToolDefinition]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
}

/// Waits until the child's status is the wanted one.
async fn status_when(
    changes: &mut tokio::sync::broadcast::Receiver<ServerStatus>,
    wanted: impl Fn(&ServerStatus) -> bool,
) -> ServerStatus {
    let waiting = async {
        loop {
            let status = changes.recv().await.expect("the upstream lives");
            if wanted(&status) {
                return status;
            }
        }
    };
    tokio::time::timeout(AMPLE, waiting).await.expect("the state is reached")
}

async fn state_when(changes: &mut tokio::sync::broadcast::Receiver<ServerStatus>, state: ServerState) -> ServerStatus {
    status_when(changes, |status| status.state == state).await
}

/// A file of this test run that does not exist yet.
fn scratch_file() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("children-{}-{number}", std::process::id()));
    let _ = std::fs::remove_file(&file);
    file
}

/// The process ids in `file`, which the child wrote before its first answer.
fn pids(file: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(file).expect("the child has written its file");
    let _ = std::fs::remove_file(file);
    text.split_whitespace().map(|pid| pid.parse().expect("a process id")).collect()
}
