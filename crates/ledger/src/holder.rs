//! Who owns the things that live between runs.

use std::sync::Arc;

/// The owner of kept values and artifacts: a principal, in a workspace.
///
/// The principal comes from the transport and is a security boundary: nothing that belongs to one
/// principal is ever visible to another. The workspace is named by the client, and only separates
/// different work.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holder {
    /// The principal's name; `None` for the owner of this belljar.
    pub principal: Option<Arc<str>>,
    /// The workspace, such as the absolute path of a folder; empty if nobody named one.
    pub workspace: Arc<str>,
}
