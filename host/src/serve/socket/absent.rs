//! In place of the socket where there are none.

use std::path::Path;

use belljar_http::Listener;

use crate::failure::Failure;

/// Nobody can ask for one.
pub(crate) enum Socket {}

impl Socket {
    /// Refuses.
    pub(crate) async fn bind(_path: &Path) -> Result<(Listener, Self), Failure> {
        Err(Failure::usage("there are no Unix sockets here", "serve at an address, with --http"))
    }
}
