//! The life of a child server: when it starts and stops, what it may hold, and what happens when it
//! is lost.

use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

use bytesize::ByteSize;
use serde_json::{Map, Value};

use crate::{Effect, Projects, TrustedEffect};

/// The settings for one child's life. Each field has a default that suits an ordinary server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Life {
    /// Whether it is started with belljar, and kept running, instead of being started when needed.
    pub warm: bool,
    /// Whether it holds state that its callers rely on. Such a child is not stopped because it is
    /// idle, after many calls or for another key. (A principal's child may be stopped to make room
    /// after half an hour without a call.) If it is lost anyway, its next caller gets an error that
    /// says so.
    pub stateful: bool,
    /// How long it may be idle before it is stopped; `None` means forever. Five minutes by default:
    /// the pauses of a person at work.
    pub idle: Option<Duration>,
    /// After how many calls it is replaced by a fresh one; `None` means never. A thousand by
    /// default: leaks are slow.
    pub max_calls: Option<NonZeroUsize>,
    /// How many calls it gets at the same time; further ones wait for their turn. Eight by default.
    pub concurrency: NonZeroUsize,
    /// The largest answer that is read, whatever a run's limit is. Five megabytes by default.
    pub max_response: ByteSize,
    /// How long a call may take without reporting progress, if this is less than the caller's own
    /// limit.
    pub call_timeout: Option<Duration>,
    /// How long a call may take in all, however much progress it reports, if this is less than the
    /// caller's own limit.
    pub call_total: Option<Duration>,
    /// How messages are separated on stdio.
    pub framing: Framing,
    /// Which calls are repeated, once, if the child died while they were in flight. None by
    /// default.
    pub repeat: Repeat,
    /// When a child that keeps failing is left alone for a while.
    pub breaker: Breaker,
    /// Calls to make after each start, before any others.
    pub on_start: Vec<Activation>,
    /// Set if the child serves one thing at a time: there is then an instance for each.
    pub affinity: Option<Affinity>,
    /// The things that it can serve, if its owner has named them. There are then no other keys.
    pub projects: Option<Projects>,
    /// Who shares the child's state.
    pub share: Share,
    /// Path arguments, and where they may lead.
    pub paths: Option<PathRules>,
    /// Settings for tools by their effect. They apply where the server itself sets nothing.
    pub by_effect: EffectDefaults,
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

    /// How long a call of this effect may take without reporting progress, if this is less than the
    /// caller's own limit.
    pub fn call_timeout_of(&self, effect: Effect) -> Option<Duration> {
        self.call_timeout.or(self.by_effect.of(effect).call_timeout)
    }

    /// Which calls of this effect are repeated. [`Repeat::allows`] decides whether a particular one
    /// may be.
    pub fn repeat_of(&self, effect: Effect) -> Repeat {
        self.by_effect.of(effect).repeat.unwrap_or(self.repeat)
    }
}

/// Settings for the tools of each effect. They apply where their server itself sets nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct EffectDefaults {
    /// For tools that change nothing.
    pub read_only: EffectDefault,
    /// For tools that change state in a closed world.
    pub mutating: EffectDefault,
    /// For all others.
    pub external: EffectDefault,
}

/// Settings for the tools of one effect, as far as they were set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct EffectDefault {
    /// In place of [`Life::call_timeout`].
    pub call_timeout: Option<Duration>,
    /// In place of [`Life::repeat`].
    pub repeat: Option<Repeat>,
}

impl EffectDefaults {
    /// The settings for tools of this effect.
    pub fn of(&self, effect: Effect) -> EffectDefault {
        match effect {
            Effect::ReadOnly => self.read_only,
            Effect::Mutating => self.mutating,
            Effect::External => self.external,
        }
    }

    /// The settings for tools of this effect, to be changed.
    pub fn of_mut(&mut self, effect: Effect) -> &mut EffectDefault {
        match effect {
            Effect::ReadOnly => &mut self.read_only,
            Effect::Mutating => &mut self.mutating,
            Effect::External => &mut self.external,
        }
    }
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
            by_effect: EffectDefaults::default(),
        }
    }
}

/// Who shares a child's state, if one belljar serves several principals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Share {
    /// Each principal has an instance of its own, and so does the owner.
    #[default]
    Principal,
    /// One instance serves all. For servers without state, or whose callers may see each other's
    /// state.
    Owner,
}

impl Share {
    /// The names used in configuration.
    pub const ALL: [(&str, Self); 2] = [("principal", Self::Principal), ("owner", Self::Owner)];
    /// Replaced by the principal's name in arguments, variables, the folder and activation calls.
    pub const PLACEHOLDER: &str = "{principal}";
    /// The value of the placeholder for the owner's own calls. No principal has this name.
    pub const OWNER: &str = "(owner)";
}

/// How messages are separated on stdio.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Framing {
    /// One message is one line, as in MCP.
    #[default]
    Lines,
    /// Each message has a `Content-Length` header before it, as in the Language Server Protocol.
    ContentLength,
}

impl Framing {
    /// The names used in configuration.
    pub const ALL: [(&str, Self); 2] = [("lines", Self::Lines), ("content_length", Self::ContentLength)];
}

/// Which calls may be repeated if the child died while they were in flight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Repeat {
    /// None.
    #[default]
    Never,
    /// Calls of tools that change nothing.
    ReadOnly,
    /// Also calls of idempotent tools.
    Idempotent,
}

impl Repeat {
    /// The names used in configuration.
    pub const ALL: [(&str, Self); 3] =
        [("never", Self::Never), ("read_only", Self::ReadOnly), ("idempotent", Self::Idempotent)];

    /// Whether a call of a tool may be repeated. What an untrusted server says does not count.
    pub fn allows(self, tool: TrustedEffect) -> bool {
        match self {
            Self::Never => false,
            Self::ReadOnly => tool.effect() == Effect::ReadOnly,
            Self::Idempotent => tool.effect() == Effect::ReadOnly || tool.is_idempotent(),
        }
    }
}

/// When a child that keeps failing is left alone, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Breaker {
    /// After how many failures in a row, without an answered call between them.
    pub failures: NonZeroUsize,
    /// How long it is left alone. Then there is one try.
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
    /// Its arguments. In their texts `{key}` is replaced by the instance's key.
    pub arguments: Map<String, Value>,
}

/// A server that can serve one thing at a time, such as one project.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Affinity {
    /// The template of a call's key: a text with the names of arguments in braces, such as
    /// `{project}`. An argument that the tool itself does not declare belongs to belljar: scripts
    /// must give it, and the child does not see it.
    pub template: String,
    /// The most instances at the same time. Three by default: each is a whole server.
    pub instances: NonZeroUsize,
}

impl Affinity {
    /// The default of [`Affinity::instances`].
    pub const INSTANCES: NonZeroUsize = NonZeroUsize::new(3).expect("it is not zero");
    /// Replaced by the key in arguments, variables and activation calls.
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

    /// The parts of the template, in order. A brace without a name is text.
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
    /// Literal text.
    Text(&'a str),
    /// The value of this argument.
    Argument(&'a str),
}

/// Path arguments, and where they may lead.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct PathRules {
    /// The arguments, by name, for every tool. Each is a text or a list of texts.
    pub arguments: Vec<String>,
    /// Folders that every path must be in. A relative path is resolved against the first. If there
    /// are none, every folder is allowed.
    pub roots: Vec<PathBuf>,
    /// Files that no path may name, and folders that no path may be in.
    pub denied: Vec<PathBuf>,
    /// The owner's message for a refused path.
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
