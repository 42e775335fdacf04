//! The two eras of MCP.

use std::sync::Arc;

use belljar_model::Era;
use cap_std::{ambient_authority, fs::Dir};

use super::*;

/// A server of the second era only: without a handshake, and strict about its requests.
fn modern(request: &Request) -> Reply {
    const VERSION: &str = "2026-07-28";
    let message = request.json();
    let method = message["method"].as_str().unwrap_or_default();
    let refused = |code: i64, text: &str| Reply {
        status: 400,
        ..Reply::json(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": code, "message": text } }))
    };
    if request.method != "POST" {
        return Reply::status(405);
    }
    if message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] != VERSION {
        return refused(-32_022, "unsupported protocol version");
    }
    let name = message["params"]["name"].as_str();
    if request.header("mcp-protocol-version") != Some(VERSION)
        || request.header("mcp-method") != Some(method)
        || request.header("mcp-name") != name
    {
        return refused(-32_020, "the headers do not say what the body says");
    }
    let result = match (method, name) {
        ("server/discover", _) => json!({
            "resultType": "complete", "supportedVersions": [VERSION], "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": "test", "version": "0" }, "ttlMs": 0, "cacheScope": "public",
        }),
        ("tools/list", _) => json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "public",
            "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }, { "name": "ask", "inputSchema": { "type": "object" } }],
        }),
        ("tools/call", Some("ask")) => {
            json!({ "resultType": "input_required", "inputRequests": {}, "requestState": "x" })
        }
        ("tools/call", _) => {
            json!({ "resultType": "complete", "structuredContent": message["params"]["arguments"], "content": [] })
        }
        _ => return Reply { status: 404, ..refused(-32_601, "no such method") },
    };
    Reply::json(&answer(&message, result))
}

/// A folder in which nothing is remembered yet.
fn folder() -> (tempfile::TempDir, Arc<Dir>) {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).expect("the folder");
    (folder, Arc::new(dir))
}

fn upstream_with(web: &Web, era: Era, folder: &Arc<Dir>) -> Upstream {
    let mut spec = ServerSpec::new("there", Transport::Http(HttpEndpoint::new(web.url("/mcp"))));
    spec.era = era;
    let mut options = options();
    options.cache = Some(folder.clone());
    Upstream::new(vec![spec], BuiltIns::new(), options)
}

fn count(web: &Web, method: &str) -> usize {
    web.requests().iter().filter(|request| request.json()["method"] == method).count()
}

#[tokio::test]
async fn a_server_without_a_handshake_is_found_out_and_remembered() {
    let (_folder, remembered) = folder();
    let web = web(modern).await;
    for times in 1..=2 {
        let upstream = upstream_with(&web, Era::Auto, &remembered);
        let called = call(&upstream, "echo", json!({ "n": times })).await.expect("a result");
        assert_eq!(called["structuredContent"]["n"], times);
        assert_eq!(upstream.status()[0].era.as_deref(), Some("2026-07-28"));
        let fault = call(&upstream, "ask", json!({})).await.expect_err("there is nobody to ask");
        assert!(matches!(fault, CallError::InputRequired { .. }), "{fault}");
        upstream.shutdown().await;
        assert_eq!((count(&web, "initialize"), count(&web, "server/discover")), (1, times), "after {times}");
    }
}

#[tokio::test]
async fn an_era_that_is_configured_is_not_found_out() {
    let (_folder, remembered) = folder();
    let web = web(modern).await;
    let upstream = upstream_with(&web, Era::Discover, &remembered);
    assert!(call(&upstream, "echo", json!({})).await.is_ok());
    upstream.shutdown().await;
    assert_eq!(count(&web, "initialize"), 0);
    // With another folder, since the tools are known by now.
    let (_folder, remembered) = folder();
    let upstream = upstream_with(&web, Era::Initialize, &remembered);
    let fault = start_error(&upstream).await;
    assert!(fault.to_string().contains("unsupported protocol version"), "{fault}");
    assert_eq!(count(&web, "server/discover"), 1);
}

/// A program of the second era only.
fn program(folder: &Arc<Dir>) -> Upstream {
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_belljar-testkit-child"));
    let mut options = options();
    options.cache = Some(folder.clone());
    Upstream::new(vec![belljar_testkit::child_server("there", binary, &["modern"])], BuiltIns::new(), options)
}

#[tokio::test]
async fn a_program_without_a_handshake_is_spoken_to_and_tells_of_changed_tools() {
    let (folder, remembered) = folder();
    let upstream = program(&remembered);
    let mut changes = upstream.subscribe();
    assert_eq!(upstream.tools("there").await.expect("tools").len(), 1);
    assert_eq!(upstream.status()[0].era.as_deref(), Some("2026-07-28"));
    // It notifies only clients that listen, and belljar may not be listening yet when its first
    // call arrives.
    let told = async {
        while upstream.tools("there").await.expect("tools").len() < 2 {
            assert!(call(&upstream, "change", json!({})).await.is_ok());
            let _ = tokio::time::timeout(Duration::from_millis(50), changes.recv()).await;
        }
    };
    tokio::time::timeout(AMPLE, told).await.expect("the new tool is heard of");
    upstream.shutdown().await;
    let names = std::fs::read_dir(folder.path())
        .expect("the folder")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    assert_eq!(names.filter(|name| name.starts_with("era-")).count(), 1);
}
