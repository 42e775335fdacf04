//! The `[artifacts]` of belljar.toml: what becomes an artifact, and how many are kept for how long.

use belljar_model::{ArtifactSettings, ByteSize};

use crate::{
    error::{ConfigErrorKind, Field, Located},
    tree::{Node, Value, check_unique},
};

/// The keys of the table.
pub(crate) const KEYS: &[&str] = &["enabled", "inline", "max_artifact", "max_bytes", "days"];

/// Reads the settings.
pub(crate) fn read(node: &Node) -> Result<ArtifactSettings, Located> {
    let Value::Table(entries) = &node.value else { return Err(expected("artifacts", "a table", node)) };
    check_unique(entries)?;
    let mut settings = ArtifactSettings::default();
    for entry in entries {
        let node = &entry.node;
        match entry.key.as_str() {
            "enabled" => {
                settings.enabled = match node.value {
                    Value::Boolean(boolean) => boolean,
                    _ => return Err(expected("artifacts.enabled", "true or false", node)),
                }
            }
            "inline" => settings.inline = size(node).ok_or_else(|| expected("artifacts.inline", SIZE, node))?,
            "max_artifact" => {
                let size = size(node).filter(|size| *size <= ArtifactSettings::LARGEST);
                settings.max_artifact =
                    size.ok_or_else(|| expected("artifacts.max_artifact", "a size of at most \"256MiB\"", node))?;
            }
            "max_bytes" => {
                settings.max_bytes = size(node).ok_or_else(|| expected("artifacts.max_bytes", SIZE, node))?
            }
            "days" => {
                let days = match &node.value {
                    Value::Number(number) => number.parse().ok().filter(|days: &u32| *days > 0),
                    _ => None,
                };
                settings.days = days.ok_or_else(|| expected("artifacts.days", "a whole number above 0", node))?;
            }
            _ => return Err(ConfigErrorKind::unknown_key("artifacts", &entry.key, KEYS).at(entry.offset)),
        }
    }
    Ok(settings)
}

const SIZE: &str = "a size such as \"64MiB\", or a number of bytes";

fn size(node: &Node) -> Option<ByteSize> {
    match &node.value {
        Value::String(text) | Value::Number(text) => text.parse().ok(),
        _ => None,
    }
}

fn expected(key: &str, expected: &'static str, node: &Node) -> Located {
    let found = match node.value {
        Value::String(_) if key != "artifacts" => "another string",
        Value::Number(_) if key != "artifacts" => "another number",
        _ => node.kind(),
    };
    ConfigErrorKind::Expected { field: Field::of_file(key), expected, found }.at(node.offset)
}

#[cfg(test)]
mod tests {
    use belljar_model::{ArtifactSettings, ByteSize};

    use crate::testing::toml;

    #[test]
    fn what_is_kept_of_artifacts_is_read_with_its_units() {
        let artifacts = |text: &str| toml(text).expect(text).artifacts;
        assert_eq!(artifacts(""), ArtifactSettings::default());
        let text =
            "[artifacts]\nenabled = false\ninline = '8KiB'\nmax_artifact = '256MiB'\nmax_bytes = '2GiB'\ndays = 30\n";
        let expected = ArtifactSettings {
            enabled: false,
            inline: ByteSize::kib(8),
            max_artifact: ByteSize::mib(256),
            max_bytes: ByteSize::gib(2),
            days: 30,
        };
        assert_eq!(artifacts(text), expected);
        for (text, message) in [
            ("artifacts = 'x'", "line 1, column 13: 'artifacts' must be a table, not a string"),
            ("[artifacts]\nmax_artifact = '257MiB'", "'artifacts.max_artifact' must be a size of at most \"256MiB\""),
            (
                "[artifacts]\ninline = 'much'",
                "'artifacts.inline' must be a size such as \"64MiB\", or a number of bytes",
            ),
            ("[artifacts]\ndays = 0", "'artifacts.days' must be a whole number above 0, not another number"),
            ("[artifacts]\nenabled = 1", "'artifacts.enabled' must be true or false, not"),
            ("[artifacts]\nmax_byte = 1", "unknown key 'max_byte' in artifacts: did you mean 'max_bytes'?"),
        ] {
            let error = toml(text).expect_err(text);
            assert!(error.contains(message), "{error}");
        }
    }
}
