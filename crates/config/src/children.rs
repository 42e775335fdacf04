//! The `[children]` of belljar.toml: settings for all child servers.

use belljar_model::VariablePattern;

use crate::{
    error::{ConfigErrorKind, Field, Located},
    tree::{Node, Value, check_unique},
};

/// The keys of the table.
pub(crate) const KEYS: &[&str] = &["inherit"];
/// The most names and patterns: far more than a package manager reads.
const MOST: usize = 256;

/// The contents of `[children]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ChildrenSettings {
    /// Variables of the owner's environment that every child gets in addition to the usual ones.
    pub inherit: Vec<VariablePattern>,
}

/// Reads the settings.
pub(crate) fn read(node: &Node) -> Result<ChildrenSettings, Located> {
    let expected = |field, expected, node: &Node| {
        ConfigErrorKind::Expected { field: Field::of_file(field), expected, found: node.kind() }.at(node.offset)
    };
    let Value::Table(entries) = &node.value else { return Err(expected("children", "a table", node)) };
    check_unique(entries)?;
    let mut settings = ChildrenSettings::default();
    for entry in entries {
        if entry.key != "inherit" {
            return Err(ConfigErrorKind::unknown_key("children", &entry.key, KEYS).at(entry.offset));
        }
        let Value::List(list) = &entry.node.value else {
            return Err(expected("children.inherit", "an array of names", &entry.node));
        };
        if list.len() > MOST {
            return Err(expected("children.inherit", "an array of at most 256 names", &entry.node));
        }
        let pattern = |node: &Node| match &node.value {
            Value::String(text) => VariablePattern::parse(text).ok_or_else(|| {
                let expected = "names of variables such as \"UV_INDEX_URL\", or patterns such as \"npm_config_*\"";
                let field = Field::of_file("children.inherit");
                ConfigErrorKind::Expected { field, expected, found: "another string" }.at(node.offset)
            }),
            _ => Err(expected("children.inherit", "an array of names", node)),
        };
        settings.inherit = list.iter().map(pattern).collect::<Result<_, _>>()?;
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use crate::testing::toml;

    #[test]
    fn what_children_inherit_is_a_list_of_names_and_patterns() {
        let inherit = |text: &str| toml(text).expect(text).children.inherit.len();
        assert_eq!(inherit(""), 0);
        assert_eq!(inherit("[children]"), 0);
        assert_eq!(inherit("[children]\ninherit = ['UV_INDEX_URL', 'npm_config_*']"), 2);
        for (text, message) in [
            ("children = 3", "line 1, column 12: 'children' must be a table, not a number"),
            ("[children]\ninherits = []", "line 2, column 1: unknown key 'inherits' in children"),
            ("[children]\ninherit = 'A'", "line 2, column 11: 'children.inherit' must be an array of names"),
            ("[children]\ninherit = ['A', 1]", "line 2, column 17: 'children.inherit' must be an array of names"),
            ("[children]\ninherit = ['*']", "line 2, column 12: 'children.inherit' must be names of variables such as"),
        ] {
            let error = toml(text).expect_err(text);
            assert!(error.contains(message), "{error}");
        }
    }
}
