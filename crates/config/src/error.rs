//! Why a configuration was not accepted, where, and what to do about it.
//!
//! Errors never contain a value from the file: only names, without control characters and
//! shortened. A configuration that is merely offered may come from a stranger, and its errors are
//! written to a terminal.

use std::{fmt, io, path::PathBuf};

use belljar_files::Distrust;
use belljar_model::{Effect, Position, ServerSpec, display};

use crate::Format;

/// A configuration that was not accepted. Its message says where, what is wrong, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{}{fault}", place(path.as_ref(), *position))]
pub struct ConfigError {
    /// The file, if there is one.
    pub path: Option<PathBuf>,
    /// The position in the file, if the fault has one.
    pub position: Option<Position>,
    /// What is wrong.
    pub fault: Box<ConfigErrorKind>,
}

impl From<ConfigErrorKind> for ConfigError {
    fn from(fault: ConfigErrorKind) -> Self {
        Self { path: None, position: None, fault: Box::new(fault) }
    }
}

/// A setting, as named in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The server that it belongs to, if any.
    pub server: Option<String>,
    /// The path of its key, such as `env.TOKEN`, `args[2]` or `limits.memory`.
    pub key: String,
}

impl Field {
    pub(crate) fn of_server(server: &str, key: impl fmt::Display) -> Self {
        Self { server: Some(shown(server)), key: shown(&key.to_string()) }
    }

    pub(crate) fn of_file(key: impl fmt::Display) -> Self {
        Self { server: None, key: shown(&key.to_string()) }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.server {
            Some(server) if self.key.is_empty() => write!(formatter, "server '{server}'"),
            Some(server) => write!(formatter, "'{}' of server '{server}'", self.key),
            None => write!(formatter, "'{}'", self.key),
        }
    }
}

/// What is wrong with a configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what each field is")]
pub enum ConfigErrorKind {
    /// There is no file.
    #[error("there is no such file: check the path")]
    NotFound,
    /// The path leads to a directory, a pipe, a device or a socket.
    #[error("this is not a regular file: give the path of the configuration file itself")]
    NotAFile,
    /// The file exists but cannot be read.
    #[error("the file cannot be read: {error}")]
    Unreadable { error: io::Error },
    /// Somebody else may have written the file.
    #[error(transparent)]
    Distrusted(#[from] Distrust),
    /// The file is too large to be a configuration.
    #[error("the file is larger than {limit} bytes: is it the right one?")]
    TooLarge { limit: u64 },
    /// The file is not text.
    #[error("the file is not UTF-8 from byte {byte} on (counted from 0): save it as UTF-8")]
    NotUtf8 { byte: usize },
    /// The text is neither TOML nor JSON.
    #[error("not valid {}: {message}", format_name(*format))]
    Syntax { format: Format, message: String },
    /// The text nests too deeply.
    #[error("nested deeper than {limit} levels: a configuration needs four")]
    TooDeep { limit: usize },
    /// The text has more values than a configuration can have.
    #[error("more than {limit} keys and values: is it the right file?")]
    TooMany { limit: usize },
    /// A table has a key twice, or a file has a server twice.
    #[error("'{key}' is defined twice: rename one, or remove it")]
    DuplicateKey { key: String },
    /// belljar.toml has an unknown key.
    #[error("unknown key '{key}'{}: {}", within(place), suggestion(*nearest, known))]
    UnknownKey { place: String, key: String, nearest: Option<&'static str>, known: &'static [&'static str] },
    /// A key that only applies to another kind of server.
    #[error("'{key}' of server '{server}' has no meaning without '{needs}': remove it, or give '{needs}'")]
    MisplacedKey { server: String, key: &'static str, needs: &'static str },
    /// The file of variables that a server names cannot be used.
    #[error("{field} names a file that cannot be used: {problem}")]
    EnvFile { field: Field, problem: String },
    /// Both spellings of one key are used.
    #[error("server '{server}' has both 'envFile' and 'env_file': keep one of them")]
    TwoEnvFiles { server: String },
    /// An era that does not exist.
    #[error("{field} has the unknown value '{name}': it is one of auto, initialize and discover")]
    UnknownEra { field: Field, name: String },
    /// A JSON file that names no servers.
    #[error("no servers in it: expected {{\"mcpServers\": {{\"name\": {{\"command\": \"…\"}}}}}}{}", instead_of(nearest.as_deref()))]
    NoServers { nearest: Option<String> },
    /// A JSON file with two lists of servers.
    #[error("both 'mcpServers' and 'servers' are there: keep one of them")]
    TwoServerLists,
    /// Too many servers.
    #[error("{used} servers; the limit is {limit}: split the file")]
    TooManyServers { limit: usize, used: usize },
    /// A name that a server cannot have.
    #[error("server name '{name}' {problem}: a name has 1 to {limit} bytes, and no dot or control character", limit = ServerSpec::NAME_BYTES)]
    ServerName { name: String, problem: &'static str },
    /// A server with the name of the owner's scripts.
    #[error(
        "no server may be called 'skills', which is the name for your own named scripts: give the server another name"
    )]
    NameOfSkills,
    /// A server without a way to reach it.
    #[error("server '{server}' needs one of 'command', 'url' and 'builtin'")]
    NoTransport { server: String },
    /// A server with several ways to reach it.
    #[error("server '{server}' has {}: keep one of them", .keys.iter().map(|key| format!("'{key}'")).collect::<Vec<_>>().join(" and "))]
    SeveralTransports { server: String, keys: Vec<&'static str> },
    /// A type of transport that does not exist.
    #[error("server '{server}' has the unknown type '{kind}': it is one of stdio, http, sse and streamable-http")]
    UnknownType { server: String, kind: String },
    /// A type of transport that contradicts the other keys.
    #[error("server '{server}' has the type '{kind}' and no '{needs}': give '{needs}', or remove 'type'")]
    TypeMismatch { server: String, kind: String, needs: &'static str },
    /// A value of the wrong type or form.
    #[error("{field} must be {expected}, not {found}")]
    Expected { field: Field, expected: &'static str, found: &'static str },
    /// An effect that does not exist.
    #[error("{field} has the unknown effect '{name}': {}", suggestion(*nearest, &Effect::ALL.map(Effect::as_str)))]
    UnknownEffect { field: Field, name: String, nearest: Option<&'static str> },
    /// A setting that must not be empty.
    #[error("{field} is empty: give it a value, or remove it")]
    Empty { field: Field },
    /// An invalid name of an environment variable or a header.
    #[error("{field} cannot be the name of {what}: correct it")]
    BadName { field: Field, what: &'static str },
    /// A character that cannot be passed to a process or in a request.
    #[error("{field} holds {what}, which cannot be passed on: look also at the variables in it")]
    BadCharacter { field: Field, what: &'static str },
    /// A variable that has no value.
    #[error(
        "variable '{variable}' is not set, and {field} needs it: set it, or write a default as in ${{NAME:-default}}"
    )]
    Unset { field: Field, variable: String },
    /// `${userHome}` or `${workspaceFolder}`, but there is none.
    #[error("{field} refers to ${{{variable}}}, which is not known here: write the path itself")]
    NoFolder { field: Field, variable: &'static str },
    /// `${input:…}`, for which a client would ask its user.
    #[error(
        "{field} asks for the input '{input}', but belljar does not prompt for inputs: write ${{NAME}} and set that variable"
    )]
    Input { field: Field, input: String },
    /// `${kind:…}` of a kind that only editors support.
    #[error(
        "{field} refers to a variable that only an editor knows, '${{{kind}:…}}': write ${{NAME}} or the value itself"
    )]
    EditorVariable { field: Field, kind: String },
    /// `${…}` that cannot be read.
    #[error("{field} has a '${{' {problem}: write ${{NAME}} for a variable, and $${{ for a plain '${{'")]
    BadReference { field: Field, problem: &'static str },
    /// Variables that make the configuration too long.
    #[error("with {field}, the variables in this file have more than {limit} bytes: refer to shorter ones")]
    ExpandedTooLong { field: Field, limit: usize },
}

/// A fault with its position in the text.
pub(crate) struct Located {
    pub(crate) offset: Option<usize>,
    pub(crate) fault: ConfigErrorKind,
}

impl Located {
    pub(crate) fn into_error(self, text: &str) -> ConfigError {
        let position = self.offset.map(|offset| Position::of(text, offset));
        ConfigError { position, ..ConfigError::from(self.fault) }
    }
}

impl ConfigErrorKind {
    pub(crate) fn at(self, offset: usize) -> Located {
        Located { offset: Some(offset), fault: self }
    }

    pub(crate) fn unknown_key(place: &str, key: &str, known: &'static [&'static str]) -> Self {
        let nearest = belljar_model::nearest(key, known.iter().copied());
        Self::UnknownKey { place: place.to_owned(), key: shown(key), nearest, known }
    }
}

/// A name from somebody else, made safe for a message: on one line, without control characters, and
/// shortened.
pub(crate) fn shown(name: &str) -> String {
    const LONGEST: usize = 80;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => display::line(name.get(..end).unwrap_or_default()).into_owned() + "…",
        None => display::line(name).into_owned(),
    }
}

fn place(path: Option<&PathBuf>, position: Option<Position>) -> String {
    let path_text = path.map(|path| path.display().to_string()).unwrap_or_default();
    let mut place = display::line(&path_text).into_owned();
    match (path, position) {
        (Some(_), Some(Position { line, column })) => place.push_str(&format!(":{line}:{column}: ")),
        (Some(_), None) => place.push_str(": "),
        (None, Some(position)) => place.push_str(&format!("{position}: ")),
        (None, None) => {}
    }
    place
}

fn format_name(format: Format) -> &'static str {
    match format {
        Format::Toml => "TOML",
        Format::Json => "JSON",
    }
}

fn within(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" in {place}") }
}

fn suggestion(nearest: Option<&str>, known: &[&str]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean '{nearest}'?"),
        None => format!("it is one of {}", known.join(", ")),
    }
}

fn instead_of(nearest: Option<&str>) -> String {
    nearest.map(|key| format!(", and found '{key}'")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_without_control_characters_and_cut() {
        assert_eq!(shown("it's \"fs\""), "it's \"fs\"");
        assert_eq!(shown("a\u{1b}[2J\n\u{202e}b"), "a\\u{1b}[2J\\n\\u{202e}b");
        assert_eq!(shown(&"n".repeat(5_000)).chars().count(), 81);
    }

    #[test]
    fn an_error_says_where_as_far_as_it_is_known() {
        let error = |path: Option<&str>, position| ConfigError {
            path: path.map(PathBuf::from),
            position,
            ..ConfigError::from(ConfigErrorKind::NotAFile)
        };
        let at = Some(Position { line: 3, column: 7 });
        assert!(error(None, None).to_string().starts_with("this is not a regular file"));
        assert!(error(None, at).to_string().starts_with("line 3, column 7: this"));
        assert!(error(Some("a.toml"), None).to_string().starts_with("a.toml: this"));
        assert!(error(Some("a.toml"), at).to_string().starts_with("a.toml:3:7: this"));
        assert!(error(Some("a\u{1b}.toml"), at).to_string().starts_with("a\\u{1b}.toml:3:7: this"));
    }
}
