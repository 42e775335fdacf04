//! One configured server: a single child, or an instance for each key and each principal.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use belljar_model::{ByteSize, JsonText, MAX_DURATION, PathRules, ServerSpec, Share, ToolPath, Transport};
use futures::future::join_all;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use crate::{
    child::{core::Shared, handle::Child, meter::Meter, status::ServerStatus},
    connection::{client_requests::Caller, requests::CallLimit},
    error::{CallError, StartError},
    limits,
    tools::{
        affinity, arguments,
        known_tools::{KnownTools, Tools},
        paths, projects,
    },
};

/// A configured server.
pub(crate) struct ServerInstances {
    spec: Arc<ServerSpec>,
    shared: Arc<Shared>,
    known_tools: Arc<KnownTools>,
    meter: Meter,
    /// Whether its configuration contains the principal's name.
    names_principal: bool,
    instances: Mutex<Instances>,
    /// Signals that an instance is no longer in use.
    freed: Arc<Notify>,
    /// The right to ask the file system about the paths of a call.
    judging: Semaphore,
}

#[derive(Default)]
struct Instances {
    /// The least recently used first. A server without keys has exactly one instance of the owner.
    all: Vec<Instance>,
    /// Keys whose state was lost, until their callers are told.
    given_up: VecDeque<Slot>,
}

/// What an instance is for.
#[derive(Clone, Default, PartialEq, Eq)]
struct Slot {
    key: Option<String>,
    /// `None` is the owner.
    principal: Option<Arc<str>>,
}

struct Instance {
    slot: Slot,
    child: Arc<Child>,
    users: Arc<AtomicUsize>,
    /// Whether it has been called. Before that it has only listed tools, and can still be used for
    /// anything.
    is_taken: bool,
    used: Instant,
    /// The permit of an instance for a principal.
    place: Option<OwnedSemaphorePermit>,
}

/// An instance that is in use, and was not given up for another key meanwhile.
struct InUse {
    child: Arc<Child>,
    users: Arc<AtomicUsize>,
    freed: Arc<Notify>,
}

impl Drop for InUse {
    fn drop(&mut self) {
        if self.users.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.freed.notify_waiters();
        }
    }
}

impl ServerInstances {
    pub(crate) fn new(spec: ServerSpec, shared: Arc<Shared>, known_tools: KnownTools) -> Self {
        let server = Self {
            names_principal: affinity::names_principal(&spec),
            shared,
            known_tools: Arc::new(known_tools),
            meter: Meter::default(),
            instances: Mutex::default(),
            freed: Arc::default(),
            judging: Semaphore::new(limits::PATHS_JUDGED),
            spec: Arc::new(spec),
        };
        if server.spec.life.affinity.is_none() {
            server.instances.lock().all.push(server.instance(Slot::default(), None));
        }
        server
    }

    pub(crate) fn name(&self) -> &str {
        &self.spec.name
    }

    pub(crate) fn spec(&self) -> &ServerSpec {
        &self.spec
    }

    /// What is measured of all its instances.
    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }

    pub(crate) fn is_warm(&self) -> bool {
        self.spec.life.warm
    }

    /// The tools as far as they are known; the server is started if they are not.
    pub(crate) async fn tools(&self) -> Result<Tools, Arc<StartError>> {
        let is_stale = self.known_tools.open().await;
        match self.known_tools.tools() {
            Some(tools) => {
                if is_stale && self.shared.options.refresh {
                    self.begin();
                }
                Ok(tools)
            }
            None => self.start().await,
        }
    }

    /// The tools as far as they are known. Nothing is started.
    pub(crate) async fn known_tools(&self) -> Option<Tools> {
        self.known_tools.open().await;
        self.known_tools.tools()
    }

    /// The tools that the server has now; it is started if necessary.
    pub(crate) async fn start(&self) -> Result<Tools, Arc<StartError>> {
        let (_connection, _in_flight) = self.any().ready().await?;
        Ok(self.known_tools.tools().unwrap_or_default())
    }

    /// Whether belljar has added this argument to those of a tool that is known.
    pub(crate) fn adds(&self, tool: &str, argument: &str) -> bool {
        self.known_tools.adds(tool, argument)
    }

    /// Starts the server in the background. One with keys waits for the first of them, and a
    /// principal's instance for its first call.
    pub(crate) fn begin(&self) {
        if self.spec.life.affinity.is_none() {
            let owners =
                self.instances.lock().all.iter().find(|one| one.slot == Slot::default()).map(|one| one.child.clone());
            if let Some(child) = owners {
                child.begin();
            }
        }
    }

    /// Forgets the instances of principals that are not running.
    pub(crate) fn forget_stopped(&self) {
        self.instances.lock().all.retain(|one| one.slot.principal.is_none() || one.is_used() || !one.child.is_cold());
    }

    /// Makes a call at the right instance.
    pub(crate) async fn call(
        &self,
        path: &ToolPath,
        mut arguments: JsonText,
        limit: CallLimit,
        max_result: ByteSize,
        caller: &Caller,
    ) -> Result<JsonText, CallError> {
        let life = &self.spec.life;
        let total = limit.total.min(life.call_total.unwrap_or(limit.total));
        let limit = CallLimit { total, ..limit };
        let principal = caller.principal().filter(|_| life.share == Share::Principal).cloned();
        let spec = self.spec_for(principal.as_deref());
        let directory = directory(&spec);
        let of_project = match &life.projects {
            Some(projects) => arguments::some(&arguments, |name| name == projects.argument),
            None => Map::new(),
        };
        if let Some(rules) = projects::rules(&spec, &of_project) {
            arguments = self.with_real_paths(&rules, directory.as_deref(), arguments).await?;
        }
        let key = match &life.affinity {
            None => None,
            Some(affinity) => {
                let of_key = arguments::some(&arguments, |name| affinity.arguments().any(|argument| argument == name));
                Some(affinity::key(&spec, affinity, directory.as_deref(), &of_key).await?)
            }
        };
        if let (Some(projects), Some(key)) = (&life.projects, &key)
            && let Some(path) = projects.get(key).and_then(|project| project.path.as_ref())
        {
            // A tool that declares this argument itself gets the folder, since it knows nothing of
            // the name.
            let path = Map::from_iter([(projects.argument.clone(), path.to_string_lossy().into())]);
            arguments = arguments::with(&arguments, &path);
        }
        let used = self.instance_for(Slot { key, principal }, limit).await?;
        used.child.call(path, arguments, limit, max_result, caller).await
    }

    /// The arguments with paths resolved, if all of them are allowed.
    async fn with_real_paths(
        &self,
        rules: &PathRules,
        base: Option<&Path>,
        arguments: JsonText,
    ) -> Result<JsonText, CallError> {
        let is_path = |name: &str| rules.arguments.iter().any(|argument| argument == name);
        let used = arguments::bytes(&arguments, is_path);
        if used == 0 {
            return Ok(arguments);
        }
        paths::refuse_too_many(rules, used)?;
        // It is never closed.
        let _judging = self.judging.acquire().await;
        let mut paths = arguments::some(&arguments, is_path);
        paths::admit(rules, base, &mut paths).await?;
        Ok(arguments::with(&arguments, &paths))
    }

    /// Whether one of its children is running and has state.
    pub(crate) fn keeps_state(&self) -> bool {
        self.spec.life.stateful && self.status().iter().any(|status| status.pid.is_some())
    }

    /// The status of each instance, or of the server if there is none.
    pub(crate) fn status(&self) -> Vec<ServerStatus> {
        let instances: Vec<_> =
            self.instances.lock().all.iter().map(|one| (one.child.clone(), one.slot.principal.clone())).collect();
        if instances.is_empty() {
            return vec![self.instance(Slot::default(), None).child.status()];
        }
        let status = |(child, principal): (Arc<Child>, Option<Arc<str>>)| ServerStatus {
            principal: principal.map(|name| name.to_string()),
            ..child.status()
        };
        instances.into_iter().map(status).collect()
    }

    /// Waits for the end of all instances. The caller has cancelled [`Shared::stop`].
    pub(crate) async fn ended(&self) {
        join_all(self.children().iter().map(|child| child.ended())).await;
    }

    fn children(&self) -> Vec<Arc<Child>> {
        self.instances.lock().all.iter().map(|instance| instance.child.clone()).collect()
    }

    /// An instance that can list the tools: the one used last, or a new one for whoever calls
    /// first. If there are projects, it is the instance of one of them, since a server may need a
    /// project to start.
    fn any(&self) -> Arc<Child> {
        let mut instances = self.instances.lock();
        if let Some(instance) = instances.all.last() {
            return instance.child.clone();
        }
        let projects = self.spec.life.projects.as_ref();
        let key = projects.and_then(|projects| projects.default.as_deref().or_else(|| projects.names().next()));
        let instance = self.instance(Slot { key: key.map(str::to_owned), principal: None }, None);
        let child = instance.child.clone();
        instances.all.push(instance);
        child
    }

    /// The instance for `slot`: the existing one, or a new one, which replaces the least recently
    /// used one if there are too many.
    async fn instance_for(&self, slot: Slot, limit: CallLimit) -> Result<InUse, CallError> {
        let deadline = Instant::now() + limit.total.min(MAX_DURATION);
        loop {
            let freed = self.freed.notified();
            let crowded = {
                let mut instances = self.instances.lock();
                let is_switch = instances.all.last().is_some_and(|last| last.is_taken && last.slot != slot);
                let known = instances.all.iter().position(|instance| instance.slot == slot);
                let found = match known {
                    Some(position) => Ok(instances.all.remove(position)),
                    None => self.made_for(&slot, &mut instances),
                };
                match found {
                    Ok(mut instance) => {
                        instance.users.fetch_add(1, Ordering::AcqRel);
                        (instance.is_taken, instance.used) = (true, Instant::now());
                        if is_switch {
                            self.meter.switched();
                        }
                        let (child, users) = (instance.child.clone(), instance.users.clone());
                        instances.all.push(instance);
                        return Ok(InUse { child, users, freed: self.freed.clone() });
                    }
                    Err(crowded) => crowded,
                }
            };
            let server = self.spec.name.clone();
            match (crowded, &slot.principal) {
                (Crowded::Own { limit }, _) if self.spec.life.stateful => {
                    return Err(CallError::NoInstance { server, limit });
                }
                (Crowded::Principals { limit }, Some(principal)) => {
                    return Err(CallError::NoPlace { server, principal: principal.to_string(), limit });
                }
                _ => {}
            }
            if timeout_at(deadline, freed).await.is_err() {
                return Err(CallError::QueueTimeout { server, limit: limit.total });
            }
        }
    }

    /// A new instance for `slot`, or one that nobody has called yet.
    fn made_for(&self, slot: &Slot, instances: &mut Instances) -> Result<Instance, Crowded> {
        let most = &self.shared.options.instances;
        let is_own = |one: &Instance| one.slot.principal == slot.principal;
        let own_limit = self.spec.life.affinity.as_ref().map_or(1, |affinity| affinity.instances.get());
        let mut old = None;
        if instances.all.iter().filter(|one| is_own(one)).count() >= own_limit {
            old = Some(self.given_up(instances, is_own).ok_or(Crowded::Own { limit: own_limit })?);
        }
        let Some(principal) = &slot.principal else {
            return Ok(self.instance(slot.clone(), old.map(|old| old.child)));
        };
        let is_for_principal = |one: &Instance| one.slot.principal.is_some();
        if old.is_none() && instances.all.iter().filter(|one| is_for_principal(one)).count() >= most.per_server {
            let crowded = Crowded::Principals { limit: most.per_server };
            old = Some(self.given_up(instances, is_for_principal).ok_or(crowded)?);
        }
        let place = match old.as_mut().and_then(|old| old.place.take()) {
            Some(place) => place,
            None => match self.shared.places.clone().try_acquire_owned() {
                Ok(place) => place,
                Err(_) => {
                    let crowded = Crowded::Principals { limit: most.in_all };
                    let mut given_up = self.given_up(instances, is_for_principal).ok_or(crowded)?;
                    let place = given_up.place.take().ok_or(crowded)?;
                    old = Some(given_up);
                    place
                }
            },
        };
        let unused = instances.all.iter().position(|one| one.slot == Slot::default() && !one.is_taken);
        let mut instance = match unused.filter(|_| slot.key.is_none() && old.is_none() && !self.names_principal) {
            Some(position) => instances.all.remove(position),
            None => self.instance(slot.clone(), old.map(|old| old.child)),
        };
        if let Some(position) = instances.given_up.iter().position(|given_up| given_up == slot) {
            instances.given_up.remove(position);
            tracing::info!(server = self.spec.name, "the instance of '{principal}' was given up for another");
            instance.child.lose_state("it had not been called for a long time, and another principal needed its place");
        }
        (instance.slot, instance.place) = (slot.clone(), Some(place));
        Ok(instance)
    }

    /// Takes out the instance that can be given up: the least recently used one that is not in use.
    fn given_up(&self, instances: &mut Instances, is_one: impl Fn(&Instance) -> bool) -> Option<Instance> {
        let kept = self.shared.options.instances.kept;
        let holds_state = |one: &Instance| self.spec.life.stateful && one.is_taken && !one.child.is_cold();
        let is_free = |one: &Instance| {
            let is_old = one.slot.principal.is_some() && one.used.elapsed() >= kept;
            is_one(one) && !one.is_used() && (is_old || !holds_state(one))
        };
        let position = instances.all.iter().position(is_free)?;
        let given_up = instances.all.remove(position);
        if given_up.is_taken {
            self.meter.displaced();
        }
        if holds_state(&given_up) {
            if instances.given_up.len() >= limits::GIVEN_UP {
                instances.given_up.pop_front();
            }
            instances.given_up.push_back(given_up.slot.clone());
        }
        Some(given_up)
    }

    fn instance(&self, slot: Slot, predecessor: Option<Arc<Child>>) -> Instance {
        let spec = self.spec_for(slot.principal.as_deref());
        let spec = match &self.spec.life.affinity {
            Some(_) => affinity::instance(&spec, slot.key.as_deref()),
            None => (*spec).clone(),
        };
        let (known_tools, meter) = (self.known_tools.clone(), self.meter.clone());
        let child = Child::new(spec, slot.key.clone(), self.shared.clone(), known_tools, meter, predecessor);
        let (child, users) = (Arc::new(child), Arc::default());
        Instance { slot, child, users, is_taken: false, used: Instant::now(), place: None }
    }

    /// The configuration, with the principal's name inserted.
    fn spec_for(&self, principal: Option<&str>) -> Arc<ServerSpec> {
        if self.names_principal {
            Arc::new(affinity::of_principal(&self.spec, principal.unwrap_or(Share::OWNER)))
        } else {
            self.spec.clone()
        }
    }
}

impl Instance {
    fn is_used(&self) -> bool {
        self.users.load(Ordering::Acquire) > 0
    }
}

/// Why there is no instance for a call now.
#[derive(Clone, Copy)]
enum Crowded {
    /// Its principal, or the owner, has the maximum.
    Own { limit: usize },
    /// All principals together have the maximum.
    Principals { limit: usize },
}

/// The arguments of a call for this principal, with configured path arguments resolved: as they
/// will be sent, for the rules. Blocks.
///
/// # Errors
/// A path that is not allowed, or cannot be resolved; too many of them.
pub fn with_real_paths(
    spec: &ServerSpec,
    principal: Option<&str>,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, CallError> {
    let Some(rules) = projects::rules(spec, &arguments) else { return Ok(arguments) };
    let own = affinity::names_principal(spec).then(|| affinity::of_principal(spec, principal.unwrap_or(Share::OWNER)));
    paths::resolve_all(&rules, directory(own.as_ref().unwrap_or(spec)).as_deref(), arguments)
}

/// The base of relative paths at a server.
fn directory(spec: &ServerSpec) -> Option<PathBuf> {
    match &spec.transport {
        Transport::Stdio(command) => command.cwd.clone(),
        _ => None,
    }
}
