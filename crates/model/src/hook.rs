//! The owner's rules for hooks: which tool calls of an agent are to be replaced by which calls of
//! belljar's.

/// How far a rule of a hook goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum HookMode {
    /// The agent is told once per session and rule, and its call goes on.
    #[default]
    Tell,
    /// A call is denied once; the same call passes when it is tried again.
    Deny,
    /// A call is denied each time, while the server that the rule leads to can be used.
    Enforce,
}

impl HookMode {
    /// Every mode, from the mildest to the strictest.
    pub const ALL: [Self; 3] = [Self::Tell, Self::Deny, Self::Enforce];

    /// The name used in configurations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tell => "tell",
            Self::Deny => "deny",
            Self::Enforce => "enforce",
        }
    }
}

/// A rule for hooks. An empty list applies to every call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HookRule {
    /// The names of the client's own tools; `*` stands for any characters.
    pub tools: Vec<String>,
    /// Patterns for the name of a file; `*` stands for any characters.
    pub files: Vec<String>,
    /// What a path must begin with, relative to the folder in which the agent works.
    pub paths: Vec<String>,
    /// What must occur in the text that is searched for, or in the command that is run.
    pub patterns: Vec<String>,
    /// The call to make instead. `{pattern}`, `{name}` and `{path}` stand for parts of the agent's
    /// call.
    pub say: String,
    /// How far it goes.
    pub mode: HookMode,
    /// The server that it leads to. The owner may leave it out if `say` begins with it.
    pub server: Option<String>,
}

impl HookRule {
    /// The server that the rule leads to: the one that is named, or else the name before the first
    /// dot of `say`, after `await` if that is there.
    pub fn leads_to(&self) -> Option<&str> {
        if self.server.is_some() {
            return self.server.as_deref();
        }
        let (name, _) = self.say.trim_start().trim_start_matches("await ").split_once('.')?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$');
        (!name.is_empty() && name.bytes().all(is_name)).then_some(name)
    }
}
