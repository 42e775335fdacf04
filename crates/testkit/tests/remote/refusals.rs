//! What cannot be used, or must not be, and the messages about it.

use std::sync::Arc;

use belljar_upstream::RemoteError;
use parking_lot::Mutex;

use super::*;

fn with_secret(url: String) -> HttpEndpoint {
    let mut endpoint = HttpEndpoint::new(url);
    endpoint.headers.insert("X-Key".to_owned(), SECRET.to_owned());
    endpoint
}

fn remote(fault: &std::sync::Arc<StartError>) -> &RemoteError {
    let StartError::Remote { fault } = &**fault else { panic!("{fault}") };
    fault
}

#[tokio::test]
async fn headers_go_with_every_request_and_to_no_other_origin() {
    let elsewhere = web(ordinary).await;
    let target = elsewhere.url("/mcp?key=hidden");
    let redirecting = web(move |_| Reply::status(307).with("location", &target)).await;
    let upstream = upstream_at(with_secret(redirecting.url("/mcp")));
    let fault = start_error(&upstream).await;
    assert!(matches!(remote(&fault), RemoteError::Redirected { .. }), "{fault}");
    assert!(fault.to_string().contains("/mcp") && !fault.to_string().contains("hidden"), "{fault}");
    assert!(elsewhere.requests().is_empty(), "the headers were taken elsewhere");
    assert!(redirecting.requests().iter().all(|request| request.header("x-key") == Some(SECRET)));
    upstream.shutdown().await;

    // To the same origin, with the same method, it is followed: many servers require a trailing
    // slash.
    let web = web(|request| match request.path.as_str() {
        "/mcp/" => ordinary(request),
        _ => Reply::status(308).with("location", "/mcp/"),
    })
    .await;
    let upstream = upstream_at(with_secret(web.url("/mcp")));
    assert!(call(&upstream, "echo", json!({})).await.is_ok());
    assert!(web.requests().iter().all(|request| request.header("x-key") == Some(SECRET)));
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_redirect_that_would_lose_the_message_is_not_followed() {
    let web = web(|request| match request.method.as_str() {
        "POST" => Reply::status(302).with("location", "/other"),
        _ => Reply::status(200),
    })
    .await;
    let upstream = upstream_at(endpoint(web.url("/mcp"), HttpProtocol::Streamable));
    assert!(matches!(remote(&start_error(&upstream).await), RemoteError::Redirected { .. }));
    assert!(web.requests().iter().all(|request| request.method == "POST"));
}

#[tokio::test]
async fn secrets_are_not_sent_in_the_open() {
    let upstream = upstream_at(with_secret("http://192.0.2.1/mcp".to_owned()));
    let fault = start_error(&upstream).await;
    assert!(matches!(remote(&fault), RemoteError::Insecure { .. }), "{fault}");
    assert!(fault.hint().is_some_and(|hint| hint.contains("https://")));
    for url in [format!("http://me:{SECRET}@192.0.2.1/mcp"), format!("http://192.0.2.1/mcp?key={SECRET}")] {
        let upstream = upstream_at(HttpEndpoint::new(url));
        let fault = start_error(&upstream).await;
        assert!(matches!(remote(&fault), RemoteError::Insecure { .. }), "{fault}");
    }
}

#[tokio::test]
async fn each_refusal_says_how_to_fix_it() {
    type Answer = fn(&Request) -> Reply;
    let cases: [(Answer, bool, &str, &str); 6] = [
        (|_| Reply::status(401), false, "wants a login", "belljar login there"),
        (|_| Reply::status(401), true, "refuses the configured headers", "check the token"),
        (|_| Reply::status(404), false, "HTTP status 404", "check the path"),
        (|_| Reply::status(503), false, "HTTP status 503", "try again later"),
        (|_| Reply::json(&json!("hello")), false, "does not speak MCP", "check that 'url'"),
        (
            |_| Reply { body: b"<html>".to_vec(), ..Reply::status(200) }.with("content-type", "text/html"),
            false,
            "does not speak MCP",
            "check that 'url'",
        ),
    ];
    for (answer, has_token, said, hint) in cases {
        let web = web(answer).await;
        let mut endpoint = HttpEndpoint::new(web.url(&format!("/{SECRET}?{SECRET}")));
        if has_token {
            endpoint.headers.insert("Authorization".to_owned(), format!("Bearer {SECRET}"));
        }
        let mut spec = ServerSpec::new("there", Transport::Http(endpoint));
        spec.start_timeout = Duration::from_secs(3);
        let upstream = Upstream::new(vec![spec], BuiltIns::new(), options());
        let fault = start_error(&upstream).await;
        assert!(fault.to_string().contains(said), "{fault}");
        assert!(fault.hint().is_some_and(|given| given.contains(hint)), "{fault}: {:?}", fault.hint());
        let status = format!("{:?}", upstream.status());
        assert!(!format!("{fault} {fault:?} {status}").contains(SECRET), "{fault:?}");
        upstream.shutdown().await;
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_tried_again_when_it_may_be() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let upstream = upstream_at(HttpEndpoint::new(format!("http://127.0.0.1:{port}/mcp")));
    let fault = start_error(&upstream).await;
    assert!(matches!(remote(&fault), RemoteError::Unreachable { .. }), "{fault}");
    assert!(!fault.to_string().contains("/mcp"), "{fault}");
}

#[tokio::test]
async fn a_server_that_goes_away_fails_its_calls_and_is_found_again() {
    let gone = Arc::new(Mutex::new(false));
    let is_gone = gone.clone();
    let web = web(move |request| {
        if *is_gone.lock() && request.json()["method"] == "tools/call" { Reply::status(401) } else { ordinary(request) }
    })
    .await;
    let upstream = upstream_at(endpoint(web.url("/mcp"), HttpProtocol::Streamable));
    assert!(call(&upstream, "echo", json!({})).await.is_ok());
    *gone.lock() = true;
    let fault = call(&upstream, "echo", json!({})).await.expect_err("it wants a login by now");
    assert!(fault.to_string().contains("wants a login"), "{fault}");
    *gone.lock() = false;
    let back = async {
        while call(&upstream, "echo", json!({})).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(AMPLE, back).await.expect("it comes back");
    upstream.shutdown().await;
}
