//! An authorization server that signs tokens for belljar's own clients: its metadata, its keys, and
//! any tokens that a test wants.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use parking_lot::{Mutex, MutexGuard};
use ring::{
    error::{KeyRejected, Unspecified},
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use serde_json::{Value, json};

use crate::web::{Reply, Request, Web};

/// What the server does wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IssuerFlaw {
    /// Nothing.
    #[default]
    None,
    /// It answers that it is down.
    Down,
    /// It redirects requests for its keys to another place.
    Redirects,
    /// Its document of keys is too long.
    Floods,
    /// Its metadata says that its keys are where clouds keep the credentials of their machines.
    LeadsInside,
}

/// Why there is no issuer.
#[derive(Debug, thiserror::Error)]
pub enum IssuerError {
    /// No port.
    #[error("there is no port: {0}")]
    Port(#[from] std::io::Error),
    /// No key.
    #[error("there is no key")]
    Key,
}

impl From<Unspecified> for IssuerError {
    fn from(_: Unspecified) -> Self {
        Self::Key
    }
}

impl From<KeyRejected> for IssuerError {
    fn from(_: KeyRejected) -> Self {
        Self::Key
    }
}

/// A running server.
pub struct Issuer {
    web: Web,
    known: Arc<Mutex<Known>>,
}

struct Known {
    base: String,
    flaw: IssuerFlaw,
    number: u32,
    key: EcdsaKeyPair,
}

impl Issuer {
    /// Serves on a free port of loopback.
    ///
    /// # Errors
    /// [`IssuerError`].
    pub async fn serve() -> Result<Self, IssuerError> {
        let known = Known { base: String::new(), flaw: IssuerFlaw::None, number: 0, key: key()? };
        let known = Arc::new(Mutex::new(known));
        let inner = known.clone();
        let web = Web::serve(move |request| answer(&lock(&inner), request)).await?;
        lock(&known).base = web.url("");
        Ok(Self { web, known })
    }

    /// Its name in tokens.
    pub fn url(&self) -> String {
        self.web.url("")
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.web.requests()
    }

    /// Misbehaves like this from now on.
    pub fn does(&self, flaw: IssuerFlaw) {
        lock(&self.known).flaw = flaw;
    }

    /// Signs with another key from now on, and forgets the old one.
    ///
    /// # Errors
    /// [`IssuerError`].
    pub fn rotate(&self) -> Result<(), IssuerError> {
        let mut known = lock(&self.known);
        (known.key, known.number) = (key()?, known.number + 1);
        Ok(())
    }

    /// The claims of a token for this subject, with these scopes, for this audience, for an hour.
    pub fn claims(&self, subject: &str, scope: &str, audience: &str) -> Value {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_secs());
        json!({ "iss": self.url(), "sub": subject, "scope": scope, "aud": audience, "iat": now, "exp": now + 3600 })
    }

    /// A token that is signed with the current key.
    ///
    /// # Errors
    /// [`IssuerError`].
    pub fn token(&self, claims: &Value) -> Result<String, IssuerError> {
        let name = format!("key-{}", lock(&self.known).number);
        self.token_with(&json!({ "alg": "ES256", "kid": name, "typ": "at+jwt" }), claims)
    }

    /// The same with another header.
    ///
    /// # Errors
    /// [`IssuerError`].
    pub fn token_with(&self, header: &Value, claims: &Value) -> Result<String, IssuerError> {
        let encoded = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encoded(header), encoded(claims));
        let signature = lock(&self.known).key.sign(&SystemRandom::new(), signed.as_bytes())?;
        Ok(format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature)))
    }
}

fn key() -> Result<EcdsaKeyPair, IssuerError> {
    let random = SystemRandom::new();
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)?;
    Ok(EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, key.as_ref(), &random)?)
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock()
}

fn answer(known: &Known, request: &Request) -> Reply {
    if known.flaw == IssuerFlaw::Down {
        return Reply::status(503);
    }
    match (request.path.as_str(), known.flaw) {
        ("/.well-known/openid-configuration", flaw) => {
            let keys = match flaw {
                IssuerFlaw::LeadsInside => "https://169.254.169.254/keys".to_owned(),
                _ => format!("{}/keys", known.base),
            };
            Reply::json(&json!({ "issuer": known.base, "jwks_uri": keys }))
        }
        ("/keys", IssuerFlaw::Redirects) => Reply::status(302).with("location", "/elsewhere"),
        ("/keys", IssuerFlaw::Floods) => {
            Reply { body: vec![b' '; 4 * 1024 * 1024], ..Reply::status(200) }.with("content-type", "application/json")
        }
        ("/keys" | "/elsewhere", _) => Reply::json(&json!({ "keys": [public(known)] })),
        _ => Reply::status(404),
    }
}

/// The current key, as in a set of keys.
fn public(known: &Known) -> Value {
    // A byte that says which form the point has, and its two coordinates.
    let point = known.key.public_key().as_ref().get(1..).unwrap_or_default();
    let (x, y) = point.split_at_checked(32).unwrap_or_default();
    let encoded = |number: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(number);
    json!({
        "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": format!("key-{}", known.number), "x": encoded(x), "y": encoded(y),
    })
}
