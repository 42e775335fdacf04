//! The entry for a running `belljar serve --http`: its URL, and a token for this client.
//!
//! The token goes into the client's file, which only its owner can read from then on, and is not
//! shown anywhere.

use std::path::{Path, PathBuf};

use belljar_http::{Scope, Tokens};
use cap_std::fs::Dir;
use clap::ValueEnum as _;
use jsonc_parser::cst::CstInputValue;

use super::{
    Change, NAME, SUFFIX,
    arguments::{InstallArguments, InstallClient},
    not_written, parsed, value_of, with,
};
use crate::{commands::token, failure::Failure, output, setup, tokens};

/// Stands for the token until there is one.
const TO_COME: &str = "…";
const SCHEME: &str = "Bearer ";

/// What to write, and where the tokens are.
pub(super) struct Remote {
    client: InstallClient,
    url: String,
    /// The token's name and scopes.
    name: String,
    scopes: Vec<Scope>,
    folder: Dir,
    known: Tokens,
}

impl Remote {
    /// The plan, if the arguments name a running server.
    pub(super) fn wanted(arguments: &InstallArguments) -> Result<Option<Self>, Failure> {
        let Some(url) = arguments.http.clone() else { return Ok(None) };
        if arguments.client == InstallClient::ClaudeDesktop {
            let message = "the file of Claude Desktop can only have programs, not servers over HTTP";
            return Err(Failure::usage(message, "leave --http out: the entry starts belljar itself"));
        }
        if !belljar_config::is_safe_name(&url) {
            let message = "the token would not be safe on its way to this URL";
            let hint = "give one with https, or http on this machine, without user, query and fragment";
            return Err(Failure::usage(message, hint));
        }
        let client = arguments.client.to_possible_value().map(|value| value.get_name().to_owned());
        let name = arguments.token_name.clone().or(client).unwrap_or_default();
        let folder = setup::needed_state_folder()?;
        let known = tokens::read(&folder)?;
        Ok(Some(Self { client: arguments.client, url, name, scopes: arguments.scope.clone(), folder, known }))
    }

    /// The file with the entry, for display; `None` if it already has an entry with a valid token.
    pub(super) fn change(&self, text: &str, key: &str) -> Result<Option<Change>, String> {
        if !text.trim().is_empty() && self.is_there(text, key)? {
            return Ok(None);
        }
        with(text, key, &self.entry(TO_COME))
    }

    /// Refuses a name that is taken, before anybody is asked.
    pub(super) fn check_name(&self) -> Result<(), Failure> {
        let name = &self.name;
        if !self.known.iter().any(|token| token.name == *name) {
            return Ok(());
        }
        let hint = format!("name another with --token-name, or remove that one: belljar token remove {name}");
        Err(Failure::usage(format!("there is a token '{name}' already"), hint))
    }

    /// Waits for the owner to agree to a new token, like `belljar token add`.
    pub(super) fn agreed(&self, arguments: &InstallArguments) -> Result<(), Failure> {
        token::agreed_to_add(arguments.yes, &arguments.config, &self.name, token::usual(&self.scopes))
    }

    /// Creates the token and writes the entry. If that fails, there is no token.
    pub(super) fn write(&self, path: &Path, before: Option<&str>, key: &str) -> Result<Option<PathBuf>, Failure> {
        let new = token::added(&self.folder, &self.name, token::usual(&self.scopes))?;
        let written = match with(before.unwrap_or_default(), key, &self.entry(new.reveal())) {
            Ok(Some(change)) => belljar_config::replace_with_secret(path, before, &change.text, SUFFIX)
                .map_err(|error| not_written(path, &error)),
            Ok(None) => Ok(None),
            Err(problem) => Err(not_written(path, &std::io::Error::other(problem))),
        };
        written.inspect_err(|_| {
            // The first error is reported.
            let _ = tokens::change(&self.folder, |tokens| tokens.remove(&self.name));
        })
    }

    /// Says that there is a token now.
    pub(super) fn tell(&self) {
        output::note(format_args!(
            "the entry has a new token '{}', and only you can read its file; 'belljar token remove {}' ends it",
            self.name, self.name
        ));
    }

    fn is_there(&self, text: &str, key: &str) -> Result<bool, String> {
        let (_root, top) = parsed(text)?;
        let entry = top.object_value(key).and_then(|servers| servers.get(NAME)).and_then(|entry| value_of(&entry));
        let Some(entry) = entry.filter(|entry| entry["url"] == self.url.as_str()) else {
            return Ok(false);
        };
        let shown = entry["headers"]["Authorization"].as_str().and_then(|value| value.strip_prefix(SCHEME));
        Ok(shown.is_some_and(|token| self.known.principal(token).is_some()))
    }

    fn entry(&self, token: &str) -> CstInputValue {
        let text = |text: &str| CstInputValue::String(text.to_owned());
        let headers = vec![("Authorization".to_owned(), text(&format!("{SCHEME}{token}")))];
        let mut entry =
            vec![("url".to_owned(), text(&self.url)), ("headers".to_owned(), CstInputValue::Object(headers))];
        if self.client != InstallClient::Cursor {
            entry.insert(0, ("type".to_owned(), text("http")));
        }
        CstInputValue::Object(entry)
    }
}
