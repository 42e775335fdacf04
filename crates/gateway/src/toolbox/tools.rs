//! What is known of one tool: what the rules say about it, what it may change, its schemas, and
//! what its calls have shown.

use std::sync::Arc;

use belljar_catalog::{Catalog, Observed, ServerCatalog, Tool, Words};
use belljar_model::{Denial, Effect, EffectRules, JsonText, ToolDefinition, ToolPath, TrustedEffect};
use belljar_policy::ToolPolicy;
use serde_json::Value;

use super::{BoundServer, Known, Toolbox};
use crate::{
    arguments::Checks,
    observer::Observer,
    redacted::hides_in_answers,
    result_filters::FilterRemark,
    rules::{Files, denial},
    skills::SKILLS,
};

impl Toolbox {
    /// What the rules say about calls of a tool, with the file system for them, or `None` if there
    /// are no rules.
    pub(crate) fn judge_of(&self, path: &ToolPath) -> Option<(Arc<ToolPolicy>, Files)> {
        let rules = self.rules.as_ref()?;
        let server = self.servers.iter().find(|server| server.names.exact() == path.server());
        let known = server.and_then(BoundServer::last_known);
        let judge = || {
            let effects = server.map(|server| &server.effects);
            let broken = known.as_ref().map(|known| known.broken.clone()).unwrap_or_default();
            let trusted = match self.is_skill(path) {
                true => skill_effect(),
                false => trusted(effects, known.as_ref(), path.tool()),
            };
            Arc::new(rules.policy().for_tool_but(path, trusted, &broken))
        };
        let judge = match &known {
            Some(known) => {
                let mut judges = known.judges.lock();
                judges.entry(path.tool().to_owned()).or_insert_with(judge).clone()
            }
            None => judge(),
        };
        Some((judge, rules.files()))
    }

    /// Why nobody sees this tool of a known server, by one of its names.
    pub(crate) fn denied(&self, path: &ToolPath) -> Option<Denial> {
        let is_named = |server: &&BoundServer| server.names.bound().any(|name| name == path.server());
        let server = self.servers.iter().find(is_named)?;
        let decision = server.last_known()?.denied.get(path.tool())?.clone();
        denial(&ToolPath::new(server.names.exact(), path.tool()), &decision)
    }

    /// What a call of a tool may change, for decisions.
    pub(crate) fn trusted_effect_of(&self, path: &ToolPath) -> Effect {
        if self.is_skill(path) {
            return Effect::ReadOnly;
        }
        let known = || {
            let server = self.servers.iter().find(|server| server.names.exact() == path.server())?;
            Some(server.last_known()?.catalog.tool(path.tool())?.trusted_effect().effect())
        };
        known().unwrap_or(Effect::External)
    }

    /// Whether a call of this tool may be made twice: it changes nothing, the owner says that it is
    /// idempotent, or a key identifies it to its server.
    pub(crate) fn may_repeat(&self, path: &ToolPath) -> bool {
        let is_known_so = || {
            let server = self.servers.iter().find(|server| server.names.exact() == path.server())?;
            let trusted = server.last_known()?.catalog.tool(path.tool())?.trusted_effect();
            Some(trusted.effect() == Effect::ReadOnly || trusted.is_idempotent())
        };
        self.key_argument(path).is_some() || is_known_so().unwrap_or(false)
    }

    /// The argument of a tool that gets belljar's key, if the owner has named one.
    pub(crate) fn key_argument(&self, path: &ToolPath) -> Option<&str> {
        let server = self.servers.iter().find(|server| server.names.exact() == path.server())?;
        server.effects.idempotency_keys.get(path.tool()).map(String::as_str)
    }

    /// The digest of a tool's definition, if it is known.
    pub(crate) fn definition_digest(&self, path: &ToolPath) -> belljar_approvals::Digest {
        let server = self.servers.iter().find(|server| server.names.exact() == path.server());
        let known = server.and_then(BoundServer::last_known);
        let tool = known.as_ref().and_then(|known| known.catalog.tool(path.tool()));
        let definition = tool.and_then(|tool| serde_json::to_vec(tool.definition()).ok()).unwrap_or_default();
        belljar_approvals::digest(&definition)
    }

    /// The check for arguments of a tool's calls, once its server's tools are known.
    pub(crate) fn checks(&self, path: &ToolPath) -> Option<Arc<Checks>> {
        let server = self.servers.iter().find(|server| server.names.exact() == path.server())?;
        server.last_known().map(|known| known.checks)
    }

    /// The checks for arguments of functions that a program serves.
    pub(crate) fn checks_of(&self, catalog: Arc<ServerCatalog>) -> Checks {
        Checks::new(catalog, self.check_workers.clone(), Arc::default())
    }

    /// The schemas of a known tool: of its arguments, and of its result if declared.
    pub(crate) fn schemas_of(&self, path: &ToolPath) -> Option<(Value, Option<Value>)> {
        let server = self.servers.iter().find(|server| server.names.exact() == path.server())?;
        let known = server.last_known()?;
        let definition = known.catalog.tool(path.tool())?.definition();
        let output = definition.output_schema.clone().map(Value::Object);
        Some((Value::Object(definition.input_schema.clone()), output))
    }

    /// Whether any schema of a known tool is like this.
    pub(crate) fn any_schema(&self, is_so: &dyn Fn(&Value) -> bool) -> bool {
        self.servers.iter().filter_map(|server| server.last_known()).any(|known| {
            known.catalog.tools().iter().any(|tool| {
                let definition = tool.definition();
                let schemas = [Some(&definition.input_schema), definition.output_schema.as_ref()];
                schemas.into_iter().flatten().any(|schema| is_so(&Value::Object(schema.clone())))
            })
        })
    }

    /// Whether anything in this tool's answers is left out of what is kept.
    pub(crate) fn hides_in_answers(&self, path: &ToolPath) -> bool {
        self.told.ledger.as_ref().is_none_or(|ledger| hides_in_answers(&ledger.redact, self, path))
    }

    /// Where to record the results of a tool's calls, or `None` if its server declares them.
    pub(crate) fn observer(&self, path: &ToolPath, arguments: &JsonText) -> Option<Observer> {
        let server = self.servers.iter().find(|server| server.names.exact() == path.server())?;
        if self.is_of_skills(server) {
            return None;
        }
        let is_declared = server.last_known()?.catalog.tool(path.tool())?.definition().output_schema.is_some();
        let observer =
            || Observer { observations: self.observations.clone(), path: path.clone(), words: Words::of(arguments) };
        (!is_declared).then(observer)
    }

    /// The answer of a call: converted to JSON if the tool wrote another notation, and filtered if
    /// the owner wants that. The remark has anything else that the author should know. The observer
    /// is returned if the caller is to record the result.
    ///
    /// # Cancellation
    /// Nothing is left behind.
    pub(crate) async fn taken(
        &self,
        path: &ToolPath,
        observer: Option<Observer>,
        raw: JsonText,
    ) -> (JsonText, Option<FilterRemark>, Option<Observer>) {
        let raw = match &observer {
            Some(observer) => observer.converted(raw).await,
            None => raw,
        };
        let (taken, remark) = self.filters.take(path, raw).await;
        let observer = observer.filter(|_| remark.is_none());
        (taken, remark, observer)
    }

    /// What calls have shown of a tool's results.
    pub fn observed(&self, path: &ToolPath) -> Option<Arc<Observed>> {
        self.observations.of(path)
    }

    /// A tool's signature on one line, with its observed result.
    pub(crate) fn signature_of(&self, tool: &Tool) -> String {
        tool.signature_with(self.observed(tool.path()).as_deref())
    }

    /// The signature of the tool that a text names, if its server is already known.
    pub(crate) fn signature_of_known(&self, expression: &str) -> Option<String> {
        let catalogs = self.servers.iter().filter_map(BoundServer::last_known).map(|known| known.catalog);
        Catalog::new(catalogs.collect()).lookup(expression).map(|tool| self.signature_of(tool))
    }

    /// How to ask a server for its folders, if it has a tool for that and its tools are known.
    pub(crate) fn lister_of_folders(&self, server: &str) -> Option<String> {
        let server = self.servers.iter().find(|known| known.names.exact() == server)?;
        Some(server.last_known()?.catalog.lister_of_folders()?.expression().to_owned())
    }
}

/// The trusted effect of a named script, including one that is gone. Each tool that it calls is
/// judged by itself.
fn skill_effect() -> TrustedEffect {
    let mut definition = ToolDefinition::unknown(SKILLS);
    definition.annotations.read_only = Some(true);
    EffectRules::trusting().trusted(&definition)
}

/// A tool's trusted effect, even if it is not in the known list.
fn trusted(effects: Option<&EffectRules>, known: Option<&Known>, tool: &str) -> TrustedEffect {
    let listed = known.and_then(|known| known.list.iter().find(|listed| listed.name == tool));
    let nothing_known = EffectRules::default();
    let effects = effects.unwrap_or(&nothing_known);
    match listed {
        Some(tool) => effects.trusted(tool),
        None => effects.trusted(&ToolDefinition::unknown(tool)),
    }
}
