//! What children cost: `cargo bench -p belljar-benches --bench children`.
//!
//! - A warm call through `belljar-upstream`, and the same call by the same client library over the
//!   child's pipes, in turn, so that the machine's load affects both. It prints the median of each
//!   and of the difference, in blocks of calls.
//! - Sixteen children started at once, against the slowest of them when it starts alone.
//! - A search over 500 tools from the lists on disk, from `exec` to the end of the process.
//!
//! The child is the echoing one of `crates/testkit`. It measures the release binaries, which must
//! have been built: `cargo build --release --workspace --bins`.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench that cannot go on has failed")]

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use belljar_model::{JsonText, ServerSpec, ToolPath};
use belljar_testkit::{child_binary, child_server};
use belljar_upstream::{BuiltIns, Caller, Options, Supervisor, Upstream};
use rmcp::{
    ServiceExt as _,
    model::{CallToolRequestParams, ClientRequest},
    service::{Peer, RoleClient},
};
use serde_json::{Map, Value, json};
use tokio::runtime::Builder;

const BLOCKS: usize = 60;
const CALLS: usize = 200;
const AMPLE: Duration = Duration::from_secs(60);

fn main() {
    let child = child_binary().expect("cargo build --release --workspace --bins");
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        calls(&child).await;
        starts(&child).await;
    });
    search(&child);
}

fn options(child: &Path) -> Options {
    let mut options = Options::new("belljar-benches", "0");
    options.supervisor = Some(Supervisor { program: child.to_owned(), arguments: vec!["supervise".to_owned()] });
    options
}

fn echo_arguments() -> Map<String, Value> {
    json!({ "text": "a line of text, as a tool may take it", "number": 42 }).as_object().cloned().unwrap()
}

async fn calls(child: &Path) {
    let upstream = Upstream::new(vec![child_server("child", child, &["echo"])], BuiltIns::new(), options(child));
    upstream.start("child").await.unwrap();
    let mut process = tokio::process::Command::new(child)
        .arg("echo")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let pipes = (process.stdout.take().unwrap(), process.stdin.take().unwrap());
    let direct = ().serve(pipes).await.unwrap();
    let (path, caller) = (ToolPath::new("child", "echo"), Caller::default());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for block in 0..BLOCKS + 5 {
        let begun = Instant::now();
        for _ in 0..CALLS {
            upstream
                .call_text(&path, JsonText::from_value(&Value::Object(echo_arguments())), AMPLE, &caller)
                .await
                .unwrap();
        }
        let through = per_call(begun);
        let begun = Instant::now();
        for _ in 0..CALLS {
            call_directly(direct.peer()).await;
        }
        // The first blocks warm up.
        if block >= 5 {
            ours.push(through);
            theirs.push(per_call(begun));
        }
    }
    let differences = ours.iter().zip(&theirs).map(|(ours, theirs)| ours - theirs).collect();
    println!("a warm call, µs at the median of {BLOCKS} blocks of {CALLS}:");
    println!("  through belljar         {:8.1}", median(ours));
    println!("  the library directly    {:8.1}", median(theirs));
    println!("  difference              {:8.1}", median(differences));
    direct.cancel().await.unwrap();
    upstream.shutdown().await;
}

async fn call_directly(peer: &Peer<RoleClient>) {
    let parameters = CallToolRequestParams::new("echo").with_arguments(echo_arguments());
    let request = ClientRequest::CallToolRequest(rmcp::model::CallToolRequest::new(parameters));
    peer.send_request(request).await.unwrap();
}

fn per_call(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e6 / f64::from(u32::try_from(CALLS).unwrap())
}

async fn starts(child: &Path) {
    let count = 16;
    let specs: Vec<ServerSpec> =
        (0..count).map(|number| child_server(&format!("child{number}"), child, &["echo"])).collect();
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        let one = Upstream::new(specs.iter().take(1).cloned().collect(), BuiltIns::new(), options(child));
        let begun = Instant::now();
        one.start("child0").await.unwrap();
        alone.push(begun.elapsed().as_secs_f64() * 1e3);
        one.shutdown().await;
        let all = Upstream::new(specs.clone(), BuiltIns::new(), options(child));
        let names: Vec<String> = all.names().map(str::to_owned).collect();
        let begun = Instant::now();
        for started in futures::future::join_all(names.iter().map(|name| all.start(name))).await {
            started.unwrap();
        }
        together.push(begun.elapsed().as_secs_f64() * 1e3);
        all.shutdown().await;
    }
    println!("starts, ms at the median of 9, to the tool list:");
    println!("  one child               {:8.1}", median(alone));
    println!("  {count} children at once    {:8.1}", median(together));
}

fn search(child: &Path) {
    let binary = child.with_file_name(format!("belljar{}", std::env::consts::EXE_SUFFIX));
    assert!(binary.exists(), "{} is missing: cargo build --release --workspace --bins", binary.display());
    let home = std::env::temp_dir().join(format!("belljar-bench-{}", std::process::id()));
    std::fs::create_dir_all(&home).unwrap();
    let config = home.join("mcp.json");
    let servers = json!({ "mcpServers": { "many": { "command": child, "args": ["many", "500"] } } });
    std::fs::write(&config, servers.to_string()).unwrap();
    let search = || {
        let begun = Instant::now();
        let output = Command::new(&binary)
            .args(["search", "tool number", "--json", "--no-daemon", "--config"])
            .arg(&config)
            .current_dir(&home)
            .env("HOME", &home)
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("XDG_STATE_HOME", home.join("state"))
            .stderr(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success() && output.stdout.starts_with(b"{"));
        begun.elapsed().as_secs_f64() * 1e3
    };
    let first = search();
    let warm = median((0..50).map(|_| search()).collect());
    println!("a search over 500 tools, ms from exec to exit:");
    println!("  which starts the server {first:8.1}");
    println!("  from the list on disk   {warm:8.1}  (median of 50)");
    let _ = std::fs::remove_dir_all(PathBuf::from(&home));
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
