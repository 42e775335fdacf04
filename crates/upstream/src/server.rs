//! One configured server: a single child, or an instance for each key.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use belljar_model::{Affinity, ByteSize, JsonText, MAX_DURATION, PathRules, ServerSpec, ToolPath, Transport};
use futures::future::join_all;
use tokio::{
    sync::{Notify, Semaphore},
    time::{Instant, timeout_at},
};

use crate::{
    affinity, arguments,
    asking::Caller,
    book::{Book, Tools},
    child::{Child, Shared},
    connection::CallLimit,
    fault::{CallFault, StartFault},
    limits, paths,
    status::ServerStatus,
};

/// A configured server.
pub(crate) struct Server {
    spec: Arc<ServerSpec>,
    shared: Arc<Shared>,
    book: Arc<Book>,
    /// The least recently used first. A server without keys has exactly one.
    instances: Mutex<Vec<Instance>>,
    /// Told when an instance is no longer in use.
    freed: Arc<Notify>,
    /// The right to ask the file system about the paths of a call.
    judging: Semaphore,
}

struct Instance {
    key: Option<String>,
    child: Arc<Child>,
    users: Arc<AtomicUsize>,
}

/// An instance that is in use, and not given up for another key meanwhile.
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

impl Server {
    pub(crate) fn new(spec: ServerSpec, shared: Arc<Shared>, book: Book) -> Self {
        let server = Self {
            spec: Arc::new(spec),
            shared,
            book: Arc::new(book),
            instances: Mutex::default(),
            freed: Arc::default(),
            judging: Semaphore::new(limits::PATHS_JUDGED),
        };
        if server.spec.life.affinity.is_none() {
            server.instances.lock().unwrap_or_else(PoisonError::into_inner).push(server.instance(None, None));
        }
        server
    }

    pub(crate) fn name(&self) -> &str {
        &self.spec.name
    }

    pub(crate) fn is_warm(&self) -> bool {
        self.spec.life.warm
    }

    /// The tools as far as they are known; the server is started if they are not.
    pub(crate) async fn tools(&self) -> Result<Tools, Arc<StartFault>> {
        let is_stale = self.book.open().await;
        match self.book.tools() {
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
        self.book.open().await;
        self.book.tools()
    }

    /// The tools that the server has now; it is started if need be.
    pub(crate) async fn start(&self) -> Result<Tools, Arc<StartFault>> {
        let (_connection, _in_flight) = self.any().ready().await?;
        Ok(self.book.tools().unwrap_or_default())
    }

    /// Starts the server in the background. One with keys waits for the first of them.
    pub(crate) fn begin(&self) {
        if self.spec.life.affinity.is_none() {
            self.any().begin();
        }
    }

    /// Makes a call of the instance that it is for.
    pub(crate) async fn call(
        &self,
        path: &ToolPath,
        mut arguments: JsonText,
        limit: CallLimit,
        max_result: ByteSize,
        caller: &Caller,
    ) -> Result<JsonText, CallFault> {
        let life = &self.spec.life;
        let total = limit.total.min(life.call_total.unwrap_or(limit.total));
        let limit = CallLimit { quiet: limit.quiet.min(life.call_timeout.unwrap_or(limit.quiet)), total };
        if let Some(rules) = &life.paths {
            arguments = self.with_real_paths(rules, arguments).await?;
        }
        let used = match &life.affinity {
            None => None,
            Some(affinity) => {
                let of_key = arguments::some(&arguments, |name| affinity.arguments().any(|argument| argument == name));
                let key = affinity::key(&self.spec, affinity, self.directory().as_deref(), &of_key).await?;
                Some(self.of_key(affinity, key, limit).await?)
            }
        };
        let child = match &used {
            Some(used) => used.child.clone(),
            None => self.any(),
        };
        child.call(path, arguments, limit, max_result, caller).await
    }

    /// The arguments with those that are paths resolved, if all of them are allowed.
    async fn with_real_paths(&self, rules: &PathRules, arguments: JsonText) -> Result<JsonText, CallFault> {
        let is_path = |name: &str| rules.arguments.iter().any(|argument| argument == name);
        let used = arguments::bytes(&arguments, is_path);
        if used == 0 {
            return Ok(arguments);
        }
        if used > limits::PATHS_BYTES {
            let problem = format!("all paths together have {used} bytes; the limit is {}", limits::PATHS_BYTES);
            let argument = rules.arguments.join(", ");
            return Err(CallFault::Path { argument, problem, guidance: rules.guidance.clone() });
        }
        // It is never closed.
        let _judging = self.judging.acquire().await;
        let mut paths = arguments::some(&arguments, is_path);
        paths::admit(rules, self.directory().as_deref(), &mut paths).await?;
        Ok(arguments::with(&arguments, &paths))
    }

    /// Whether a child of it lives and has a state.
    pub(crate) fn keeps_state(&self) -> bool {
        self.spec.life.stateful && self.status().iter().any(|status| status.pid.is_some())
    }

    /// The status of each instance, or of the server if there is none.
    pub(crate) fn status(&self) -> Vec<ServerStatus> {
        let children = self.children();
        if children.is_empty() {
            return vec![self.instance(None, None).child.status()];
        }
        children.iter().map(|child| child.status()).collect()
    }

    /// Waits for the end of all instances. The caller has cancelled [`Shared::stop`].
    pub(crate) async fn ended(&self) {
        join_all(self.children().iter().map(|child| child.ended())).await;
    }

    fn children(&self) -> Vec<Arc<Child>> {
        let instances = self.instances.lock().unwrap_or_else(PoisonError::into_inner);
        instances.iter().map(|instance| instance.child.clone()).collect()
    }

    /// The instance used last; of a server with keys that has none yet, one without a key, to ask for its tools.
    fn any(&self) -> Arc<Child> {
        let mut instances = self.instances.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(instance) = instances.last() {
            return instance.child.clone();
        }
        let instance = self.instance(None, None);
        let child = instance.child.clone();
        instances.push(instance);
        child
    }

    /// The instance of `key`: the one there is, or a new one, in the place of the one whose use is longest ago if there are too many.
    async fn of_key(&self, affinity: &Affinity, key: String, limit: CallLimit) -> Result<InUse, CallFault> {
        let deadline = Instant::now() + limit.total.min(MAX_DURATION);
        loop {
            let freed = self.freed.notified();
            {
                let mut instances = self.instances.lock().unwrap_or_else(PoisonError::into_inner);
                let known = instances.iter().position(|instance| instance.key.as_deref() == Some(key.as_str()));
                let found = match known {
                    Some(position) => Some(instances.remove(position)),
                    None if instances.len() < affinity.instances.get() => Some(self.instance(Some(&key), None)),
                    None => self.given_up(&mut instances).map(|old| self.instance(Some(&key), Some(old))),
                };
                if let Some(instance) = found {
                    instance.users.fetch_add(1, Ordering::AcqRel);
                    let (child, users) = (instance.child.clone(), instance.users.clone());
                    instances.push(instance);
                    return Ok(InUse { child, users, freed: self.freed.clone() });
                }
            }
            let server = self.spec.name.clone();
            if self.spec.life.stateful {
                return Err(CallFault::NoInstance { server, limit: affinity.instances.get() });
            }
            if timeout_at(deadline, freed).await.is_err() {
                return Err(CallFault::QueueTimeout { server, limit: limit.total });
            }
        }
    }

    /// Takes out the instance that can be given up: nobody uses it, and of those its use is longest ago.
    fn given_up(&self, instances: &mut Vec<Instance>) -> Option<Arc<Child>> {
        let is_free = |instance: &Instance| {
            let is_kept = self.spec.life.stateful && instance.key.is_some() && !instance.child.is_cold();
            instance.users.load(Ordering::Acquire) == 0 && !is_kept
        };
        let position = instances.iter().position(is_free)?;
        Some(instances.remove(position).child)
    }

    fn instance(&self, key: Option<&str>, predecessor: Option<Arc<Child>>) -> Instance {
        let spec = match &self.spec.life.affinity {
            Some(_) => affinity::instance(&self.spec, key),
            None => (*self.spec).clone(),
        };
        let key = key.map(str::to_owned);
        let child = Child::new(spec, key.clone(), self.shared.clone(), self.book.clone(), predecessor);
        Instance { key, child: Arc::new(child), users: Arc::default() }
    }

    /// Where the server takes relative paths from.
    fn directory(&self) -> Option<PathBuf> {
        match &self.spec.transport {
            Transport::Stdio(command) => command.cwd.clone(),
            _ => None,
        }
    }
}
