//! An MCP server that requires a login, and its authorization server, on one loopback address:
//! small, strict about what MCP requires of clients, and able to misbehave for a test.

use std::{collections::BTreeMap, sync::Arc};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::web::{Reply, Request, Web};

/// What the authorization server does wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Flaw {
    /// Nothing.
    #[default]
    None,
    /// Its metadata names another issuer than the resource does.
    WrongIssuer,
    /// The resource's metadata describes another resource.
    WrongResource,
    /// It sends its users back in the name of another issuer.
    WrongCallbackIssuer,
    /// Users refuse.
    Refuses,
    /// It requires that clients are registered by hand.
    NoRegistration,
    /// The page to log in on is at another host, over http.
    InsecurePage,
    /// Clients are to be registered at an address of a private network.
    RegistrationInside,
    /// Calls of tools need the scope `write`, which the resource does not name.
    WantsMore,
    /// It reads documents about its clients, and says so.
    ReadsDocuments,
    /// Tokens are issued at the address where clouds keep the credentials of their machines.
    TokensInside,
}

/// What the server knows.
#[derive(Debug, Default)]
pub struct Known {
    /// The base of all URLs.
    base: String,
    flaw: Flaw,
    /// How long access tokens are valid, according to it.
    expires_in: u64,
    challenge: Option<String>,
    /// The client that last asked for a login.
    pub client: String,
    /// The scopes that were requested then.
    pub scope: String,
    granted: String,
    number: u64,
    access: Option<String>,
    refresh: Option<String>,
    /// How often tokens were renewed.
    pub renewals: u64,
    /// How often a used refresh token was used again.
    pub reuses: u64,
}

/// A running server.
pub struct Authority {
    web: Web,
    known: Arc<Mutex<Known>>,
}

impl Authority {
    /// Serves, with access tokens that are valid for this many seconds.
    ///
    /// # Errors
    /// If there is no port.
    pub async fn serve(flaw: Flaw, expires_in: u64) -> std::io::Result<Self> {
        let known = Arc::new(Mutex::new(Known { flaw, expires_in, ..Known::default() }));
        let inner = known.clone();
        let web = Web::serve(move |request| answer(&mut lock(&inner), request)).await?;
        lock(&known).base = web.url("");
        Ok(Self { web, known })
    }

    /// The URL of the MCP server.
    pub fn url(&self) -> String {
        self.web.url("/mcp")
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.web.requests()
    }

    /// What it knows.
    pub fn known(&self) -> MutexGuard<'_, Known> {
        lock(&self.known)
    }

    /// Invalidates the last access token.
    pub fn withdraw(&self) {
        self.known().access = None;
    }

    /// Invalidates the last refresh token.
    pub fn forget(&self) {
        self.known().refresh = None;
    }
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock()
}

fn answer(known: &mut Known, request: &Request) -> Reply {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let base = known.base.clone();
    match path {
        "/mcp" => mcp(known, request),
        "/.well-known/oauth-protected-resource" | "/.well-known/oauth-protected-resource/mcp" => {
            let resource = if known.flaw == Flaw::WrongResource {
                "https://example.com/mcp".to_owned()
            } else {
                format!("{base}/mcp")
            };
            Reply::json(
                &json!({ "resource": resource, "authorization_servers": [base], "scopes_supported": ["tools"] }),
            )
        }
        "/.well-known/oauth-authorization-server" => Reply::json(&metadata(known)),
        "/register" => {
            let mut client = request.json();
            client["client_id"] = "registered".into();
            Reply { status: 201, ..Reply::json(&client) }
        }
        "/authorize" => authorize(known, &parameters(query)),
        "/token" => token(known, &parameters(&request.body)),
        _ => Reply::status(404),
    }
}

fn metadata(known: &Known) -> Value {
    let base = &known.base;
    let issuer = if known.flaw == Flaw::WrongIssuer { "https://example.com" } else { base };
    let page = if known.flaw == Flaw::InsecurePage { "http://192.0.2.1" } else { base };
    let mut metadata = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{page}/authorize"),
        "token_endpoint": format!("{base}/token"),
        "registration_endpoint": format!("{base}/register"),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
    });
    match known.flaw {
        Flaw::RegistrationInside => metadata["registration_endpoint"] = "https://10.255.255.1/register".into(),
        Flaw::ReadsDocuments => metadata["client_id_metadata_document_supported"] = true.into(),
        Flaw::TokensInside => metadata["token_endpoint"] = "https://169.254.169.254/token".into(),
        _ => {}
    }
    if known.flaw == Flaw::NoRegistration
        && let Some(metadata) = metadata.as_object_mut()
    {
        metadata.remove("registration_endpoint");
    }
    metadata
}

/// The page on which a user agrees, which here happens at once.
fn authorize(known: &mut Known, query: &BTreeMap<String, String>) -> Reply {
    let get = |name: &str| query.get(name).map(String::as_str).unwrap_or_default();
    let wanted = format!("{}/mcp", known.base);
    if get("response_type") != "code" || get("code_challenge_method") != "S256" || get("resource") != wanted {
        return Reply::status(400);
    }
    known.challenge = Some(get("code_challenge").to_owned());
    (known.client, known.scope) = (get("client_id").to_owned(), get("scope").to_owned());
    let issuer = if known.flaw == Flaw::WrongCallbackIssuer { "https://example.com" } else { &known.base };
    let (back, state) = (get("redirect_uri"), encoded(get("state")));
    let location = match known.flaw {
        Flaw::Refuses => format!("{back}?error=access_denied&error_description=not%20today&state={state}"),
        _ => format!("{back}?code=the-code&state={state}&iss={}", encoded(issuer)),
    };
    Reply::status(302).with("location", &location)
}

fn token(known: &mut Known, form: &BTreeMap<String, String>) -> Reply {
    let get = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let refused = || Reply { status: 400, ..Reply::json(&json!({ "error": "invalid_grant" })) };
    if get("resource") != format!("{}/mcp", known.base) {
        return refused();
    }
    match get("grant_type") {
        "authorization_code" => {
            let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(get("code_verifier")));
            if get("code") != "the-code" || known.challenge.take() != Some(challenge) {
                return refused();
            }
            known.granted.clone_from(&known.scope);
        }
        "refresh_token" => {
            if known.refresh.as_deref() != Some(get("refresh_token")) {
                known.reuses += 1;
                return refused();
            }
            known.renewals += 1;
        }
        _ => return refused(),
    }
    known.number += 1;
    let (access, refresh) = (format!("access-{}-sesame", known.number), format!("refresh-{}-sesame", known.number));
    (known.access, known.refresh) = (Some(access.clone()), Some(refresh.clone()));
    Reply::json(&json!({
        "access_token": access, "token_type": "Bearer", "expires_in": known.expires_in, "refresh_token": refresh, "scope": known.granted,
    }))
}

/// The MCP server, whose only tool says that it was called.
fn mcp(known: &Known, request: &Request) -> Reply {
    let bearer = known.access.as_ref().map(|access| format!("Bearer {access}"));
    if bearer.is_none() || request.header("authorization") != bearer.as_deref() {
        let metadata = format!("Bearer resource_metadata=\"{}/.well-known/oauth-protected-resource/mcp\"", known.base);
        return Reply::status(401).with("www-authenticate", &metadata);
    }
    let message = request.json();
    let may_write = known.granted.split(' ').any(|scope| scope == "write");
    if known.flaw == Flaw::WantsMore && message["method"] == "tools/call" && !may_write {
        let challenge = "Bearer error=\"insufficient_scope\", scope=\"write\"";
        return Reply::status(403).with("www-authenticate", challenge);
    }
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "account", "version": "0" },
        }),
        Some("tools/list") => json!({ "tools": [{ "name": "whoami", "inputSchema": { "type": "object" } }] }),
        Some("tools/call") => json!({ "content": [{ "type": "text", "text": "you" }] }),
        Some(_) => return Reply::status(202),
        None => return Reply::status(405),
    };
    Reply::json(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

/// The parameters of a query or a form.
fn parameters(text: &str) -> BTreeMap<String, String> {
    text.split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [rest.next().unwrap_or_default(), rest.next().unwrap_or_default()];
                let digits = std::str::from_utf8(&digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok());
                bytes.extend(digits);
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
