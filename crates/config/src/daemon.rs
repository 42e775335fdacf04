//! The `[daemon]` of belljar.toml.

use crate::{
    DaemonSettings,
    error::{ConfigErrorKind, Field, Located},
    life::{duration, expected_duration},
    tree::{Node, Value, check_unique},
};

/// Reads the settings.
pub(crate) fn read(node: &Node) -> Result<DaemonSettings, Located> {
    let expected = |field, expected, node: &Node| {
        ConfigErrorKind::Expected { field: Field::of_file(field), expected, found: node.kind() }.at(node.offset)
    };
    let Value::Table(entries) = &node.value else { return Err(expected("daemon", "a table", node)) };
    check_unique(entries)?;
    let mut settings = DaemonSettings::default();
    for entry in entries {
        if entry.key != "idle" {
            return Err(ConfigErrorKind::unknown_key("daemon", &entry.key, &["idle"]).at(entry.offset));
        }
        settings.idle = match &entry.node.value {
            Value::String(text) if text == "never" => None,
            _ => match duration(&entry.node) {
                Some(idle) => Some(idle),
                None => {
                    let found = match entry.node.value {
                        Value::String(_) => "another string",
                        _ => entry.node.kind(),
                    };
                    let expected = expected_duration(&entry.node, "a duration such as \"30m\", or \"never\"");
                    let field = Field::of_file("daemon.idle");
                    return Err(ConfigErrorKind::Expected { field, expected, found }.at(entry.node.offset));
                }
            },
        };
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::testing::toml;

    #[test]
    fn the_idle_time_is_a_duration_or_never() {
        let idle = |text: &str| toml(text).expect(text).daemon.idle;
        assert_eq!(idle("[daemon]\nidle = '90s'"), Some(Duration::from_secs(90)));
        assert_eq!(idle("[daemon]\nidle = 'never'"), None);
        assert_eq!(idle("[daemon]"), Some(Duration::from_secs(1800)));
        assert_eq!(idle(""), Some(Duration::from_secs(1800)));
    }

    #[test]
    fn what_is_no_idle_time_is_refused_with_its_place() {
        for (text, message) in [
            ("daemon = 3", "line 1, column 10: 'daemon' must be a table"),
            ("[daemon]\nidel = '1s'", "line 2, column 1: unknown key 'idel'"),
            ("[daemon]\nidle = 30", "line 2, column 8: 'daemon.idle' must be a duration such as \"30m\", or \"never\""),
            ("[daemon]\nidle = 'long'", "line 2, column 8: 'daemon.idle' must be a duration"),
            ("[daemon]\nidle = '0s'", "line 2, column 8: 'daemon.idle' must be a duration"),
        ] {
            let error = toml(text).expect_err(text);
            assert!(error.contains(message), "{error}");
        }
    }
}
