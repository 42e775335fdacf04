//! The messages. Their meaning is in `docs/HOST_PROTOCOL.md`.

use std::borrow::Cow;

use belljar_json_rpc::{Error, Id, codes};
use belljar_model::{Effect, JsonBounds, JsonError, JsonText, LimitsPatch};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, DeserializeOwned, IgnoredAny},
};
use serde_json::{Map, Value, value::RawValue};

/// The version of the protocol. It is raised when an old client could misunderstand a new belljar.
/// New methods and members do not raise it.
pub const PROTOCOL: u32 = 1;

/// How much memory a value in the parameters of a run is counted with: a tree needs some 250 bytes
/// for each value, and a function, which has at least two values, some 1,500 in all.
const VALUE_BYTES: usize = 512;
/// The longest error message of a function that is passed on.
const MESSAGE_BYTES: usize = 64 << 10;
/// The longest name of an error that is passed on.
const NAME_BYTES: usize = 128;
/// The longest reason why a message cannot be read: the reason may quote all of it.
const REASON_BYTES: usize = 500;

/// The answer to `hello`.
#[derive(Debug, Clone, Serialize)]
pub struct Hello {
    /// The version of the protocol: [`PROTOCOL`].
    pub protocol: u32,
    /// The version of belljar.
    pub version: String,
    /// The id of belljar's process.
    pub pid: u32,
    /// The limits of a run that asks for none.
    pub limits: LimitsPatch,
    /// The limits that a run may not exceed: it may raise the others.
    pub ceiling: LimitsPatch,
    /// belljar's own servers, from its owner's configuration.
    pub servers: Vec<String>,
}

/// The parameters of `hello`.
#[derive(Debug, Deserialize)]
pub(crate) struct Greet {
    pub(crate) protocol: u32,
    #[serde(default)]
    pub(crate) client: Option<ClientName>,
}

/// The name that a client gives itself. It is not verified.
#[derive(Debug, Deserialize)]
pub(crate) struct ClientName {
    pub(crate) name: String,
}

/// The parameters of `run`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// The script.
    pub code: String,
    /// JavaScript that runs before it.
    #[serde(default)]
    pub prelude: Option<String>,
    /// The limits that it asks for.
    #[serde(default)]
    pub limits: LimitsPatch,
    /// Whether the script finds belljar's own globals.
    #[serde(default = "yes")]
    pub builtins: bool,
    /// The other end's functions, in objects.
    #[serde(default)]
    pub namespaces: Vec<HostNamespace>,
    /// The other end's functions that are global.
    #[serde(default)]
    pub functions: Vec<HostFunction>,
    /// belljar's own tools that the run may call, too.
    #[serde(default)]
    pub belljar: OwnTools,
    /// What is reported while it runs.
    #[serde(default)]
    pub stream: Vec<Stream>,
    /// The form of its value.
    #[serde(default)]
    pub value: Form,
    /// The memory that it takes while it runs, in bytes: its text, and what is made from its
    /// values.
    #[serde(skip)]
    pub weight: usize,
}

/// Functions of the other end, in one object.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostNamespace {
    /// The name of the global.
    pub name: String,
    /// How its functions are called.
    #[serde(default)]
    pub style: Style,
    /// The functions. None of them sets a style of its own.
    #[serde(deserialize_with = "without_style")]
    pub tools: Vec<HostFunction>,
}

/// A function of the other end.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HostFunction {
    /// Its name.
    pub name: String,
    /// How it is called, if it is global.
    #[serde(default)]
    pub style: Option<Style>,
    /// What models read about it.
    #[serde(default)]
    pub description: Option<String>,
    /// What a call may change.
    #[serde(default)]
    pub effect: Option<Effect>,
    /// The JSON Schema of its arguments.
    #[serde(default)]
    pub input_schema: Option<Map<String, Value>>,
    /// The JSON Schema of its answers.
    #[serde(default)]
    pub output_schema: Option<Map<String, Value>>,
}

/// How a function is called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// With one object.
    #[default]
    Object,
    /// With any number of values.
    Positional,
}

/// Which of belljar's own tools a run may call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum OwnTools {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// The tools of these servers, and these single tools, each as `SERVER` or `SERVER.TOOL`.
    Some(Vec<String>),
}

impl<'de> Deserialize<'de> for OwnTools {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "`belljar` is true, or a list of texts: \"SERVER\" or \"SERVER.TOOL\"")]
        enum Written {
            Whether(bool),
            Which(Vec<String>),
        }
        Ok(match Option::deserialize(deserializer)? {
            None | Some(Written::Whether(false)) => Self::None,
            Some(Written::Whether(true)) => Self::All,
            Some(Written::Which(which)) => Self::Some(which),
        })
    }
}

/// What is reported of a run while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// What the script logs.
    Logs,
}

/// The form of a run's value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// JSON, in which undefined is null.
    #[default]
    Plain,
    /// JSON with undefined and bytes.
    Extended,
}

fn yes() -> bool {
    true
}

/// Functions that are called in the style of their namespace.
fn without_style<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<HostFunction>, D::Error> {
    let functions = Vec::<HostFunction>::deserialize(deserializer)?;
    if let Some(HostFunction { name, .. }) = functions.iter().find(|function| function.style.is_some()) {
        return Err(de::Error::custom(format_args!("`style` belongs to the namespace, and not to its tool {name:?}")));
    }
    Ok(functions)
}

/// A message as it came.
#[derive(Debug)]
pub(crate) enum Incoming<'line> {
    /// A message that is to be answered.
    Request { id: Id, method: Cow<'line, str>, params: Option<&'line RawValue> },
    /// A message that is not to be answered.
    Notification { method: Cow<'line, str>, params: Option<&'line RawValue> },
    /// The answer to a call.
    Answer { id: Id, answer: CallAnswer<'line> },
}

/// How a call was answered.
#[derive(Debug)]
pub(crate) enum CallAnswer<'line> {
    /// The call's value; undefined if there is none.
    Value(Option<&'line RawValue>),
    /// It failed.
    Failed { message: String, name: Option<String> },
    /// It is not a valid answer to a call.
    Malformed(String),
}

#[derive(Deserialize)]
struct Parts<'line> {
    #[serde(borrow)]
    jsonrpc: Cow<'line, str>,
    #[serde(default, deserialize_with = "present_id")]
    id: Option<Option<Id>>,
    #[serde(borrow, default)]
    method: Option<Cow<'line, str>>,
    #[serde(borrow, default)]
    params: Option<&'line RawValue>,
    #[serde(borrow, default)]
    result: Option<&'line RawValue>,
    #[serde(borrow, default)]
    error: Option<&'line RawValue>,
}

/// The `result` of a call.
#[derive(Deserialize)]
struct CallResult<'line> {
    #[serde(borrow, default, deserialize_with = "present")]
    value: Option<&'line RawValue>,
}

/// The `error` of a call.
#[derive(Deserialize)]
struct CallFault {
    message: String,
    #[serde(default)]
    data: Option<CallFaultData>,
}

#[derive(Deserialize)]
struct CallFaultData {
    #[serde(default)]
    name: Option<String>,
}

/// `null` is a value, not the absence of one.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// The same for an id.
fn present_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Id>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl<'line> Incoming<'line> {
    /// Reads a message.
    ///
    /// # Errors
    /// [`codes::PARSE`] and [`codes::INVALID_REQUEST`]
    pub(crate) fn parse(line: &'line str) -> Result<Self, Error> {
        let parts: Parts<'_> = object(line).map_err(|error| {
            let code = if error.is_data() { codes::INVALID_REQUEST } else { codes::PARSE };
            Error::new(code, format!("this is not a message: {}", reason(&error)))
                .with_hint("a message is {\"jsonrpc\": \"2.0\", …} on one line; docs/HOST_PROTOCOL.md lists them")
        })?;
        if parts.jsonrpc != "2.0" {
            return Err(Error::new(codes::INVALID_REQUEST, "\"jsonrpc\" must be \"2.0\""));
        }
        let Parts { id, method, params, result, error, .. } = parts;
        let id = match id {
            None => None,
            Some(Some(id)) => Some(id),
            // This is a request that could not be answered.
            Some(None) => {
                return Err(Error::new(codes::INVALID_REQUEST, "an id is an integer or a text, and not null"));
            }
        };
        id.as_ref().map_or(Ok(()), Id::check)?;
        match (method, id) {
            (Some(method), Some(id)) => Ok(Self::Request { id, method, params }),
            (Some(method), None) => Ok(Self::Notification { method, params }),
            (None, Some(id)) => Ok(Self::Answer { id, answer: CallAnswer::of(result, error) }),
            (None, None) => Err(Error::new(codes::INVALID_REQUEST, "a message has a method, an id, or both")),
        }
    }
}

impl<'line> CallAnswer<'line> {
    fn of(result: Option<&'line RawValue>, error: Option<&'line RawValue>) -> Self {
        match (result, error) {
            (Some(result), None) => match object::<CallResult<'line>>(result.get()) {
                Ok(result) => Self::Value(result.value),
                Err(error) => Self::Malformed(format!("its result is not {{\"value\": …}}: {}", reason(&error))),
            },
            (None, Some(error)) => match object::<CallFault>(error.get()) {
                Ok(CallFault { message, data }) => {
                    let name = data.and_then(|data| data.name);
                    let name = name.filter(|name| (1..=NAME_BYTES).contains(&name.len()));
                    Self::Failed { message: cut(message, MESSAGE_BYTES), name }
                }
                Err(error) => {
                    Self::Malformed(format!("its error is not {{\"code\", \"message\"}}: {}", reason(&error)))
                }
            },
            _ => Self::Malformed("it has neither a result nor an error, or both".to_owned()),
        }
    }

    /// How many bytes are kept of it until its run takes it.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Value(value) => value.map_or(0, |value| value.get().len()),
            Self::Failed { message, name } => message.len() + name.as_ref().map_or(0, String::len),
            Self::Malformed(reason) => reason.len(),
        }
    }
}

/// The parameters of a request as a type; missing ones count as an empty object.
///
/// # Errors
/// [`codes::INVALID_PARAMS`]
pub(crate) fn params<T: DeserializeOwned>(method: &str, given: Option<&RawValue>) -> Result<T, Error> {
    counted(method, given, JsonBounds::VALUES).map(|(params, _)| params)
}

/// The parameters of a run, which have at most this many values.
///
/// # Errors
/// [`codes::INVALID_PARAMS`]
pub(crate) fn run_params(given: Option<&RawValue>, most: usize) -> Result<RunRequest, Error> {
    let (request, values): (RunRequest, usize) = counted("run", given, most)?;
    let bytes = given.map_or(0, |given| given.get().len());
    Ok(RunRequest { weight: bytes.saturating_add(values.saturating_mul(VALUE_BYTES)), ..request })
}

/// The parameters, and the count of their values.
fn counted<T: DeserializeOwned>(method: &str, given: Option<&RawValue>, most: usize) -> Result<(T, usize), Error> {
    let wrong =
        |reason: String| Error::new(codes::INVALID_PARAMS, format!("the parameters of '{method}' are wrong: {reason}"));
    let text = given.map_or("{}", RawValue::get);
    // Some parameters become trees, whose size must be bounded before they are built.
    let bounds = JsonBounds { values: most, ..JsonBounds::with_bytes(belljar_json_rpc::MAX_LINE_BYTES) };
    let (text, values) = JsonText::counted(text.to_owned(), &bounds).map_err(|error| match error {
        JsonError::TooMany { .. } => {
            wrong(error.to_string()).with_hint("offer only the functions that the run needs, with smaller schemas")
        }
        error => wrong(error.to_string()),
    })?;
    let params = object(text.as_str()).map_err(|error| wrong(reason(&error)))?;
    Ok((params, values))
}

/// Reads an object. serde would also accept an array of the members' values.
fn object<'text, T: Deserialize<'text>>(text: &'text str) -> Result<T, serde_json::Error> {
    if !text.trim_start().starts_with('{') {
        serde_json::from_str::<IgnoredAny>(text)?;
        return Err(serde::de::Error::custom("it is not an object"));
    }
    serde_json::from_str(text)
}

/// What is wrong with a message, cut, since it may quote all of the message.
fn reason(error: &serde_json::Error) -> String {
    cut(error.to_string(), REASON_BYTES)
}

/// The beginning of a text. The memory of the rest is freed.
fn cut(mut text: String, bytes: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes));
    text.shrink_to_fit();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> i32 {
        Incoming::parse(line).expect_err(line).code
    }

    #[test]
    fn a_message_is_told_apart_by_what_it_has() {
        let told = |line: &str| match Incoming::parse(line).expect(line) {
            Incoming::Request { .. } => "request",
            Incoming::Notification { .. } => "notification",
            Incoming::Answer { answer: CallAnswer::Value(Some(_)), .. } => "value",
            Incoming::Answer { answer: CallAnswer::Value(None), .. } => "undefined",
            Incoming::Answer { answer: CallAnswer::Failed { .. }, .. } => "failed",
            Incoming::Answer { answer: CallAnswer::Malformed(_), .. } => "malformed",
        };
        assert_eq!(told(r#"{"jsonrpc":"2.0","id":1,"method":"run","params":{}}"#), "request");
        assert_eq!(told(r#"{"jsonrpc":"2.0","method":"cancel"}"#), "notification");
        assert_eq!(told(r#"{"jsonrpc":"2.0","id":"c1","result":{"value":null}}"#), "value");
        assert_eq!(told(r#"{"jsonrpc":"2.0","id":"c1","result":{}}"#), "undefined");
        assert_eq!(told(r#"{"jsonrpc":"2.0","id":"c1","error":{"code":1,"message":"no"}}"#), "failed");
        for malformed in [
            r#"{"jsonrpc":"2.0","id":"c1"}"#,
            r#"{"jsonrpc":"2.0","id":"c1","result":3}"#,
            r#"{"jsonrpc":"2.0","id":"c1","result":null}"#,
            r#"{"jsonrpc":"2.0","id":"c1","result":[3]}"#,
            r#"{"jsonrpc":"2.0","id":"c1","error":["no"]}"#,
            r#"{"jsonrpc":"2.0","id":"c1","result":{},"error":{"code":1,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":"c1","error":"no"}"#,
        ] {
            assert_eq!(told(malformed), "malformed", "{malformed}");
        }
    }

    #[test]
    fn what_is_no_message_is_told_apart_from_what_is_no_json() {
        for line in ["", "{", "GET / HTTP/1.1", "nul"] {
            assert_eq!(refused(line), codes::PARSE, "{line}");
        }
        for line in [
            "[]",
            "{}",
            r#"["2.0",1,"hello"]"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"hello"}"#,
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"hello"}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"hello"}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"hello"}"#,
        ] {
            assert_eq!(refused(line), codes::INVALID_REQUEST, "{line}");
        }
        let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"hello"}}"#, "x".repeat(200));
        assert_eq!(refused(&long), codes::INVALID_REQUEST);
    }

    #[test]
    fn a_run_says_no_more_than_the_protocol_knows_and_its_trees_are_bounded() {
        let within = |text: &str, most: usize| {
            let raw = RawValue::from_string(text.to_owned()).expect("JSON");
            run_params(Some(&raw), most)
        };
        let read = |text: &str| within(text, 1_000);
        let weight = |text: &str| read(text).expect("a run").weight;
        let (small, large) = (r#"{"code":"1"}"#, r#"{"code":"1","functions":[{"name":"f"},{"name":"g"}]}"#);
        assert!(weight(large) >= weight(small) + 2 * VALUE_BYTES, "values count with more than their text");
        assert!(within(large, 7).is_ok());
        let refused = within(large, 6).expect_err("it has more");
        assert_eq!(refused.code, codes::INVALID_PARAMS);
        assert!(refused.message.contains("more than 6 values"), "{}", refused.message);
        let run = read(r#"{"code":"1"}"#).expect("a run");
        assert!(run.builtins && run.belljar == OwnTools::None && run.value == Form::Plain && run.namespaces.is_empty());
        assert_eq!(read(r#"{"code":"1","belljar":true}"#).expect("a run").belljar, OwnTools::All);
        assert_eq!(read(r#"{"code":"1","belljar":["fs"]}"#).expect("a run").belljar, OwnTools::Some(vec!["fs".into()]));
        let deep = format!(
            r#"{{"code":"1","functions":[{{"name":"f","inputSchema":{{"a":{}{}}}}}]}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        for wrong in [
            "{}",
            "[]",
            r#"["1"]"#,
            r#"{"code":1}"#,
            r#"{"code":"1","timeout":3}"#,
            r#"{"code":"1","limits":{"timeout":"soon"}}"#,
            r#"{"code":"1","belljar":"fs"}"#,
            r#"{"code":"1","stream":["all"]}"#,
            r#"{"code":"1","functions":[{"name":"f","inputSchema":[]}]}"#,
            &deep,
        ] {
            let error = read(wrong).expect_err(wrong);
            assert_eq!(error.code, codes::INVALID_PARAMS, "{wrong}");
        }
    }
}
