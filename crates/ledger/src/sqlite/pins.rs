//! The pinned definitions of servers' tools, as they were first seen or last accepted, for all
//! processes of a user. They are kept until others are accepted.

use std::collections::BTreeMap;

use rusqlite::{Connection, TransactionBehavior, params};

use super::beside::Beside;
use crate::{
    asked::{PinnedServer, Pins},
    error::LedgerError,
};

/// Stands in place of a tool's name, and shows that the server was seen, whatever tools it had. No
/// tool has this name.
const SEEN: &str = "";

impl Beside {
    /// Returns the pins. If there are none, these are pinned from now on. Blocks.
    pub(super) fn pins(&self, pins: &Pins) -> Result<PinnedServer, LedgerError> {
        self.with(|connection| {
            let known = read(connection, pins)?;
            if !known.is_empty() {
                return Ok(PinnedServer { is_first: false, tools: without_mark(known) });
            }
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            // Another process may have been first.
            let known = read(&transaction, pins)?;
            let is_first = known.is_empty();
            if is_first {
                write(&transaction, pins)?;
            }
            transaction.commit()?;
            let tools = if is_first { pins.tools.clone() } else { without_mark(known) };
            Ok(PinnedServer { is_first, tools })
        })
    }

    /// Replaces the pins with these. Blocks.
    pub(super) fn accept_pins(&self, pins: &Pins) -> Result<(), LedgerError> {
        self.with(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            write(&transaction, pins)?;
            transaction.commit()
        })
    }
}

fn read(connection: &Connection, pins: &Pins) -> rusqlite::Result<BTreeMap<String, String>> {
    connection
        .prepare_cached("SELECT tool, definition FROM pinned WHERE rules = ?1 AND server = ?2")?
        .query_map(params![pins.rules, pins.server], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

fn without_mark(mut known: BTreeMap<String, String>) -> BTreeMap<String, String> {
    known.remove(SEEN);
    known
}

fn write(connection: &Connection, pins: &Pins) -> rusqlite::Result<()> {
    let mut statement = connection
        .prepare_cached("INSERT OR REPLACE INTO pinned(rules, server, tool, definition) VALUES (?1, ?2, ?3, ?4)")?;
    let mark = [(SEEN, "")].into_iter();
    let tools = pins.tools.iter().map(|(tool, definition)| (tool.as_str(), definition.as_str()));
    for (tool, definition) in mark.chain(tools) {
        statement.execute(params![pins.rules, pins.server, tool, definition])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pins(rules: &str, tools: &[(&str, &str)]) -> Pins {
        let tools = tools.iter().map(|(tool, definition)| ((*tool).to_owned(), (*definition).to_owned())).collect();
        Pins { rules: rules.to_owned(), server: "fs".to_owned(), tools }
    }

    #[test]
    fn what_is_seen_first_is_pinned_until_something_else_is_accepted() {
        let folder = tempfile::tempdir().expect("a folder");
        let beside = || Beside::new(Some(folder.path().to_owned()));
        let (here, there) = (beside(), beside());
        let first = pins("a", &[("get", "1"), ("put", "1")]);
        let later = pins("a", &[("get", "2"), ("new", "1")]);
        assert_eq!(here.pins(&first).expect("kept"), PinnedServer { is_first: true, tools: first.tools.clone() });
        assert_eq!(there.pins(&later).expect("kept"), PinnedServer { is_first: false, tools: first.tools.clone() });
        assert!(there.pins(&pins("b", &[])).expect("kept").is_first, "other rules");
        assert!(!there.pins(&pins("b", &[("get", "1")])).expect("kept").is_first, "a server without tools was seen");
        there.accept_pins(&later).expect("kept");
        let all = pins("a", &[("get", "2"), ("new", "1"), ("put", "1")]).tools;
        assert_eq!(here.pins(&first).expect("kept"), PinnedServer { is_first: false, tools: all });
        assert!(matches!(Beside::new(None).pins(&first), Err(LedgerError::NoFolder)));
    }
}
