//! Writes servers as the text of a belljar.toml, and checks that it can be read.

use std::{cell::RefCell, path::Path};

use toml_edit::{DocumentMut, Item, Table};

use crate::{FILE_BYTES, Format, Variables, expand::Expander, parse_with};

/// The most unset variables that a server may need: the user is told about each of them, and must
/// set it.
const MAX_UNSET: usize = 256;

/// The text of a belljar.toml with these servers and nothing else.
pub(super) fn document_of<'t>(servers: impl IntoIterator<Item = (&'t str, &'t Table)>) -> String {
    let mut document = DocumentMut::new();
    // A new document has no conflicts.
    let _ = insert(&mut document, servers);
    document.to_string()
}

/// Adds the servers at the end of a document.
pub(super) fn insert<'t>(
    document: &mut DocumentMut,
    tables: impl IntoIterator<Item = (&'t str, &'t Table)>,
) -> Result<(), String> {
    let mut implicit = Table::new();
    implicit.set_implicit(true);
    let servers = document.entry("servers").or_insert(Item::Table(implicit));
    let servers = servers.as_table_like_mut().ok_or_else(|| "its 'servers' is not a table".to_owned())?;
    for (name, table) in tables {
        if servers.contains_key(name) {
            return Err(format!("a server '{name}' is there already"));
        }
        let mut table = table.clone();
        table.decor_mut().set_prefix("\n");
        servers.insert(name, Item::Table(table));
    }
    Ok(())
}

/// Reads a belljar.toml in `directory`, and returns the variables that it needs and that are not
/// set.
pub(super) fn check_text(text: &str, directory: &Path, variables: &Variables<'_>) -> Result<Vec<String>, String> {
    if text.len() as u64 > FILE_BYTES {
        return Err(format!("belljar.toml would have {} bytes, and may have {FILE_BYTES}", text.len()));
    }
    let unset = RefCell::default();
    parse_with(text, Format::Toml, directory, Expander::noting(variables, &unset))
        .map_err(|error| error.fault.to_string())?;
    let unset = unset.into_inner();
    if unset.len() > MAX_UNSET {
        return Err(format!("it needs {} variables that are not set; the limit is {MAX_UNSET}", unset.len()));
    }
    Ok(unset.into_iter().collect())
}
