//! The `[keep]` of belljar.toml: how much scripts may keep for later runs.

use belljar_model::{ByteSize, KeepSettings};

use crate::{
    error::{ConfigErrorKind, Field, Located},
    tree::{Node, Value, check_unique},
};

/// The keys of the table.
pub(crate) const KEYS: &[&str] = &["enabled", "max_bytes", "max_keys", "days"];

/// Reads the settings.
pub(crate) fn read(node: &Node) -> Result<KeepSettings, Located> {
    let Value::Table(entries) = &node.value else { return Err(expected("keep", "a table", node)) };
    check_unique(entries)?;
    let mut settings = KeepSettings::default();
    for entry in entries {
        let node = &entry.node;
        match entry.key.as_str() {
            "enabled" => {
                settings.enabled = match node.value {
                    Value::Boolean(boolean) => boolean,
                    _ => return Err(expected("keep.enabled", "true or false", node)),
                }
            }
            "max_bytes" => {
                let size = match &node.value {
                    Value::String(text) | Value::Number(text) => text.parse::<ByteSize>().ok(),
                    _ => None,
                };
                let size = size.filter(|size| *size <= KeepSettings::MOST_BYTES);
                settings.max_bytes =
                    size.ok_or_else(|| expected("keep.max_bytes", "a size of at most \"64MiB\"", node))?;
            }
            "max_keys" => {
                let keys = number(node).filter(|keys| *keys <= KeepSettings::MOST_KEYS);
                settings.max_keys =
                    keys.ok_or_else(|| expected("keep.max_keys", "a whole number from 1 to 10000", node))?;
            }
            "days" => {
                settings.days = number(node).ok_or_else(|| expected("keep.days", "a whole number above 0", node))?;
            }
            _ => return Err(ConfigErrorKind::unknown_key("keep", &entry.key, KEYS).at(entry.offset)),
        }
    }
    Ok(settings)
}

fn number(node: &Node) -> Option<u32> {
    match &node.value {
        Value::Number(number) => number.parse().ok().filter(|number| *number > 0),
        _ => None,
    }
}

fn expected(key: &str, expected: &'static str, node: &Node) -> Located {
    let found = match node.value {
        Value::String(_) if key != "keep" => "another string",
        Value::Number(_) if key != "keep" => "another number",
        _ => node.kind(),
    };
    ConfigErrorKind::Expected { field: Field::of_file(key), expected, found }.at(node.offset)
}

#[cfg(test)]
mod tests {
    use belljar_model::{ByteSize, KeepSettings};

    use crate::testing::toml;

    #[test]
    fn how_much_is_kept_is_read_with_its_units() {
        let keep = |text: &str| toml(text).expect(text).keep;
        assert_eq!(keep(""), KeepSettings::default());
        let text = "[keep]\nenabled = false\nmax_bytes = '1MiB'\nmax_keys = 10000\ndays = 30\n";
        let expected = KeepSettings { enabled: false, max_bytes: ByteSize::mib(1), max_keys: 10_000, days: 30 };
        assert_eq!(keep(text), expected);
        for (text, message) in [
            ("keep = 'x'", "line 1, column 8: 'keep' must be a table, not a string"),
            ("[keep]\nmax_bytes = '65MiB'", "'keep.max_bytes' must be a size of at most \"64MiB\", not another string"),
            ("[keep]\nmax_keys = 10001", "'keep.max_keys' must be a whole number from 1 to 10000, not another number"),
            ("[keep]\ndays = 0", "'keep.days' must be a whole number above 0, not another number"),
            ("[keep]\nenabled = 1", "'keep.enabled' must be true or false, not"),
            ("[keep]\nbytes = 1", "line 2, column 1: unknown key 'bytes' in keep"),
        ] {
            let error = toml(text).expect_err(text);
            assert!(error.contains(message), "{error}");
        }
    }
}
