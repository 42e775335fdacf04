//! Which tokens are accepted, and which requests an authorization server gets.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use parking_lot::Mutex;
use rand::{Rng as _, SeedableRng as _};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _},
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{keys::Keys, token::SignedToken, *};

const ISSUER: &str = "https://login.example/realm";
const RESOURCE: &str = "https://mcp.example/mcp";

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// A key, and its name.
struct Signer {
    name: &'static str,
    pair: EcdsaKeyPair,
}

impl Signer {
    fn new(name: &'static str) -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        Self { name, pair: EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).expect("a key") }
    }

    fn public(&self) -> Value {
        let point = self.pair.public_key().as_ref();
        json!({ "kty": "EC", "crv": "P-256", "kid": self.name, "use": "sig", "x": encoded(&point[1..33]), "y": encoded(&point[33..]) })
    }

    fn token(&self, header: &Value, claims: &Value) -> String {
        let signed = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes()).expect("signed");
        format!("{signed}.{}", encoded(signature))
    }

    fn usual(&self) -> String {
        self.token(&json!({ "alg": "ES256", "kid": self.name }), &claims())
    }
}

fn claims() -> Value {
    json!({ "iss": ISSUER, "sub": "ann", "aud": RESOURCE, "exp": 4_000_000_000_u64, "scope": "openid bj:run bj:search search" })
}

/// The authorization server.
struct Server {
    keys: Mutex<Vec<Value>>,
    issuer: Mutex<String>,
    is_down: AtomicBool,
    /// Whether it answers with a page when it has no document.
    has_a_page: AtomicBool,
    fetches: AtomicUsize,
    asked: Mutex<Vec<String>>,
    /// If set, fetches wait for this.
    gate: Option<Notify>,
    waits: Notify,
}

impl Server {
    fn with(keys: &[&Signer], gate: Option<Notify>) -> Arc<Self> {
        Arc::new(Self {
            keys: Mutex::new(keys.iter().map(|key| key.public()).collect()),
            issuer: Mutex::new(ISSUER.to_owned()),
            is_down: AtomicBool::default(),
            has_a_page: AtomicBool::default(),
            fetches: AtomicUsize::default(),
            asked: Mutex::default(),
            gate,
            waits: Notify::new(),
        })
    }

    fn fetches(&self) -> usize {
        self.fetches.load(Ordering::Relaxed)
    }

    fn down(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::Relaxed);
    }
}

impl Documents for Server {
    fn get<'d>(&'d self, url: &'d str) -> Document<'d> {
        Box::pin(async move {
            self.asked.lock().push(url.to_owned());
            let is_metadata = url.contains("/.well-known/");
            if is_metadata && url.contains("openid-configuration/") {
                self.fetches.fetch_add(1, Ordering::Relaxed);
            }
            if let Some(gate) = &self.gate {
                self.waits.notify_one();
                gate.notified().await;
            }
            if self.is_down.load(Ordering::Relaxed) {
                return Err("it is down".to_owned());
            }
            match url {
                "https://login.example/.well-known/openid-configuration/realm" => {
                    let issuer = self.issuer.lock().clone();
                    Ok(json!({ "issuer": issuer, "jwks_uri": "https://keys.example/set" }).to_string().into_bytes())
                }
                "https://keys.example/set" => Ok(json!({ "keys": *self.keys.lock() }).to_string().into_bytes()),
                _ if self.has_a_page.load(Ordering::Relaxed) => Ok(b"<html>welcome</html>".to_vec()),
                _ => Err("not found".to_owned()),
            }
        })
    }
}

fn resource(server: &Arc<Server>) -> ResourceServer {
    let needs = &[Need { tool: "execute_code", least: Scope::RunReadOnly, asked: Scope::Run }];
    let options = OAuthOptions {
        issuer: ISSUER.to_owned(),
        resource: RESOURCE.to_owned(),
        scope_prefix: "bj:".to_owned(),
        needs,
    };
    ResourceServer::new(options, server.clone()).expect("URLs")
}

async fn refused(resource: &ResourceServer, token: &str) -> Option<Rejected> {
    match resource.principal(token).await {
        Ok(principal) => panic!("{principal:?}"),
        Err(Refusal::Unavailable) => None,
        Err(Refusal::Rejected(why) | Refusal::NotGood(why)) => Some(why),
    }
}

#[tokio::test]
async fn a_good_token_names_its_subject_and_has_the_scopes_with_our_prefix() {
    let signer = Signer::new("a");
    let resource = resource(&Server::with(&[&signer], None));
    let principal = resource.principal(&signer.usual()).await.expect("good");
    let realm = principal.name().strip_prefix("ann@login.example-").expect("a realm");
    assert_eq!(realm.len(), 8);
    assert_eq!(principal.scopes().collect::<Vec<_>>(), [Scope::Search, Scope::Run]);
    for (name, scopes) in [("scp", json!(["bj:admin"])), ("scp", json!("bj:admin x")), ("scope", json!(["bj:admin"]))] {
        let mut claims = claims();
        claims["scope"] = Value::Null;
        claims[name] = scopes;
        let token = signer.token(&json!({ "alg": "ES256", "kid": "a", "typ": "at+JWT" }), &claims);
        let principal = resource.principal(&token).await.expect("good");
        assert_eq!(principal.scopes().collect::<Vec<_>>(), [Scope::Admin], "{claims}");
    }
}

#[tokio::test]
async fn what_a_token_claims_has_to_hold_here_and_now() {
    let signer = Signer::new("a");
    let resource = resource(&Server::with(&[&signer], None));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("later").as_secs();
    for (name, value, expected) in [
        ("iss", json!("https://login.example/realm/"), Some(Rejected::Issuer)),
        ("iss", json!([ISSUER]), Some(Rejected::Malformed)),
        ("aud", json!("https://mcp.example"), Some(Rejected::Audience)),
        ("aud", json!("https://mcp.example/mcp/"), Some(Rejected::Audience)),
        ("aud", json!([]), Some(Rejected::Audience)),
        ("aud", json!(["other", RESOURCE]), None),
        ("aud", Value::Null, Some(Rejected::Malformed)),
        ("exp", json!(now - 40), Some(Rejected::Expired)),
        ("exp", json!(now - 10), None),
        ("exp", json!(now as f64 + 60.5), None),
        ("exp", json!(-1.0e300), Some(Rejected::Expired)),
        ("exp", json!("4000000000"), Some(Rejected::Malformed)),
        ("exp", Value::Null, Some(Rejected::Malformed)),
        ("nbf", json!(now + 60), Some(Rejected::NotYet)),
        ("nbf", json!(now + 10), None),
        ("sub", json!(""), Some(Rejected::Subject)),
        ("sub", json!("s".repeat(256)), Some(Rejected::Subject)),
        ("sub", Value::Null, Some(Rejected::Malformed)),
        ("cnf", json!({ "jkt": "x" }), Some(Rejected::Bound)),
        ("cnf", Value::Null, Some(Rejected::Bound)),
    ] {
        let mut claims = claims();
        claims[name] = value.clone();
        let token = signer.token(&json!({ "alg": "ES256", "kid": "a" }), &claims);
        let found = resource.principal(&token).await.err().map(|refusal| match refusal {
            Refusal::NotGood(why) => why,
            refusal => panic!("{name} = {value}: {refusal:?}"),
        });
        assert_eq!(found, expected, "{name} = {value}");
    }
}

#[tokio::test]
async fn a_token_is_signed_by_a_key_of_the_issuer_with_an_algorithm_of_that_key() {
    let (signer, stranger) = (Signer::new("a"), Signer::new("a"));
    let server = Server::with(&[&signer], None);
    let resource = resource(&server);
    let header = |more: Value| {
        let mut header = json!({ "alg": "ES256", "kid": "a" });
        header.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        signer.token(&header, &claims())
    };
    let (first, rest) = signer.usual().split_once('.').map(|(a, b)| (a.to_owned(), b.to_owned())).expect("parts");
    let (_, signature) = rest.split_once('.').expect("parts");
    let mut others = claims();
    others["sub"] = "bob".into();
    let changed = format!("{first}.{}.{signature}", encoded(others.to_string()));
    let unsigned = format!("{}.{}.", encoded(json!({ "alg": "none" }).to_string()), encoded(claims().to_string()));
    for (token, expected) in [
        (stranger.usual(), Rejected::Signature),
        (changed, Rejected::Signature),
        (format!("{first}.{rest}AAAA"), Rejected::Signature),
        (format!("{first}.{rest}="), Rejected::Malformed),
        (unsigned, Rejected::Algorithm),
        (header(json!({ "alg": "none" })), Rejected::Algorithm),
        (header(json!({ "alg": "HS256" })), Rejected::Algorithm),
        (header(json!({ "alg": "RS256" })), Rejected::Signature),
        (header(json!({ "alg": "EdDSA" })), Rejected::Signature),
        (header(json!({ "crit": ["exp"] })), Rejected::Malformed),
        (header(json!({ "crit": null })), Rejected::Malformed),
        (header(json!({ "typ": "dpop+jwt" })), Rejected::Type),
        (header(json!({ "kid": "b", "jwk": signer.public(), "jku": "https://evil.example" })), Rejected::UnknownKey),
        ("..".to_owned(), Rejected::Malformed),
        (format!("{}.{rest}", encoded("{}")), Rejected::Malformed),
        (format!("{first}.{}.{signature}", "A".repeat(20_000)), Rejected::TooLong),
    ] {
        assert_eq!(refused(&resource, &token).await, Some(expected), "{token:.200}");
    }
    // A token that names no key is tried with all.
    resource.principal(&header(json!({ "kid": null }))).await.expect("good");
    let asked = server.asked.lock().clone();
    assert!(asked.iter().all(|url| !url.contains("evil")), "{asked:?}");
}

#[tokio::test]
async fn a_header_and_claims_are_objects_and_no_arrays_of_the_same_values() {
    let signer = Signer::new("a");
    let resource = resource(&Server::with(&[&signer], None));
    let header = json!({ "alg": "ES256", "kid": "a" });
    // The fields in the order in which they are read.
    let all = json!([ISSUER, "ann", RESOURCE, 4_000_000_000_u64, null, "bj:run", null]);
    for token in [
        signer.token(&json!(["ES256", "a", null]), &claims()),
        signer.token(&json!(["ES256", "a", null, null]), &claims()),
        signer.token(&header, &all),
        signer.token(&header, &json!([ISSUER, "ann", RESOURCE, 4_000_000_000_u64, null, "bj:run", null, null])),
    ] {
        assert_eq!(refused(&resource, &token).await, Some(Rejected::Malformed), "{token}");
    }
}

#[tokio::test]
async fn an_issuer_that_answers_with_a_page_has_its_metadata_looked_for_at_the_next_place() {
    let signer = Signer::new("a");
    let server = Server::with(&[&signer], None);
    server.has_a_page.store(true, Ordering::Relaxed);
    resource(&server).principal(&signer.usual()).await.expect("good");
    let asked = server.asked.lock().clone();
    assert_eq!(asked[0], "https://login.example/.well-known/oauth-authorization-server/realm");
}

/// ring cannot generate RSA keys: these tokens were signed elsewhere.
#[test]
fn each_kind_of_key_signs_and_a_key_for_one_algorithm_signs_with_no_other() {
    const N: &str = "xYaoxh4ORZxfcKrw-QwYWeiZERFqmgEgS8woJ46PaK1Eqi4PGrOcO1RqcWwmSIdcHx9XlofxgQVyuj6f49mwO27HF_WiN0pojwRuPD9ew6BeerrVd_usrilsgNTnpDojy-xDHVuxx7fbjQXKULpJQovTM9CfLZfDef4NYQW-2MR_7Tx2kez4IRdZGk8KrS0T3lQv9TplnIiyt1RgMtz9iKwgsfV7Za-K_WSAK4CZkJkVuCLC7Wn5gvBNFPl73gbVK-Zu-Fk7J3rYpxyHecA-1ltUAieWFVcDb3_BtuXL2eNYv5sIESsf-AY1QoBaycU4qG6QtZQoL31aqZfKDIwdRw";
    const RS256: &str = "eyJhbGciOiJSUzI1NiJ9.e30.whgIt0Fl5zmJibiqrq5ESFaS_-b-ACMY2gGn8sy3NQNIKs75tH0h_deRx9s72vAE5BXxUqz5UwyAPhIcKDVUNrVRulFqgsmuEI1hrsn9ax9xjEqLw7DgHfdzUnyj4KAXVTTg8s1eYleVHMWWsQazRQCUuNOzSVD3MlKKJLfNjA-CH7P6_IZDb210_PO6NzZXAnA8Vx0TQunjrd-Vj7mZ79frzQ0IU_PVAM6_xqkSOmrsddcU2JvHCmAa3hmdDvTudqvOcCoeZ50TjmYQ1_RtccTCaf5OAVTMaasBwNxM8q9qQJM1etCY1lPZRJau9d1mdn11_DCF6m7LmQiDyMKruw";
    const PS384: &str = "eyJhbGciOiJQUzM4NCJ9.e30.ZIrtfM5OR2e10Ie7IhmddnAdIVInNgU0Gd0xm0fEC7lZrGVu0K0HZBpWHmPWiTxOpyKKkwngxCbcmvSj6rJpSsLVYrkyu-L1Xb4ddN6tYAMC61bvprz1pnZLsMPnSWvWWZ8RaxQrAY9dcr_HKJjdCBtWNdXNny7lBDCmfhYc3JirlfSNb4H87Bgblf8PjdfSkVpw8Q-N8Hv6080tk5J7ao_Ue32Uw7scG1AV9bBnimnMbozolTutiwU_RfwRh0dsQcef-1VowIUixAyYUw9OP4_dWLqiRYnfSlBtRYpVn0_GCbL3FFxB0qrGm3T2vtKqroA2aq31hQzLHcVxj--exg";
    let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
    let pair = Ed25519KeyPair::from_pkcs8(key.as_ref()).expect("a key");
    let signed = format!("{}.e30", encoded(r#"{"alg":"EdDSA"}"#));
    let eddsa = format!("{signed}.{}", encoded(pair.sign(signed.as_bytes())));
    let edwards = json!({ "kty": "OKP", "crv": "Ed25519", "x": encoded(pair.public_key()) });
    // A leading zero does not change a number.
    let padded = encoded([&[0], BASE64_URL_SAFE_NO_PAD.decode(N).expect("a number").as_slice()].concat());
    let rsa = json!({ "kty": "RSA", "n": padded, "e": "AAEAAQ" });
    let check = |keys: &[Value], token: &str| {
        let keys = Keys::read(json!({ "keys": keys }).to_string().as_bytes()).expect("a set");
        keys.check(&SignedToken::read(token).expect("a token"))
    };
    let with = |key: &Value, name: &str, value: Value| {
        let mut key = key.clone();
        key[name] = value;
        key
    };
    for (key, token) in [(&rsa, RS256), (&rsa, PS384), (&edwards, eddsa.as_str())] {
        assert_eq!(check(&[json!({ "kty": "oct", "k": "AAAA" }), key.clone()], token), Ok(()), "{token}");
        for (name, value) in
            [("use", json!("enc")), ("key_ops", json!(["encrypt"])), ("alg", json!("RS512")), ("alg", json!("HS256"))]
        {
            let other = with(key, name, value);
            assert_eq!(check(&[other], token), Err(Rejected::UnknownKey), "{token} {name}");
        }
    }
    assert_eq!(check(&[with(&rsa, "alg", json!("PS384"))], PS384), Ok(()));
    assert_eq!(
        check(&[with(&edwards, "x", json!("AAAA")), with(&rsa, "n", json!("AAAA"))], RS256),
        Err(Rejected::UnknownKey)
    );
    assert!(Keys::read(b"{\"keys\": {}}").is_none() && Keys::read(b"[").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_keys_that_nobody_knows_makes_a_bounded_number_of_fetches_and_shuts_nobody_out() {
    let (signer, stranger) = (Signer::new("a"), Signer::new("z"));
    let server = Server::with(&[&signer], None);
    let resource = resource(&server);
    resource.principal(&signer.usual()).await.expect("good");
    for _ in 0..100 {
        assert_eq!(refused(&resource, &stranger.usual()).await, Some(Rejected::UnknownKey));
        resource.principal(&signer.usual()).await.expect("good");
    }
    assert_eq!(server.fetches(), 4);
    tokio::time::advance(Duration::from_secs(61)).await;
    for _ in 0..100 {
        assert_eq!(refused(&resource, &stranger.usual()).await, Some(Rejected::UnknownKey));
    }
    assert_eq!(server.fetches(), 6, "one in half a minute");
    // The first request after a key changes finds the new one.
    tokio::time::advance(Duration::from_secs(31)).await;
    server.keys.lock().push(stranger.public());
    resource.principal(&stranger.usual()).await.expect("good");
}

#[tokio::test]
async fn keys_that_change_are_found_at_once_and_one_that_is_withdrawn_is_refused_when_they_are() {
    let (old, new) = (Signer::new("old"), Signer::new("new"));
    let server = Server::with(&[&old], None);
    let resource = resource(&server);
    resource.principal(&old.usual()).await.expect("good");
    *server.keys.lock() = vec![new.public()];
    resource.principal(&new.usual()).await.expect("good");
    assert_eq!(refused(&resource, &old.usual()).await, Some(Rejected::UnknownKey));
}

#[tokio::test(start_paused = true)]
async fn where_the_issuer_is_down_its_keys_count_for_an_hour_and_then_nobody_is_let_in() {
    let signer = Signer::new("a");
    let server = Server::with(&[&signer], None);
    let resource = resource(&server);
    server.down(true);
    assert_eq!(refused(&resource, &signer.usual()).await, None);
    server.down(false);
    resource.principal(&signer.usual()).await.expect("good");
    server.down(true);
    for _ in 0..11 {
        tokio::time::advance(Duration::from_secs(5 * 60)).await;
        resource.principal(&signer.usual()).await.expect("good");
    }
    tokio::time::advance(Duration::from_secs(6 * 60)).await;
    assert_eq!(refused(&resource, &signer.usual()).await, None);
    server.down(false);
    tokio::time::advance(Duration::from_secs(31)).await;
    resource.principal(&signer.usual()).await.expect("good");
}

#[tokio::test]
async fn metadata_of_another_issuer_gives_no_keys() {
    let signer = Signer::new("a");
    let server = Server::with(&[&signer], None);
    *server.issuer.lock() = "https://login.example/other".to_owned();
    let resource = resource(&server);
    assert_eq!(refused(&resource, &signer.usual()).await, None);
    let asked = server.asked.lock().clone();
    assert!(!asked.iter().any(|url| url.contains("keys.example")), "{asked:?}");
    assert_eq!(asked[0], "https://login.example/.well-known/oauth-authorization-server/realm");
}

#[tokio::test]
async fn requests_that_come_together_wait_for_one_fetch_and_one_that_hangs_up_ends_it_for_nobody() {
    let signer = Signer::new("a");
    let server = Server::with(&[&signer], Some(Notify::new()));
    let resource = Arc::new(resource(&server));
    let ask = || {
        let (resource, token) = (resource.clone(), signer.usual());
        tokio::spawn(async move { resource.principal(&token).await.map(|principal| principal.name().to_owned()) })
    };
    let first = ask();
    server.waits.notified().await;
    let others: Vec<_> = (0..10).map(|_| ask()).collect();
    first.abort();
    assert!(first.await.expect_err("aborted").is_cancelled());
    let gate = server.gate.as_ref().expect("a gate");
    gate.notify_one();
    // One document after the other.
    for _ in 0..2 {
        server.waits.notified().await;
        gate.notify_one();
    }
    for other in others {
        other.await.expect("no panic").expect("good");
    }
    assert_eq!(server.fetches(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_never_answers_is_waited_for_a_bounded_time() {
    let signer = Signer::new("a");
    let resource = resource(&Server::with(&[&signer], Some(Notify::new())));
    let began = tokio::time::Instant::now();
    assert_eq!(refused(&resource, &signer.usual()).await, None);
    assert_eq!(began.elapsed().as_secs(), 15);
}

#[tokio::test]
async fn clients_are_told_where_to_get_a_token_and_with_what_scopes() {
    let signer = Signer::new("a");
    let resource = resource(&Server::with(&[&signer], None));
    assert_eq!(resource.metadata_path(), "/.well-known/oauth-protected-resource/mcp");
    assert_eq!(
        resource.metadata(),
        json!({
            "resource": RESOURCE, "authorization_servers": [ISSUER], "bearer_methods_supported": ["header"],
            "scopes_supported": ["bj:search", "bj:run:read-only", "bj:run"],
        })
    );
    let place = "resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/mcp\"";
    assert_eq!(resource.challenge(None), format!("Bearer {place}, scope=\"bj:search bj:run\""));
    let expired = resource.challenge(Some(&Rejected::Expired));
    assert!(expired.starts_with("Bearer error=\"invalid_token\", error_description=\"the token has expired\", "));
    let with =
        |scopes: &[Scope]| Principal::of_issuer("ann", BTreeSet::from_iter(scopes.iter().copied()), Duration::MAX);
    let lacking = |scopes: &[Scope], tool| resource.lacking(&with(scopes), tool);
    assert_eq!(lacking(&[], None), Some(vec![Scope::Search, Scope::Run]));
    assert_eq!(lacking(&[Scope::Search], Some("execute_code")), Some(vec![Scope::Run]));
    assert_eq!(lacking(&[Scope::Search], None), None);
    for scope in [Scope::Run, Scope::RunReadOnly, Scope::Admin] {
        assert_eq!(lacking(&[scope], Some("execute_code")), None, "{scope}");
    }
    let more = resource.challenge_for_more(&[Scope::Run]);
    assert_eq!(more, format!("Bearer error=\"insufficient_scope\", scope=\"bj:run\", {place}"));
}

/// A token with some bytes changed, removed or repeated is rejected in some way, and nothing worse
/// happens.
#[tokio::test]
async fn no_text_that_is_shown_as_a_token_does_more_than_be_refused() {
    let signer = Signer::new("a");
    let resource = resource(&Server::with(&[&signer], None));
    let good = signer.usual();
    let mut random = rand::rngs::StdRng::seed_from_u64(23);
    for _ in 0..20_000 {
        let mut bytes = good.clone().into_bytes();
        for _ in 0..random.random_range(1..4) {
            let at = random.random_range(0..bytes.len());
            match random.random_range(0..4) {
                0 => bytes[at] = random.random_range(b'!'..=b'~'),
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b'.'),
                _ => bytes.extend_from_within(at..),
            }
        }
        let text = String::from_utf8(bytes).expect("ASCII");
        let shown = resource.principal(&text).await;
        // The last character of a signature has unused bits, which must be zero.
        assert!(text == good || shown.is_err(), "{text}");
    }
    let set = json!({ "keys": [signer.public(), { "kty": "RSA", "n": "AQAB", "e": "AQAB" }] }).to_string();
    for _ in 0..5_000 {
        let mut bytes = set.clone().into_bytes();
        let at = random.random_range(0..bytes.len());
        bytes[at] = random.random_range(b' '..=b'~');
        if let Some(keys) = Keys::read(&bytes) {
            // The result does not matter.
            let _ = keys.check(&SignedToken::read(&good).expect("a token"));
        }
    }
}
