//! `server.tool`, the name of a tool across all children.

use std::{fmt, str::FromStr};

use serde::Serialize;

/// A tool's path: the server's configured name, a dot, and the tool's exact name at that server.
///
/// A server's name contains no dot (the configuration refuses one), so the first dot ends it; a
/// tool's name may contain any number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolPath {
    server: String,
    tool: String,
}

impl ToolPath {
    /// The name of the function that locks a stateful server, in its namespace. No tool can have
    /// this name.
    pub const ACQUIRE: &str = "$exclusive";
    /// The name of the function that releases the lock.
    pub const RELEASE: &str = "$release";

    /// Whether this locks or unlocks a server, and is not a tool.
    pub fn is_lock(&self) -> bool {
        [Self::ACQUIRE, Self::RELEASE].contains(&self.tool.as_str())
    }

    /// Whether a namespace can have a property of this name: lists of properties have one per line.
    pub fn is_property(name: &str) -> bool {
        !name.is_empty() && !name.contains('\n')
    }

    /// Whether a component can import this tool, or find it by this path. Unlike scripts,
    /// components have no other names for a tool.
    pub fn is_importable(&self) -> bool {
        Self::is_property(&self.tool) && !self.is_lock()
    }

    /// Joins a server's name and a tool's name.
    pub fn new(server: impl Into<String>, tool: impl Into<String>) -> Self {
        Self { server: server.into(), tool: tool.into() }
    }

    /// The server's configured name.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The tool's exact name at its server.
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

/// Why a text is not a tool path.
#[derive(Debug, thiserror::Error)]
#[error("'{text}' is not a tool path: write SERVER.TOOL, for example fs.read_file")]
pub struct PathError {
    /// What was given, shortened.
    pub text: String,
}

impl FromStr for ToolPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('.') {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => Ok(Self::new(server, tool)),
            _ => Err(PathError { text: text.chars().take(100).collect() }),
        }
    }
}

impl fmt::Display for ToolPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.server, self.tool)
    }
}

impl Serialize for ToolPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_dot_ends_the_server() {
        let path: ToolPath = "notion.pages.create".parse().expect("a path");
        assert_eq!((path.server(), path.tool()), ("notion", "pages.create"));
        assert_eq!(path.to_string(), "notion.pages.create");
        for bad in ["", "fs", ".read", "fs."] {
            assert!(bad.parse::<ToolPath>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_locks_a_server_and_what_is_no_property_cannot_be_imported() {
        for tool in ["read", "exclusive", "$read", "a\rb", "日本"] {
            assert!(ToolPath::new("fs", tool).is_importable(), "{tool:?}");
        }
        for tool in ["", "\n", "a\nb", ToolPath::ACQUIRE, ToolPath::RELEASE] {
            assert!(!ToolPath::new("fs", tool).is_importable(), "{tool:?}");
        }
    }
}
