//! What of the clients' servers would be taken.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use belljar_model::ServerSpec;
use toml_edit::Table;

use crate::{
    ConfigError, Format, MAX_SERVERS, Variables, document,
    error::{Fault, Located, shown},
    file,
    import::convert::{Converted, convert},
    parse,
    tree::{self, Entry, Value, check_unique},
};

/// The largest file of a client. Some keep the history of conversations in the file that has the servers.
const CLIENT_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// A file to take servers from.
#[derive(Debug, Clone)]
pub struct Source {
    /// What the user knows it by.
    pub title: String,
    /// Where it is.
    pub path: PathBuf,
}

/// What would be taken of some files, and what would not.
#[derive(Default)]
pub struct Plan {
    /// What was found, by file.
    pub found: Vec<(Source, Result<Vec<Item>, ConfigError>)>,
    /// What will be written, by name.
    pub(super) tables: Vec<(String, Table)>,
}

/// One server of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its name there.
    pub name: String,
    /// What becomes of it.
    pub decision: Decision,
}

/// What becomes of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is taken.
    Take {
        /// The name that it gets.
        name: String,
        /// What it is, without its secrets.
        summary: String,
        /// What is different from how it stands there.
        notes: Vec<String>,
        /// Variables that it needs and that are not set.
        unset: Vec<String>,
    },
    /// It is left out.
    Leave {
        /// Why.
        reason: String,
    },
}

impl Plan {
    /// Looks into `sources`, and leaves out what `existing`, a belljar.toml, has already.
    pub fn of(sources: Vec<Source>, existing: &[String], variables: &Variables<'_>) -> Self {
        let mut plan = Self::default();
        let taken = existing.iter().map(|name| (name.clone(), "belljar.toml".to_owned()));
        let mut taken: BTreeMap<String, String> = taken.collect();
        for source in sources {
            let items = plan.read(&source, &mut taken, variables);
            let items = items.map_err(|error| ConfigError { path: Some(source.path.clone()), ..error });
            plan.found.push((source, items));
        }
        plan
    }

    /// How many servers will be written.
    pub fn len(&self) -> usize {
        self.tables.len()
    }

    /// Whether nothing will be written.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    fn read(
        &mut self,
        source: &Source,
        taken: &mut BTreeMap<String, String>,
        variables: &Variables<'_>,
    ) -> Result<Vec<Item>, ConfigError> {
        let text = file::read_within(&source.path, CLIENT_FILE_BYTES)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let located = |located: Located| located.into_error(text);
        let root = tree::parse(text, Format::Json).map_err(located)?;
        let lists = document::lists(&root, variables.workspace).map_err(located)?;
        let directory = source.path.parent().unwrap_or(Path::new(""));
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        let mut items = Vec::new();
        for list in lists {
            let Value::Table(entries) = &list.node.value else { continue };
            check_unique(entries).map_err(located)?;
            if items.len() + entries.len() > MAX_SERVERS {
                let used = items.len() + entries.len();
                return Err(located(Fault::TooManyServers { limit: MAX_SERVERS, used }.at(list.offset)));
            }
            for entry in entries {
                let decision = self
                    .decide(entry, &directory, &source.title, taken, variables)
                    .unwrap_or_else(|reason| Decision::Leave { reason });
                items.push(Item { name: shown(&entry.key), decision });
            }
        }
        Ok(items)
    }

    fn decide(
        &mut self,
        entry: &Entry,
        directory: &Path,
        title: &str,
        taken: &mut BTreeMap<String, String>,
        variables: &Variables<'_>,
    ) -> Result<Decision, String> {
        let Value::Table(entries) = &entry.node.value else { return Err("it is no object".to_owned()) };
        let Converted { table, summary, mut notes } = convert(entries, directory)?;
        let name = name_of(&entry.key);
        if name != entry.key {
            notes.push("a name has 1 to 64 bytes, and no dot or control character".to_owned());
        }
        if let Some(holder) = taken.get(&name) {
            let same =
                self.tables.iter().any(|(other, there)| *other == name && there.to_string() == table.to_string());
            let what = if same { "it is the same as" } else { "the name is that of another server" };
            return Err(format!("{what} in {holder}"));
        }
        let unset = check(&name, &table, variables)?;
        taken.insert(name.clone(), title.to_owned());
        self.tables.push((name.clone(), table));
        Ok(Decision::Take { name, summary, notes, unset })
    }
}

/// A name that a server can have.
fn name_of(name: &str) -> String {
    let allowed = |character: char| if character == '.' || character.is_control() { '-' } else { character };
    let mut allowed: String = name.chars().map(allowed).collect();
    while allowed.len() > ServerSpec::NAME_BYTES {
        allowed.pop();
    }
    if allowed.is_empty() { "server".to_owned() } else { allowed }
}

/// Reads `table` as belljar will, and gives the variables that it needs and that are not set.
fn check(name: &str, table: &Table, variables: &Variables<'_>) -> Result<Vec<String>, String> {
    let text = super::write::document_of([(name, table)]);
    check_text(&text, variables)
}

/// Reads a belljar.toml, and gives the variables that it needs and that are not set.
pub(super) fn check_text(text: &str, variables: &Variables<'_>) -> Result<Vec<String>, String> {
    /// Stands for a variable that is not set, wherever it may stand.
    const STAND_IN: &str = "https://unset.invalid";
    const MOST: usize = 256;
    let unset = RefCell::new(BTreeSet::new());
    let environment = |variable: &str| {
        (variables.environment)(variable).or_else(|| unset.borrow().contains(variable).then(|| STAND_IN.to_owned()))
    };
    for _ in 0..MOST {
        let with_stand_ins = Variables { environment: &environment, ..*variables };
        match parse(text, Format::Toml, Path::new("/"), &with_stand_ins) {
            Ok(_) => return Ok(unset.into_inner().into_iter().collect()),
            Err(ConfigError { fault, .. }) => match *fault {
                Fault::Unset { variable, .. } if unset.borrow_mut().insert(variable.clone()) => {}
                fault => return Err(fault.to_string()),
            },
        }
    }
    Err(format!("it needs more than {MOST} variables that are not set"))
}
