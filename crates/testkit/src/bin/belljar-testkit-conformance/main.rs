//! The server that the protocol's conformance suite expects, behind belljar's HTTP front: with the
//! same layers, limits and defaults. So the suite's results are about the front only.
//!
//! `belljar-testkit-conformance SOCKET ORIGIN` serves at a Unix socket, where no token is needed:
//! the suite cannot send one.

#![forbid(unsafe_code)]

mod fixture;
mod jobs;
mod rounds;

use std::{io::Write as _, sync::Arc};

use belljar_http::{Listener, Options, Server, Tokens};
use fixture::Fixture;
use tokio::{net::UnixListener, sync::watch};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(socket), Some(origin)) = (arguments.next(), arguments.next()) else {
        return Err("usage: belljar-testkit-conformance SOCKET ORIGIN".into());
    };
    let options = Options { origins: vec![origin], ..Options::default() };
    let options = options.at(([127, 0, 0, 1], 80).into());
    let listener = UnixListener::bind(socket)?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "ready")?;
    stdout.flush()?;
    // There are no tokens, and that does not change.
    let (_tokens, none) = watch::channel(Arc::new(Tokens::default()));
    let server = Server::new(Fixture::new()?, options, none);
    server.serve(vec![Listener::Unix(listener)], std::future::pending()).await;
    Ok(())
}
