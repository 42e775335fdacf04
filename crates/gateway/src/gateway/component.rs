//! Runs components that others built over the toolbox, each in a process of its own.
//!
//! What a component imports is known before it runs, and is all that it is granted. Its calls go
//! the way of a script's: by the run's grant, past the owner's rules, into the ledger.

use std::sync::Arc;

use belljar_catalog::wit::packages;
use belljar_engine::ComponentProcess;
use belljar_foreign::{Imports, Order, Server, targets};
use belljar_model::{ErrorKind, Limits, LimitsPatch, Outcome, RunError};
use belljar_sandbox::{PlannedCall, PlannedCalls, Program, Reach, RunRequest, Tools};
use belljar_upstream::Caller;
use belljar_worker::WorkerProgram;
use futures::future::BoxFuture;

use super::{Ends, Gateway, Ran};
use crate::{
    grant::Grant,
    plan::{CallPlan, Planning},
    rules::AsRules,
    run_log::RunLog,
    skills::SKILLS,
};

/// A component to be run, and what runs it.
#[derive(Debug, Clone)]
pub struct ComponentJob {
    /// This program in the role in which it calls
    /// [`serve_component`](belljar_engine::serve_component).
    pub program: WorkerProgram,
    /// The component's file: WebAssembly, or its text form.
    pub file: Vec<u8>,
    /// What a `run` that takes an input is given: a JSON text.
    pub input: Option<String>,
}

/// What a component could reach.
#[derive(Debug)]
pub struct ComponentPlan {
    /// What it imports.
    pub imports: Imports,
    /// The tool behind each imported function, in the component's order.
    pub tools: Vec<CallPlan>,
}

impl Gateway {
    /// Runs a component to its outcome.
    ///
    /// # Cancellation
    /// Dropping the future ends the process, and cancels its calls.
    pub async fn run_component(
        &self,
        job: &ComponentJob,
        asked: &LimitsPatch,
        caller: Caller,
        mut cancelled: BoxFuture<'_, ()>,
    ) -> Outcome {
        let limits = match asked.within(&self.limits) {
            Ok(limits) => limits,
            Err(fault) => {
                let hint = "request less, or have belljar's owner raise the limit in its configuration";
                return Outcome::refused(RunError::new(ErrorKind::Usage, fault.to_string()).with_hint(hint));
            }
        };
        let read = tokio::select! {
            read = self.component_read(job, &limits) => read,
            () = &mut cancelled => {
                let text = "the run was cancelled before the component was compiled";
                Err(RunError::new(ErrorKind::Cancelled, text))
            }
        };
        let mut outcome = match read {
            Ok((process, servers)) => {
                let run = ComponentRun { job, process, servers, limits, asked };
                Box::pin(self.component_run(run, caller, cancelled)).await
            }
            Err(error) => Outcome::refused(error),
        };
        outcome.usage.source_bytes = job.file.len() as u64;
        outcome
    }

    /// What a component could reach, what that may change, and what the owner's rules say of it. It
    /// is neither compiled nor run, and nothing is called. Servers whose tools are not known are
    /// started.
    ///
    /// # Errors
    /// Why it would not be run.
    pub async fn plan_component(&self, job: &ComponentJob) -> Result<ComponentPlan, RunError> {
        let (process, servers) = self.component_read(job, &self.limits).await?;
        let imports = process.imports().clone();
        drop(process);
        let found = targets(&imports, &servers).map_err(|refusal| refusal.error())?;
        let call = |target: &belljar_foreign::Target<'_>| PlannedCall {
            server: self.toolbox.position_of(target.function.path.server()).unwrap_or(usize::MAX),
            tool: target.property().to_owned(),
            reach: Reach::Possible,
            fatal: false,
            in_loop: true,
            line: 0,
            column: 0,
            arguments: None,
        };
        let calls = PlannedCalls { calls: found.iter().map(call).collect(), more: 0, others: false };
        let who = AsRules::new(self.asker.clone(), self.profile.clone());
        let (toolbox, ceiling) = (&*self.toolbox, self.ceiling);
        let planning = Planning { toolbox, ceiling, who: &who, may_start: false };
        let judged = planning.judged(&calls, Some).await;
        let allows_all = toolbox.policy().is_none();
        let plan = |(call, judged): (PlannedCall, _)| {
            let server = toolbox.name_of(call.server).to_owned();
            CallPlan::new(call, &server, judged, allows_all)
        };
        let tools = calls.calls.into_iter().zip(judged).map(plan).collect();
        Ok(ComponentPlan { imports, tools })
    }

    /// A process that has read the component, and the servers that it imports, all of which has
    /// what it wants of them.
    async fn component_read(
        &self,
        job: &ComponentJob,
        limits: &Limits,
    ) -> Result<(ComponentProcess, Vec<Server>), RunError> {
        let process = ComponentProcess::start(&job.program, &job.file, limits).await.map_err(|fault| fault.error())?;
        let servers = self.component_servers(process.imports()).await;
        targets(process.imports(), &servers).map_err(|refusal| refusal.error())?;
        Ok((process, servers))
    }

    /// The servers of these imports, which are started if their tools are not known.
    async fn component_servers(&self, imports: &Imports) -> Vec<Server> {
        if imports.interfaces.is_empty() {
            return Vec::new();
        }
        let all: Vec<&str> = self.toolbox.names().map(|names| names.exact()).collect();
        let is_imported = |package: &String| imports.interfaces.iter().any(|interface| interface.package == *package);
        let imported: Vec<&str> = packages(&all)
            .iter()
            .zip(&all)
            .filter(|(package, _)| is_imported(package))
            .map(|(_, name)| *name)
            .collect();
        if imported.is_empty() {
            return Vec::new();
        }
        let catalog = self.toolbox.catalog_of(&imported).await;
        // A script with a name is run by the interpreter, which is not there.
        let is_server = |server: &Server| !(self.toolbox.has_skills() && server.name() == SKILLS);
        Server::all(&catalog).into_iter().filter(is_server).collect()
    }

    async fn component_run(&self, run: ComponentRun<'_>, caller: Caller, cancelled: BoxFuture<'_, ()>) -> Outcome {
        let ComponentRun { job, process, servers, limits, asked } = run;
        let (told, follower) = (self.toolbox.told(), self.follower.clone());
        let imports = process.imports();
        let order = Order::new(imports, &servers, job.input.clone());
        let found = match targets(imports, &servers) {
            Ok(found) => found,
            Err(refusal) => return Outcome::refused(refusal.error()),
        };
        // Which of them the run locks and starts is found in this text, as in that of a script.
        let mut mentioned: Vec<&str> = found.iter().map(|target| target.function.path.server()).collect();
        mentioned.dedup();
        let mentioned = mentioned.join(" ");
        // The ledger keeps the digest and the size of what was run.
        let log = match RunLog::begin(told, self.origin, &self.asker, Some(job.file.as_slice()), self.level, follower)
            .await
        {
            Ok(log) => log,
            Err(error) => return Outcome::refused(error),
        };
        let grant = Grant::new(self.toolbox.clone(), &mentioned, limits.timeout, caller, log.clone())
            .with_ceiling(self.ceiling)
            .with_caller(AsRules::new(self.asker.clone(), self.profile.clone()))
            .with_approvals(self.approvals, self.teller.clone())
            .granting(found.iter().map(|target| target.function.path.clone()).collect());
        let grant = Arc::new(grant);
        let ends = Ends(grant.locks());
        let request = RunRequest {
            program: Program::new(order.to_text()).with_client(self.client.as_str()),
            limits: std::borrow::Cow::Borrowed(&limits),
            tools: grant.clone() as Arc<dyn Tools>,
            cancelled,
        };
        drop(found);
        let outcome = process.run(request).await;
        drop(ends);
        let ran = Ran { log, grant, limits, asked, asked_digest: None, keeps_media: false, overfull: None };
        Box::pin(self.ended(ran, outcome)).await
    }
}

/// A component that was read, and is about to run.
struct ComponentRun<'a> {
    job: &'a ComponentJob,
    process: ComponentProcess,
    servers: Vec<Server>,
    limits: Limits,
    asked: &'a LimitsPatch,
}
