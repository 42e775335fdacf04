//! Which names a host may give to what it adds to a run.

use std::collections::HashSet;

use belljar_catalog::{GLOBALS, RESERVED_WORDS, SPECIAL_PROPERTIES, is_identifier};

/// The most global variables and functions that a host may add to a run.
pub const MAX_NAMES: usize = 10_000;
/// The most bytes of a name.
pub const MAX_NAME_BYTES: usize = 128;

/// belljar's own globals, which a run can do without.
const BUILTINS: &[&str] = &["tools"];
/// Further globals of the sandbox, whose names an MCP server may have but a host's namespace may
/// not, and names that a script's own code would not find.
const OTHERS: &[&str] =
    &["AbortController", "AbortSignal", "CustomEvent", "DOMException", "Event", "EventTarget", "TypedArray"];
/// Characters of a name that an error shows.
const SHOWN: usize = 40;

/// Why a host cannot use a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// A script could not write it.
    #[error("{name:?} is not a name that a script can write: use letters, digits, _ and $, with no digit first")]
    NotAnIdentifier {
        /// The name, cut.
        name: String,
    },
    /// It is a word of the language.
    #[error("'{name}' is a reserved word of JavaScript: use another name")]
    Reserved {
        /// The name.
        name: String,
    },
    /// It is a global of every script.
    #[error("'{name}' is a global of every script: use another name{}", or_without(.is_builtin))]
    Global {
        /// The name.
        name: String,
        /// Whether it is one of belljar's own globals, and thus free in a run without them.
        is_builtin: bool,
    },
    /// It is used twice.
    #[error("the name '{name}' is given twice")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// The language looks it up on objects by itself.
    #[error("no tool may have the name '{name}', which JavaScript looks up on objects by itself")]
    Special {
        /// The name.
        name: String,
    },
    /// It is not one line of text.
    #[error("{name:?} cannot be the name of a tool: it is empty, or has a line break")]
    NotAProperty {
        /// The name, cut.
        name: String,
    },
    /// It is too long.
    #[error("the name '{name}' has {bytes} bytes; the limit is {MAX_NAME_BYTES}")]
    TooLong {
        /// The name, cut.
        name: String,
        /// Its length.
        bytes: usize,
    },
    /// There are too many.
    #[error("there are more than {MAX_NAMES} names, which is the limit")]
    TooMany,
}

/// Checks the names of all global variables and functions that a host adds to a run.
///
/// # Errors
/// [`NameError`]: the first that cannot be used.
pub fn check_globals<'n>(names: impl IntoIterator<Item = &'n str>, builtins: bool) -> Result<(), NameError> {
    check_each(names, |name| {
        if !is_identifier(name) || name.is_empty() {
            return Err(NameError::NotAnIdentifier { name: cut(name) });
        }
        let of = || name.to_owned();
        if RESERVED_WORDS.contains(&name) {
            return Err(NameError::Reserved { name: of() });
        }
        let is_builtin = BUILTINS.contains(&name);
        let is_global = [GLOBALS, OTHERS, SPECIAL_PROPERTIES].iter().any(|taken| taken.contains(&name));
        if is_global && (builtins || !is_builtin) {
            return Err(NameError::Global { name: of(), is_builtin });
        }
        Ok(())
    })
}

/// The same, where there are other globals already. Those may have any name.
///
/// # Errors
/// As [`check_globals`].
pub(crate) fn check_beside<'n>(
    names: impl Iterator<Item = &'n str> + Clone,
    taken: impl Iterator<Item = &'n str>,
    builtins: bool,
) -> Result<(), NameError> {
    check_globals(names.clone(), builtins)?;
    let taken: HashSet<&str> = taken.collect();
    match names.into_iter().find(|name| taken.contains(name)) {
        Some(name) => Err(NameError::Duplicate { name: name.to_owned() }),
        None => Ok(()),
    }
}

/// Checks the names of all tools of one namespace.
///
/// # Errors
/// [`NameError`]: the first that cannot be used.
pub fn check_properties<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<(), NameError> {
    check_each(names, |name| match name {
        "" => Err(NameError::NotAProperty { name: String::new() }),
        _ if name.contains('\n') => Err(NameError::NotAProperty { name: cut(name) }),
        _ if SPECIAL_PROPERTIES.contains(&name) => Err(NameError::Special { name: name.to_owned() }),
        _ => Ok(()),
    })
}

fn check_each<'n>(
    names: impl IntoIterator<Item = &'n str>,
    check: impl Fn(&str) -> Result<(), NameError>,
) -> Result<(), NameError> {
    let mut known = HashSet::new();
    for name in names {
        if name.len() > MAX_NAME_BYTES {
            return Err(NameError::TooLong { name: cut(name), bytes: name.len() });
        }
        check(name)?;
        if !known.insert(name) {
            return Err(NameError::Duplicate { name: name.to_owned() });
        }
        if known.len() > MAX_NAMES {
            return Err(NameError::TooMany);
        }
    }
    Ok(())
}

fn or_without(is_builtin: &bool) -> &'static str {
    if *is_builtin { ", or run without built-ins" } else { "" }
}

fn cut(name: &str) -> String {
    name.chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, builtins: bool) -> NameError {
        check_globals([name], builtins).expect_err(name)
    }

    #[test]
    fn a_host_takes_no_name_that_means_something() {
        assert_eq!(check_globals(["github", "call_tool", "$", "fetch"], true), Ok(()));
        assert!(matches!(refused("a-b", true), NameError::NotAnIdentifier { .. }));
        assert!(matches!(refused("", true), NameError::NotAnIdentifier { .. }));
        assert!(matches!(refused("class", true), NameError::Reserved { .. }));
        for name in ["Object", "undefined", "console", "ToolError", "__proto__", "globalThis"] {
            let error = NameError::Global { name: name.to_owned(), is_builtin: false };
            assert_eq!([refused(name, true), refused(name, false)], [error.clone(), error]);
        }
        assert!(matches!(check_globals(["a", "b", "a"], true), Err(NameError::Duplicate { .. })));
        assert!(matches!(refused(&"a".repeat(MAX_NAME_BYTES + 1), true), NameError::TooLong { .. }));
        let many: Vec<String> = (0..=MAX_NAMES).map(|number| format!("f{number}")).collect();
        assert_eq!(check_globals(many.iter().map(String::as_str), true), Err(NameError::TooMany));
    }

    #[test]
    fn tools_is_free_in_a_run_without_builtins() {
        assert_eq!(check_globals(["tools"], false), Ok(()));
        let error = refused("tools", true);
        assert!(error.to_string().contains("without built-ins"), "{error}");
    }

    #[test]
    fn a_tool_may_have_any_name_that_is_no_trap() {
        assert_eq!(check_properties(["notion-search", "delete", "a b"]), Ok(()));
        for name in ["", "a\nb", "then", "__proto__", "toJSON"] {
            assert!(check_properties([name]).is_err(), "{name}");
        }
        assert!(check_properties(["a", "a"]).is_err());
    }
}
