//! Logins, with an authorization server of our own.

use std::sync::Arc;

use belljar_testkit::{
    authority::{Authority, Flaw},
    web::Request,
};
use belljar_upstream::auth::{self, LoginError};
use cap_std::{ambient_authority, fs::Dir};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::*;

struct Place {
    folder: tempfile::TempDir,
    dir: Arc<Dir>,
}

fn place() -> Place {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = Arc::new(Dir::open_ambient_dir(folder.path(), ambient_authority()).expect("the folder"));
    Place { folder, dir }
}

async fn authority(flaw: Flaw, expires_in: u64) -> Authority {
    Authority::serve(flaw, expires_in).await.expect("a port")
}

/// What comes back for a GET request, as a browser would make it.
async fn get(url: &str) -> String {
    let rest = url.strip_prefix("http://").expect("a plain URL");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).await.expect("it listens");
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    answer
}

/// A user who opens the page and is sent back.
async fn user(page: &str) {
    let answer = get(page).await;
    let location = answer.lines().find_map(|line| line.strip_prefix("location: ")).expect("a way back").to_owned();
    // Another program on this machine may know the port, but not the state.
    let (there, _) = location.split_once('?').expect("a query");
    assert!(get(&format!("{there}?code=forged&state=forged")).await.starts_with("HTTP/1.1 404"));
    assert!(get(&location).await.starts_with("HTTP/1.1 200"));
}

async fn log_in(
    authority: &Authority,
    place: &Place,
    change: impl FnOnce(&mut HttpEndpoint),
) -> Result<(), LoginError> {
    let mut endpoint = HttpEndpoint::new(authority.url());
    change(&mut endpoint);
    let pending = auth::begin(&endpoint, place.dir.clone(), "belljar-tests/0").await?;
    let page = pending.url().to_owned();
    let (finished, ()) = tokio::join!(pending.finish(), user(&page));
    finished
}

fn account(authority: &Authority, place: &Place) -> Upstream {
    let spec = ServerSpec::new("there", Transport::Http(HttpEndpoint::new(authority.url())));
    let mut options = options();
    options.credentials = Some(place.dir.clone());
    Upstream::new(vec![spec], BuiltIns::new(), options)
}

async fn is_known(upstream: &Upstream) {
    let result = call(upstream, "whoami", json!({})).await.expect("a result");
    assert_eq!(result["content"][0]["text"], "you");
}

#[tokio::test]
async fn a_login_makes_a_server_usable_and_its_token_is_for_its_owner_alone() {
    let (authority, place) = (authority(Flaw::None, 3_600).await, place());
    let before = account(&authority, &place);
    let fault = start_error(&before).await;
    assert!(fault.hint().is_some_and(|hint| hint.contains("belljar login there")), "{fault}");
    before.shutdown().await;

    log_in(&authority, &place, |_| {}).await.expect("a login");
    let upstream = account(&authority, &place);
    is_known(&upstream).await;
    assert!(!format!("{:?}", upstream.status()).contains("sesame"));
    upstream.shutdown().await;

    let files: Vec<_> = std::fs::read_dir(place.folder.path()).expect("the folder").filter_map(Result::ok).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(files[0].metadata().expect("a file").permissions().mode() & 0o777, 0o600);
    }
    let registered: Vec<Request> =
        authority.requests().into_iter().filter(|request| request.path == "/register").collect();
    assert_eq!(registered[0].json()["client_name"], "belljar");
    assert_eq!(registered[0].json()["application_type"], "native");
}

#[tokio::test]
async fn a_token_that_ends_is_renewed_once_however_many_need_it() {
    let (authority, place) = (authority(Flaw::None, 3_600).await, place());
    log_in(&authority, &place, |_| {}).await.expect("a login");
    authority.withdraw();
    // Two processes, each with several calls.
    let (one, other) = (account(&authority, &place), account(&authority, &place));
    tokio::join!(is_known(&one), is_known(&other), is_known(&one), is_known(&other));
    let counts = {
        let known = authority.known();
        (known.renewals, known.reuses)
    };
    assert_eq!(counts, (1, 0), "renewed more than once, or with a token that is used up");
    one.shutdown().await;
    other.shutdown().await;
}

#[tokio::test]
async fn a_token_that_is_about_to_end_is_renewed_before_it_is_used() {
    let (authority, place) = (authority(Flaw::None, 5).await, place());
    log_in(&authority, &place, |_| {}).await.expect("a login");
    let upstream = account(&authority, &place);
    is_known(&upstream).await;
    assert!(authority.known().renewals > 0);
    assert_eq!(authority.known().reuses, 0);
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_login_that_cannot_be_renewed_says_to_log_in_again() {
    let (authority, place) = (authority(Flaw::None, 3_600).await, place());
    log_in(&authority, &place, |_| {}).await.expect("a login");
    authority.withdraw();
    authority.forget();
    let upstream = account(&authority, &place);
    let fault = start_error(&upstream).await;
    assert!(fault.to_string().contains("is no longer valid"), "{fault}");
    assert!(fault.hint().is_some_and(|hint| hint.contains("belljar login there")));
    assert!(!format!("{fault:?}").contains("sesame"), "{fault:?}");
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_login_that_is_not_what_it_says_is_refused() {
    for (flaw, said) in [
        (Flaw::WrongIssuer, "issuer"),
        (Flaw::WrongResource, "esource"),
        (Flaw::NoRegistration, "egistration"),
        (Flaw::InsecurePage, "neither reached by https"),
    ] {
        let (authority, place) = (authority(flaw, 3_600).await, place());
        let endpoint = HttpEndpoint::new(authority.url());
        let fault = auth::begin(&endpoint, place.dir.clone(), "belljar-tests/0").await.expect_err("it is refused");
        assert!(fault.to_string().contains(said), "{flaw:?}: {fault}");
    }
    for (flaw, said) in [(Flaw::WrongCallbackIssuer, "issuer mismatch"), (Flaw::Refuses, "access_denied not today")] {
        let (authority, place) = (authority(flaw, 3_600).await, place());
        let fault = log_in(&authority, &place, |_| {}).await.expect_err("it is refused");
        assert!(fault.to_string().contains(said), "{flaw:?}: {fault}");
        assert_eq!(std::fs::read_dir(place.folder.path()).expect("the folder").count(), 0, "{flaw:?}");
    }
}

#[tokio::test]
async fn a_login_is_not_led_into_the_owners_network() {
    for (flaw, allow_private, place) in [
        (Flaw::RegistrationInside, false, "10.255.255.1"),
        (Flaw::TokensInside, false, "169.254.169.254"),
        // Nobody may log in there, whatever the owner allows.
        (Flaw::TokensInside, true, "169.254.169.254"),
    ] {
        let (authority, folder) = (authority(flaw, 3_600).await, self::place());
        let fault = log_in(&authority, &folder, |endpoint| endpoint.oauth.allow_private = allow_private).await;
        let fault = fault.expect_err("it is refused");
        assert!(matches!(&fault, LoginError::Private { place: found, .. } if found == place), "{flaw:?}: {fault:?}");
        assert!(fault.hint().is_some_and(|hint| hint.contains("allow_private")), "{fault}");
        assert_eq!(std::fs::read_dir(folder.folder.path()).expect("the folder").count(), 0, "{flaw:?}");
    }
}

#[tokio::test]
async fn a_registered_client_is_not_registered_again() {
    let (authority, place) = (authority(Flaw::NoRegistration, 3_600).await, place());
    log_in(&authority, &place, |endpoint| {
        endpoint.oauth.id = Some("by-hand".to_owned());
        endpoint.oauth.scopes = vec!["tools".to_owned()];
    })
    .await
    .expect("a login");
    let page = authority.requests().into_iter().find(|request| request.path.starts_with("/authorize")).expect("a page");
    assert!(page.path.contains("client_id=by-hand") && page.path.contains("scope=tools"), "{}", page.path);
    let upstream = account(&authority, &place);
    is_known(&upstream).await;
    upstream.shutdown().await;
}

#[tokio::test]
async fn what_is_said_of_a_login_has_no_secret_of_the_url() {
    let web = web(|_| Reply::status(500)).await;
    let url = web.url(&format!("/mcp?key={SECRET}")).replace("://", &format!("://me:{SECRET}@"));
    let fault = auth::begin(&HttpEndpoint::new(url), place().dir, "belljar-tests/0").await.expect_err("it is refused");
    assert!(!format!("{fault} {fault:?}").contains(SECRET), "{fault:?}");
}

#[tokio::test]
async fn nobody_logs_in_where_others_can_listen() {
    let endpoint = HttpEndpoint::new("http://192.0.2.1/mcp");
    let fault = auth::begin(&endpoint, place().dir, "belljar-tests/0").await.expect_err("it is refused");
    assert!(matches!(fault, LoginError::Server { .. }), "{fault}");
}

#[tokio::test]
async fn a_scope_that_a_server_wants_is_named_and_asked_for_at_the_next_login_beside_those_that_there_were() {
    let (authority, place) = (authority(Flaw::WantsMore, 3_600).await, place());
    log_in(&authority, &place, |_| {}).await.expect("a login");
    assert_eq!(authority.known().scope, "tools");
    let upstream = account(&authority, &place);
    let refused = call(&upstream, "whoami", json!({})).await.expect_err("a scope is missing").to_string();
    assert!(refused.contains("the scope 'write'") && refused.contains("belljar login there"), "{refused}");

    // If the owner chooses scopes, no others are requested.
    let chosen = |endpoint: &mut HttpEndpoint| endpoint.oauth.scopes = vec!["tools".to_owned()];
    let mut endpoint = HttpEndpoint::new(authority.url());
    chosen(&mut endpoint);
    let pending = auth::begin(&endpoint, place.dir.clone(), "belljar-tests/0").await.expect("it begins");
    assert_eq!(pending.scopes(), ["tools"]);
    drop(pending);

    log_in(&authority, &place, |_| {}).await.expect("a login");
    assert_eq!(authority.known().scope, "tools write");
    is_known(&upstream).await;
    upstream.shutdown().await;
    // It was requested once.
    log_in(&authority, &place, |_| {}).await.expect("a login");
    assert_eq!(authority.known().scope, "tools");
}

#[tokio::test]
async fn a_document_about_belljar_is_its_id_where_such_are_read_and_elsewhere_it_registers() {
    const DOCUMENT: &str = "https://me.example/belljar.json";
    let with_document = |endpoint: &mut HttpEndpoint| endpoint.oauth.metadata = Some(DOCUMENT.to_owned());
    for (flaw, client) in [(Flaw::ReadsDocuments, DOCUMENT), (Flaw::None, "registered")] {
        let (authority, place) = (authority(flaw, 3_600).await, place());
        log_in(&authority, &place, with_document).await.expect("a login");
        assert_eq!(authority.known().client, client);
        let registers = authority.requests().iter().any(|request| request.path == "/register");
        assert_eq!(registers, client == "registered");
        let upstream = account(&authority, &place);
        is_known(&upstream).await;
        upstream.shutdown().await;
    }
}
