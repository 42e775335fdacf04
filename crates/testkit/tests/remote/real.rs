//! The official test server over both of its HTTP transports.

use std::{path::Path, process::Stdio};

use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use super::*;

/// Starts the server on a free port, and waits until it reports that it listens.
async fn everything(transport: &str) -> (Child, u16) {
    let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/servers");
    let script = servers.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    assert!(script.exists(), "{} is missing: run `npm ci` in tests/servers", script.display());
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let mut child = Command::new("node")
        .arg(script)
        .arg(transport)
        .env("PORT", port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("node is installed");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let waiting = async {
        while let Ok(Some(line)) = lines.next_line().await {
            if line.contains("listening") || line.contains("running on port") {
                break;
            }
        }
    };
    tokio::time::timeout(AMPLE, waiting).await.expect("it listens");
    // A pipe that nobody reads would block it.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, port)
}

async fn is_of_use(upstream: &Upstream) {
    let tools = upstream.tools("there").await.expect("tools");
    assert!(tools.len() >= 8, "{tools:?}");
    let sum = call(upstream, "get-sum", json!({ "a": 2, "b": 40 })).await.expect("a result");
    assert!(sum["content"][0]["text"].as_str().is_some_and(|text| text.contains("42")), "{sum:#}");
    let image = call(upstream, "get-tiny-image", json!({})).await.expect("a result");
    assert!(image["content"].as_array().is_some_and(|blocks| blocks.iter().any(|block| block["type"] == "image")));
    // It reports progress, which extends the limit.
    let limit = belljar_upstream::CallLimit { quiet: Duration::from_secs(10), total: AMPLE };
    let arguments = json!({ "duration": 1, "steps": 4 }).as_object().cloned().expect("an object");
    let long = ToolPath::new("there", "trigger-long-running-operation");
    let done = upstream.call(&long, arguments, limit).await.expect("a result");
    assert!(done["content"][0]["text"].as_str().is_some_and(|text| text.contains("completed")), "{done:#}");
}

#[tokio::test]
async fn the_official_server_is_of_use_over_streamable_http() {
    let (mut server, port) = everything("streamableHttp").await;
    let upstream = upstream_at(HttpEndpoint::new(format!("http://127.0.0.1:{port}/mcp")));
    is_of_use(&upstream).await;
    upstream.shutdown().await;
    server.kill().await.expect("it ends");
}

#[tokio::test]
async fn the_official_server_is_of_use_over_the_older_transport() {
    let (mut server, port) = everything("sse").await;
    let upstream = upstream_at(HttpEndpoint::new(format!("http://127.0.0.1:{port}/sse")));
    is_of_use(&upstream).await;
    upstream.shutdown().await;
    server.kill().await.expect("it ends");
}
