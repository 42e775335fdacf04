//! Decides which of the clients' servers would be imported.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use belljar_model::ServerSpec;
use toml_edit::Table;

use crate::{
    ConfigError, Format, MAX_SERVERS, Variables, document,
    error::{ConfigErrorKind, Located, shown},
    file,
    import::{
        convert::{Converted, as_json, convert},
        text::{check_text, document_of},
    },
    masked::{Author, Shown},
    tree::{self, Entry, Value, check_unique},
};

/// The largest file of a client. Some clients keep conversation histories in the same file as the
/// servers.
const CLIENT_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// A file to import servers from.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name for the user.
    pub title: String,
    /// Where it is.
    pub path: PathBuf,
    /// Who wrote it.
    pub author: Author,
}

/// The servers of a file, with the decision about each.
pub struct Found {
    /// The file.
    pub source: Source,
    /// Its servers.
    pub items: Result<Vec<Item>, ConfigError>,
    /// The servers that would be imported, in the form of belljar.toml. They are written as they
    /// were shown, whatever happens to the file meanwhile.
    tables: Vec<(String, Table)>,
}

impl Found {
    /// How many of its servers would be imported.
    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// Whether none of them would.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }
}

/// What is imported from some files, and what is not.
#[derive(Default)]
pub struct Plan {
    /// The imported servers, by file.
    pub found: Vec<Found>,
    /// Files that were examined and skipped, because nobody asked for them.
    pub left: Vec<Found>,
    /// The names that are taken, each with the file that took it.
    taken: BTreeMap<String, String>,
}

/// One server of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its name in the file.
    pub name: String,
    /// What happens to it.
    pub decision: Decision,
}

/// What happens to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is imported.
    Take {
        /// The name that it gets.
        name: String,
        /// Its entry, without its secrets.
        shown: Shown,
        /// How it differs from its entry in the file.
        notes: Vec<String>,
        /// Variables that it needs and that are not set.
        unset: Vec<String>,
    },
    /// It is skipped.
    Leave {
        /// Why.
        reason: String,
    },
}

impl Plan {
    /// An empty plan, which will not use the names of `existing`, the servers of a belljar.toml.
    pub fn beside(existing: &[String]) -> Self {
        let taken = existing.iter().map(|name| (name.clone(), "belljar.toml".to_owned()));
        Self { taken: taken.collect(), ..Self::default() }
    }

    /// Reads a file once: [`Plan::take`] imports what was read then.
    pub fn look(&self, source: Source, variables: &Variables<'_>) -> Found {
        let directory = source.path.parent().unwrap_or(Path::new(""));
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        let text = file::read_within(&source.path, CLIENT_FILE_BYTES);
        self.look_at(source, text, &directory, variables)
    }

    /// The same for a file in `directory` with this text, or with the reason why it has none.
    pub(super) fn look_at(
        &self,
        source: Source,
        text: Result<String, ConfigErrorKind>,
        directory: &Path,
        variables: &Variables<'_>,
    ) -> Found {
        let mut tables = Vec::new();
        let text = text.map_err(ConfigError::from);
        let items = text.and_then(|text| self.read(&source, &text, directory, &mut tables, variables));
        let items = items.map_err(|error| ConfigError { path: Some(source.path.clone()), ..error });
        if items.is_err() {
            tables.clear();
        }
        Found { source, items, tables }
    }

    /// Imports the servers of a file that was read.
    pub fn take(&mut self, found: Found) {
        self.taken.extend(found.tables.iter().map(|(name, _)| (name.clone(), found.source.title.clone())));
        self.found.push(found);
    }

    /// Skips a file that was read.
    pub fn leave(&mut self, found: Found) {
        self.left.push(found);
    }

    /// How many servers will be written.
    pub fn len(&self) -> usize {
        self.found.iter().map(Found::len).sum()
    }

    /// Whether nothing will be written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What will be written, by name.
    pub(super) fn tables(&self) -> impl Iterator<Item = (&str, &Table)> {
        self.found.iter().flat_map(|found| &found.tables).map(|(name, table)| (name.as_str(), table))
    }

    fn read(
        &self,
        source: &Source,
        text: &str,
        directory: &Path,
        tables: &mut Vec<(String, Table)>,
        variables: &Variables<'_>,
    ) -> Result<Vec<Item>, ConfigError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let located = |located: Located| located.into_error(text);
        let root = tree::parse(text, Format::Json).map_err(located)?;
        let lists = document::lists(&root, variables.workspace).map_err(located)?;
        let mut items = Vec::new();
        for list in lists {
            let Value::Table(entries) = &list.node.value else { continue };
            check_unique(entries).map_err(located)?;
            if items.len() + entries.len() > MAX_SERVERS {
                let used = items.len() + entries.len();
                return Err(located(ConfigErrorKind::TooManyServers { limit: MAX_SERVERS, used }.at(list.offset)));
            }
            for entry in entries {
                let decision = self
                    .decide(entry, directory, source, tables, variables)
                    .unwrap_or_else(|reason| Decision::Leave { reason });
                items.push(Item { name: shown(&entry.key), decision });
            }
        }
        Ok(items)
    }

    fn decide(
        &self,
        entry: &Entry,
        directory: &Path,
        source: &Source,
        tables: &mut Vec<(String, Table)>,
        variables: &Variables<'_>,
    ) -> Result<Decision, String> {
        let Value::Table(entries) = &entry.node.value else { return Err("it is not an object".to_owned()) };
        let Converted { table, mut notes } = convert(entries, directory)?;
        let name = name_of(&entry.key);
        if name != entry.key {
            notes.push("a name has 1 to 64 bytes, and no dot or control character".to_owned());
        }
        let is_here = |other: &str| tables.iter().any(|(there, _)| there == other);
        let holder = self.taken.get(&name).or_else(|| is_here(&name).then_some(&source.title));
        if let Some(holder) = holder {
            let here = tables.iter().map(|(name, table)| (name.as_str(), table));
            let same =
                self.tables().chain(here).any(|(other, there)| other == name && there.to_string() == table.to_string());
            let what = if same { "it is the same as" } else { "the name is that of another server" };
            return Err(format!("{what} in {holder}"));
        }
        let unset = check(&name, &table, variables)?;
        let shown = Shown::of(&as_json(&table), source.author);
        tables.push((name.clone(), table));
        Ok(Decision::Take { name, shown, notes, unset })
    }
}

/// A valid name for a server, similar to the given one.
pub(super) fn name_of(name: &str) -> String {
    let allowed = |character: char| if character == '.' || character.is_control() { '-' } else { character };
    let mut allowed: String = name.chars().map(allowed).collect();
    while allowed.len() > ServerSpec::NAME_BYTES {
        allowed.pop();
    }
    if allowed.is_empty() { "server".to_owned() } else { allowed }
}

/// Reads `table` as belljar will, and returns the variables that it needs and that are not set.
fn check(name: &str, table: &Table, variables: &Variables<'_>) -> Result<Vec<String>, String> {
    // All paths in it are absolute by now.
    check_text(&document_of([(name, table)]), Path::new("/"), variables)
}
