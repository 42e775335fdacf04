//! A collector of traces, which takes OTLP over HTTP and over gRPC, or misbehaves.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::mpsc::{Receiver, Sender, channel},
    time::Duration,
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::{ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse},
    common::v1::{KeyValue, any_value::Value},
    trace::v1::Span,
};
use prost::Message as _;

/// How a collector answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaviour {
    Takes,
    /// It accepts connections, and says nothing.
    Hangs,
    /// It ends each connection.
    HangsUp,
    /// It reports that it is broken, and wants everything again.
    Refuses,
    /// Its answer never ends.
    Endless,
    /// Its answer comes a byte at a time.
    Drips,
    /// It answers with something that is neither protocol.
    Babbles,
    /// It takes messages, and reports that it rejected this many spans of each.
    Rejects(i64),
}

/// A span, with what was sent with it.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) span: Span,
    pub(crate) attributes: BTreeMap<String, String>,
    pub(crate) resource: BTreeMap<String, String>,
    /// The header `x-key` of its message.
    pub(crate) key: Option<String>,
}

/// What it has taken.
pub(crate) struct Collector {
    pub(crate) endpoint: String,
    taken: Receiver<Taken>,
}

impl Collector {
    /// One that takes spans over HTTP, or misbehaves.
    pub(crate) fn over_http(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let (give, taken) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (give, stream) = (give.clone(), stream.unwrap());
                std::thread::spawn(move || answered(stream, behaviour, &give));
            }
        });
        Self { endpoint, taken }
    }

    /// One that takes spans over gRPC, or says that it rejects some.
    pub(crate) fn over_grpc(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let (give, taken) = channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                listener.set_nonblocking(true).unwrap();
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    tokio::spawn(called(stream, behaviour, give.clone()));
                }
            });
        });
        Self { endpoint, taken }
    }

    /// The next spans, as many as asked for, by their names.
    pub(crate) fn spans(&self, count: usize) -> BTreeMap<String, Taken> {
        const LONGEST: Duration = Duration::from_secs(120);
        let mut spans = BTreeMap::new();
        for _ in 0..count {
            let Ok(taken) = self.taken.recv_timeout(LONGEST) else { panic!("only these came: {spans:#?}") };
            let name = taken.span.name.clone();
            assert!(spans.insert(name.clone(), taken).is_none(), "{name} came twice");
        }
        spans
    }

    /// The spans that have come and were not asked for.
    pub(crate) fn others(&self) -> Vec<Taken> {
        self.taken.try_iter().collect()
    }
}

/// Answers one request of HTTP/1.1, or several. The other side ends the connection.
fn answered(mut stream: TcpStream, behaviour: Behaviour, give: &Sender<Taken>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    loop {
        let (mut head, mut length) = (String::new(), 0);
        while lines.read_line(&mut head).is_ok_and(|read| read > 2) {}
        if head.is_empty() || behaviour == Behaviour::HangsUp {
            return;
        }
        let header = |name: &str| {
            let mut headers = head.lines().filter_map(|line| line.split_once(": "));
            headers.find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
        };
        length = header("content-length").map_or(length, |text| text.parse().unwrap());
        let mut body = vec![0; length];
        lines.read_exact(&mut body).unwrap();
        match behaviour {
            Behaviour::Takes | Behaviour::Rejects(_) => {
                assert!(head.starts_with("POST /v1/traces HTTP/1.1"), "{head}");
                assert_eq!(header("content-type").as_deref(), Some("application/x-protobuf"));
                take(&body, header("x-key"), give);
                let said = said(behaviour);
                write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", said.len()).unwrap();
                stream.write_all(&said).unwrap();
            }
            Behaviour::Hangs => {
                // Until the other side gives up.
                let _ = lines.read(&mut [0]);
                return;
            }
            Behaviour::Refuses => {
                let answer = b"HTTP/1.1 503 Broken\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n";
                stream.write_all(answer).unwrap();
            }
            Behaviour::Endless => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
                while stream.write_all(chunk.as_bytes()).is_ok() {}
                return;
            }
            Behaviour::Drips => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
                while stream.write_all(b"x").is_ok() {
                    std::thread::sleep(Duration::from_millis(20));
                }
                return;
            }
            Behaviour::Babbles => {
                let _ = stream.write_all(b"\x00\xff not HTTP at all \r\n\r\n");
                return;
            }
            Behaviour::HangsUp => return,
        }
    }
}

/// The calls of one connection.
async fn called(stream: tokio::net::TcpStream, behaviour: Behaviour, give: Sender<Taken>) {
    let mut connection = h2::server::handshake(stream).await.unwrap();
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        let give = give.clone();
        tokio::spawn(async move {
            assert_eq!(request.uri().path(), "/opentelemetry.proto.collector.trace.v1.TraceService/Export");
            let key = request.headers().get("x-key").map(|key| key.to_str().unwrap().to_owned());
            let (mut body, mut stream) = (Vec::new(), request.into_body());
            while let Some(data) = stream.data().await {
                let data = data.unwrap();
                stream.flow_control().release_capacity(data.len()).unwrap();
                body.extend_from_slice(&data);
            }
            // A byte says whether it is compressed, and four how long it is.
            assert_eq!(body[0], 0);
            take(&body[5..], key, &give);
            let answer = http::Response::builder().header("content-type", "application/grpc").body(()).unwrap();
            let mut answer = respond.send_response(answer, false).unwrap();
            let said = said(behaviour);
            let framed = [&[0], &u32::try_from(said.len()).unwrap().to_be_bytes()[..], &said].concat();
            answer.send_data(framed.into(), false).unwrap();
            let status = http::HeaderMap::from_iter([("grpc-status".parse().unwrap(), "0".parse().unwrap())]);
            answer.send_trailers(status).unwrap();
        });
    }
}

/// What an answer says.
fn said(behaviour: Behaviour) -> Vec<u8> {
    let partial_success = match behaviour {
        Behaviour::Rejects(rejected_spans) => {
            Some(ExportTracePartialSuccess { rejected_spans, error_message: "too\u{202e} many\n".to_owned() })
        }
        _ => None,
    };
    ExportTraceServiceResponse { partial_success }.encode_to_vec()
}

fn take(body: &[u8], key: Option<String>, give: &Sender<Taken>) {
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    for of_resource in request.resource_spans {
        let resource = of_resource.resource.unwrap_or_default().attributes;
        for of_scope in of_resource.scope_spans {
            assert_eq!(of_scope.scope.unwrap().name, "belljar");
            for span in of_scope.spans {
                let attributes = texts(&span.attributes);
                // The test may have seen enough.
                let _ = give.send(Taken { span, attributes, resource: texts(&resource), key: key.clone() });
            }
        }
    }
}

/// Attributes as texts.
pub(crate) fn texts(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |attribute: &KeyValue| match attribute.value.as_ref().unwrap().value.as_ref().unwrap() {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        Value::DoubleValue(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    attributes.iter().map(|attribute| (attribute.key.clone(), text(attribute))).collect()
}
