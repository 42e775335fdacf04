//! Runs components that others built over the toolbox, each in its own process.
//!
//! What a component imports is known before it runs, and is all that it is granted: some tools, or
//! any tool if it imports the interface that finds tools by name. Its calls are handled like a
//! script's: they pass the run's grant and the owner's rules, and are written to the ledger.

use std::sync::Arc;

use belljar_catalog::wit::packages;
use belljar_engine::ComponentProcess;
use belljar_foreign::{Imports, Order, Server, lacking, targets};
use belljar_model::{ErrorKind, Limits, LimitsPatch, Outcome, RunError};
use belljar_recording::digest;
use belljar_sandbox::{PlannedCall, PlannedCalls, Program, Reach, Recording, ReplayError, RunRequest, Tools, apart};
use belljar_upstream::Caller;
use belljar_worker::WorkerProgram;
use futures::future::{BoxFuture, join_all};

use super::{Ends, Gateway, Ran, first_of, forget_missing};
use crate::{
    grant::Grant,
    imported::ImportedTools,
    media,
    plan::{CallPlan, Planning},
    rules::AsRules,
    run_log::RunLog,
    skills::SKILLS,
};

/// A component to be run, and what runs it.
#[derive(Debug, Clone)]
pub struct ComponentJob {
    /// This program in the role that calls [`serve_component`](belljar_engine::serve_component).
    pub program: WorkerProgram,
    /// The component's file: WebAssembly, or its text form.
    pub file: Vec<u8>,
    /// The input of a `run` that takes one, as JSON text.
    pub input: Option<String>,
}

/// What a component could reach.
#[derive(Debug)]
pub struct ComponentPlan {
    /// What it imports.
    pub imports: Imports,
    /// The tool behind each imported function, in the component's order, or all tools of all
    /// servers if it can find any tool.
    pub tools: Vec<CallPlan>,
    /// The servers whose tools are not known although the component could find them, with the
    /// reasons.
    pub unavailable: Vec<(String, String)>,
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

    /// Repeats a recorded run of a component. No tool is called, and no child is started.
    ///
    /// # Errors
    /// [`ReplayError`]: the recording is not of this component, or the first difference.
    pub async fn replay_component(&self, job: &ComponentJob, recording: &Recording) -> Result<Outcome, ReplayError> {
        let ceiling = self.replay_ceiling();
        // The process may use as much as the recorded run did, within this gateway's limits.
        let limits = apart::replay_limits(recording, &ceiling)?;
        let process = ComponentProcess::start(&job.program, &job.file, &limits).await;
        let process = process.map_err(|fault| ReplayError::Run(fault.error()))?;
        let mut outcome = process.replay(recording, &ceiling).await?;
        media::take_out(&mut outcome, &ceiling);
        forget_missing(&mut outcome);
        Ok(outcome)
    }

    /// What a component could reach, what that may change, and what the owner's rules say about it.
    /// The component is neither compiled nor run, and nothing is called. Servers whose tools are
    /// not known are started.
    ///
    /// # Errors
    /// Why the component would not be run.
    pub async fn plan_component(&self, job: &ComponentJob) -> Result<ComponentPlan, RunError> {
        let (process, mut servers) = self.component_read(job, &self.limits).await?;
        let imports = process.imports().clone();
        drop(process);
        let mut unavailable = Vec::new();
        let reached: Vec<(String, String)> = if imports.any_tool.is_empty() {
            let found = targets(&imports, &servers).map_err(|refusal| refusal.error())?;
            let reached = |target: &belljar_foreign::Target<'_>| {
                (target.function.path.server().to_owned(), target.property().to_owned())
            };
            found.iter().map(reached).collect()
        } else {
            servers = self.servers_of(&[]).await;
            let of = |server: &Server| (server.name().to_owned(), server.unavailable().unwrap_or_default().to_owned());
            unavailable = servers.iter().filter(|server| server.unavailable().is_some()).map(of).collect();
            let all = servers.iter().flat_map(|server| server.properties().map(|tool| (server.name(), tool)));
            all.map(|(server, tool)| (server.to_owned(), tool.to_owned())).collect()
        };
        let call = |(server, tool): &(String, String)| PlannedCall {
            server: self.toolbox.position_of(server).unwrap_or(usize::MAX),
            tool: tool.clone(),
            reach: Reach::Possible,
            fatal: false,
            in_loop: true,
            line: 0,
            column: 0,
            arguments: None,
        };
        let calls = PlannedCalls { calls: reached.iter().map(call).collect(), more: 0, others: false };
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
        Ok(ComponentPlan { imports, tools, unavailable })
    }

    /// A process that has read the component, and the servers that it imports, which have
    /// everything that it wants of them.
    async fn component_read(
        &self,
        job: &ComponentJob,
        limits: &Limits,
    ) -> Result<(ComponentProcess, Vec<Server>), RunError> {
        let process = ComponentProcess::start(&job.program, &job.file, limits).await.map_err(|fault| fault.error())?;
        let mut servers = self.component_servers(process.imports()).await;
        // A list on disk may be outdated, so nothing counts as missing until the server itself
        // lacks it.
        let looked = lacking(process.imports(), &servers).into_iter().map(|server| self.toolbox.look_again(server));
        if join_all(looked).await.contains(&true) {
            servers = self.component_servers(process.imports()).await;
        }
        targets(process.imports(), &servers).map_err(|refusal| refusal.error())?;
        Ok((process, servers))
    }

    /// The servers of these imports. Those whose tools are not known are started.
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
        self.servers_of(&imported).await
    }

    /// The servers, after starting these if their tools are not known, or all if none is named.
    async fn servers_of(&self, names: &[&str]) -> Vec<Server> {
        let catalog = self.toolbox.catalog_of(names).await;
        // A named script needs the interpreter, which a component does not have.
        let is_server = |server: &Server| !(self.toolbox.has_skills() && server.name() == SKILLS);
        Server::all(&catalog).into_iter().filter(is_server).collect()
    }

    async fn component_run(&self, run: ComponentRun<'_>, caller: Caller, cancelled: BoxFuture<'_, ()>) -> Outcome {
        let ComponentRun { job, process, servers, limits, asked } = run;
        let (told, heard) = (self.toolbox.told(), self.heard());
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
        let log =
            match RunLog::begin(told, self.origin, &self.asker, Some(job.file.as_slice()), self.level, heard).await {
                Ok(log) => log,
                Err(error) => return Outcome::refused(error),
            };
        let grant = Grant::new(self.toolbox.clone(), &mentioned, limits.timeout, caller, log.clone())
            .with_ceiling(self.ceiling)
            .with_caller(AsRules::new(self.asker.clone(), self.profile.clone()))
            .with_approvals(self.approvals, self.teller.clone());
        let grant = Arc::new(match imports.any_tool.is_empty() {
            true => grant.granting(found.iter().map(|target| target.function.path.clone()).collect()),
            false => grant.granting_any(),
        });
        let ends = Ends(grant.locks());
        let program = Program {
            // Such a run is never put aside, so nothing else needs one.
            max_recording: self.max_recording.max(log.max_recording()),
            component: Some(digest(&job.file)),
            ..Program::new(order.to_text()).with_client(self.client.as_str())
        };
        let request = RunRequest {
            program,
            limits: std::borrow::Cow::Borrowed(&limits),
            tools: Arc::new(ImportedTools::new(grant.clone())) as Arc<dyn Tools>,
            cancelled: Box::pin(first_of(cancelled, log.owners_word().cancelled())),
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
