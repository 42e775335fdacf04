//! `belljar serve`.

use std::process::ExitCode;

use belljar_model::LimitsPatch;
use rmcp::{ServiceExt as _, transport::io::stdio_pipes};

use crate::{
    arguments::ServeArguments,
    failure::Failure,
    serve::{Asking, OverHttp, Server, ThroughDaemon, Wire, Worker, instructions, with_rules},
    setup::{self, Setup},
    signals,
};

pub(crate) async fn serve(arguments: ServeArguments) -> Result<ExitCode, Failure> {
    let interrupted = signals::told_to_end();
    let loaded = setup::read_to_call(&arguments.config)?;
    let over_http = OverHttp::listen(&arguments).await?;
    let asking = Asking::of(&loaded);
    let instructions = instructions(&loaded.config.servers, &loaded.limits());
    let instructions = if loaded.policy.is_some() { with_rules(&instructions) } else { instructions };
    let (worker, setup) = if arguments.daemon {
        (Worker::Daemon(ThroughDaemon { config: arguments.config }), None)
    } else {
        let setup = Setup::to_stay(loaded);
        let gateway = setup.gateway(&LimitsPatch::default()).await?.with_origin("serve");
        let gateway = gateway.with_approvals(asking.approvals(None));
        let gateway = match &arguments.profile {
            Some(profile) => gateway.with_profile(profile),
            None => gateway,
        };
        setup.toolbox.upstream().begin_warm();
        (Worker::Here(Box::new(gateway)), Some(setup))
    };
    let server = Server::new(worker, instructions, asking);
    let ended = match over_http {
        Some(over_http) => {
            over_http.serve(server, interrupted).await;
            Ok(())
        }
        None => tokio::select! {
            ended = over_stdio(server) => ended,
            () = interrupted => Ok(()),
        },
    };
    if let Some(setup) = setup {
        setup.toolbox.shutdown().await;
    }
    ended.map_err(|error| Failure::internal(format!("the connection to the client failed: {error}")))?;
    Ok(ExitCode::SUCCESS)
}

async fn over_stdio(server: Server) -> Result<(), String> {
    let (input, output) = stdio_pipes();
    match server.serve(Wire::new(input, output)).await {
        Ok(service) => service.waiting().await.map(|_| ()).map_err(|error| error.to_string()),
        // A client that goes away before it has said anything is no failure.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
