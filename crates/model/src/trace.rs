//! A run's place in a trace, as in W3C Trace Context.
//!
//! A client names its own span in the `_meta` of a request (`traceparent`, `tracestate`), and
//! belljar names the span of a call in the `_meta` of the request to the child. What a client says
//! is hostile: it is parsed into these types, and ignored if it does not parse.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::ErrorKind;

/// The key of the span in a request's `_meta`.
pub const TRACEPARENT: &str = "traceparent";
/// The key of what tracing systems add to it.
pub const TRACESTATE: &str = "tracestate";

/// The most bytes of a `tracestate`. The standard asks for at least this many.
const MAX_STATE: usize = 512;
/// The most members of a `tracestate`, according to the standard.
const MAX_STATE_MEMBERS: usize = 32;
/// The most bytes of what a client's request says about itself.
const MAX_TEXT: usize = 128;

/// A span of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// The trace.
    pub trace: u128,
    /// The span.
    pub span: u64,
    /// Whether the span is recorded.
    pub sampled: bool,
    /// What tracing systems want passed on.
    pub state: Option<Arc<str>>,
}

/// A text that names no span.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a traceparent is 00-, 32 hexadecimal digits, -, 16 of them, - and 2 of them")]
pub struct TraceParentError;

impl FromStr for TraceContext {
    type Err = TraceParentError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (known, rest) = text.split_at_checked(55).ok_or(TraceParentError)?;
        let mut parts = known.split('-');
        let mut part = |digits: usize| {
            let is_hex = |part: &&str| {
                part.len() == digits && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            };
            parts.next().filter(is_hex).ok_or(TraceParentError)
        };
        let (version, trace, span, flags) = (part(2)?, part(32)?, part(16)?, part(2)?);
        // A later version may have more, after another dash.
        let is_whole = if version == "00" { rest.is_empty() } else { rest.is_empty() || rest.starts_with('-') };
        let trace = u128::from_str_radix(trace, 16).map_err(|_| TraceParentError)?;
        let span = u64::from_str_radix(span, 16).map_err(|_| TraceParentError)?;
        let flags = u8::from_str_radix(flags, 16).map_err(|_| TraceParentError)?;
        if version == "ff" || !is_whole || trace == 0 || span == 0 {
            return Err(TraceParentError);
        }
        Ok(Self { trace, span, sampled: flags & 1 == 1, state: None })
    }
}

/// As `traceparent`.
impl fmt::Display for TraceContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, u8::from(self.sampled))
    }
}

/// The client's request that a run answers, for the run's span.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestTrace {
    /// The client's span, as the request's `_meta` has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// The `tracestate` that belongs to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
    /// The request, if it was made to belljar's MCP server. Otherwise the client's span is the
    /// run's parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<ServedRequest>,
}

/// A request to belljar's MCP server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServedRequest {
    /// The tool that it calls; empty for one that does not exist.
    pub tool: String,
    /// Its id.
    pub id: String,
    /// The revision of the protocol.
    pub protocol: String,
    /// `pipe` or `tcp`.
    pub transport: String,
}

/// Why a request was not answered as requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestFailure {
    /// The result of its tool is an error. It has this kind, if a run was refused.
    Tool(Option<ErrorKind>),
    /// An error of JSON-RPC with this code.
    Code(i32),
    /// It is a question, and was declined without asking anybody.
    Declined,
    /// Nobody waited for the answer any more.
    Cancelled,
}

impl RequestTrace {
    /// The client's span, if it names one.
    pub fn parent(&self) -> Option<TraceContext> {
        let parent: TraceContext = self.traceparent.as_deref()?.parse().ok()?;
        Some(TraceContext { state: self.tracestate.as_deref().and_then(state), ..parent })
    }

    /// The same, with no text longer than a span needs. This is applied where a request is read.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        // A traceparent of a later version may be longer, and ends somewhere.
        self.traceparent = self.traceparent.filter(|text| text.len() <= MAX_STATE);
        self.tracestate = self.tracestate.filter(|text| text.len() <= MAX_STATE);
        if let Some(ServedRequest { tool, id, protocol, transport }) = &mut self.served {
            for text in [tool, id, protocol, transport] {
                text.truncate(text.floor_char_boundary(MAX_TEXT));
            }
        }
        self
    }
}

/// A `tracestate` that may be passed on.
fn state(text: &str) -> Option<Arc<str>> {
    let is_member = |member: &str| {
        let member = member.trim_matches([' ', '\t']);
        let is_value = |value: &str| {
            value.len() <= 256 && value.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b',' && byte != b'=')
        };
        let is_key = |key: &str| {
            let is_known = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/' | b'@');
            !key.is_empty() && key.len() <= 256 && key.bytes().all(is_known)
        };
        member.is_empty() || member.split_once('=').is_some_and(|(key, value)| is_key(key) && is_value(value))
    };
    let is_state = !text.is_empty()
        && text.len() <= MAX_STATE
        && text.split(',').count() <= MAX_STATE_MEMBERS
        && text.split(',').all(is_member);
    is_state.then(|| text.into())
}

/// A run's place in a trace: its own span, and those around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunTrace {
    /// The run's span.
    pub run: TraceContext,
    /// The client's span, if it named one.
    pub parent: Option<u64>,
    /// The span of the request that the run answers, if a client of the MCP server made one. It is
    /// between the client's span and the run's.
    pub request: Option<(u64, ServedRequest)>,
    /// The run's first span, if the run goes on after it was put aside.
    pub resumes: Option<TraceContext>,
}

impl RunTrace {
    /// The span of a call of the run. It is derived from the run's span and the call's number, so
    /// that the child can be told before the span is written.
    pub fn call(&self, number: u64) -> TraceContext {
        // One step of splitmix64, which maps no two numbers to one.
        let mut bits = self.run.span ^ number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        // Zero is not a span.
        TraceContext { span: bits.max(1), ..self.run.clone() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_span_is_written_as_it_was_read() {
        let context: TraceContext = PARENT.parse().expect("a span");
        assert_eq!((context.span, context.sampled), (0xb7ad_6b71_6920_3331, true));
        assert_eq!(context.to_string(), PARENT);
        // A later version may have more, and is written as the version that is known here.
        let later: TraceContext = format!("01{}-more", &PARENT[2..]).parse().expect("a span");
        assert_eq!(later, context);
    }

    #[test]
    fn what_names_no_span_was_never_there() {
        let bad = [
            String::new(),
            "00".to_owned(),
            format!("{PARENT}-more"),
            format!("ff{}", &PARENT[2..]),
            format!("01{}x", &PARENT[2..]),
            PARENT.to_uppercase(),
            PARENT.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
            PARENT.replace("b7ad6b7169203331", &"0".repeat(16)),
            PARENT.replace("0af", "+af"),
            PARENT.replace('-', "_"),
            PARENT.replace("0af7", "é7"),
            format!("{}é", &PARENT[..54]),
            "0".repeat(100_000),
        ];
        for text in bad {
            assert_eq!(text.parse::<TraceContext>(), Err(TraceParentError), "{text}");
        }
    }

    #[test]
    fn only_a_state_by_the_standard_is_passed_on() {
        let of = |state: &str| {
            let request =
                RequestTrace { traceparent: Some(PARENT.to_owned()), tracestate: Some(state.to_owned()), served: None };
            request.bounded().parent().expect("a span").state
        };
        assert_eq!(of("a=1,b@c=x y").as_deref(), Some("a=1,b@c=x y"));
        let many = ["a=1"; 33].join(",");
        for bad in ["", "a", "A=1", "a=\n", "a=b=c", "=1", &many, &format!("a={}", "x".repeat(MAX_STATE))] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }

    #[test]
    fn no_two_calls_of_a_run_have_one_span() {
        let run = PARENT.parse().expect("a span");
        let trace = RunTrace { run, parent: None, request: None, resumes: None };
        let spans: BTreeSet<u64> = (0..10_000).map(|number| trace.call(number).span).collect();
        assert_eq!(spans.len(), 10_000);
        assert!(!spans.contains(&trace.run.span));
        assert_eq!(trace.call(7), trace.call(7));
    }
}
