//! What is said of an object before its members, and what it holds beside them.

use boa_engine::{JsObject, JsValue, builtins::promise::PromiseState};

pub(super) struct Head {
    /// What stands for the object itself: a function's name, an error's stack.
    pub(super) base: String,
    /// What stands before the brace, with a space at its end.
    pub(super) prefix: String,
    /// What an object of this kind is called where it is not shown.
    pub(super) kind: &'static str,
    pub(super) lists: Lists,
}

/// What an object holds beside its members.
pub(super) enum Lists {
    Members,
    Elements {
        object: JsObject,
        length: usize,
    },
    Pairs(Vec<(JsValue, JsValue)>),
    Values(Vec<JsValue>),
    State(PromiseState),
    /// Members that are no properties of its own.
    Named(Vec<(&'static str, JsValue)>),
    /// What is text already.
    Parts(Vec<String>),
}

impl Lists {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Members => true,
            Self::Elements { length, .. } => *length == 0,
            Self::Pairs(pairs) => pairs.is_empty(),
            Self::Values(values) => values.is_empty(),
            Self::State(_) | Self::Named(_) | Self::Parts(_) => false,
        }
    }

    pub(super) fn braces(&self) -> (&'static str, &'static str) {
        if matches!(self, Self::Elements { .. }) { ("[", "]") } else { ("{", "}") }
    }
}

impl Head {
    pub(super) fn based(base: String) -> Self {
        Self { base, prefix: String::new(), kind: "Object", lists: Lists::Members }
    }

    /// What stands for it where it is too deep to be shown.
    pub(super) fn short(&self) -> String {
        let name = if self.prefix.is_empty() { self.kind } else { self.prefix.trim_end() };
        if name.starts_with('[') {
            return name.to_owned();
        }
        // How many there are is not said.
        match name.split_once('(') {
            Some((class, rest)) => format!("[{class}{}]", rest.split_once(')').map_or("", |(_, rest)| rest)),
            None => format!("[{name}]"),
        }
    }

    pub(super) fn prefixed(prefix: String, kind: &'static str, lists: Lists) -> Self {
        Self { base: String::new(), prefix, kind, lists }
    }
}
