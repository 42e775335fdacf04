//! How a child server is kept: when it starts and stops, what it may hold, and what happens when it
//! is lost.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use bytesize::ByteSize;
use serde_json::{Map, Value};

use crate::{Effect, Projects, TrustedEffect};

/// What the configuration says of one child's life. Each field has a default that suits an ordinary
/// server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Life {
    /// Whether it is started with belljar, and kept up, instead of on the first need.
    pub warm: bool,
    /// Whether it holds state that its callers rely on. Such a child is not stopped for idleness,
    /// after many calls or for another key, and when it is lost all the same, its next caller is
    /// told.
    pub stateful: bool,
    /// How long it may be idle before it is stopped; `None` is for ever. Five minutes: the pauses
    /// of a person at work.
    pub idle: Option<Duration>,
    /// After how many calls it is replaced by a fresh one; `None` is never. A thousand: what leaks,
    /// leaks slowly.
    pub max_calls: Option<NonZeroUsize>,
    /// How many calls it gets at the same time; more wait their turn. Eight.
    pub concurrency: NonZeroUsize,
    /// The largest answer that is read, whatever a run may take. Five megabytes.
    pub max_response: ByteSize,
    /// How long a call may take without news, where this is less than the caller's own limit.
    pub call_timeout: Option<Duration>,
    /// How long a call may take in all, however much progress is reported, where this is less than
    /// the caller's own limit.
    pub call_total: Option<Duration>,
    /// How messages are told apart on stdio.
    pub framing: Framing,
    /// Which calls are made again, once, when the child died while they were in flight. None.
    pub repeat: Repeat,
    /// When a child that fails again and again is left alone.
    pub breaker: Breaker,
    /// Calls to make after each start, before anybody else's.
    pub on_start: Vec<Activation>,
    /// The child serves one thing at a time, and there is an instance for each.
    pub affinity: Option<Affinity>,
    /// The things that it can serve, where its owner has named them: the only keys there are.
    pub projects: Option<Projects>,
    /// Who shares what the child keeps.
    pub share: Share,
    /// Arguments that are paths, and where these may lead.
    pub paths: Option<PathRules>,
}

impl Life {
    /// The default of [`Life::idle`].
    pub const IDLE: Duration = Duration::from_secs(5 * 60);
    /// The default of [`Life::max_calls`].
    pub const MAX_CALLS: NonZeroUsize = NonZeroUsize::new(1_000).expect("it is not zero");
    /// The default of [`Life::concurrency`].
    pub const CONCURRENCY: NonZeroUsize = NonZeroUsize::new(8).expect("it is not zero");
    /// The default of [`Life::max_response`].
    pub const MAX_RESPONSE: ByteSize = ByteSize::mb(5);
}

impl Default for Life {
    fn default() -> Self {
        Self {
            warm: false,
            stateful: false,
            idle: Some(Self::IDLE),
            max_calls: Some(Self::MAX_CALLS),
            concurrency: Self::CONCURRENCY,
            max_response: Self::MAX_RESPONSE,
            call_timeout: None,
            call_total: None,
            framing: Framing::default(),
            repeat: Repeat::default(),
            breaker: Breaker::default(),
            on_start: Vec::new(),
            affinity: None,
            projects: None,
            share: Share::default(),
            paths: None,
        }
    }
}

/// Who shares what a child keeps, where one belljar serves several principals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Share {
    /// Each principal has an instance of its own, and the owner another.
    #[default]
    Principal,
    /// One instance serves all. It is for servers that keep nothing, or nothing that its callers
    /// may not see of each other.
    Owner,
}

impl Share {
    /// The names used in configuration.
    pub const ALL: [(&str, Self); 2] = [("principal", Self::Principal), ("owner", Self::Owner)];
    /// What stands for the principal's name in arguments, variables, the folder and activation
    /// calls.
    pub const PLACEHOLDER: &str = "{principal}";
    /// What the placeholder becomes for calls that are the owner's own. No principal has this name.
    pub const OWNER: &str = "(owner)";
}

/// How messages are told apart on stdio.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Framing {
    /// One message is one line, as MCP has it.
    #[default]
    Lines,
    /// Each message has a `Content-Length` header before it, as in the Language Server Protocol.
    ContentLength,
}

impl Framing {
    /// The names used in configuration.
    pub const ALL: [(&str, Self); 2] = [("lines", Self::Lines), ("content_length", Self::ContentLength)];
}

/// Which calls may be made again when the child died while they were in flight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Repeat {
    /// None.
    #[default]
    Never,
    /// Those of tools that change nothing.
    ReadOnly,
    /// Those too that have the same effect when made twice.
    Idempotent,
}

impl Repeat {
    /// The names used in configuration.
    pub const ALL: [(&str, Self); 3] =
        [("never", Self::Never), ("read_only", Self::ReadOnly), ("idempotent", Self::Idempotent)];

    /// Whether a call of a tool may be repeated. What a server that nobody trusts says of it does
    /// not count.
    pub fn allows(self, tool: TrustedEffect) -> bool {
        match self {
            Self::Never => false,
            Self::ReadOnly => tool.effect() == Effect::ReadOnly,
            Self::Idempotent => tool.effect() == Effect::ReadOnly || tool.is_idempotent(),
        }
    }
}

/// When a child that fails again and again is left alone, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Breaker {
    /// So many failures in a row, without a call answered between them.
    pub failures: NonZeroUsize,
    /// It is left alone for so long; then there is one try.
    pub rest: Duration,
}

impl Default for Breaker {
    fn default() -> Self {
        Self { failures: const { NonZeroUsize::new(5).expect("it is not zero") }, rest: Duration::from_secs(60) }
    }
}

/// A call to make after each start.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Activation {
    /// The tool's exact name.
    pub tool: String,
    /// Its arguments. In their texts `{key}` stands for the instance's key.
    pub arguments: Map<String, Value>,
}

/// A server that can serve one thing at a time, such as one project.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Affinity {
    /// What a call's key is made of: a text with the names of arguments in braces, such as
    /// `{project}`. An argument that the tool itself does not declare is belljar's own: scripts are
    /// asked for it, and the child does not see it.
    pub template: String,
    /// The most instances at the same time. Three: each is a whole server.
    pub instances: NonZeroUsize,
}

impl Affinity {
    /// The default of [`Affinity::instances`].
    pub const INSTANCES: NonZeroUsize = NonZeroUsize::new(3).expect("it is not zero");
    /// What stands for the key in arguments, variables and activation calls.
    pub const PLACEHOLDER: &str = "{key}";
    /// The longest key, in bytes.
    pub const KEY_BYTES: usize = 4096;

    /// The arguments that the template names, in order.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.pieces().into_iter().filter_map(|piece| match piece {
            KeyPiece::Argument(name) => Some(name),
            KeyPiece::Text(_) => None,
        })
    }

    /// What the template is made of, in order. A brace that belongs to no name is a text.
    pub fn pieces(&self) -> Vec<KeyPiece<'_>> {
        let (mut pieces, mut rest) = (Vec::new(), self.template.as_str());
        while let Some((text, behind)) = rest.split_once('{') {
            pieces.push(KeyPiece::Text(text));
            rest = match behind.split_once('}') {
                Some((name, behind)) if !name.contains('{') => {
                    pieces.push(KeyPiece::Argument(name));
                    behind
                }
                _ => {
                    pieces.push(KeyPiece::Text("{"));
                    behind
                }
            };
        }
        pieces.push(KeyPiece::Text(rest));
        pieces.retain(|piece| *piece != KeyPiece::Text(""));
        pieces
    }
}

/// A piece of the template of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPiece<'a> {
    /// The owner's own words.
    Text(&'a str),
    /// The value of this argument.
    Argument(&'a str),
}

/// Which arguments are paths, and where these may lead.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct PathRules {
    /// The arguments, by name, of whatever tool. Each is a text or a list of texts.
    pub arguments: Vec<String>,
    /// Folders that every path must be in. A relative path is taken from the first. Without any,
    /// every folder will do.
    pub roots: Vec<PathBuf>,
    /// Folders and files that no path may be or be in.
    pub denied: Vec<PathBuf>,
    /// What the owner has to say to those who are refused.
    pub guidance: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EffectRules, ToolDefinition};

    #[test]
    fn a_template_names_its_arguments() {
        let arguments = |template: &str| {
            let affinity = Affinity { template: template.to_owned(), instances: Affinity::INSTANCES };
            affinity.arguments().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(arguments("{project}"), ["project"]);
        assert_eq!(arguments("{owner}/{name}"), ["owner", "name"]);
        assert!(arguments("no braces").is_empty() && arguments("{open").is_empty());
        assert_eq!(arguments("{a{b}"), ["b"]);
        let affinity = Affinity { template: "/srv/{a}{b}-{".to_owned(), instances: Affinity::INSTANCES };
        let expected = [
            KeyPiece::Text("/srv/"),
            KeyPiece::Argument("a"),
            KeyPiece::Argument("b"),
            KeyPiece::Text("-"),
            KeyPiece::Text("{"),
        ];
        assert_eq!(affinity.pieces(), expected);
    }

    #[test]
    fn what_may_be_repeated_is_what_the_owner_allows() {
        let tool = ToolDefinition::from_json(serde_json::json!({"name": "t"})).expect("a tool");
        let trusted = |effect, is_idempotent: bool| {
            let declared = [("t".to_owned(), effect)].into();
            let idempotent = is_idempotent.then(|| "t".to_owned()).into_iter().collect();
            EffectRules { declared, idempotent, ..EffectRules::default() }.trusted(&tool)
        };
        assert!(!Repeat::Never.allows(trusted(Effect::ReadOnly, true)));
        assert!(Repeat::ReadOnly.allows(trusted(Effect::ReadOnly, false)));
        assert!(!Repeat::ReadOnly.allows(trusted(Effect::Mutating, true)));
        assert!(Repeat::Idempotent.allows(trusted(Effect::External, true)));
        assert!(!Repeat::Idempotent.allows(trusted(Effect::Mutating, false)));
    }
}
