//! The built-in demo server: a small issue tracker in memory, spoken to over MCP.
//!
//! It exists so that a newcomer can run a script over tools before configuring any. Its data are
//! the same each time, each connection has its own copy, and it uses no disk, network or clock.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod data;
mod issue;
mod tools;
mod tracker;

use rmcp::ServiceExt;
use tokio::io::{AsyncRead, AsyncWrite};

/// Serves the tracker on `stream` until the stream ends, with data of its own.
///
/// # Cancellation
/// Dropping the future ends the service.
pub async fn serve(stream: impl AsyncRead + AsyncWrite + Send + 'static) {
    match tools::Demo::new().serve(stream).await {
        // The service ends with its stream, however that ends.
        Ok(service) => drop(service.waiting().await),
        Err(error) => tracing::debug!("the demo server was not initialised: {error}"),
    }
}
