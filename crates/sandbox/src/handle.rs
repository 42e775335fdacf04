//! What is behind the handles that a guest has of tools.

use crate::GrantedTool;

/// A tool that the guest may call: what is behind a handle. (As public as the generated code wants
/// it, in a private module.)
#[expect(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct Handle(pub(crate) GrantedTool);
