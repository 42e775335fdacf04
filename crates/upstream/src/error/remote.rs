//! Why a remote server cannot be used, and how to fix it.
//!
//! A URL may contain a secret, so a message names the host and never the URL.

use crate::text::one_line;

/// Why a remote server cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what each field is")]
pub enum RemoteError {
    /// The configured URL cannot be used.
    #[error("the URL cannot be used: {reason}")]
    Url { reason: String },
    /// A secret would be sent unencrypted.
    #[error("headers, a login or the URL's own secrets would travel unencrypted to {host}")]
    Insecure { host: String },
    /// The connection failed.
    #[error("{host} cannot be reached: {reason}")]
    Unreachable { host: String, reason: String },
    /// The connection ended in the middle of something.
    #[error("the connection to {host} broke: {reason}")]
    Broken { host: String, reason: String },
    /// The server refused a request.
    #[error("{host} answered with HTTP status {status}{}", said(message))]
    Status { host: String, status: u16, message: String },
    /// The server redirects elsewhere.
    #[error("{host} redirects to {to}")]
    Redirected { host: String, to: String },
    /// The server requires a login.
    #[error("{host} wants a login")]
    LoginNeeded { host: String, server: String },
    /// There was a login, and it is no longer valid.
    #[error("the login at {host} is no longer valid{}", said(reason))]
    LoginExpired { host: String, server: String, reason: String },
    /// The login lacks a scope.
    #[error("{host} wants {} for this, which the login does not have; {}", Scopes(scopes), how_to_get(server, *is_chosen))]
    ScopeNeeded { host: String, server: String, scopes: Vec<String>, is_chosen: bool },
    /// The configured headers do not authorize the call.
    #[error("{host} refuses the configured headers (HTTP status {status})")]
    Denied { host: String, status: u16 },
    /// The server speaks another protocol.
    #[error("{host} does not speak MCP at this URL: {reason}")]
    NotMcp { host: String, reason: String },
}

/// A name leads only to addresses that may not be contacted.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{host} is at an address that may not be connected to")]
pub(crate) struct NotAllowed {
    /// The requested name.
    pub(crate) host: String,
}

impl RemoteError {
    /// What to try.
    pub fn hint(&self) -> String {
        match self {
            Self::Url { .. } => "correct 'url' in the configuration".to_owned(),
            Self::Insecure { .. } => "use https://, or an address of this machine".to_owned(),
            Self::Unreachable { .. } => {
                "check that the server runs and that 'url' is right; it is tried again on the next demand".to_owned()
            }
            Self::Broken { .. } => "it is tried again on the next demand".to_owned(),
            Self::Status { status: 404 | 405, .. } => {
                "check the path of 'url': it often ends in /mcp, or in /sse for older servers".to_owned()
            }
            Self::Status { status: 429 | 500..=599, .. } => "try again later; the trouble is the server's".to_owned(),
            Self::Status { .. } => "check 'url' and 'headers' in the configuration".to_owned(),
            Self::Redirected { .. } => "give the URL that it redirects to, if you trust it".to_owned(),
            Self::LoginNeeded { server, .. } => {
                format!("log in with: belljar login {server}; or give an Authorization in 'headers'")
            }
            Self::LoginExpired { server, .. } => format!("log in again with: belljar login {server}"),
            Self::ScopeNeeded { server, is_chosen, .. } => how_to_get(server, *is_chosen),
            Self::Denied { .. } => "check the token in 'headers', and the variable that it comes from".to_owned(),
            Self::NotMcp { .. } => "check that 'url' is that of the MCP server, and not of its web site".to_owned(),
        }
    }

    /// Whether the server was reached and rejected the request itself, which it might accept in
    /// another protocol.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Status { status: 400..=499, .. } | Self::NotMcp { .. })
            && !matches!(self, Self::Status { status: 408 | 429, .. })
    }

    /// The meaning of a failed HTTP request.
    pub(crate) fn of(error: reqwest::Error, host: &str) -> Self {
        let (host, is_connect) = (host.to_owned(), error.is_connect());
        // The error's own text contains the URL. Its innermost cause is what a person needs.
        let error = error.without_url();
        let mut innermost: &(dyn std::error::Error + 'static) = &error;
        while let Some(source) = innermost.source() {
            innermost = source;
        }
        if innermost.is::<NotAllowed>() {
            return Self::Insecure { host };
        }
        let reason = one_line(&innermost.to_string(), 200);
        if is_connect { Self::Unreachable { host, reason } } else { Self::Broken { host, reason } }
    }
}

/// The names of scopes, in words.
struct Scopes<'s>(&'s [String]);

impl std::fmt::Display for Scopes<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = if self.0.len() == 1 { "the scope" } else { "the scopes" };
        write!(formatter, "{word} '{}'", one_line(&self.0.join("', '"), 300))
    }
}

/// How a login gets further scopes: if its owner has chosen them, by changing that choice.
fn how_to_get(server: &str, is_chosen: bool) -> String {
    match is_chosen {
        true => format!(
            "add it to the 'scopes' of its 'oauth', if you agree, and log in again with: belljar login {server}"
        ),
        false => format!("to ask for it, log in again with: belljar login {server}"),
    }
}

fn said(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}
