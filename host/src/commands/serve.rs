//! `belljar serve`.

use std::process::ExitCode;

use belljar_model::LimitsPatch;
use rmcp::{ServiceExt as _, transport::io::stdio_pipes};

use crate::{arguments::ConfigArguments, failure::Failure, serve::Server, setup};

pub(crate) async fn serve(arguments: ConfigArguments) -> Result<ExitCode, Failure> {
    let setup = setup::load(&arguments)?;
    let gateway = setup.gateway(&LimitsPatch::default())?;
    let served = async {
        let service = Server::new(gateway).serve(stdio_pipes()).await;
        match service {
            Ok(service) => service.waiting().await.map(|_| ()).map_err(|error| error.to_string()),
            // A client that goes away before it has said anything is no failure.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    };
    let ended = tokio::select! {
        ended = served => ended,
        () = told_to_stop() => Ok(()),
    };
    setup.toolbox.shutdown().await;
    ended.map_err(|error| Failure::internal(format!("the connection to the client failed: {error}")))?;
    Ok(ExitCode::SUCCESS)
}

/// Ends on Ctrl-C or SIGTERM.
async fn told_to_stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => return,
                () = super::run::interrupted() => return,
            }
        }
    }
    super::run::interrupted().await;
}
