//! Reads what a request asks for: its path, its query, and its body.

use std::time::{Duration, Instant};

use bytes::BytesMut;
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes};
use serde::de::DeserializeOwned;
use tokio::time::timeout_at;

use crate::{
    front::Refused,
    source::{Asked, Export, RunsAsked, SearchAsked},
};

/// The longest body of a decision, which has some hundred bytes.
pub(crate) const MAX_BODY: usize = 4096;
/// The longest body of a call that somebody has written by hand, which has some thousand bytes.
pub(crate) const MAX_CALL: usize = 128 * 1024;
/// How long a body may take.
const BODY_TIME: Duration = Duration::from_secs(10);
/// The most bytes of a name in a request.
const MAX_NAME: usize = 200;
/// The most bytes of a tool's path, or of the words of a search.
const MAX_TEXT: usize = 2000;

/// What is to be shown for a path.
pub(crate) fn asked(path: &str, query: &str) -> Result<Asked, Refused> {
    Ok(match path {
        "/api/runs" => Asked::Runs(runs_asked(query)?),
        "/api/approvals" => Asked::Approvals,
        "/api/waiting" => Asked::Waiting,
        "/api/servers" => Asked::Servers,
        "/api/rules" => Asked::Rules,
        "/api/cost" => Asked::Cost,
        "/api/tools" => Asked::ToolsOf(only_value(query, "server")?),
        "/api/tool" => Asked::Tool(only_value(query, "path")?),
        "/api/search" => Asked::Search(search_asked(query)?),
        _ => {
            let run = path.strip_prefix("/api/runs/").ok_or_else(not_found)?;
            match run.split_once("/with/") {
                Some((one, other)) => Asked::Compared(name(one)?, name(other)?),
                None => Asked::Run(name(run)?),
            }
        }
    })
}

/// The run of an export, and its form.
pub(crate) fn export(path: &str) -> Option<(String, Export)> {
    let run = path.strip_prefix("/api/runs/")?;
    let forms = [("/recording", Export::Recording), ("/json", Export::Json)];
    let found = forms.iter().find_map(|(end, form)| Some((run.strip_suffix(end)?, *form)))?;
    name(found.0).ok().map(|run| (run, found.1))
}

pub(crate) fn not_found() -> Refused {
    Refused::new(StatusCode::NOT_FOUND, "there is nothing here")
}

/// A name in a path that belljar itself has generated.
pub(crate) fn name(text: &str) -> Result<String, Refused> {
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    match !text.is_empty() && text.len() <= MAX_NAME && text.chars().all(is_name) {
        true => Ok(text.to_owned()),
        false => Err(not_found()),
    }
}

/// Reads the body, which may have at most this many bytes.
pub(crate) async fn body<T: DeserializeOwned, B>(request: Request<B>, most: usize) -> Result<T, Refused>
where
    B: Body<Data = Bytes> + Unpin,
{
    let too_large = || Refused::new(StatusCode::PAYLOAD_TOO_LARGE, &format!("a body may have {most} bytes here"));
    let wrong = |message| Refused::new(StatusCode::BAD_REQUEST, message);
    let (mut body, mut bytes) = (request.into_body(), BytesMut::new());
    let end = Instant::now() + BODY_TIME;
    loop {
        let frame = timeout_at(end.into(), body.frame()).await;
        let Some(frame) = frame.map_err(|_| wrong("the body came too slowly"))? else { break };
        let frame = frame.map_err(|_| wrong("the body broke off"))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > most {
            return Err(too_large());
        }
        bytes.extend_from_slice(&data);
    }
    serde_json::from_slice(&bytes).map_err(|_| wrong("the body is not what is expected here"))
}

/// The names and values of a query.
fn pairs(query: &str, most: usize) -> impl Iterator<Item = Result<(&str, String), Refused>> {
    query.split('&').filter(|pair| !pair.is_empty()).map(move |pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = decoded(value).filter(|value| value.len() <= most);
        let value = value.ok_or_else(|| Refused::new(StatusCode::BAD_REQUEST, "a filter cannot be read"))?;
        Ok((name, value))
    })
}

fn no_such_filter() -> Refused {
    Refused::new(StatusCode::BAD_REQUEST, "there is no such filter")
}

fn runs_asked(query: &str) -> Result<RunsAsked, Refused> {
    let mut asked = RunsAsked::default();
    for pair in pairs(query, MAX_NAME) {
        let (name, value) = pair?;
        let text = Some(value.clone()).filter(|value| !value.is_empty());
        match name {
            "client" => asked.client = text,
            "tool" => asked.tool = text,
            "effect" => asked.effect = text,
            "failed" => asked.failed = value == "1",
            "waiting" => asked.waiting = value == "1",
            "from" => asked.from = value.parse().map_err(|_| no_such_filter())?,
            "limit" => asked.limit = value.parse().ok(),
            _ => return Err(no_such_filter()),
        }
    }
    Ok(asked)
}

fn search_asked(query: &str) -> Result<SearchAsked, Refused> {
    let mut asked = SearchAsked::default();
    for pair in pairs(query, MAX_TEXT) {
        match pair? {
            ("query", value) => asked.query = value,
            ("server", value) => asked.server = Some(value).filter(|value| !value.is_empty()),
            _ => return Err(no_such_filter()),
        }
    }
    Ok(asked)
}

/// The value of a query with a single parameter, which must have this name.
fn only_value(query: &str, wanted: &str) -> Result<String, Refused> {
    let mut all = pairs(query, MAX_TEXT);
    match (all.next().transpose()?, all.next()) {
        (Some((name, value)), None) if name == wanted && !value.is_empty() => Ok(value),
        _ => Err(no_such_filter()),
    }
}

/// A value of a query, with percent-encoding decoded.
fn decoded(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.bytes());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(rest.next())?, digit(rest.next())?);
                u8::try_from(high * 16 + low).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_read_as_it_was_written_and_an_unknown_one_is_an_error() {
        let read = |query| runs_asked(query).map_err(|Refused(_, message)| message);
        let wanted = RunsAsked {
            tool: Some("fs.read file".to_owned()),
            failed: true,
            from: 200,
            limit: Some(5),
            ..RunsAsked::default()
        };
        assert_eq!(read("tool=fs.read%20file&failed=1&client=&limit=5&from=200"), Ok(wanted));
        for wrong in ["tool=%", "tool=%zz", "tool=%ff", "other=1", "from=x", &format!("tool={}", "x".repeat(201))] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let search = SearchAsked { query: "a b".to_owned(), server: None };
        assert_eq!(search_asked("query=a+b&server=").map_err(|Refused(_, message)| message), Ok(search));
    }

    #[test]
    fn a_path_names_one_thing_or_nothing() {
        let read = |path, query| asked(path, query).map_err(|Refused(status, _)| status.as_u16());
        assert_eq!(read("/api/tool", "path=fs.a%26b"), Ok(Asked::Tool("fs.a&b".to_owned())));
        assert_eq!(read("/api/runs/r_1/with/r_2", ""), Ok(Asked::Compared("r_1".to_owned(), "r_2".to_owned())));
        for (path, query) in [("/api/tool", ""), ("/api/tool", "path=a&path=b"), ("/api/tools", "path=a")] {
            assert_eq!(read(path, query), Err(400), "{path} {query}");
        }
        for path in ["/api/runs/", "/api/runs/../x", "/api/runs/r_1/with/", "/api/call", "/"] {
            assert_eq!(read(path, ""), Err(404), "{path}");
        }
        assert_eq!(export("/api/runs/r_1/recording"), Some(("r_1".to_owned(), Export::Recording)));
        assert_eq!((export("/api/runs/../json"), export("/api/runs/r_1")), (None, None));
    }
}
