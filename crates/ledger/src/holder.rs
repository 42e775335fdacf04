//! Whose the things are that live between runs.

use std::sync::Arc;

/// Whose kept values and artifacts they are: a principal's, in a workspace.
///
/// The principal comes from the transport, and is a wall: nothing of one is ever seen by another.
/// The workspace is what a client says, and tells apart what belongs to different work.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holder {
    /// The principal's name; `None` for the owner of this belljar.
    pub principal: Option<Arc<str>>,
    /// The workspace, such as the absolute path of a folder; empty where nobody named one.
    pub workspace: Arc<str>,
}
