//! The `[approvals]` of belljar.toml: how the owner is asked.

use std::time::Duration;

use belljar_model::ByteSize;

use crate::{
    ApprovalsSettings,
    error::{Fault, Field, Located},
    life::{duration, expected_duration},
    tree::{Node, Value, check_unique},
};

/// The keys of the table.
pub(crate) const KEYS: &[&str] = &["wait", "allow_yes", "hold", "max_resting"];

impl Default for ApprovalsSettings {
    /// A day: a run that waits is put aside, and blocks nobody. It keeps its slot for 45 seconds:
    /// clients give up on a call after a minute. Those that wait have 256 MiB together, of some ten
    /// kilobytes each.
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(24 * 3600),
            allow_yes: false,
            hold: Duration::from_secs(45),
            max_resting: ByteSize::mib(256),
        }
    }
}

/// Reads the settings.
pub(crate) fn read(node: &Node) -> Result<ApprovalsSettings, Located> {
    let expected = |field, expected, node: &Node| {
        let found = match node.value {
            Value::String(_) => "another string",
            _ => node.kind(),
        };
        Fault::Expected { field: Field::of_file(field), expected, found }.at(node.offset)
    };
    let Value::Table(entries) = &node.value else { return Err(expected("approvals", "a table", node)) };
    check_unique(entries)?;
    let mut settings = ApprovalsSettings::default();
    for entry in entries {
        match (entry.key.as_str(), &entry.node.value) {
            ("hold", _) => {
                let hold = duration(&entry.node).ok_or_else(|| {
                    let what = expected_duration(&entry.node, "a duration such as \"45s\"");
                    expected("approvals.hold", what, &entry.node)
                });
                settings.hold = hold?;
            }
            ("max_resting", Value::String(text) | Value::Number(text)) => {
                let size = text.parse().map_err(|_| {
                    let what = "a size such as \"256MiB\", or a number of bytes";
                    expected("approvals.max_resting", what, &entry.node)
                });
                settings.max_resting = size?;
            }
            ("max_resting", _) => {
                return Err(expected("approvals.max_resting", "a size such as \"256MiB\"", &entry.node));
            }
            ("wait", _) => {
                let wait = duration(&entry.node).ok_or_else(|| {
                    let what = expected_duration(&entry.node, "a duration such as \"10m\"");
                    expected("approvals.wait", what, &entry.node)
                });
                settings.wait = wait?;
            }
            ("allow_yes", Value::Boolean(allow)) => settings.allow_yes = *allow,
            ("allow_yes", _) => return Err(expected("approvals.allow_yes", "true or false", &entry.node)),
            _ => return Err(Fault::unknown_key("approvals", &entry.key, KEYS).at(entry.offset)),
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use belljar_model::ByteSize;

    use crate::testing::toml;

    #[test]
    fn nobody_approves_without_typing_unless_the_file_says_so() {
        assert!(!toml("").expect("a config").approvals.allow_yes);
        let set = "[approvals]\nwait = '2h'\nallow_yes = true\nhold = '5s'\nmax_resting = '1MiB'\n";
        let set = toml(set).expect("a config").approvals;
        assert_eq!((set.wait, set.allow_yes), (Duration::from_secs(7200), true));
        assert_eq!((set.hold, set.max_resting), (Duration::from_secs(5), ByteSize::mib(1)));
        for (text, message) in [
            ("approvals = 1", "line 1, column 13: 'approvals' must be a table, not a number"),
            ("[approvals]\nwait = 5", "line 2, column 8: 'approvals.wait' must be a duration such as \"10m\""),
            ("[approvals]\nallow_yes = 'yes'", "line 2, column 13: 'approvals.allow_yes' must be true or false"),
            ("[approvals]\nmax_resting = 'lots'", "'approvals.max_resting' must be a size"),
            ("[approvals]\nhold = 5", "'approvals.hold' must be a duration"),
            ("[approvals]\nyes = true", "line 2, column 1: unknown key 'yes' in approvals"),
        ] {
            let error = toml(text).expect_err(text);
            assert!(error.contains(message), "{error}");
        }
    }
}
