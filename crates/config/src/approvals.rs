//! The `[approvals]` of belljar.toml: how the owner is asked.

use std::time::Duration;

use crate::{
    ApprovalsSettings, Format,
    error::{Fault, Field, Located},
    life::{duration, expected_duration},
    tree::{Node, Value, check_unique},
};

/// The keys of the table.
pub(crate) const KEYS: &[&str] = &["wait", "allow_yes"];

impl Default for ApprovalsSettings {
    /// Ten minutes: long enough to come back to the desk, shorter than a run may block those who wait for it.
    fn default() -> Self {
        Self { wait: Duration::from_secs(600), allow_yes: false }
    }
}

/// Reads the settings.
pub(crate) fn read(node: &Node) -> Result<ApprovalsSettings, Located> {
    let expected = |field, expected, node: &Node| {
        let found = match node.value {
            Value::String(_) => "another string",
            _ => node.kind(Format::Toml),
        };
        Fault::Expected { field: Field::of_file(field), expected, found }.at(node.offset)
    };
    let Value::Table(entries) = &node.value else { return Err(expected("approvals", "a table", node)) };
    check_unique(entries)?;
    let mut settings = ApprovalsSettings::default();
    for entry in entries {
        match (entry.key.as_str(), &entry.node.value) {
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

    use crate::testing::toml;

    #[test]
    fn nobody_approves_without_typing_unless_the_file_says_so() {
        assert!(!toml("").expect("a config").approvals.allow_yes);
        let set = toml("[approvals]\nwait = '2h'\nallow_yes = true\n").expect("a config").approvals;
        assert_eq!((set.wait, set.allow_yes), (Duration::from_secs(7200), true));
        for (text, message) in [
            ("approvals = 1", "line 1, column 13: 'approvals' must be a table, not a number"),
            ("[approvals]\nwait = 5", "line 2, column 8: 'approvals.wait' must be a duration such as \"10m\""),
            ("[approvals]\nallow_yes = 'yes'", "line 2, column 13: 'approvals.allow_yes' must be true or false"),
            ("[approvals]\nyes = true", "line 2, column 1: unknown key 'yes' in approvals"),
        ] {
            let error = toml(text).expect_err(text);
            assert!(error.contains(message), "{error}");
        }
    }
}
