//! `belljar runs`.

use std::process::ExitCode;

use belljar_ledger::{Filter, KeptCall, KeptRun, Ledger as _, LedgerFault, Options, SqliteLedger};
use belljar_model::{ErrorKind, LedgerKeep, RunError, RunId};
use serde::Serialize;

use crate::{
    arguments::{RunsArguments, RunsCommand, RunsShowArguments},
    environment,
    failure::Failure,
    output, render,
};

pub(crate) async fn runs(arguments: RunsArguments) -> Result<ExitCode, Failure> {
    match arguments.command {
        None => list(arguments).await,
        Some(RunsCommand::Show(arguments)) => show(&arguments).await,
    }
}

/// The ledger of this user, to be read.
pub(super) fn ledger() -> SqliteLedger {
    SqliteLedger::new(environment::state_folder().as_deref(), Options { fsync: false, keep: LedgerKeep::default() })
}

async fn list(arguments: RunsArguments) -> Result<ExitCode, Failure> {
    let RunsArguments { tool, effect, failed, since, limit, json, .. } = arguments;
    let tool = tool.map(|path| match path.split_once('.') {
        Some((server, tool)) => (server.to_owned(), Some(tool.to_owned())),
        None => (path, None),
    });
    let runs = ledger().runs(Filter { tool, effect, failed, since, limit }).await.map_err(unreadable)?;
    if json {
        output::print_json(&serde_json::json!({ "runs": runs }));
    } else {
        render::runs::list(&runs);
    }
    Ok(ExitCode::SUCCESS)
}

async fn show(arguments: &RunsShowArguments) -> Result<ExitCode, Failure> {
    #[derive(Serialize)]
    struct Shown<'r> {
        #[serde(flatten)]
        run: &'r KeptRun,
        calls: &'r [KeptCall],
    }
    let (run, calls) = found(&ledger(), arguments.run).await?;
    if arguments.json {
        output::print_json(&Shown { run: &run, calls: &calls });
    } else {
        render::runs::show(&run, &calls);
    }
    Ok(ExitCode::SUCCESS)
}

/// A run that is to be there.
pub(super) async fn found(ledger: &SqliteLedger, run: RunId) -> Result<(KeptRun, Vec<KeptCall>), Failure> {
    ledger.run(run).await.map_err(unreadable)?.ok_or_else(|| {
        RunError::new(ErrorKind::Exception, format!("the ledger has no run {run}"))
            .with_hint("`belljar runs` lists those that it has; [ledger] keep says how long")
            .into()
    })
}

pub(super) fn unreadable(fault: LedgerFault) -> Failure {
    RunError::new(ErrorKind::Internal, fault.to_string()).with_hint(fault.hint()).into()
}
