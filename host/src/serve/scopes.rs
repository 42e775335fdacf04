//! What the token of a request is good for.

use belljar_http::{Admission, Scope};
use rmcp::{ErrorData, RoleServer, model::CallToolResult, service::RequestContext};

use super::answer::refused;

/// Tasks are runs: a token that is not good for those does not hear of them, nor whether one is
/// there.
pub(super) fn may_run(context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    match lacks(context, Scope::RunReadOnly) {
        None => Ok(()),
        Some(message) => Err(ErrorData::invalid_request(message, None)),
    }
}

/// What a model is told whose token is not good for this.
pub(super) fn not_allowed(context: &RequestContext<RoleServer>, scope: Scope) -> Option<CallToolResult> {
    lacks(context, scope).map(|message| refused(&message))
}

/// Why a token is not good for this. At stdin and stdout there is no token.
fn lacks(context: &RequestContext<RoleServer>, scope: Scope) -> Option<String> {
    let principal = Admission::of(context)?.principal();
    if principal.may(scope) {
        return None;
    }
    let scopes: Vec<String> = principal.scopes().map(|scope| scope.to_string()).collect();
    Some(format!("the token '{}' does not allow this: its scopes are {}", principal.name(), scopes.join(", ")))
}
