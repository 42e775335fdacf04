//! Decides which project of a server a call is for, if its owner has named projects: by name, by a
//! path in the project, or by words.
//!
//! A call is routed before its arguments are checked and judged, so that the owner's rules see the
//! project's name, whatever the call said.

use std::{path::Path, sync::Arc};

use belljar_catalog::routing::{Route, Router, TooLong, names_shown};
use belljar_model::{JsonText, PathRules, Projects, ServerSpec, ToolPath, nearest};
use belljar_sandbox::KnownArguments;
use belljar_upstream::project_of;
use serde_json::{Map, Value, json};
use tokio::task::spawn_blocking;

use crate::{Toolbox, arguments::Refusal};

/// The most characters of a name or a path that an error repeats.
const MAX_SHOWN: usize = 100;

/// The projects of a server.
pub(crate) struct Routing {
    projects: Arc<Projects>,
    router: Router,
    /// The owner's message about paths outside the projects.
    guidance: Option<String>,
}

/// A call to all projects.
pub(crate) struct Spread {
    /// The argument that names the project.
    pub(crate) argument: String,
    pub(crate) projects: Vec<String>,
}

impl Routing {
    /// `None` if the server has no projects.
    pub(crate) fn of(spec: &ServerSpec) -> Option<Self> {
        let projects = spec.life.projects.clone()?;
        let guidance = spec.life.paths.as_ref().and_then(|PathRules { guidance, .. }| guidance.clone());
        Some(Self { router: Router::new(&projects), projects: Arc::new(projects), guidance })
    }

    /// Where each project is.
    pub(crate) fn folders(&self) -> Vec<(&str, Option<&Path>)> {
        self.projects.all.iter().map(|project| (project.name.as_str(), project.path.as_deref())).collect()
    }

    /// The name of the project that a call names, or whose folder contains the path that it names.
    async fn named(&self, server: &str, key: &str) -> Result<String, Refusal> {
        if self.projects.get(key).is_some() {
            return Ok(key.to_owned());
        }
        let shown: String = key.chars().take(MAX_SHOWN).collect();
        if !key.starts_with('/') && !Path::new(key).is_absolute() {
            let hint = match nearest(&shown, self.projects.names()) {
                Some(near) => format!("did you mean '{near}'? The projects are {}", names_shown(&self.projects)),
                None => format!("the projects are {}", names_shown(&self.projects)),
            };
            return Err(self.refusal(format!("{server} has no project '{shown}'"), hint));
        }
        let (projects, path) = (self.projects.clone(), key.to_owned());
        let found = spawn_blocking(move || project_of(&projects, &path)).await;
        let hint = || format!("the projects are {}", names_shown(&self.projects));
        match found.unwrap_or_else(|_| Err(format!("'{shown}' could not be resolved"))) {
            Ok(Some(name)) => Ok(name),
            Ok(None) => Err(self.refusal(format!("'{shown}' is outside of every project of {server}"), hint())),
            Err(problem) => Err(self.refusal(format!("the project is a path that cannot be used: {problem}"), hint())),
        }
    }

    fn refusal(&self, message: String, hint: String) -> Refusal {
        let message = match &self.guidance {
            Some(guidance) => format!("{message}. {guidance}"),
            None => message,
        };
        Refusal { message, hint }
    }

    /// The project for calls with these words.
    fn by_words(&self, words: &str) -> Result<String, Refusal> {
        let key = &self.projects.argument;
        let hint = format!("name it with '{key}': the projects are {}", names_shown(&self.projects));
        let route = self.router.route(words).map_err(|TooLong { .. }| Refusal {
            message: format!("'{}': {}", Projects::CONTEXT, TooLong { bytes: words.len() }),
            hint: hint.clone(),
        })?;
        let problem = route.problem();
        route.project.ok_or(Refusal { message: problem, hint })
    }
}

/// What a call says about its project.
enum Said {
    Key(String),
    Words(String),
    Nothing,
}

impl Toolbox {
    /// The arguments of a call with the name of its project, if its server has projects.
    ///
    /// # Errors
    /// The call names no project, or uses two ways to name one, or the project does not exist or
    /// cannot be called, or its words fit none.
    pub(crate) async fn routed(
        &self,
        path: &ToolPath,
        mut arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, Refusal> {
        let Some(routing) = self.routing_of(path.server()) else { return Ok(arguments) };
        let key = &routing.projects.argument;
        let refused = |message: String| Refusal {
            message: format!("{path}: {message}"),
            hint: format!("'{key}' is one of {}", names_shown(&routing.projects)),
        };
        let name = match self.said(path, routing, &mut arguments).map_err(refused)? {
            // Whether any other value is valid is left to the check of the arguments.
            None => return Ok(arguments),
            Some(Said::Key(key)) => routing.named(path.server(), &key).await?,
            Some(Said::Words(words)) => routing.by_words(&words)?,
            Some(Said::Nothing) => match &routing.projects.default {
                Some(default) => default.clone(),
                None => {
                    return Err(refused(format!("it needs '{key}', or '{}' with words", Projects::CONTEXT)));
                }
            },
        };
        if let Some(fault) = routing.projects.get(&name).and_then(|project| project.fault.as_ref()) {
            let hint = "correct the file, or say in belljar.toml what it says".to_owned();
            return Err(
                routing.refusal(format!("project '{name}' of {} cannot be called: {fault}", path.server()), hint)
            );
        }
        arguments.insert(key.clone(), name.into());
        Ok(arguments)
    }

    /// Removes the arguments that belljar has added to those of the tool. `None` if the project's
    /// argument is neither a text nor a number.
    fn said(
        &self,
        path: &ToolPath,
        routing: &Routing,
        arguments: &mut Map<String, Value>,
    ) -> Result<Option<Said>, String> {
        let (key, context, spread) = (&routing.projects.argument, Projects::CONTEXT, Projects::SPREAD);
        let mut taken = |name: &str| {
            let is_ours = self.upstream().adds(path, name);
            is_ours.then(|| arguments.remove(name)).flatten().filter(|value| !value.is_null())
        };
        let (words, all) = (taken(context), taken(spread));
        let given = arguments.get(key).filter(|value| !value.is_null());
        match (given, words, all) {
            (None, None, None) => Ok(Some(Said::Nothing)),
            (Some(Value::String(text)), None, None) => Ok(Some(Said::Key(text.clone()))),
            (Some(Value::Number(number)), None, None) => Ok(Some(Said::Key(number.to_string()))),
            (Some(_), None, None) => Ok(None),
            (None, Some(Value::String(words)), None) => Ok(Some(Said::Words(words))),
            (None, Some(_), None) => Err(format!("'{context}' must be a text")),
            (None, None, Some(_)) => {
                Err(format!("'{spread}' takes \"{}\" alone, in a script or `belljar call`", Projects::ALL))
            }
            _ => Err(format!("give one of '{key}', '{context}' and '{spread}'")),
        }
    }

    /// The same for arguments that are not all known before a script runs.
    pub(crate) async fn foreseen(&self, path: &ToolPath, known: &KnownArguments) -> KnownArguments {
        let mut known = known.clone();
        let Some(routing) = self.routing_of(path.server()) else { return known };
        let key = &routing.projects.argument;
        let in_doubt = |name: &str| {
            let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            let mut doubts = known.unknown.iter().chain(&known.texts);
            doubts.any(|place| *place == pointer) || known.open.iter().any(String::is_empty)
        };
        let is_clear = ![key, Projects::CONTEXT, Projects::SPREAD].into_iter().any(in_doubt);
        let mut value = known.value.clone();
        let said = if is_clear { self.said(path, routing, &mut value) } else { Ok(None) };
        let name = match said {
            Ok(Some(Said::Key(key))) => routing.named(path.server(), &key).await.ok(),
            Ok(Some(Said::Words(words))) => routing.by_words(&words).ok(),
            Ok(Some(Said::Nothing)) => routing.projects.default.clone(),
            Ok(None) | Err(_) => None,
        };
        // The call itself reports what is wrong with these arguments.
        let of_ours = [Projects::CONTEXT, Projects::SPREAD].into_iter().filter(|name| self.upstream().adds(path, name));
        for name in of_ours {
            known.value.remove(name);
            let pointer = format!("/{name}");
            known.unknown.retain(|place| *place != pointer);
            known.texts.retain(|place| *place != pointer);
        }
        match name {
            Some(name) => {
                known.value.insert(key.clone(), name.into());
            }
            None => {
                let pointer = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
                known.value.insert(key.clone(), "".into());
                known.unknown.retain(|place| *place != pointer);
                if !known.texts.contains(&pointer) {
                    known.texts.push(pointer);
                }
            }
        }
        known
    }

    /// Whether a call is for all projects. The code for single calls makes such a call once for
    /// each.
    pub(crate) fn spread(&self, path: &ToolPath, arguments: &Map<String, Value>) -> Option<Spread> {
        let routing = self.routing_of(path.server())?;
        let Projects { argument, .. } = routing.projects.as_ref();
        let is_all = arguments.get(Projects::SPREAD).and_then(Value::as_str) == Some(Projects::ALL);
        let is_named = [argument.as_str(), Projects::CONTEXT].iter().any(|name| arguments.contains_key(*name));
        let is_spread = is_all && !is_named && self.upstream().adds(path, Projects::SPREAD);
        let projects = || routing.projects.names().map(str::to_owned).collect();
        is_spread.then(|| Spread { argument: argument.clone(), projects: projects() })
    }

    /// The answer of `tools.route` and `belljar route`.
    pub(crate) fn route(&self, target: &str, words: Option<&str>) -> Result<JsonText, String> {
        let (name, tool) = match target.split_once('.') {
            Some((server, tool)) => (server, Some(tool)),
            None => (target, None),
        };
        let shown: String = name.chars().take(MAX_SHOWN).collect();
        let Some(server) = self.exact_name(name) else {
            let near = nearest(&shown, self.names().map(|names| names.exact()));
            let hint = near.map(|near| format!(": did you mean '{near}'?")).unwrap_or_default();
            return Err(format!("there is no server '{shown}'{hint}"));
        };
        let Some(routing) = self.routing_of(server) else {
            return Err(format!("there is nothing to choose: {server} has no projects"));
        };
        let Some(words) = words else {
            let adds = |tool: &str| {
                let path = self.exact_tool(server, tool);
                path.is_some_and(|path| self.upstream().adds(&path, Projects::SPREAD))
            };
            if tool.is_some_and(|tool| !adds(tool)) {
                return Err(format!("{target} has an argument '{}' of its own", Projects::SPREAD));
            }
            let names: Vec<&str> = routing.projects.names().collect();
            let all = json!({ "server": server, "argument": routing.projects.argument, "projects": names });
            return Ok(JsonText::from_value(&all));
        };
        let route = routing.router.route(words).map_err(|fault| fault.to_string())?;
        Ok(JsonText::from_value(&told(server, &route)))
    }
}

/// The JSON form of a route.
fn told(server: &str, route: &Route) -> Value {
    let mut told = json!(route);
    if let Value::Object(members) = &mut told {
        members.insert("server".to_owned(), server.into());
    }
    told
}

/// Where words lead among the projects of a server with this configuration, or `None` if it has no
/// projects. Nothing is started.
///
/// # Errors
/// The words are too long.
pub fn routed_by_words(spec: &ServerSpec, words: &str) -> Option<Result<(Value, Route), TooLong>> {
    let routing = Routing::of(spec)?;
    Some(routing.router.route(words).map(|route| (told(&spec.name, &route), route)))
}
