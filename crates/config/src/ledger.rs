//! The `[ledger]` of belljar.toml.

use belljar_model::{ByteSize, LedgerKeep, LedgerSettings, RedactRule};

use crate::{
    error::{ConfigErrorKind, Field, Located},
    tree::{Entry, Node, Value, check_unique},
};

/// The keys of the table.
pub(crate) const KEYS: &[&str] = &["level", "required", "fsync", "max_recording", "keep", "redact"];
/// The keys of `keep`.
pub(crate) const KEEP_KEYS: &[&str] = &["days", "bytes"];

/// The keys of an entry of `redact`.
pub(crate) const REDACT_KEYS: &[&str] = &["tools", "pointers"];

/// Reads the settings.
pub(crate) fn read(node: &Node) -> Result<LedgerSettings, Located> {
    let mut settings = LedgerSettings::default();
    for entry in table("ledger", node)? {
        match entry.key.as_str() {
            "level" => {
                let level = text(&entry.node).and_then(|text| text.parse().ok());
                settings.level =
                    level.ok_or_else(|| expected("level", "one of off, calls, recordings", &entry.node))?;
            }
            "required" => settings.required = boolean("required", &entry.node)?,
            "fsync" => settings.fsync = boolean("fsync", &entry.node)?,
            "max_recording" => settings.max_recording = size("max_recording", &entry.node)?,
            "keep" => settings.keep = keep(&entry.node)?,
            "redact" => settings.redact = redact(&entry.node)?,
            _ => return Err(ConfigErrorKind::unknown_key("ledger", &entry.key, KEYS).at(entry.offset)),
        }
    }
    Ok(settings)
}

fn keep(node: &Node) -> Result<LedgerKeep, Located> {
    let mut keep = LedgerKeep::default();
    for entry in table("ledger.keep", node)? {
        match entry.key.as_str() {
            "days" => {
                let days = match &entry.node.value {
                    Value::Number(number) => number.parse().ok().filter(|days: &u32| *days > 0),
                    _ => None,
                };
                keep.days = days.ok_or_else(|| expected("keep.days", "a whole number above 0", &entry.node))?;
            }
            "bytes" => keep.bytes = size("keep.bytes", &entry.node)?,
            _ => return Err(ConfigErrorKind::unknown_key("ledger.keep", &entry.key, KEEP_KEYS).at(entry.offset)),
        }
    }
    Ok(keep)
}

fn redact(node: &Node) -> Result<Vec<RedactRule>, Located> {
    let rule = |node: &Node| {
        let (mut tools, mut pointers) = (None, None);
        for entry in table("ledger.redact", node)? {
            match entry.key.as_str() {
                "tools" => tools = text(&entry.node).filter(|tools| !tools.is_empty()).map(str::to_owned),
                "pointers" => pointers = Some(self::pointers(&entry.node)?),
                _ => {
                    return Err(ConfigErrorKind::unknown_key("ledger.redact", &entry.key, REDACT_KEYS).at(entry.offset));
                }
            }
        }
        match (tools, pointers) {
            (Some(tools), Some(pointers)) => Ok(RedactRule { tools, pointers }),
            _ => Err(expected("redact", "a list of { tools = \"server.*\", pointers = [\"/member\"] }", node)),
        }
    };
    list("redact", "a list of { tools = \"server.*\", pointers = [\"/member\"] }", node)?.iter().map(rule).collect()
}

fn pointers(node: &Node) -> Result<Vec<String>, Located> {
    const POINTERS: &str = "a list of JSON pointers such as \"/body\"";
    let pointer = |node: &Node| match text(node) {
        Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => Ok(pointer.to_owned()),
        _ => Err(expected("redact.pointers", POINTERS, node)),
    };
    list("redact.pointers", POINTERS, node)?.iter().map(pointer).collect()
}

fn list<'n>(key: &str, expected_list: &'static str, node: &'n Node) -> Result<&'n [Node], Located> {
    match &node.value {
        Value::List(list) => Ok(list),
        _ => Err(expected(key, expected_list, node)),
    }
}

fn table<'n>(name: &str, node: &'n Node) -> Result<&'n [Entry], Located> {
    let Value::Table(entries) = &node.value else {
        let (field, found) = (Field::of_file(name), node.kind());
        return Err(ConfigErrorKind::Expected { field, expected: "a table", found }.at(node.offset));
    };
    check_unique(entries)?;
    Ok(entries)
}

fn boolean(key: &str, node: &Node) -> Result<bool, Located> {
    match node.value {
        Value::Boolean(boolean) => Ok(boolean),
        _ => Err(expected(key, "true or false", node)),
    }
}

fn size(key: &str, node: &Node) -> Result<ByteSize, Located> {
    let size = match &node.value {
        Value::String(text) | Value::Number(text) => text.parse().ok(),
        _ => None,
    };
    size.ok_or_else(|| expected(key, "a size such as \"64MiB\", or a number of bytes", node))
}

fn text(node: &Node) -> Option<&str> {
    match &node.value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn expected(key: &str, expected: &'static str, node: &Node) -> Located {
    let found = match node.value {
        Value::String(_) => "another string",
        Value::Number(_) => "another number",
        _ => node.kind(),
    };
    ConfigErrorKind::Expected { field: Field::of_file(format_args!("ledger.{key}")), expected, found }.at(node.offset)
}

#[cfg(test)]
mod tests {
    use belljar_model::{ByteSize, LedgerKeep, LedgerLevel, LedgerSettings, RedactRule};

    use crate::testing::toml;

    #[test]
    fn what_is_kept_of_runs_is_read_with_its_units() {
        let ledger = |text: &str| toml(text).expect(text).ledger;
        assert_eq!(ledger(""), LedgerSettings::default());
        assert_eq!(ledger("[ledger]"), LedgerSettings::default());
        let text = "[ledger]\nlevel = 'recordings'\nrequired = true\nfsync = true\nmax_recording = '1MiB'\n\
                    keep = { days = 7, bytes = 1000 }\nredact = [{ tools = 'mail.*', pointers = ['/body', ''] }]\n";
        let expected = LedgerSettings {
            level: LedgerLevel::Recordings,
            required: true,
            fsync: true,
            max_recording: ByteSize::mib(1),
            keep: LedgerKeep { days: 7, bytes: ByteSize(1000) },
            redact: vec![RedactRule { tools: "mail.*".to_owned(), pointers: vec!["/body".to_owned(), String::new()] }],
        };
        assert_eq!(ledger(text), expected);
    }

    #[test]
    fn what_it_cannot_be_is_refused_with_its_place() {
        for (text, message) in [
            ("ledger = 3", "line 1, column 10: 'ledger' must be a table, not a number"),
            ("[ledger]\nlevel = 'all'", "line 2, column 9: 'ledger.level' must be one of off, calls, recordings"),
            ("[ledger]\nlevle = 'off'", "line 2, column 1: unknown key 'levle' in ledger: did you mean 'level'?"),
            ("[ledger]\nrequired = 1", "line 2, column 12: 'ledger.required' must be true or false"),
            ("[ledger]\nmax_recording = 'lots'", "line 2, column 17: 'ledger.max_recording' must be a size"),
            ("[ledger]\nkeep = { days = 0 }", "'ledger.keep.days' must be a whole number above 0, not another number"),
            ("[ledger]\nkeep = { hours = 1 }", "unknown key 'hours' in ledger.keep"),
            ("[ledger]\nredact = ['x']", "'ledger.redact' must be a table"),
            ("[ledger]\nredact = [{ tools = 'x' }]", "'ledger.redact' must be a list of { tools"),
            (
                "[ledger]\nredact = [{ tools = 'x', pointers = ['a'] }]",
                "'ledger.redact.pointers' must be a list of JSON pointers",
            ),
            ("[ledger]\nkeep = 30", "line 2, column 8: 'ledger.keep' must be a table"),
        ] {
            let error = toml(text).expect_err(text);
            assert!(error.contains(message), "{error}");
        }
    }
}
