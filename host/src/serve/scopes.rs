//! What the token of a request allows.

use belljar_http::{Admission, Scope};
use rmcp::{ErrorData, RoleServer, model::CallToolResult, service::RequestContext};

use super::answer::refused;

/// Tasks are runs: a token without a scope for runs does not see tasks, nor whether one exists.
pub(super) fn may_run(context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    match lacks(context, Scope::RunReadOnly) {
        None => Ok(()),
        Some(message) => Err(ErrorData::invalid_request(message, None)),
    }
}

/// What a model is told if its token lacks this scope.
pub(super) fn not_allowed(context: &RequestContext<RoleServer>, scope: Scope) -> Option<CallToolResult> {
    lacks(context, scope).map(|message| refused(&message))
}

/// Why a token does not allow this. On stdin and stdout there is no token.
fn lacks(context: &RequestContext<RoleServer>, scope: Scope) -> Option<String> {
    let principal = Admission::of(context)?.principal();
    if principal.may(scope) {
        return None;
    }
    let scopes: Vec<String> = principal.scopes().map(|scope| scope.to_string()).collect();
    Some(format!("the token '{}' does not allow this: its scopes are {}", principal.name(), scopes.join(", ")))
}
