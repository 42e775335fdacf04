//! What a program offers to its runs: functions of its own, either in namespaces or global.

use std::{collections::HashMap, sync::Arc, time::Duration};

use belljar_catalog::{Names, ServerCatalog, namespaces};
use belljar_model::{Effect, EffectRules, ErrorKind, JsonText, RunError, ToolDefinition, ToolPath};
use belljar_sandbox::{
    AnswerRoom, AnswerStyle, CallError, CallStyle, Directory, Function, GrantedTool, MAX_NAMES, NameError, Namespace,
    check_globals, check_properties,
};
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{Toolbox, arguments::Checks};

/// The server of global functions that take an object, in paths and outcomes. No namespace can have
/// this name.
const GLOBAL: &str = "(global)";
/// The server of global functions that take any number of values.
const POSITIONAL: &str = "(positional)";

/// Calls the functions of a program.
pub trait HostFunctions: Send + Sync + 'static {
    /// Calls a function of a namespace, or a global one. The arguments are in extended JSON: an
    /// object, or an array for a positional function.
    ///
    /// # Cancellation
    /// The program is told that the call is cancelled.
    fn call(
        &self,
        namespace: Option<&str>,
        function: &str,
        arguments: JsonText,
    ) -> BoxFuture<'static, Result<HostAnswer, CallError>>;

    /// How many bytes of answers a run may leave untaken, if this run was cancelled because it left
    /// more.
    fn overfull(&self) -> Option<usize> {
        None
    }
}

/// The error of a run that left more than this many bytes of its answers untaken.
pub(crate) fn untaken(limit: usize) -> RunError {
    let message = format!(
        "answers of the host's functions wait, and the script does not take them: a run may leave {limit} bytes of them waiting, \
         less where others of its host leave some too"
    );
    RunError::new(ErrorKind::Calls, message).with_hint("ask for less at once: await calls in smaller groups")
}

/// What a function answered.
pub struct HostAnswer {
    /// The value in extended JSON; undefined if there is none.
    pub value: Option<JsonText>,
    /// It is dropped when the run has room for the value.
    pub held: Box<dyn Send>,
}

/// Functions in one object.
#[derive(Debug)]
pub struct HostNamespace {
    /// The name of the global.
    pub name: String,
    /// How the functions are called.
    pub style: CallStyle,
    /// The functions.
    pub tools: Vec<HostTool>,
}

/// A function.
#[derive(Debug)]
pub struct HostTool {
    /// What is known about it.
    pub definition: ToolDefinition,
    /// What the program says that a call may change.
    pub effect: Effect,
    /// Whether it has a schema for its arguments, against which calls are checked.
    pub is_checked: bool,
}

/// Why a program's functions cannot be offered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostToolsError {
    /// A name cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A name in a namespace cannot be used.
    #[error("in the namespace '{namespace}': {error}")]
    NameIn {
        /// The namespace.
        namespace: String,
        /// What is wrong.
        error: NameError,
    },
    /// There are too many functions.
    #[error(
        "there are {count} functions in all namespaces together; the limit is {MAX_NAMES}: offer only what the run needs"
    )]
    TooMany {
        /// How many there are.
        count: usize,
    },
}

/// A program's functions, and what scripts see of them.
pub struct HostTools {
    namespaces: Vec<Known>,
    functions: Vec<Function>,
    by_name: HashMap<String, usize>,
}

struct Known {
    namespace: Namespace,
    directory: Arc<Directory>,
    catalog: Arc<ServerCatalog>,
    /// The checks of arguments, if a function has a schema for them.
    checks: Option<Checks>,
}

impl HostTools {
    /// The functions of these namespaces, and global ones with their styles.
    ///
    /// # Errors
    /// [`HostToolsError`], if there is a name that a script could not use or that is taken, or if
    /// there are too many functions.
    pub fn new(
        offered: Vec<HostNamespace>,
        functions: Vec<(HostTool, CallStyle)>,
        builtins: bool,
        toolbox: &Toolbox,
    ) -> Result<Self, HostToolsError> {
        let count = offered.iter().map(|namespace| namespace.tools.len()).sum::<usize>() + functions.len();
        if count > MAX_NAMES {
            return Err(HostToolsError::TooMany { count });
        }
        let names = offered.iter().map(|namespace| namespace.name.as_str());
        check_globals(names.chain(functions.iter().map(|(tool, _)| tool.definition.name.as_str())), builtins)?;
        for namespace in &offered {
            check_properties(namespace.tools.iter().map(|tool| tool.definition.name.as_str()))
                .map_err(|error| HostToolsError::NameIn { namespace: namespace.name.clone(), error })?;
        }
        let plain = |server: &str, globals: Vec<String>, style: CallStyle| Namespace {
            style,
            answers: AnswerStyle::Plain,
            ..Namespace::new(server, globals)
        };
        let mut all: Vec<(Namespace, Vec<HostTool>)> = offered
            .into_iter()
            .map(|HostNamespace { name, style, tools }| (plain(&name, vec![name.clone()], style), tools))
            .collect();
        let mut global = Vec::new();
        let (object, positional): (Vec<_>, Vec<_>) =
            functions.into_iter().partition(|(_, style)| *style == CallStyle::Object);
        for (server, style, functions) in
            [(GLOBAL, CallStyle::Object, object), (POSITIONAL, CallStyle::Positional, positional)]
        {
            if functions.is_empty() {
                continue;
            }
            let tools: Vec<HostTool> = functions.into_iter().map(|(tool, _)| tool).collect();
            let function = |tool: &HostTool| {
                let name = tool.definition.name.clone();
                Function { property: name.clone(), name, namespace: all.len() }
            };
            global.extend(tools.iter().map(function));
            all.push((plain(server, Vec::new(), style), tools));
        }
        let names: Vec<&str> = all.iter().map(|(namespace, _)| namespace.server.as_str()).collect();
        let names = namespaces(&names);
        let namespaces: Vec<Known> = names
            .into_iter()
            .zip(all)
            .map(|(names, (namespace, tools))| Known::new(names, namespace, tools, toolbox))
            .collect();
        let by_name = namespaces.iter().enumerate().map(|(at, known)| (known.namespace.server.clone(), at)).collect();
        Ok(Self { namespaces, functions: global, by_name })
    }

    pub(super) fn namespaces(&self) -> impl Iterator<Item = &Namespace> {
        self.namespaces.iter().map(|known| &known.namespace)
    }

    pub(super) fn functions(&self) -> &[Function] {
        &self.functions
    }

    pub(super) fn count(&self) -> usize {
        self.namespaces.len()
    }

    pub(super) fn directory(&self, namespace: usize) -> Option<&Arc<Directory>> {
        self.namespaces.get(namespace).map(|known| &known.directory)
    }

    /// The functions that scripts can find by searching: those in namespaces. The program itself
    /// describes its global functions to models.
    pub(super) fn catalogs(&self) -> impl Iterator<Item = &Arc<ServerCatalog>> {
        self.namespaces.iter().filter(|known| !known.namespace.globals.is_empty()).map(|known| &known.catalog)
    }

    /// Whether a server is the program's.
    pub(super) fn has(&self, server: &str) -> bool {
        self.by_name.contains_key(server)
    }

    /// Whether a namespace or a global function has this name.
    pub(super) fn takes(&self, name: &str) -> bool {
        self.has(name) || self.functions.iter().any(|function| function.name == name)
    }

    /// Calls a function, if its arguments fit.
    pub(super) fn call(
        self: &Arc<Self>,
        functions: &Arc<dyn HostFunctions>,
        path: &ToolPath,
        arguments: JsonText,
        limit: Duration,
        room: Option<AnswerRoom>,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        let at = self.by_name.get(path.server()).copied();
        let is_checked = at.and_then(|at| self.namespaces.get(at)).is_some_and(|known| known.checks.is_some());
        if !is_checked {
            // The call is begun here, so that calls are sent in the order of the script.
            let call = called(functions, path, arguments);
            return async move { answered(timeout(limit, call).await, limit, room).await }.boxed();
        }
        let (tools, functions, path) = (self.clone(), functions.clone(), path.clone());
        async move {
            let answer = timeout(limit, async {
                let arguments = tools.admitted(&path, arguments).await?;
                called(&functions, &path, arguments).await
            });
            answered(answer.await, limit, room).await
        }
        .boxed()
    }

    /// The arguments, if they fit the schema of their function.
    async fn admitted(&self, path: &ToolPath, arguments: JsonText) -> Result<JsonText, CallError> {
        let known = self.by_name.get(path.server()).and_then(|at| self.namespaces.get(*at));
        let Some((known, checks)) = known.and_then(|known| Some((known, known.checks.as_ref()?))) else {
            return Ok(arguments);
        };
        let Ok(Value::Object(members)) = arguments.to_value() else {
            return Err(CallError::refused(format!("{} takes one object", path.tool())));
        };
        match checks.admit(path.tool(), members).await {
            Ok(admitted) => Ok(JsonText::from_value(&Value::Object(admitted.arguments))),
            Err(refusal) => {
                Err(CallError::refused(known.shown(&refusal.message)).with_hint(known.shown(&refusal.hint)))
            }
        }
    }
}

impl Known {
    fn new(names: Names, namespace: Namespace, tools: Vec<HostTool>, toolbox: &Toolbox) -> Self {
        let mut effects = EffectRules::default();
        let is_checked = namespace.style == CallStyle::Object && tools.iter().any(|tool| tool.is_checked);
        let definitions = tools.into_iter().map(|HostTool { definition, effect, .. }| {
            effects.declared.insert(definition.name.clone(), effect);
            definition
        });
        let definitions: Vec<ToolDefinition> = definitions.collect();
        let catalog = Arc::new(ServerCatalog::ready(names, definitions, &effects));
        let directory = Arc::new(Directory::new(catalog.tools().iter().flat_map(|tool| {
            let granted = GrantedTool { path: tool.path().clone(), effect: tool.effect() };
            tool.names().bound().map(move |name| (name.to_owned(), granted.clone()))
        })));
        let checks = is_checked.then(|| toolbox.checks_of(catalog.clone()));
        Self { namespace, directory, catalog, checks }
    }

    /// A text of the catalogue about a function, with the function written as in a script.
    fn shown(&self, text: &str) -> String {
        let written = format!("{}.", self.catalog.names().alias());
        match self.namespace.globals.first() {
            // A global function has no object.
            None => text.replace(&written, ""),
            // A name that no server of belljar's could have.
            Some(global) if *global != self.catalog.names().alias() => text.replace(&written, &format!("{global}.")),
            Some(_) => text.to_owned(),
        }
    }
}

fn called(
    functions: &Arc<dyn HostFunctions>,
    path: &ToolPath,
    arguments: JsonText,
) -> BoxFuture<'static, Result<HostAnswer, CallError>> {
    let namespace = Some(path.server()).filter(|server| ![GLOBAL, POSITIONAL].contains(server));
    functions.call(namespace, path.tool(), arguments)
}

/// The answer, once its run has room for it.
async fn answered(
    answer: Result<Result<HostAnswer, CallError>, tokio::time::error::Elapsed>,
    limit: Duration,
    room: Option<AnswerRoom>,
) -> Result<JsonText, CallError> {
    let HostAnswer { value, held } = answer.map_err(|_| CallError::timed_out(limit))??;
    let value = value.unwrap_or_else(|| JsonText::from_value(&json!({ "$belljar": "undefined" })));
    if let Some(room) = room {
        room.admit(value.as_str().len()).await;
    }
    drop(held);
    Ok(value)
}
