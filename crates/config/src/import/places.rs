//! Where the clients keep their configurations.

use std::path::{Path, PathBuf};

/// An MCP client whose servers can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names say it")]
pub enum ImportClient {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    VsCode,
}

/// The folders that contain the user's own files of clients.
#[derive(Debug, Clone, Copy)]
pub struct Folders<'a> {
    /// The user's home directory.
    pub home: Option<&'a Path>,
    /// The folder of programs' settings: `~/.config`, `~/Library/Application Support` or
    /// `%APPDATA%`.
    pub settings: Option<&'a Path>,
}

impl ImportClient {
    /// All clients.
    pub const ALL: [Self; 4] = [Self::ClaudeDesktop, Self::ClaudeCode, Self::Cursor, Self::VsCode];

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
        }
    }

    /// The name as its makers spell it.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
        }
    }

    /// The user's own files in which the client looks for servers, whether they exist or not.
    pub fn files(self, folders: &Folders<'_>) -> Vec<PathBuf> {
        let Folders { home, settings } = *folders;
        let below = |folder: Option<&Path>, path: &str| folder.map(|folder| folder.join(path));
        let files = match self {
            Self::ClaudeDesktop => vec![below(settings, "Claude/claude_desktop_config.json")],
            Self::ClaudeCode => vec![below(home, ".claude.json")],
            Self::Cursor => vec![below(home, ".cursor/mcp.json")],
            Self::VsCode => vec![below(settings, "Code/User/mcp.json"), below(settings, "Code/User/settings.json")],
        };
        files.into_iter().flatten().collect()
    }

    /// The file of a project in which the client looks for servers, below the project's folder. The
    /// project's author wrote it.
    pub fn project_file(self) -> Option<&'static str> {
        match self {
            Self::ClaudeDesktop => None,
            Self::ClaudeCode => Some(".mcp.json"),
            Self::Cursor => Some(".cursor/mcp.json"),
            Self::VsCode => Some(".vscode/mcp.json"),
        }
    }
}
