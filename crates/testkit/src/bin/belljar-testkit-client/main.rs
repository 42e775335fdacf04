//! belljar's side towards servers, as the client that the protocol's conformance suite tests.
//!
//! `belljar-testkit-client URL` lists and calls the tools at the URL through `belljar-upstream`,
//! like `belljar serve`, and logs in if the server requires that, like `belljar login`. A browser
//! and its user are simulated: the page to log in on is opened at once, and its redirect is
//! followed. The suite judges by what its server saw.

#![forbid(unsafe_code)]

mod browser;
mod user;

use std::{env, error::Error, sync::Arc, time::Duration};

use belljar_model::{Asks, Era, HttpEndpoint, JsonText, ServerSpec, ToolDefinition, ToolPath, Transport};
use belljar_upstream::{BuiltIns, CallError, Caller, Options, RemoteError, StartError, Upstream, auth};
use cap_std::{ambient_authority, fs::Dir};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use user::User;

const SERVER: &str = "suite";
/// Where the suite claims that there is a document about its client.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
/// The suite gives each scenario half a minute.
const CALL: Duration = Duration::from_secs(10);

/// What the suite passes besides the URL.
#[derive(Default, Deserialize)]
struct Context {
    client_id: Option<String>,
    client_secret: Option<String>,
    /// The calls to make, if the suite names any.
    #[serde(default, rename = "toolCalls")]
    calls: Vec<Call>,
}

#[derive(Clone, Deserialize)]
struct Call {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = env::args().nth(1).ok_or("usage: belljar-testkit-client URL")?;
    let context: Context =
        env::var("MCP_CONFORMANCE_CONTEXT").map_or(Ok(Context::default()), |text| serde_json::from_str(&text))?;
    let mut endpoint = HttpEndpoint::new(url);
    (endpoint.oauth.id, endpoint.oauth.secret) = (context.client_id, context.client_secret);
    endpoint.oauth.metadata = Some(DOCUMENT.to_owned());

    let folder = tempfile::tempdir()?;
    let credentials = Arc::new(Dir::open_ambient_dir(folder.path(), ambient_authority())?);
    let suite = Suite { endpoint, credentials, calls: context.calls };
    // A user who is told to log in does so, and again if the server has moved its login, but not
    // for ever.
    for _ in 0..2 {
        match suite.talk().await {
            Err(fault) if wants_login(fault.as_ref()) => suite.log_in().await?,
            talked => return talked,
        }
    }
    suite.talk().await
}

struct Suite {
    endpoint: HttpEndpoint,
    credentials: Arc<Dir>,
    calls: Vec<Call>,
}

impl Suite {
    /// Lists the tools, and makes the calls that the suite names, or one of each tool.
    async fn talk(&self) -> Result<(), Box<dyn Error>> {
        let mut options = Options::new("belljar", env!("CARGO_PKG_VERSION"));
        options.credentials = Some(self.credentials.clone());
        let mut spec = ServerSpec::new(SERVER, Transport::Http(self.endpoint.clone()));
        spec.asks = Asks { elicitation: true, sampling: true, roots: true };
        spec.era = match env::var("MCP_CONFORMANCE_PROTOCOL_VERSION") {
            Ok(revision) if revision.as_str() >= "2026-07-28" => Era::Discover,
            _ => Era::Initialize,
        };
        let upstream = Upstream::new(vec![spec], BuiltIns::new(), options);
        upstream.set_client_abilities(User::ABILITIES);
        let talked = self.call_all(&upstream).await;
        upstream.shutdown().await;
        talked
    }

    async fn call_all(&self, upstream: &Upstream) -> Result<(), Box<dyn Error>> {
        let tools = upstream.start(SERVER).await?;
        let caller = Caller::new(Some(Arc::new(User)));
        let calls = match self.calls.is_empty() {
            true => tools.iter().map(call_of).collect(),
            false => self.calls.clone(),
        };
        for call in calls {
            let path = ToolPath::new(SERVER, call.name);
            let arguments = JsonText::from_value(&Value::Object(call.arguments));
            upstream.call_text(&path, arguments, CALL, &caller).await?;
        }
        Ok(())
    }

    async fn log_in(&self) -> Result<(), Box<dyn Error>> {
        let agent = format!("belljar/{}", env!("CARGO_PKG_VERSION"));
        let pending = auth::begin(&self.endpoint, self.credentials.clone(), &agent).await?;
        let page = pending.url().to_owned();
        let (visited, finished) = tokio::join!(browser::visit(&page), pending.finish());
        visited?;
        Ok(finished?)
    }
}

/// Whether a login could help, judging by the fault or its hint.
fn wants_login(fault: &(dyn Error + 'static)) -> bool {
    if fault.to_string().contains("belljar login") {
        return true;
    }
    let start = match fault.downcast_ref::<CallError>() {
        Some(CallError::Unavailable { fault, .. }) => Some(fault),
        _ => fault.downcast_ref::<Arc<StartError>>(),
    };
    let remote = match start.map(Arc::as_ref) {
        Some(StartError::Remote { fault }) => fault,
        _ => return false,
    };
    matches!(remote, RemoteError::LoginNeeded { .. } | RemoteError::LoginExpired { .. })
}

/// A call with a value for each property that the schema requires.
fn call_of(tool: &ToolDefinition) -> Call {
    let required = tool.input_schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let arguments = required.filter_map(Value::as_str).map(|name| {
        let kind = tool.input_schema.get("properties").and_then(|all| all.get(name)?.get("type")?.as_str());
        let value = match kind {
            Some("number" | "integer") => json!(5),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!("text"),
        };
        (name.to_owned(), value)
    });
    Call { name: tool.name.clone(), arguments: arguments.collect() }
}
