//! The names of the interfaces in packages, as a component imports them.

use semver::Version;

use super::{
    any::{SANDBOX, SANDBOX_VERSION},
    package::{NAMESPACE, SHARED, VERSION},
    print::{TOOLS, TOOLS_ASYNC},
};

/// One interface of a package of belljar.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interface {
    /// The package, without `belljar:` and the version.
    pub package: String,
    /// What it is.
    pub kind: InterfaceKind,
}

/// What an interface contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InterfaceKind {
    /// The tools of a server, one call at a time.
    Tools,
    /// The same as async functions.
    ToolsAsync,
    /// Any tool, found by its name; one call at a time.
    AnyTool,
    /// The same with calls as async functions.
    AnyToolAsync,
    /// Types alone.
    Types,
}

/// Why a name in the namespace `belljar` is none of the interfaces here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InterfaceError {
    /// There is no such interface.
    #[error("it is not an interface that belljar wit prints")]
    Unknown,
    /// It was made with another version of the rules for names and types.
    #[error("it is of version {found} of the package, and this belljar makes {made}")]
    Version {
        /// The version in the name.
        found: String,
        /// The version here.
        made: Version,
    },
}

impl Interface {
    /// The interface that an import names, or `None` if it is in another namespace.
    ///
    /// # Errors
    /// [`InterfaceError`] if it is in this namespace but is not known.
    pub fn of(import: &str) -> Option<Result<Self, InterfaceError>> {
        let rest = import.strip_prefix(NAMESPACE)?.strip_prefix(':')?;
        Some(Self::within(rest))
    }

    fn within(rest: &str) -> Result<Self, InterfaceError> {
        let (path, version) = rest.rsplit_once('@').ok_or(InterfaceError::Unknown)?;
        let (package, interface) = path.split_once('/').ok_or(InterfaceError::Unknown)?;
        let is_server = package.strip_prefix(SHARED).is_some_and(|rest| rest.len() > 1 && rest.starts_with('-'));
        let kind = match interface {
            "types" if is_server || package == SHARED => InterfaceKind::Types,
            TOOLS if is_server => InterfaceKind::Tools,
            TOOLS_ASYNC if is_server => InterfaceKind::ToolsAsync,
            TOOLS if package == SANDBOX => InterfaceKind::AnyTool,
            TOOLS_ASYNC if package == SANDBOX => InterfaceKind::AnyToolAsync,
            _ => return Err(InterfaceError::Unknown),
        };
        let made = if package == SANDBOX { SANDBOX_VERSION } else { VERSION };
        if version != made.to_string() {
            return Err(InterfaceError::Version { found: version.chars().take(64).collect(), made });
        }
        Ok(Self { package: package.to_owned(), kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(import: &str) -> Option<Result<InterfaceKind, InterfaceError>> {
        Interface::of(import).map(|found| found.map(|found| found.kind))
    }

    #[test]
    fn the_names_that_are_printed_are_read_and_no_others() {
        assert_eq!(kind("belljar:mcp-github/tools@0.1.0"), Some(Ok(InterfaceKind::Tools)));
        assert_eq!(kind("belljar:mcp-github/tools-async@0.1.0"), Some(Ok(InterfaceKind::ToolsAsync)));
        assert_eq!(kind("belljar:mcp-github/types@0.1.0"), Some(Ok(InterfaceKind::Types)));
        assert_eq!(kind("belljar:mcp/types@0.1.0"), Some(Ok(InterfaceKind::Types)));
        assert_eq!(kind("belljar:sandbox/tools@0.2.0"), Some(Ok(InterfaceKind::AnyTool)));
        assert_eq!(kind("belljar:sandbox/tools-async@0.2.0"), Some(Ok(InterfaceKind::AnyToolAsync)));
        for (import, found, made) in [
            ("belljar:mcp-github/tools@9.0.0", "9.0.0", VERSION),
            ("belljar:sandbox/tools@0.1.0", "0.1.0", SANDBOX_VERSION),
        ] {
            assert_eq!(kind(import), Some(Err(InterfaceError::Version { found: found.to_owned(), made })), "{import}");
        }
        for unknown in
            ["belljar:mcp/tools@0.1.0", "belljar:mcp-/tools@0.1.0", "belljar:sandbox/catalog@0.2.0", "belljar:x"]
        {
            assert_eq!(kind(unknown), Some(Err(InterfaceError::Unknown)), "{unknown}");
        }
        assert_eq!(kind("wasi:http/types@0.2.0"), None);
        assert_eq!(kind("belljarx:mcp/types@0.1.0"), None);
    }
}
