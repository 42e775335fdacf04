//! Systems without Unix sockets.

use std::path::Path;

use belljar_http::Listener;

use crate::failure::Failure;

/// Has no value: the option that asks for a socket does not exist here.
pub(crate) enum Socket {}

impl Socket {
    /// Refuses.
    pub(crate) async fn bind(_path: &Path) -> Result<(Listener, Self), Failure> {
        Err(Failure::usage("there are no Unix sockets here", "serve at an address, with --http"))
    }
}
