//! Tests the layer in front of rmcp's transport, over real sockets.

mod support;

use std::{sync::Arc, time::Duration};

use crate::{Listener, Tokens};
use support::{INITIALIZE, Served, Wire, call, header, in_session, modern, soon};

const SHORT: Duration = Duration::from_millis(100);

#[tokio::test]
async fn both_protocol_revisions_are_served_at_one_endpoint() {
    let served = Served::with(|_| {}).await;
    let session = served.begin(&served.ann).await;
    let answer = served.ask(&served.ann, &session, 1, "who").await;
    assert!(answer.contains("\"result\""), "{answer}");

    let (headers, body) = modern("who");
    let mut wire = served.connect().await;
    // The id of a session has no meaning there.
    wire.post(&served.bob, &format!("{headers}Mcp-Session-Id: {session}\r\n"), &body).await;
    let head = soon(wire.head()).await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert_eq!(header(&head, "mcp-session-id"), None);
    assert!(soon(wire.until("\"bob\"")).await.contains("\"result\""));
    assert_eq!(*served.sessions.borrow(), 1);
}

#[tokio::test]
async fn a_page_of_somebody_else_and_a_name_of_somebody_else_are_refused_on_every_path() {
    let served = Served::with(|_| {}).await;
    for path in ["/mcp", "/healthz", "/readyz", "/.well-known/oauth-protected-resource", "/"] {
        let mut wire = served.connect().await;
        wire.get(path, "Origin: http://evil.example\r\n").await;
        let head = soon(wire.head()).await;
        assert!(head.starts_with("HTTP/1.1 403"), "{path}: {head}");
        let mut wire = served.connect().await;
        wire.send(&format!("GET {path} HTTP/1.1\r\nHost: evil.example:{}\r\n\r\n", served.address.port())).await;
        let head = soon(wire.head()).await;
        assert!(head.starts_with("HTTP/1.1 403"), "{path}: {head}");
    }
    let mut wire = served.connect().await;
    wire.get("/healthz", &format!("Origin: http://{}\r\n", served.address)).await;
    assert!(soon(wire.head()).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_page_of_an_allowed_origin_may_ask_and_read_and_no_other_may() {
    let served = Served::with(|_| {}).await;
    let page = format!("http://{}", served.address);
    let asks = "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization,mcp-method\r\n";
    let preflight = async |origin: &str| {
        let mut wire = served.connect().await;
        let host = served.address;
        wire.send(&format!("OPTIONS /mcp HTTP/1.1\r\nHost: {host}\r\n{origin}{asks}\r\n")).await;
        soon(wire.head()).await
    };
    // Without a token, because browsers send none with a preflight.
    let head = preflight(&format!("Origin: {page}\r\n")).await;
    assert!(head.starts_with("HTTP/1.1 204"), "{head}");
    assert_eq!(header(&head, "access-control-allow-origin"), Some(page.as_str()));
    let allowed = header(&head, "access-control-allow-headers").unwrap_or_default();
    assert!(["authorization", "mcp-method", "mcp-session-id"].iter().all(|name| allowed.contains(name)), "{head}");
    let head = preflight("Origin: http://evil.example\r\n").await;
    assert!(head.starts_with("HTTP/1.1 403") && !head.contains("access-control"), "{head}");
    let head = preflight("").await;
    assert!(head.starts_with("HTTP/1.1 405") && !head.contains("access-control"), "{head}");

    // A page can also read refusals, and a session's id.
    for (token, status) in [("wrong", "401"), (served.ann.as_str(), "200")] {
        let mut wire = served.connect().await;
        wire.post(token, &format!("Origin: {page}\r\n"), INITIALIZE).await;
        let head = soon(wire.head()).await;
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{head}");
        assert_eq!(header(&head, "access-control-allow-origin"), Some(page.as_str()));
        assert!(header(&head, "access-control-expose-headers").is_some_and(|names| names.contains("mcp-session-id")));
        assert_eq!(header(&head, "access-control-allow-credentials"), None);
    }
}

#[tokio::test]
async fn without_a_token_there_are_probes_and_nothing_else() {
    let served = Served::with(|_| {}).await;
    for (path, status) in [
        ("/healthz", "200"),
        ("/readyz", "200"),
        ("/mcp", "401"),
        ("/.well-known/oauth-protected-resource/mcp", "404"),
        ("/mcp/", "404"),
    ] {
        let mut wire = served.connect().await;
        wire.get(path, "").await;
        let head = soon(wire.head()).await;
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{path}: {head}");
        let challenge = (status == "401").then_some("Bearer realm=\"belljar\"");
        assert_eq!(header(&head, "www-authenticate"), challenge, "{path}");
    }
}

#[tokio::test]
async fn guessing_is_told_to_wait_and_does_not_shut_out_a_right_token() {
    let served = Served::with(|limits| limits.guesses = 3).await;
    let mut statuses = Vec::new();
    for _ in 0..5 {
        let mut wire = served.connect().await;
        wire.post("belljar_wrong", "", INITIALIZE).await;
        let answer = soon(wire.rest()).await;
        assert_eq!(header(&answer, "connection"), Some("close"));
        assert_eq!(header(&answer, "retry-after").is_some(), answer.starts_with("HTTP/1.1 429"));
        statuses.push(answer[9..12].to_owned());
    }
    assert_eq!(statuses, ["401", "401", "401", "429", "429"]);
    served.begin(&served.ann).await;
}

#[tokio::test]
async fn what_a_proxy_could_have_set_is_not_believed() {
    let served = Served::with(|limits| limits.guesses = 3).await;
    let mut statuses = Vec::new();
    for number in 0..5 {
        let mut wire = served.connect().await;
        let forwarded = format!("X-Forwarded-For: 192.0.2.{number}\r\nForwarded: for=192.0.2.{number}\r\n");
        wire.post("belljar_wrong", &forwarded, INITIALIZE).await;
        statuses.push(soon(wire.rest()).await[9..12].to_owned());
    }
    assert_eq!(statuses, ["401", "401", "401", "429", "429"]);
    let mut wire = served.connect().await;
    let forwarded = "X-Forwarded-Host: localhost\r\nForwarded: host=localhost\r\nX-Forwarded-User: ann";
    wire.send(&format!("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n{forwarded}\r\n\r\n")).await;
    assert!(soon(wire.head()).await.starts_with("HTTP/1.1 403"));
    let mut wire = served.connect().await;
    wire.get("/mcp", "X-Forwarded-User: ann\r\nX-Forwarded-Proto: https\r\n").await;
    assert!(soon(wire.head()).await.starts_with("HTTP/1.1 401"));
}

#[tokio::test]
async fn a_token_that_is_removed_is_refused_at_its_next_request() {
    let served = Served::with(|_| {}).await;
    let session = served.begin(&served.ann).await;
    served.tokens.send_replace(Arc::new(Tokens::default()));
    assert!(served.ask(&served.ann, &session, 1, "who").await.starts_with("HTTP/1.1 401"));
}

#[tokio::test]
async fn a_session_of_another_principal_is_as_unknown_as_none() {
    let served = Served::with(|_| {}).await;
    let session = served.begin(&served.ann).await;
    let mut told = Vec::new();
    for named in [&*session, "00000000-0000-4000-8000-000000000000"] {
        for method in ["POST", "GET", "DELETE"] {
            let mut wire = served.connect().await;
            let body = if method == "POST" { call(1, "who") } else { String::new() };
            wire.send(&format!(
                "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
                 Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n{}Content-Length: {}\r\n\r\n{body}",
                served.bob,
                in_session(named),
                body.len()
            ))
            .await;
            let answer = soon(wire.rest()).await;
            assert!(answer.starts_with("HTTP/1.1 404"), "{method}: {answer}");
            told.push(answer.lines().filter(|line| !line.starts_with("date")).collect::<String>());
        }
    }
    assert!(told.iter().all(|answer| *answer == told[0]), "{told:#?}");
    assert!(served.ask(&served.ann, &session, 1, "who").await.contains("\"result\""));
}

#[tokio::test]
async fn sessions_are_bounded_in_all_and_by_principal() {
    let mut served = Served::with(|limits| (limits.sessions, limits.sessions_per_principal) = (3, 2)).await;
    let first = served.begin(&served.ann).await;
    served.begin(&served.ann).await;
    let full = async |served: &Served, token: &str| {
        let mut wire = served.connect().await;
        wire.post(token, "", INITIALIZE).await;
        let head = soon(wire.head()).await;
        assert!(head.starts_with("HTTP/1.1 503"), "{head}");
        assert!(header(&head, "retry-after").is_some(), "{head}");
    };
    full(&served, &served.ann).await;
    served.begin(&served.bob).await;
    full(&served, &served.bob).await;
    // Ending a session makes room for another.
    let mut wire = served.connect().await;
    wire.send(&format!(
        "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n{}\r\n",
        served.ann,
        in_session(&first)
    ))
    .await;
    assert!(soon(wire.head()).await.starts_with("HTTP/1.1 202"));
    soon(served.sessions.wait_for(|count| *count == 2)).await.expect("it serves");
    served.begin(&served.ann).await;
}

#[tokio::test]
async fn an_idle_session_ends_and_a_call_in_flight_keeps_its_own_also_without_its_stream() {
    for stream_stays in [true, false] {
        let mut served = Served::with(|limits| limits.idle = SHORT * 40).await;
        let session = served.begin(&served.ann).await;
        let mut wire = served.connect().await;
        wire.post(&served.ann, &in_session(&session), &call(1, "wait")).await;
        soon(served.signals.begun.notified()).await;
        let wire = stream_stays.then_some(wire);
        // This session being removed shows that the reaper has run since.
        let other = served.begin(&served.bob).await;
        soon(served.sessions.wait_for(|count| *count == 1)).await.expect("it serves");
        assert!(served.ask(&served.bob, &other, 1, "who").await.starts_with("HTTP/1.1 404"));
        served.signals.go_on.notify_one();
        if let Some(mut wire) = wire {
            assert!(soon(wire.until("waited")).await.starts_with("HTTP/1.1 200"));
        }
        soon(served.sessions.wait_for(|count| *count == 0)).await.expect("it serves");
        assert!(served.ask(&served.ann, &session, 2, "who").await.starts_with("HTTP/1.1 404"));
    }
}

#[tokio::test]
async fn a_second_request_with_the_id_of_one_under_way_is_refused_and_the_first_is_answered() {
    let served = Served::with(|_| {}).await;
    let session = served.begin(&served.ann).await;
    let mut wire = served.connect().await;
    wire.post(&served.ann, &in_session(&session), &call(7, "wait")).await;
    soon(served.signals.begun.notified()).await;
    assert!(served.ask(&served.ann, &session, 7, "who").await.starts_with("HTTP/1.1 400"));
    served.signals.go_on.notify_one();
    soon(wire.until("waited")).await;
    soon(served.in_flight.clone().wait_for(|count| *count == 0)).await.expect("it serves");
    assert!(served.ask(&served.ann, &session, 7, "who").await.contains("\"result\""));
}

#[tokio::test]
async fn a_reader_that_reads_nothing_holds_up_nobody_else_and_is_cut_off() {
    let mut served = Served::with(|limits| limits.stalled = SHORT).await;
    let (stalled, other) = (served.begin(&served.ann).await, served.begin(&served.bob).await);
    let mut wire = served.connect().await;
    wire.post(&served.ann, &in_session(&stalled), &call(1, "flood")).await;
    soon(served.in_flight.wait_for(|count| *count == 1)).await.expect("it serves");
    assert!(served.ask(&served.bob, &other, 1, "who").await.contains("\"result\""));
    // Nobody reads, so the flood can end in only one way.
    soon(served.in_flight.wait_for(|count| *count == 0)).await.expect("it serves");
    assert!(!soon(wire.rest()).await.contains("flooded"));
    assert!(served.ask(&served.ann, &stalled, 2, "who").await.contains("\"result\""));
}

#[tokio::test]
async fn half_a_head_and_half_a_body_end_their_connection() {
    let served = Served::with(|limits| (limits.head, limits.body) = (SHORT, SHORT)).await;
    let mut wire = served.connect().await;
    wire.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\n").await;
    soon(wire.rest()).await;
    let mut idle = served.connect().await;
    assert_eq!(soon(idle.rest()).await, "");

    let mut wire = served.connect().await;
    let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n", served.ann);
    wire.send(&format!("{head}Content-Length: 100\r\n\r\n{{")).await;
    assert!(soon(wire.rest()).await.starts_with("HTTP/1.1 408"));
    // Without a token, the server does not even wait for the body.
    let mut wire = served.connect().await;
    wire.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{").await;
    assert!(soon(wire.head()).await.starts_with("HTTP/1.1 401"));
}

#[tokio::test]
async fn a_request_that_comes_byte_by_byte_ends_its_connection_however_long_it_could_go_on() {
    let served = Served::with(|limits| (limits.head, limits.body) = (SHORT, SHORT)).await;
    let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n", served.ann);
    for (sent, drop) in
        [("POST /mcp HTTP/1.1\r\n".to_owned(), "x-a: b\r\n"), (format!("{head}Content-Length: 1000000\r\n\r\n"), " ")]
    {
        let mut wire = served.connect().await;
        wire.send(&sent).await;
        // Each byte is in time, but the whole body is not.
        let dripping = async {
            loop {
                tokio::time::sleep(SHORT / 10).await;
                let mut byte = [0];
                let is_over = match wire.stream.try_read(&mut byte) {
                    Ok(_) => true,
                    Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
                };
                if is_over || wire.stream.try_write(drop.as_bytes()).is_err() {
                    return;
                }
            }
        };
        soon(dripping).await;
    }
    served.begin(&served.ann).await;
}

#[tokio::test]
async fn ten_thousand_initializes_hold_as_many_sessions_as_there_may_be() {
    let served = Served::with(|_| {}).await;
    let mut wire = served.connect().await;
    let mut begun = 0;
    for _ in 0..10_000 {
        wire.post(&served.ann, "", INITIALIZE).await;
        let head = soon(wire.head()).await;
        if head.starts_with("HTTP/1.1 200") {
            begun += 1;
            // The answer is a stream of chunks, which ends with an empty one.
            soon(wire.until("\r\n0\r\n\r\n")).await;
        } else {
            assert!(head.starts_with("HTTP/1.1 503") && header(&head, "retry-after").is_some(), "{head}");
            soon(wire.until("}")).await;
        }
    }
    assert_eq!(begun, 256);
    assert_eq!(*served.sessions.borrow(), 256);
    // The others still have theirs.
    served.begin(&served.bob).await;
}

#[tokio::test]
async fn connections_beyond_the_bound_wait_until_one_ends() {
    let served = Served::with(|limits| limits.connections = 1).await;
    let (headers, body) = modern("wait");
    let mut first = served.connect().await;
    first.post(&served.ann, &headers, &body).await;
    soon(served.signals.begun.notified()).await;
    let mut second = served.connect().await;
    second.get("/healthz", "").await;
    let mut byte = [0];
    assert!(second.stream.try_read(&mut byte).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock));
    served.signals.go_on.notify_one();
    soon(first.until("waited")).await;
    drop(first);
    soon(second.until("ok")).await;
}

#[tokio::test]
async fn connections_with_half_a_head_and_idle_ones_give_way_to_whoever_asks() {
    let served = Served::with(|limits| limits.connections = 8).await;
    let mut halves = Vec::new();
    for number in 0..40 {
        let mut wire = served.connect().await;
        if number % 2 == 0 {
            wire.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\n").await;
        }
        halves.push(wire);
    }
    // Heads may take 15 seconds, but these do not block anybody for that long.
    let mut probe = served.connect().await;
    probe.get("/healthz", "").await;
    soon(probe.until("ok")).await;
    served.begin(&served.ann).await;
    let closed = halves.iter().filter(|wire| {
        let mut byte = [0];
        match wire.stream.try_read(&mut byte) {
            Ok(count) => count == 0,
            Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
        }
    });
    assert!(closed.count() > 30);
}

#[tokio::test]
async fn one_principal_with_all_its_streams_leaves_room_for_others_and_for_probes() {
    let served = Served::with(|limits| (limits.connections, limits.requests_per_principal) = (16, 8)).await;
    let session = served.begin(&served.ann).await;
    let mut streams = Vec::new();
    let mut refused = 0;
    for _ in 0..12 {
        let mut stream = served.connect().await;
        stream.get("/mcp", &format!("Authorization: Bearer {}\r\n{}", served.ann, in_session(&session))).await;
        let head = soon(stream.head()).await;
        if head.starts_with("HTTP/1.1 503") {
            assert!(header(&head, "retry-after").is_some(), "{head}");
            refused += 1;
        }
        streams.push(stream);
    }
    assert_eq!(refused, 4);
    let other = served.begin(&served.bob).await;
    assert!(served.ask(&served.bob, &other, 1, "who").await.contains("\"result\""));
    let mut probe = served.connect().await;
    probe.get("/healthz", "").await;
    soon(probe.until("ok")).await;
    // Ending a stream makes room for another request.
    drop(streams);
    while !served.ask(&served.ann, &session, 1, "who").await.contains("\"result\"") {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn bodies_are_bounded_alone_and_together() {
    let served = Served::with(|limits| limits.body_bytes = 1000).await;
    for framing in [
        "Content-Length: 1001\r\n\r\n".to_owned(),
        format!("Transfer-Encoding: chunked\r\n\r\n3e9\r\n{}\r\n", "x".repeat(1001)),
    ] {
        let mut wire = served.connect().await;
        wire.send(&format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n{framing}",
            served.ann
        ))
        .await;
        assert!(soon(wire.head()).await.starts_with("HTTP/1.1 413"));
    }
    let mut served = Served::with(|limits| {
        (limits.bodies_bytes, limits.bodies_bytes_per_principal) = (12_000, 8_000);
    })
    .await;
    let mut held = served.connect().await;
    held.send(&format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: 9000\r\n\r\n{}",
        served.ann,
        " ".repeat(7_900)
    ))
    .await;
    soon(served.in_flight.wait_for(|count| *count == 1)).await.expect("it serves");
    // The room that the first body takes grows as its bytes arrive.
    loop {
        let mut wire = served.connect().await;
        wire.post(&served.ann, "", INITIALIZE).await;
        if soon(wire.head()).await.starts_with("HTTP/1.1 503") {
            break;
        }
    }
    served.begin(&served.bob).await;
    drop(held);
    soon(served.in_flight.wait_for(|count| *count == 0)).await.expect("it serves");
    served.begin(&served.ann).await;
}

#[tokio::test]
async fn a_body_of_many_values_or_many_levels_is_refused_before_a_tree_is_made_of_it() {
    let served = Served::with(|_| {}).await;
    let (headers, body) = modern("who");
    let with = |arguments: String| body.replace("\"arguments\":{}", &format!("\"arguments\":{{\"a\":{arguments}}}"));
    for (arguments, answer) in [
        (format!("[{}0]", "0,".repeat(49_900)), "HTTP/1.1 200"),
        (format!("[{}0]", "0,".repeat(50_000)), "HTTP/1.1 413"),
        (format!("{}{}", "[".repeat(97), "]".repeat(97)), "HTTP/1.1 200"),
        (format!("{}{}", "[".repeat(98), "]".repeat(98)), "HTTP/1.1 400"),
        (format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)), "HTTP/1.1 4"),
    ] {
        let mut wire = served.connect().await;
        wire.post(&served.ann, &headers, &with(arguments)).await;
        let head = soon(wire.head()).await;
        assert!(head.starts_with(answer), "{head}");
    }
}

#[tokio::test]
async fn what_is_not_one_message_is_refused_as_json_rpc_says() {
    let served = Served::with(|_| {}).await;
    for (body, code) in
        [("{", "-32700"), ("", "-32700"), ("[]", "-32600"), ("7", "-32600"), (r#"{"method":1}"#, "-32600")]
    {
        let mut wire = served.connect().await;
        wire.post(&served.ann, "", body).await;
        let answer = soon(wire.until("\"error\"")).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{body}: {answer}");
        assert!(soon(wire.until(code)).await.contains("code"), "{body}");
    }
}

#[tokio::test]
async fn a_lost_connection_cancels_a_call_without_session_and_no_other() {
    let served = Served::with(|_| {}).await;
    let (headers, body) = modern("wait");
    let mut wire = served.connect().await;
    wire.post(&served.ann, &headers, &body).await;
    soon(served.signals.begun.notified()).await;
    drop(wire);
    soon(served.signals.cancelled.notified()).await;

    let session = served.begin(&served.ann).await;
    let mut wire = served.connect().await;
    wire.post(&served.ann, &in_session(&session), &call(1, "wait")).await;
    soon(served.signals.begun.notified()).await;
    drop(wire);
    let mut wire = served.connect().await;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert!(served.ask(&served.ann, &session, 2, "who").await.contains("\"result\""));
    wire.post(&served.ann, &in_session(&session), cancel).await;
    assert!(soon(wire.head()).await.starts_with("HTTP/1.1 202"));
    soon(served.signals.cancelled.notified()).await;
}

#[tokio::test]
async fn the_end_waits_for_calls_in_flight_and_not_for_open_streams() {
    let mut served = Served::with(|_| {}).await;
    let session = served.begin(&served.ann).await;
    let mut stream = served.connect().await;
    stream.get("/mcp", &format!("Authorization: Bearer {}\r\n{}", served.ann, in_session(&session))).await;
    assert!(soon(stream.head()).await.starts_with("HTTP/1.1 200"));
    let mut wire = served.connect().await;
    wire.post(&served.ann, &in_session(&session), &call(1, "wait")).await;
    soon(served.signals.begun.notified()).await;
    let mut probe = served.connect().await;
    served.tell_to_end();
    // Until the server has noticed, it reports that it is ready.
    loop {
        probe.get("/readyz", "").await;
        let head = soon(probe.head()).await;
        soon(probe.until("}")).await;
        if head.starts_with("HTTP/1.1 503") {
            break;
        }
    }
    let mut late = served.connect().await;
    late.post(&served.ann, "", INITIALIZE).await;
    assert!(soon(late.head()).await.starts_with("HTTP/1.1 503"));
    served.signals.go_on.notify_one();
    assert!(soon(wire.until("waited")).await.starts_with("HTTP/1.1 200"));
    served.ended().await;
}

#[tokio::test]
async fn a_call_that_does_not_end_is_called_off_and_its_answer_still_comes() {
    let mut served = Served::with(|limits| limits.grace = SHORT).await;
    let session = served.begin(&served.ann).await;
    let mut wire = served.connect().await;
    wire.post(&served.ann, &in_session(&session), &call(1, "wait")).await;
    soon(served.signals.begun.notified()).await;
    served.tell_to_end();
    soon(served.signals.called_off.notified()).await;
    soon(wire.until("called off")).await;
    served.ended().await;
}

#[cfg(unix)]
#[tokio::test]
async fn the_owner_needs_no_token_at_the_socket() {
    let folder = std::env::temp_dir().join(format!("belljar-http-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder");
    let path = folder.join("s");
    let listener = tokio::net::UnixListener::bind(&path).expect("a socket");
    let _served = Served::at(Listener::Unix(listener), ([127, 0, 0, 1], 1).into(), |_| {});
    let mut wire = Wire::new(tokio::net::UnixStream::connect(&path).await.expect("connected"));
    let (headers, body) = modern("who");
    wire.send(&format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         {headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    ))
    .await;
    soon(wire.until("(owner)")).await;
    std::fs::remove_dir_all(&folder).expect("removed");
}
