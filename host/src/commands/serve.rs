//! `belljar serve`.

use std::process::ExitCode;

use belljar_model::LimitsPatch;
use rmcp::{ServiceExt as _, transport::io::stdio_pipes};

use crate::{
    arguments::ConfigArguments,
    failure::Failure,
    serve::Server,
    setup::{self, Setup},
    signals,
};

pub(crate) async fn serve(arguments: ConfigArguments) -> Result<ExitCode, Failure> {
    let setup = Setup::to_stay(setup::read(&arguments)?);
    let interrupted = signals::told_to_end();
    let gateway = setup.gateway(&LimitsPatch::default())?;
    setup.toolbox.upstream().begin_warm();
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
        () = interrupted => Ok(()),
    };
    setup.toolbox.shutdown().await;
    ended.map_err(|error| Failure::internal(format!("the connection to the client failed: {error}")))?;
    Ok(ExitCode::SUCCESS)
}
