//! `belljar serve`.

use std::{convert::Infallible, process::ExitCode, sync::Arc};

use belljar_http::TaskLimits;
use rmcp::{ServiceExt as _, transport::io::stdio_pipes};

use crate::{
    arguments::ServeArguments,
    backend::{Backends, Generations, RemoteEachTime},
    failure::Failure,
    output,
    serve::{OverHttp, Server, Wire, WorkspaceChoice},
    setup,
    signals::{self, Reloads},
};

pub(crate) async fn serve(arguments: ServeArguments) -> Result<ExitCode, Failure> {
    let interrupted = signals::told_to_end();
    // On stdin and stdout, a terminal that goes away ends the process.
    let reloads = arguments.is_over_http().then(Reloads::listen);
    let loaded = setup::read_to_call(&arguments.config)?;
    let workspace = WorkspaceChoice::of(&arguments);
    let over_http = OverHttp::listen(&arguments, &loaded.config.http).await?;
    let mut here = None;
    let backends: Arc<dyn Backends> = if arguments.daemon {
        Arc::new(RemoteEachTime::new(arguments.config, &loaded))
    } else {
        let generations = Arc::new(Generations::begin(loaded, arguments.config, arguments.profile).await?);
        generations.begin_warm();
        here = Some(generations.clone());
        generations
    };
    let tasks = TaskLimits { after: arguments.task_after.0, ..TaskLimits::default() };
    let server = Server::new(backends.clone(), tasks, workspace);
    let ended = match over_http.zip(reloads) {
        Some((over_http, reloads)) => {
            tokio::select! {
                () = over_http.serve(server, here, interrupted) => {}
                never = reload(&*backends, reloads) => match never {},
            }
            Ok(())
        }
        None => tokio::select! {
            ended = over_stdio(server) => ended,
            () = interrupted => Ok(()),
        },
    };
    backends.shutdown().await;
    ended.map_err(|error| Failure::internal(format!("the connection to the client failed: {error}")))?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the configuration again on each request to do so.
async fn reload(backends: &dyn Backends, mut reloads: Reloads) -> Infallible {
    loop {
        reloads.next().await;
        match backends.reload().await {
            Ok(None) => output::remark("no daemon is running; the next one that starts reads the configuration"),
            Ok(Some(reloaded)) => {
                output::remark(format_args!("the configuration was read again: {} servers", reloaded.servers));
                for table in reloaded.need_restart {
                    output::note(format_args!("{table} has changed, which only a restart applies"));
                }
            }
            Err(failure) => {
                let (reason, _) = failure.told();
                output::note(format_args!("the configuration was not read again, and stays as it was: {reason}"));
            }
        }
    }
}

async fn over_stdio(server: Server) -> Result<(), String> {
    let (input, output) = stdio_pipes();
    let roots = server.roots_of_stdio();
    match server.serve(Wire::new(input, output, roots)).await {
        Ok(service) => service.waiting().await.map(|_| ()).map_err(|error| error.to_string()),
        // A client that goes away before it has sent anything is not an error.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
