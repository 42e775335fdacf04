//! The projects of a server that has an instance for each project.

use std::path::PathBuf;

/// The projects among which calls of a server are routed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Projects {
    /// The argument that names the project of a call, and from which the server's key is made.
    pub argument: String,
    /// In the order of the configuration: of two that fit equally well, the first is taken.
    pub all: Vec<Project>,
    /// The project for calls whose words fit none.
    pub default: Option<String>,
}

impl Projects {
    /// The argument that takes words in place of a project's name.
    pub const CONTEXT: &str = "context";
    /// The argument that turns a call into a call of all projects.
    pub const SPREAD: &str = "projects";
    /// Its only value.
    pub const ALL: &str = "all";
    /// The most projects of one server.
    pub const MOST: usize = 10_000;

    /// The project of this name.
    pub fn get(&self, name: &str) -> Option<&Project> {
        self.all.iter().find(|project| project.name == name)
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|project| project.name.as_str())
    }
}

/// One project, and the words by which it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Project {
    /// Its name: the key of its instance.
    pub name: String,
    /// Its folder, which replaces the key's placeholder in the command that starts its instance. If
    /// there is none, the name does.
    pub path: Option<PathBuf>,
    /// The folder in which `path` must be, if a file in that folder sets `path`.
    pub within: Option<PathBuf>,
    /// Programming languages.
    pub languages: Vec<String>,
    /// What it is concerned with.
    pub concerns: Vec<String>,
    /// Words that mean this project and hardly any other.
    pub hints: Vec<String>,
    /// Why it cannot be called, if the file in its folder cannot be used.
    pub fault: Option<String>,
}

impl Project {
    /// The longest name, in bytes: the limit of file systems.
    pub const NAME_BYTES: usize = 255;
    /// The most entries of a list of words.
    pub const MOST_TERMS: usize = 256;
    /// The longest entry, in bytes.
    pub const TERM_BYTES: usize = 200;
    /// The most words of an entry, and of a name that is found in a request.
    pub const TERM_WORDS: usize = 8;
}
