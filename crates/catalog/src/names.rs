//! The names under which a script finds servers and tools.
//!
//! The rule is the same for a server's global and for a tool's property of that global:
//!
//! 1. The exact name is bound, unless it is taken: a server may not have the name of a reserved
//!    word, of a global of the language or of the sandbox, or of a special property; a tool may not
//!    have that of a special property (`then` would make its server a promise). Of two equal exact
//!    names the first is bound.
//! 2. There is always an alias that is an identifier. It is the exact name if that is an
//!    identifier, is bound and is not a reserved word. Otherwise each invalid character becomes
//!    `_`, a leading digit gets `_` before it, and a taken or reserved word gets `_` after it:
//!    `notion-search` is `notion_search`, `console` is `console_`.
//! 3. Exact names win over aliases. Among aliases, in the order given, the first keeps the name and
//!    later ones get `_2`, `_3` and so on, whichever is free.
//!
//! So nothing is dropped: each name has an alias of its own, and the names depend only on the list.

use std::collections::{HashMap, HashSet};

use crate::identifier::{GLOBALS, RESERVED_WORDS, SPECIAL_PROPERTIES, identifier, is_identifier};

/// How a script may write one server, or one tool of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    exact: String,
    alias: String,
    exact_is_bound: bool,
}

impl Names {
    /// The configured name of the server, or the tool's own name.
    pub fn exact(&self) -> &str {
        &self.exact
    }

    /// The identifier. Unique among the servers, or among the tools of one server.
    pub fn alias(&self) -> &str {
        &self.alias
    }

    /// Whether the exact name is bound too: as a global, or as a property of its server.
    pub fn binds_exact(&self) -> bool {
        self.exact_is_bound
    }

    /// Every name to bind: the alias, and the exact name if that is different and not taken.
    pub fn bound(&self) -> impl Iterator<Item = &str> {
        let exact = (self.exact_is_bound && self.exact != self.alias).then_some(self.exact.as_str());
        std::iter::once(self.alias.as_str()).chain(exact)
    }
}

/// The names of the configured servers, in their order. They do not depend on any tool list.
pub fn namespaces(servers: &[&str]) -> Vec<Names> {
    let taken = |name: &str| is_reserved(name) || GLOBALS.contains(&name) || SPECIAL_PROPERTIES.contains(&name);
    assign(servers, taken, taken)
}

/// The names of one server's tools, in their order.
pub(crate) fn properties(tools: &[&str]) -> Vec<Names> {
    let special = |name: &str| SPECIAL_PROPERTIES.contains(&name);
    assign(tools, special, |name| special(name) || is_reserved(name))
}

fn is_reserved(name: &str) -> bool {
    RESERVED_WORDS.contains(&name)
}

fn assign(exact: &[&str], unbindable: impl Fn(&str) -> bool, no_alias: impl Fn(&str) -> bool) -> Vec<Names> {
    let mut claimed: HashSet<String> = HashSet::with_capacity(exact.len() * 2);
    let bound: Vec<bool> = exact.iter().map(|name| !unbindable(name) && claimed.insert((*name).to_owned())).collect();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut names = Vec::with_capacity(exact.len());
    for (exact, exact_is_bound) in exact.iter().zip(bound) {
        let alias = if exact_is_bound && is_identifier(exact) && !no_alias(exact) {
            (*exact).to_owned()
        } else {
            let mut base = identifier(exact);
            if no_alias(&base) {
                base.push('_');
            }
            free(base, &mut claimed, &mut numbers)
        };
        names.push(Names { exact: (*exact).to_owned(), alias, exact_is_bound });
    }
    names
}

/// Claims `base`, or else the first free one of `base_2`, `base_3` and so on. The end of the last
/// search is remembered, so that ten thousand equal names do not take quadratic time.
fn free(base: String, claimed: &mut HashSet<String>, numbers: &mut HashMap<String, usize>) -> String {
    if claimed.insert(base.clone()) {
        return base;
    }
    let number = numbers.entry(base.clone()).or_insert(2);
    loop {
        let numbered = format!("{base}_{number}");
        *number += 1;
        if claimed.insert(numbered.clone()) {
            return numbered;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aliases(names: &[Names]) -> Vec<&str> {
        names.iter().map(Names::alias).collect()
    }

    #[test]
    fn a_server_never_takes_a_name_of_the_language_or_the_jar() {
        let servers = ["console", "tools", "class", "then", "__proto__", "fs", "fetch", "JSON", "eval"];
        let names = namespaces(&servers);
        assert_eq!(
            aliases(&names),
            ["console_", "tools_", "class_", "then_", "__proto___", "fs", "fetch", "JSON_", "eval_"]
        );
        let bound: Vec<&str> = names.iter().filter(|name| name.binds_exact()).map(Names::exact).collect();
        assert_eq!(bound, ["fs", "fetch"]);
    }

    #[test]
    fn an_exact_name_wins_over_an_alias_and_later_aliases_are_numbered() {
        let names = properties(&["a-b", "a.b", "a_b", "a_b_2", "a b"]);
        assert_eq!(aliases(&names), ["a_b_3", "a_b_4", "a_b", "a_b_2", "a_b_5"]);
        assert!(names.iter().all(Names::binds_exact));
        let names = namespaces(&["my-server", "my.server", "9"]);
        assert_eq!(aliases(&names), ["my_server", "my_server_2", "_9"]);
        assert_eq!(names[0].bound().collect::<Vec<_>>(), ["my_server", "my-server"]);
    }

    #[test]
    fn a_namespace_is_never_thenable() {
        let names = properties(&["then", "constructor", "toJSON", "then_", "delete", "__proto__"]);
        assert_eq!(aliases(&names), ["then__2", "constructor_", "toJSON_", "then_", "delete_", "__proto___"]);
        let bound: Vec<&str> = names.iter().flat_map(Names::bound).collect();
        assert!(SPECIAL_PROPERTIES.iter().all(|special| !bound.contains(special)), "{bound:?}");
        assert!(bound.contains(&"delete"), "a reserved word is a fine property");
    }

    #[test]
    fn bound_names_are_unique_whatever_is_given() {
        let long = "x".repeat(1_024);
        let hostile =
            ["", "", "_", "_2", "__2", "\u{0}", "日本", "日木", "a", "A", "a", "a_2", "a-", "a_", &long, "constructor"];
        for names in [properties(&hostile), namespaces(&hostile)] {
            assert_eq!(names.len(), hostile.len());
            let mut seen = HashSet::new();
            for name in names.iter().flat_map(Names::bound) {
                assert!(seen.insert(name), "{name} twice");
            }
            assert!(names.iter().all(|name| is_identifier(name.alias())));
        }
    }

    #[test]
    fn ten_thousand_equal_aliases_are_settled_at_once() {
        let exact: Vec<String> = (0..10_000_u32)
            .map(|n| {
                format!("{}{}", char::from_u32(0x4e00 + n % 9_000).unwrap_or('-'), if n < 9_000 { "" } else { "-" })
            })
            .collect();
        let exact: Vec<&str> = exact.iter().map(String::as_str).collect();
        let names = properties(&exact);
        assert_eq!(names[8_999].alias(), "__9000");
    }
}
