//! What `belljar-upstream` guarantees about remote servers, each tested with one that breaks a
//! rule, or with a real one.

#[path = "remote/eras.rs"]
mod eras;
#[path = "remote/legacy.rs"]
mod legacy;
#[path = "remote/login.rs"]
mod login;
#[path = "remote/proxy.rs"]
mod proxy;
#[path = "remote/real.rs"]
mod real;
#[path = "remote/refusals.rs"]
mod refusals;
#[path = "remote/streamable.rs"]
mod streamable;

use std::time::Duration;

use belljar_model::{HttpEndpoint, HttpProtocol, ServerSpec, ToolPath, Transport};
use belljar_testkit::web::{Reply, Request, Web};
use belljar_upstream::{Backoff, BuiltIns, CallError, Options, StartError, Upstream};
use serde_json::{Map, Value, json};

/// More than anything working takes, even on a busy machine.
const AMPLE: Duration = Duration::from_secs(30);
/// Texts that no output may contain.
const SECRET: &str = "sesame-of-the-owner";

fn options() -> Options {
    let mut options = Options::new("belljar-tests", "0");
    options.backoff = Backoff { first: Duration::from_millis(5), most: Duration::from_millis(20) };
    options
}

fn upstream_at(endpoint: HttpEndpoint) -> Upstream {
    let spec = ServerSpec::new("there", Transport::Http(endpoint));
    Upstream::new(vec![spec], BuiltIns::new(), options())
}

fn endpoint(url: String, protocol: HttpProtocol) -> HttpEndpoint {
    HttpEndpoint { protocol, ..HttpEndpoint::new(url) }
}

async fn call(upstream: &Upstream, tool: &str, arguments: Value) -> Result<Value, CallError> {
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    upstream.call(&ToolPath::new("there", tool), arguments, AMPLE).await
}

async fn start_error(upstream: &Upstream) -> std::sync::Arc<StartError> {
    upstream.tools("there").await.expect_err("it does not start")
}

fn answer(request: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })
}

/// The results of a server with one tool, `echo`, whose result is its arguments.
fn result(request: &Value) -> Option<Value> {
    Some(match request["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": "test", "version": "0" },
        }),
        "tools/list" => json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] }),
        "tools/call" => json!({ "structuredContent": request["params"]["arguments"], "content": [] }),
        _ => return None,
    })
}

/// An ordinary server of streamable HTTP, with a session.
fn ordinary(request: &Request) -> Reply {
    let message = request.json();
    match (request.method.as_str(), result(&message)) {
        ("POST", Some(result)) => Reply::json(&answer(&message, result)).with("mcp-session-id", "first"),
        ("POST", None) => Reply::status(202),
        ("DELETE", _) => Reply::status(204),
        _ => Reply::status(405),
    }
}

fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

async fn web(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Web {
    Web::serve(answer).await.expect("a port")
}
