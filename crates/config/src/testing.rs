//! Helpers of this crate's tests.

use std::path::Path;

use belljar_model::ServerSpec;

use crate::{Config, Format, Variables, parse};

/// Reads a belljar.toml in `/etc/belljar`, with `TOKEN`, `LINE`, `NUL` and `EMPTY` set. No error
/// may show their values.
pub(crate) fn toml(text: &str) -> Result<Config, String> {
    parsing(text, Format::Toml)
}

/// Reads a client's file at the same place.
pub(crate) fn json(text: &str) -> Result<Config, String> {
    parsing(text, Format::Json)
}

/// The only server of a file.
pub(crate) fn only(config: Result<Config, String>) -> ServerSpec {
    let mut servers = config.expect("a config").servers;
    assert_eq!(servers.len(), 1);
    servers.remove(0)
}

/// The names of a file's servers.
pub(crate) fn names(config: Result<Config, String>) -> Vec<String> {
    config.expect("a config").servers.into_iter().map(|server| server.name).collect()
}

fn parsing(text: &str, format: Format) -> Result<Config, String> {
    let environment = |name: &str| match name {
        "TOKEN" => Some("sesame".to_owned()),
        "LINE" => Some("sesame\n".to_owned()),
        "NUL" => Some("sesame\0".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    let variables = Variables {
        environment: &environment,
        home: Some(Path::new("/home/ada")),
        workspace: Some(Path::new("/projects/engine")),
    };
    parse(text, format, Path::new("/etc/belljar"), &variables).map_err(|error| {
        let (message, debug) = (error.to_string(), format!("{error:?}"));
        assert!(!message.contains("sesame") && !debug.contains("sesame"), "a secret in {message} or {debug}");
        message
    })
}
