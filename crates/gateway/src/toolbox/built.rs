//! How a toolbox is made, with everything that it has beside its children.

use std::sync::Arc;

use belljar_catalog::namespaces;
use belljar_model::{EffectRules, KeepSettings, ServerSpec, Share, Sharing, Transport};
use belljar_policy::Policy;
use belljar_worker::WorkerProgram;
use cap_std::fs::Dir;
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use super::{BoundServer, Toolbox};
use crate::{
    arguments::CheckWorkers,
    artifacts::ArtifactStore,
    locks::ServerLock,
    observations::Observations,
    rules::Rules,
    skills::{SKILLS, Skills},
    told::RunLedger,
    traced::Sampling,
};

impl Toolbox {
    /// Sets how much scripts may keep for later runs.
    #[must_use]
    pub fn with_keep(mut self, keep: KeepSettings) -> Self {
        self.keep = keep;
        self
    }

    /// Adds the owner's named scripts, as the tools of one more server. They are found once a
    /// [`Gateway`](crate::Gateway) was made from this toolbox, since its engine reads them.
    #[must_use]
    pub fn with_skills(mut self, skills: Skills) -> Self {
        let mut exact: Vec<String> = self.servers.iter().map(|server| server.names.exact().to_owned()).collect();
        exact.push(SKILLS.to_owned());
        let exact: Vec<&str> = exact.iter().map(String::as_str).collect();
        let mut names = namespaces(&exact);
        if let Some(own) = names.pop() {
            // An exact name wins over an alias, so another server's alias may change.
            self.servers.iter_mut().zip(names).for_each(|(server, names)| server.names = names);
            self.servers.push(BoundServer {
                names: own,
                effects: EffectRules::trusting(),
                sharing: Sharing::Free,
                paths: None,
                routing: None,
                transport: Transport::BuiltIn(SKILLS.to_owned()),
                started_with: OnceCell::new(),
                share: Share::default(),
                lock: ServerLock::default(),
                principals_locks: Mutex::default(),
                known: Mutex::default(),
            });
            self.skills = Some(Arc::new(skills));
        }
        self
    }

    /// Lets these rules of the owner judge every call. `specs` are those from which the toolbox was
    /// made.
    #[must_use]
    pub fn with_policy(mut self, policy: Arc<Policy>, specs: &[ServerSpec]) -> Self {
        self.rules = Some(Rules::new(policy, specs));
        self
    }

    /// The file of the rules: pins are kept for this file.
    #[must_use]
    pub fn with_rules_file(mut self, file: impl Into<String>) -> Self {
        self.rules_file = file.into();
        self
    }

    /// The configuration of these servers: a waiting run is resumed only with the same one.
    #[must_use]
    pub fn with_configuration(mut self, name: impl Into<String>) -> Self {
        self.configuration = name.into();
        self
    }

    /// Keeps the shapes of undeclared results in this folder, and loads those that it has.
    #[must_use]
    pub fn with_state_folder(mut self, folder: Dir) -> Self {
        self.observations = Arc::new(Observations::in_folder(folder).with_filtered(self.filters.kept_as()));
        self
    }

    /// Sets the program that checks arguments if that takes more than a millisecond, as a worker
    /// process that calls [`check_arguments`](crate::check_arguments). Without one, such arguments
    /// are left to the child, with a warning.
    #[must_use]
    pub fn with_check_worker(mut self, program: WorkerProgram) -> Self {
        self.check_workers = Some(Arc::new(CheckWorkers::new(program)));
        self
    }

    /// Sets the program that filters results as the configuration says, as a worker process that
    /// answers [`FilterQuestion`](crate::FilterQuestion)s. Without one, such results stay whole,
    /// and the logs of scripts say so.
    #[must_use]
    pub fn with_filter_worker(mut self, program: WorkerProgram) -> Self {
        self.filters = self.filters.with_worker(program);
        self
    }

    /// Keeps runs and calls in this ledger.
    #[must_use]
    pub fn with_ledger(mut self, ledger: RunLedger) -> Self {
        Arc::make_mut(&mut self.told).ledger = Some(ledger);
        self
    }

    /// Traces the runs that `sampling` chooses. Their events include their place in the trace.
    #[must_use]
    pub fn with_sampling(mut self, sampling: Arc<dyn Sampling>) -> Self {
        Arc::make_mut(&mut self.told).sampling = Some(sampling);
        self
    }

    /// Keeps artifacts here.
    #[must_use]
    pub fn with_artifacts(mut self, artifacts: ArtifactStore) -> Self {
        self.artifacts = Some(artifacts);
        self
    }
}
