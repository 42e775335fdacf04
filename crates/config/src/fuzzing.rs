//! The fuzzed functions and their invariants: `fuzz/` feeds them, and the tests below replay its
//! corpus.

use std::path::Path;

use belljar_model::display;

pub use crate::import::fuzzing::client_files;
use crate::{
    Config, Format, MAX_SERVERS, Variables, document,
    edit::{self, EditError, NewServer, Reached},
    parse, tree,
};

/// The separator between parts of a target's input.
pub(crate) const PART: &str = "\n----\n";
/// The folder of the files. It does not exist, so nothing is read.
pub(crate) const FOLDER: &str = "/nowhere/belljar";
/// The folder that the user works in.
pub(crate) const WORKSPACE: &str = "/w";

/// A configuration in both formats, and the name of a server to add. The result must be an error
/// that can be shown, or a configuration that can be changed and changed back.
pub fn configuration(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (text, name) = text.split_once(PART).unwrap_or((text, "new"));
    let json = read(text, Format::Json);
    assert!(json.is_none_or(|config| config.limits == Config::default().limits), "a client's file sets no limits");
    let Some(before) = read(text, Format::Toml) else { return };

    let root = tree::parse(text.strip_prefix('\u{feff}').unwrap_or(text), Format::Toml);
    for name in root.map_or_else(|_| Vec::new(), |root| document::server_names(&root)) {
        if let Ok(less) = edit::removed(text, Path::new(FOLDER), &name) {
            let less = read(&less, Format::Toml).expect("it was read before it was given");
            assert!(less.servers.iter().all(|server| server.name != name), "{name:?} is still there");
        }
    }
    let reached = Reached::Command {
        command: name.to_owned(),
        args: vec![name.to_owned()],
        env: vec![("NAME".to_owned(), name.to_owned())],
    };
    let server = NewServer { name: name.to_owned(), reached, stateful: false, warm: true };
    let Ok(more) = edit::added(text, Path::new(FOLDER), &server) else { return };
    match edit::removed(&more, Path::new(FOLDER), name) {
        Ok(less) => assert_eq!(read(&less, Format::Toml), Some(before), "{less}"),
        Err(EditError::Form { .. }) => {}
        Err(fault) => panic!("{fault}: {more}"),
    }
}

/// The configuration in a text, or `None` if a one-line error says what is wrong.
fn read(text: &str, format: Format) -> Option<Config> {
    const LONGEST: usize = 2_000;
    match parse(text, format, Path::new(FOLDER), &variables()) {
        Ok(config) => {
            assert!(config.servers.len() <= MAX_SERVERS);
            Some(config)
        }
        Err(error) => {
            let message = error.to_string();
            assert_eq!(display::line(&message), message);
            assert!(message.len() <= LONGEST, "{} bytes: {message}", message.len());
            None
        }
    }
}

/// Variables that are all set.
pub(crate) fn variables() -> Variables<'static> {
    Variables {
        environment: &|name| Some(format!("https://v.invalid/{name}")),
        home: Some(Path::new("/home/ada")),
        workspace: Some(Path::new(WORKSPACE)),
    }
}

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fuzzed_of_client_files_holds_still() {
        replay::replay("client_files", client_files);
    }

    #[test]
    fn what_was_fuzzed_of_configurations_holds_still() {
        replay::replay("configuration", configuration);
    }
}
