//! The known tools of a server: from its last list, in this life, an earlier one, or an earlier
//! process.
//!
//! All instances of a server share this, so that a tool list is read once. An unchanged list stays
//! the same allocation: whatever was derived from it remains valid.

use std::{sync::Arc, time::Duration};

use belljar_model::{Effect, JsonText, ServerSpec, ToolDefinition};
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use crate::tools::{affinity, arguments, cache::Cache};

/// The tools of one server.
pub(crate) type Tools = Arc<Vec<ToolDefinition>>;

/// What is known of a server's tools.
pub(crate) struct KnownTools {
    spec: Arc<ServerSpec>,
    cache: Option<Cache>,
    was_read: OnceCell<()>,
    known: Mutex<Option<List>>,
}

#[derive(Clone)]
struct List {
    /// As the server has them.
    own: Tools,
    /// As callers see them: with the arguments that select the instance.
    shown: Tools,
}

impl KnownTools {
    pub(crate) fn new(spec: Arc<ServerSpec>, cache: Option<Cache>) -> Self {
        Self { spec, cache, was_read: OnceCell::new(), known: Mutex::default() }
    }

    /// Reads an earlier process's list, once. Returns whether it is so old that the server should
    /// be asked.
    pub(crate) async fn open(&self) -> bool {
        let Some(cache) = &self.cache else { return false };
        let mut is_stale = false;
        self.was_read
            .get_or_init(async || {
                let cache = cache.clone();
                let reading = tokio::task::spawn_blocking(move || cache.read().map(|tools| (tools, cache.is_stale())));
                if let Ok(Some((tools, stale))) = reading.await {
                    is_stale = stale;
                    self.known.lock().get_or_insert_with(|| self.shown(tools));
                }
            })
            .await;
        is_stale
    }

    /// The tools as callers see them, if they are known.
    pub(crate) fn tools(&self) -> Option<Tools> {
        self.list().map(|list| list.shown)
    }

    /// The server has listed its tools.
    pub(crate) fn learn(&self, tools: Vec<ToolDefinition>) {
        let own = {
            let mut known = self.known.lock();
            match &*known {
                Some(list) if *list.own == tools => list.own.clone(),
                _ => known.insert(self.shown(tools)).own.clone(),
            }
        };
        // An unchanged list is written too, as it is fresh again.
        if let Some(cache) = &self.cache {
            cache.write(own);
        }
    }

    /// The arguments without those that the tool itself does not have.
    pub(crate) fn without_own(&self, tool: &str, arguments: JsonText) -> JsonText {
        let Some(affinity) = &self.spec.life.affinity else { return arguments };
        match self.of_definition(tool, |definition| affinity::own(affinity, definition)) {
            Some(own) => arguments::without(&arguments, &own),
            None => arguments,
        }
    }

    /// Whether belljar has added this argument to those of the tool.
    pub(crate) fn adds(&self, tool: &str, argument: &str) -> bool {
        self.of_definition(tool, |definition| !affinity::declares(definition, argument)).unwrap_or(false)
    }

    /// Whether the owner allows repeating a call of the tool after the child died during it. The
    /// call counts at least as `at_least`, whatever the tool does.
    pub(crate) fn may_repeat(&self, tool: &str, at_least: Effect) -> bool {
        let repeats = |definition: &_| {
            let trusted = self.spec.effects.trusted(definition);
            self.spec.life.repeat_of(trusted.effect().max(at_least)).allows(trusted)
        };
        self.of_definition(tool, repeats).unwrap_or(false)
    }

    /// How long such a call may take without news, if the owner has set that.
    pub(crate) fn call_timeout(&self, tool: &str, at_least: Effect) -> Option<Duration> {
        let effect = self.of_definition(tool, |definition| self.spec.effects.trusted(definition).effect());
        let unknown = || self.spec.effects.trusted(&ToolDefinition::unknown(tool)).effect();
        self.spec.life.call_timeout_of(effect.unwrap_or_else(unknown).max(at_least))
    }

    /// A part of a tool's definition, without a copy: each call needs it.
    fn of_definition<T>(&self, tool: &str, what: impl FnOnce(&ToolDefinition) -> T) -> Option<T> {
        self.list()?.own.iter().find(|definition| definition.name == tool).map(what)
    }

    fn list(&self) -> Option<List> {
        self.known.lock().clone()
    }

    fn shown(&self, tools: Vec<ToolDefinition>) -> List {
        let own = Arc::new(tools);
        let shown = match &self.spec.life.affinity {
            Some(affinity) => Arc::new(affinity::shown(affinity, self.spec.life.projects.as_ref(), &own)),
            None => own.clone(),
        };
        List { own, shown }
    }
}
