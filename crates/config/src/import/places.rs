//! Where the clients keep their configurations.

use std::path::{Path, PathBuf};

/// An MCP client whose servers can be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names say it")]
pub enum Client {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    VsCode,
}

/// The folders below which the clients keep their files.
#[derive(Debug, Clone, Copy)]
pub struct Folders<'a> {
    /// The user's home directory.
    pub home: Option<&'a Path>,
    /// The folder of programs' settings: `~/.config`, `~/Library/Application Support` or `%APPDATA%`.
    pub settings: Option<&'a Path>,
    /// The folder that the user works in.
    pub workspace: Option<&'a Path>,
}

impl Client {
    /// All of them.
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

    /// The name as its makers write it.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
        }
    }

    /// The files in which the client looks for servers, whether they are there or not: the user's own before the project's.
    pub fn files(self, folders: &Folders<'_>) -> Vec<PathBuf> {
        let Folders { home, settings, workspace } = *folders;
        let below = |folder: Option<&Path>, path: &str| folder.map(|folder| folder.join(path));
        let files = match self {
            Self::ClaudeDesktop => vec![below(settings, "Claude/claude_desktop_config.json")],
            Self::ClaudeCode => vec![below(home, ".claude.json"), below(workspace, ".mcp.json")],
            Self::Cursor => vec![below(home, ".cursor/mcp.json"), below(workspace, ".cursor/mcp.json")],
            Self::VsCode => vec![
                below(settings, "Code/User/mcp.json"),
                below(settings, "Code/User/settings.json"),
                below(workspace, ".vscode/mcp.json"),
            ],
        };
        let mut files: Vec<PathBuf> = files.into_iter().flatten().collect();
        files.dedup();
        files
    }
}
