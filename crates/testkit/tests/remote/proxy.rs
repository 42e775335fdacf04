//! A server that is reached through a proxy.

use belljar_upstream::RemoteError;

use super::*;

fn through(url: String, proxy: &Web) -> Upstream {
    let proxy = proxy.url("").replace("http://", "http://me:sesame@");
    let endpoint = HttpEndpoint { proxy: Some(proxy), ..HttpEndpoint::new(url) };
    Upstream::new(vec![ServerSpec::new("there", Transport::Http(endpoint))], BuiltIns::new(), options())
}

#[tokio::test]
async fn a_proxy_is_asked_for_what_goes_over_https_with_its_password_which_no_text_has() {
    let proxy = Web::serve(|_| Reply::status(407)).await.expect("a port");
    let upstream = through("https://mcp.example/mcp".to_owned(), &proxy);
    let fault = start_error(&upstream).await;
    let asked = proxy.requests();
    let first = asked.first().expect("it was asked");
    assert_eq!((first.method.as_str(), first.path.as_str()), ("CONNECT", "mcp.example:443"));
    assert_eq!(first.header("proxy-authorization"), Some("Basic bWU6c2VzYW1l"));
    assert!(matches!(&*fault, StartError::Remote { fault: RemoteError::Unreachable { .. } }), "{fault:?}");
    for text in [fault.to_string(), format!("{fault:?}"), format!("{:?}", upstream.status())] {
        assert!(!text.contains("sesame"), "{text}");
    }
    upstream.shutdown().await;
}

#[tokio::test]
async fn what_goes_over_http_goes_past_the_proxy() {
    let proxy = Web::serve(|_| Reply::status(502)).await.expect("a port");
    let server = Web::serve(|_| Reply::status(418)).await.expect("a port");
    let upstream = through(server.url("/mcp"), &proxy);
    let fault = start_error(&upstream).await;
    assert!(matches!(&*fault, StartError::Remote { fault: RemoteError::Status { status: 418, .. } }), "{fault:?}");
    assert!(proxy.requests().is_empty() && !server.requests().is_empty());
    upstream.shutdown().await;
}
