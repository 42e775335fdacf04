//! Patterns for names: `*` matches any characters, `?` any single one.

use belljar_model::ToolPath;

use crate::error::{ProblemKind, shown};

/// A pattern for a name. It is case-sensitive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob(Vec<char>);

impl Glob {
    /// Parses a pattern; `what` says in errors what kind of names it is for.
    pub(crate) fn parse(text: &str, what: &'static str) -> Result<Self, ProblemKind> {
        let refused = |problem| ProblemKind::Pattern { pattern: shown(text), what, problem };
        if text.is_empty() {
            return Err(refused("it is empty"));
        }
        // Whoever writes these characters expects more than is supported.
        if text.contains(['[', ']', '{', '}', '\\', '!', ',', ' ']) || text.chars().any(char::is_control) {
            return Err(refused("only * and ? have a meaning, and names have no brackets, braces, commas or spaces"));
        }
        Ok(Self(text.chars().collect()))
    }

    /// Whether the pattern matches the name.
    pub(crate) fn matches(&self, name: &str) -> bool {
        if self.is_literal() {
            return self.0.iter().copied().eq(name.chars());
        }
        let name: Vec<char> = name.chars().collect();
        let (mut at, mut from) = (0, 0);
        // The position of the last star, and what it has matched so far.
        let mut star: Option<(usize, usize)> = None;
        while let Some(character) = name.get(from) {
            match self.0.get(at) {
                Some('*') => {
                    star = Some((at, from));
                    at += 1;
                }
                Some(wanted) if *wanted == '?' || wanted == character => {
                    at += 1;
                    from += 1;
                }
                _ => match star {
                    Some((place, taken)) => {
                        star = Some((place, taken + 1));
                        at = place + 1;
                        from = taken + 1;
                    }
                    None => return false,
                },
            }
        }
        self.0.iter().skip(at).all(|rest| *rest == '*')
    }

    /// Whether it is one exact name.
    pub(crate) fn is_literal(&self) -> bool {
        !self.0.iter().any(|character| matches!(character, '*' | '?'))
    }

    /// Whether we certainly match every name that `other` matches. It may return false although we
    /// do.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        if self == other || (other.is_literal() && self.matches(&other.text())) {
            return true;
        }
        match self.0.split_last() {
            Some(('*', prefix)) => !prefix.contains(&'*') && !prefix.contains(&'?') && other.0.starts_with(prefix),
            _ => false,
        }
    }

    /// As it was written.
    pub(crate) fn text(&self) -> String {
        self.0.iter().collect()
    }
}

/// A pattern for tools: one for the server's name, and one for the tool's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolGlob {
    pub(crate) server: Glob,
    pub(crate) tool: Glob,
    pub(crate) offset: usize,
}

impl ToolGlob {
    pub(crate) fn parse(text: &str, offset: usize) -> Result<Self, ProblemKind> {
        let Some((server, tool)) = text.split_once('.') else {
            let problem = "write SERVER.TOOL, for example fs.read_file or fs.*";
            return Err(ProblemKind::Pattern { pattern: shown(text), what: "tools", problem });
        };
        Ok(Self { server: Glob::parse(server, "a server")?, tool: Glob::parse(tool, "tools")?, offset })
    }

    /// Whether it matches this tool.
    pub(crate) fn matches(&self, tool: &ToolPath) -> bool {
        self.server.matches(tool.server()) && self.tool.matches(tool.tool())
    }

    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.server.covers(&other.server) && self.tool.covers(&other.tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(text: &str) -> Glob {
        Glob::parse(text, "tools").expect(text)
    }

    #[test]
    fn stars_take_any_run_and_letters_count_exactly() {
        for (pattern, name, expected) in [
            ("read_file", "read_file", true),
            ("read_file", "Read_file", false),
            ("read_*", "read_", true),
            ("*_file", "read_file.file", false),
            ("*_file", "a_file_file", true),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            ("?at", "cat", true),
            ("?at", "at", false),
            ("*", "", true),
            ("pages.*", "pages.create", true),
            ("?", "é", true),
        ] {
            assert_eq!(glob(pattern).matches(name), expected, "{pattern} {name}");
        }
        let slow = glob(&"*a".repeat(50));
        assert!(!slow.matches(&"ab".repeat(1000)));
    }

    #[test]
    fn the_first_dot_ends_the_server() {
        let tools = ToolGlob::parse("notion.pages.*", 0).expect("a pattern");
        assert!(tools.server.matches("notion") && tools.tool.matches("pages.create"));
        for bad in ["fs", ".x", "fs.", "fs.[ab]", "fs.{a,b}", "fs.a b", "fs.a\nb", "!fs.a"] {
            assert!(ToolGlob::parse(bad, 0).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_pattern_covers_what_certainly_is_part_of_it() {
        for (one, other, expected) in [
            ("*", "a?b*", true),
            ("a*", "ab*", true),
            ("a*", "abc", true),
            ("a*c", "abc", true),
            ("a*c", "a*bc", false),
            ("a*", "*a", false),
            ("a?", "a*", false),
            ("a*", "a*", true),
        ] {
            assert_eq!(glob(one).covers(&glob(other)), expected, "{one} {other}");
        }
    }
}
