//! One tool, as scripts see it.

use std::sync::{Arc, OnceLock};

use belljar_model::{Effect, ToolDefinition, ToolPath, TrustedEffect};
use serde_json::Value;

use crate::{
    bounds::{INDEXED_PARAMETERS, SUMMARY_CHARS},
    declaration,
    names::Names,
    observed::Observed,
    text::{comment, first_sentence, one_line, quoted},
    words::split,
};

/// How a description marks a deprecated tool.
const DEPRECATED: [&str; 3] = ["DEPRECATED", "Deprecated:", "(deprecated)"];

/// Characters of a filter that are shown.
const FILTER_CHARS: usize = 200;

/// Words in the names of arguments that are paths.
const NAMES_OF_PATHS: [&str; 16] = [
    "cwd",
    "destination",
    "dir",
    "directories",
    "directory",
    "file",
    "filename",
    "files",
    "folder",
    "folders",
    "path",
    "paths",
    "repo",
    "repository",
    "source",
    "workspace",
];

/// One tool of one server.
#[derive(Debug)]
pub struct Tool {
    path: ToolPath,
    namespace: Names,
    names: Names,
    definition: ToolDefinition,
    effect: Effect,
    trusted_effect: TrustedEffect,
    shares_state: bool,
    is_script: bool,
    folders: Option<Arc<str>>,
    started_with: Option<Arc<str>>,
    filter: Option<String>,
    expression: String,
    summary: String,
    is_deprecated: bool,
    signature: OnceLock<String>,
    declaration: OnceLock<String>,
}

impl Tool {
    pub(crate) fn new(
        namespace: &Names,
        names: Names,
        definition: ToolDefinition,
        effect: Effect,
        trusted_effect: TrustedEffect,
    ) -> Self {
        let said = definition.description.as_deref().or(definition.title.as_deref()).unwrap_or_default();
        Self {
            path: ToolPath::new(namespace.exact(), names.exact()),
            expression: format!("{}.{}", namespace.alias(), names.alias()),
            summary: first_sentence(said, SUMMARY_CHARS),
            is_deprecated: DEPRECATED.iter().any(|word| said.contains(word)),
            namespace: namespace.clone(),
            names,
            definition,
            effect,
            trusted_effect,
            shares_state: false,
            is_script: false,
            folders: None,
            started_with: None,
            filter: None,
            signature: OnceLock::new(),
            declaration: OnceLock::new(),
        }
    }

    /// The server's configured name and the tool's exact name.
    pub fn path(&self) -> &ToolPath {
        &self.path
    }

    /// The names of its property of the server's global.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// What the server said about it. This is foreign text, unchanged except for the schema of a
    /// result that is filtered.
    pub fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    /// What it may change, for display: the owner's word, or else its annotations.
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// What it may change, for decisions: only what the owner says, or trusts the server to say.
    pub fn trusted_effect(&self) -> TrustedEffect {
        self.trusted_effect
    }

    /// Whether calls of it share the server's state with all other calls there, so that overlapping
    /// calls may mix.
    pub fn shares_state(&self) -> bool {
        self.shares_state
    }

    pub(crate) fn share_state(&mut self) {
        self.shares_state = true;
    }

    /// Marks it as a script of the owner. It is shown with a remark about that.
    pub(crate) fn mark_as_script(&mut self) {
        self.is_script = true;
    }

    /// Where its paths may lead, if its owner says so: `within /data or /srv`.
    pub fn folders(&self) -> Option<&str> {
        self.folders.as_deref()
    }

    /// The same for a tool that has one of these path arguments.
    pub(crate) fn keep_within(&mut self, folders: &Arc<str>, arguments: &[String]) {
        let properties = self.definition.input_schema.get("properties");
        if arguments.iter().any(|name| properties.is_some_and(|properties| properties.get(name).is_some())) {
            self.folders = Some(folders.clone());
        }
    }

    /// The paths that its server is started with, if the tool takes a path itself: `--repository
    /// "/data/site"`.
    pub fn started_with(&self) -> Option<&str> {
        self.started_with.as_deref()
    }

    /// The same for a tool that takes a path, judging by the names of its arguments.
    pub(crate) fn tell_arguments(&mut self, arguments: &Arc<str>) {
        let properties = self.definition.input_schema.get("properties").and_then(Value::as_object);
        let mut names = properties.into_iter().flatten().take(INDEXED_PARAMETERS).map(|(name, _)| name);
        if names.any(|name| split(name).iter().any(|word| NAMES_OF_PATHS.contains(&word.as_str()))) {
            self.started_with = Some(arguments.clone());
        }
    }

    /// The filter that is applied to its results before a script sees them, in jq's language, on
    /// one line.
    pub fn filter(&self) -> Option<&str> {
        self.filter.as_deref()
    }

    /// The same for a tool whose results are filtered. What its server says about them does not
    /// hold for what a script gets.
    pub(crate) fn filter_by(&mut self, filter: &str) {
        self.definition.output_schema = None;
        self.filter = Some(one_line(filter, FILTER_CHARS));
    }

    /// How a script calls it: `fs.read_file`, `notion.notion_search`.
    pub fn expression(&self) -> &str {
        &self.expression
    }

    /// The same under its exact name, if that is bound and different: `notion["notion-search"]`.
    pub fn exact_expression(&self) -> Option<String> {
        let other = self.names.binds_exact() && self.names.exact() != self.names.alias();
        other.then(|| format!("{}[{}]", self.namespace.alias(), quoted(self.names.exact())))
    }

    /// The first sentence of its description, on one line, safe to show. Empty if there is none.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Whether it is deprecated in favour of another tool of its server.
    pub(crate) fn is_deprecated(&self) -> bool {
        self.is_deprecated
    }

    /// The signature on one line: `fs.read_file(args: { path: string }): Promise<unknown>`.
    pub fn signature(&self) -> &str {
        self.signature.get_or_init(|| self.signed(None))
    }

    /// The same with the observed result, if the server declares none.
    pub fn signature_with(&self, observed: Option<&Observed>) -> String {
        match observed.filter(|_| self.definition.output_schema.is_none()) {
            None => self.signature().to_owned(),
            observed => self.signed(observed),
        }
    }

    fn signed(&self, observed: Option<&Observed>) -> String {
        let (namespace, name) = (self.namespace.alias(), self.names.alias());
        let signature = declaration::signature(namespace, name, &self.definition, observed);
        match (&self.filter, signature.strip_suffix('>')) {
            (Some(_), Some(signature)) => format!("{signature} /* filtered */>"),
            _ => signature,
        }
    }

    /// The whole TypeScript declaration, with its comments.
    pub fn declaration(&self) -> &str {
        self.declaration.get_or_init(|| self.declared(None))
    }

    /// The same with the observed result, if the server declares none.
    pub fn declaration_with(&self, observed: Option<&Observed>) -> String {
        match observed.filter(|_| self.definition.output_schema.is_none()) {
            None => self.declaration().to_owned(),
            observed => self.declared(observed),
        }
    }

    fn declared(&self, observed: Option<&Observed>) -> String {
        let remark = if self.is_script {
            "script of the owner; each tool that it calls is judged by itself".to_owned()
        } else if self.shares_state {
            format!("{}; one state for all calls of {}: call one after the other", self.effect, self.namespace.alias())
        } else {
            self.effect.to_string()
        };
        let remark = match self.folders() {
            Some(folders) => format!("{remark}; paths are {}", comment(folders)),
            None => remark,
        };
        let remark = match self.started_with().filter(|_| self.folders.is_none()) {
            Some(arguments) => format!("{remark}; {} is started with {}", self.namespace.alias(), comment(arguments)),
            None => remark,
        };
        let remark = match self.filter() {
            Some(filter) => format!("{remark}; result filtered by {}; tools.raw has the whole", comment(filter)),
            None => remark,
        };
        declaration::declaration(&self.namespace, &self.names, &self.definition, &remark, observed)
    }
}
