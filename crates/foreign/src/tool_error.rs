//! The error arm of a call's result, in the component's own type.

use belljar_sandbox::CallError;
use serde_json::Value;
use wasmtime::component::{Type, Val, types};

use crate::refusal::bounded;

/// Why a call has no result, as in `error-kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The tool ran and reported a failure.
    Failed,
    /// The call was never made, because of its arguments.
    Refused,
    /// The call was never made, because of the owner's rules.
    Denied,
    /// There was no answer, or none of the declared type.
    Unanswered,
}

/// A call without a result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// The content blocks of the answer of a tool that failed.
    pub(crate) content: Option<Value>,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Denied => "denied",
            Self::Unanswered => "unanswered",
        }
    }
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, content: None }
    }

    /// Whether a component's type can represent a failure: a record with a kind and a message.
    pub(crate) fn fits(record: &types::Record) -> bool {
        let fields = || record.fields();
        let has = |name: &str| fields().any(|field| field.name == name);
        has("kind") && has("message") && fields().all(|types::Field { name, ty }| is_known(name, &ty))
    }

    /// The record.
    pub(crate) fn val(self, ty: &types::Record) -> Val {
        let Self { kind, message, hint, content } = self;
        let (mut message, mut hint, mut content) = (Some(message), hint, content);
        let field = |types::Field { name, .. }: types::Field<'_>| {
            let value = match name {
                "kind" => Val::Enum(kind.name().to_owned()),
                "message" => Val::String(bounded(message.take().unwrap_or_default())),
                "hint" => option(hint.take().map(bounded)),
                _ => option(content.take().map(|content| content.to_string())),
            };
            (name.to_owned(), value)
        };
        Val::Record(ty.fields().map(field).collect())
    }
}

impl From<CallError> for Failure {
    fn from(fault: CallError) -> Self {
        let kind = match (fault.is_refusal, fault.denial.is_some()) {
            (true, _) => Kind::Refused,
            (false, true) => Kind::Denied,
            (false, false) => Kind::Unanswered,
        };
        Self { kind, message: fault.message, hint: fault.hint, content: None }
    }
}

fn is_known(name: &str, ty: &Type) -> bool {
    match (name, ty) {
        ("kind", Type::Enum(kinds)) => {
            let all = [Kind::Failed, Kind::Refused, Kind::Denied, Kind::Unanswered];
            all.iter().all(|kind| kinds.names().any(|name| name == kind.name()))
        }
        ("message", Type::String) => true,
        ("hint" | "content", Type::Option(ty)) => ty.ty() == Type::String,
        _ => false,
    }
}

fn option(text: Option<String>) -> Val {
    Val::Option(text.map(|text| Box::new(Val::String(text))))
}
