//! The tools behind the handles that a guest has.

use crate::GrantedTool;

/// A tool that the guest may call, behind a handle. (Public because the generated code requires it,
/// but in a private module.)
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct Handle(pub(crate) GrantedTool);
