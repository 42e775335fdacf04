//! Which instance of a server a call is for, if each instance can serve only one thing.
//!
//! The key is made from arguments of the call. Those that the tool itself does not declare belong
//! to belljar: they are added, as required arguments, to what callers see of the tool, and removed
//! again before the call is sent.
//!
//! A key becomes part of a process's command line, environment and folder. So a script's part in it
//! is a name: it cannot be read as an option, and leads to no other folder. Only arguments that the
//! owner calls paths may be paths, and are checked as such.

use std::path::{Component, Path};

use belljar_model::{
    Activation, Affinity, KeyPiece, PathRules, Projects, ServerSpec, Share, ToolDefinition, Transport,
};
use serde_json::{Map, Value, json};

use crate::{
    error::CallError,
    tools::{
        key_places::{self, Place},
        paths,
        projects::project_of,
    },
};

/// The longest name that a script may put into a key, in bytes: the limit of file systems.
const PART_BYTES: usize = 255;
/// The most names of projects in the description of an argument.
const NAMES_SHOWN: usize = 12;

/// The key from `arguments`. Those that `rules` name have been resolved already. A key that is a
/// path is resolved as a whole, since a part of it may be a link. A key that is a name leads only
/// where the owner's texts say.
pub(crate) async fn key(
    spec: &ServerSpec,
    affinity: &Affinity,
    base: Option<&Path>,
    arguments: &Map<String, Value>,
) -> Result<String, CallError> {
    let rules = spec.life.paths.as_ref();
    let key = composed(&spec.name, affinity, rules, arguments)?;
    if let Some(projects) = &spec.life.projects {
        let Some(project) = projects.get(&key) else {
            let (server, argument) = (spec.name.clone(), projects.argument.clone());
            return Err(CallError::Key { server, argument, problem: "its owner has named no such project" });
        };
        if let (Some(folder), Some(path)) = (project.within.clone(), project.path.clone()) {
            paths::keep_within(None, vec![Place { folder, path }], &projects.argument).await?;
        }
        return Ok(key);
    }
    if !is_path(affinity, rules) {
        let places = key_places::of(spec, &key);
        paths::keep_within(rules, places, &affinity.template).await?;
        return Ok(key);
    }
    paths::resolve(&rules.cloned().unwrap_or_default(), base, &affinity.template, key).await
}

/// Lets the folder that a caller works in choose the instance, if the call omits one argument of
/// the key. The value is the project whose folder contains it, or the folder itself if the owner
/// calls that argument a path. Returns whether the argument was added.
///
/// # Errors
/// The folder is needed, and is not an absolute path or is in no project.
pub fn route_by_folder(spec: &ServerSpec, arguments: &mut Map<String, Value>, folder: &str) -> Result<bool, CallError> {
    let Some(affinity) = &spec.life.affinity else { return Ok(false) };
    let is_missing = |name: &&str| arguments.get(*name).is_none_or(Value::is_null);
    let mut missing: Vec<&str> = affinity.arguments().filter(is_missing).collect();
    missing.dedup();
    let [argument] = missing.as_slice() else { return Ok(false) };
    if let Some(projects) = &spec.life.projects {
        let says_another_way = [Projects::CONTEXT, Projects::SPREAD].iter().any(|name| arguments.contains_key(*name));
        if says_another_way {
            return Ok(false);
        }
        let unusable =
            |problem| CallError::Key { server: spec.name.clone(), argument: (*argument).to_owned(), problem };
        let project = project_of(projects, folder)
            .map_err(|_| unusable("it would follow from the caller's folder, which is not an absolute path"))?
            .ok_or_else(|| unusable("the folder that the caller works in is in no project"))?;
        arguments.insert((*argument).to_owned(), project.into());
        return Ok(true);
    }
    if !is_declared_path(spec.life.paths.as_ref(), argument) {
        return Ok(false);
    }
    if !Path::new(folder).is_absolute() {
        let problem = "it would follow from the caller's folder, which is not an absolute path";
        return Err(CallError::Key { server: spec.name.clone(), argument: (*argument).to_owned(), problem });
    }
    arguments.insert((*argument).to_owned(), folder.into());
    Ok(true)
}

/// Puts the values into the template. Each is checked separately, and the result once more.
fn composed(
    server: &str,
    affinity: &Affinity,
    rules: Option<&PathRules>,
    arguments: &Map<String, Value>,
) -> Result<String, CallError> {
    let fault = |name: &str, problem| CallError::Key { server: server.to_owned(), argument: name.to_owned(), problem };
    let mut key = String::new();
    for piece in affinity.pieces() {
        let name = match piece {
            KeyPiece::Text(text) => {
                key.push_str(text);
                continue;
            }
            KeyPiece::Argument(name) => name,
        };
        let value = match arguments.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            None | Some(Value::Null) => return Err(fault(name, "it is missing")),
            Some(_) => return Err(fault(name, "it must be a text")),
        };
        let longest = if is_declared_path(rules, name) { Affinity::KEY_BYTES } else { PART_BYTES };
        let problem = problem_of_any(&value, longest)
            .or_else(|| if is_declared_path(rules, name) { None } else { problem_of_part(&value) });
        if let Some(problem) = problem {
            return Err(fault(name, problem));
        }
        key.push_str(&value);
    }
    match problem_of_any(&key, Affinity::KEY_BYTES) {
        Some(problem) => Err(fault(&affinity.template, problem)),
        None => Ok(key),
    }
}

/// What is wrong with a value wherever it stands.
fn problem_of_any(value: &str, longest: usize) -> Option<&'static str> {
    match value {
        "" => Some("it is empty"),
        _ if value.chars().any(char::is_control) => Some("it has a control character"),
        _ if value.starts_with('-') => Some("it begins with '-', as options do"),
        _ if value.len() > longest => Some("it is too long"),
        _ => None,
    }
}

/// What is wrong with a value that must be a name.
fn problem_of_part(value: &str) -> Option<&'static str> {
    let mut components = Path::new(value).components();
    let is_name = match (components.next(), components.next()) {
        // A separator may only be at the end of the whole key.
        (Some(Component::Normal(name)), None) => name == value,
        _ => false,
    };
    (!is_name || value.contains('\\')).then_some("it must be a name, without '/', '\\' or '..'")
}

/// Whether the key as a whole is a path according to the owner: it begins at the root, or with a
/// path argument.
fn is_path(affinity: &Affinity, rules: Option<&PathRules>) -> bool {
    match affinity.pieces().first() {
        Some(KeyPiece::Text(text)) => Path::new(text).has_root(),
        Some(KeyPiece::Argument(name)) => is_declared_path(rules, name),
        None => false,
    }
}

fn is_declared_path(rules: Option<&PathRules>, argument: &str) -> bool {
    rules.is_some_and(|rules| rules.arguments.iter().any(|name| name == argument))
}

/// The tools as callers see them.
pub(crate) fn shown(affinity: &Affinity, projects: Option<&Projects>, tools: &[ToolDefinition]) -> Vec<ToolDefinition> {
    let mut tools = tools.to_vec();
    if let Some(projects) = projects {
        tools.iter_mut().for_each(|tool| show_projects(projects, tool));
        return tools;
    }
    for tool in &mut tools {
        for name in affinity.arguments().map(str::to_owned).collect::<Vec<_>>() {
            if declares(tool, &name) {
                continue;
            }
            let description = format!("Which {name} the call is for: this server has an instance for each");
            let properties = tool.input_schema.entry("properties").or_insert_with(|| json!({}));
            if let Value::Object(properties) = properties {
                properties.insert(name.clone(), json!({"type": "string", "description": description}));
            }
            let required = tool.input_schema.entry("required").or_insert_with(|| json!([]));
            if let Value::Array(required) = required {
                required.push(name.into());
            }
        }
    }
    tools
}

/// Adds the ways to say which project a call is for. None of them is required: which one a call
/// uses shows when it is routed.
fn show_projects(projects: &Projects, tool: &mut ToolDefinition) {
    let key = &projects.argument;
    let mut names = projects.names().take(NAMES_SHOWN).collect::<Vec<_>>().join(", ");
    if projects.all.len() > NAMES_SHOWN {
        names.push_str(", …");
    }
    let added = [
        (key.as_str(), json!({ "type": "string", "description": format!("Which project: {names}") })),
        (
            Projects::CONTEXT,
            json!({ "type": "string", "description": format!("Words that say which project, in place of {key}") }),
        ),
        (
            Projects::SPREAD,
            json!({
                "const": Projects::ALL,
                "description": format!("Calls all projects, in place of {key}: the answer is {{name: {{value}} or {{error}}}}"),
            }),
        ),
    ];
    let is_required = |name: &Value| name.as_str() == Some(key);
    if let Some(Value::Array(required)) = tool.input_schema.get_mut("required") {
        required.retain(|name| !is_required(name));
    }
    for (name, schema) in added {
        if name != key && declares(tool, name) {
            continue;
        }
        let properties = tool.input_schema.entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(properties) = properties {
            properties.insert(name.to_owned(), schema);
        }
    }
}

/// The arguments that `tool` does not declare itself. They are removed before it is called.
pub(crate) fn own<'a>(affinity: &'a Affinity, tool: &ToolDefinition) -> Vec<&'a str> {
    affinity.arguments().filter(|name| !declares(tool, name)).collect()
}

/// The server for one key. Without a key, parts that need one are left out: such an instance is
/// only used to list its tools.
pub(crate) fn instance(spec: &ServerSpec, key: Option<&str>) -> ServerSpec {
    let project = key.and_then(|key| spec.life.projects.as_ref()?.get(key));
    let path = project.and_then(|project| project.path.as_ref()).map(|path| path.to_string_lossy().into_owned());
    let value = path.as_deref().or(key);
    filled(spec, &|text| match value {
        Some(key) => Some(text.replace(Affinity::PLACEHOLDER, key)),
        None => Some(text.to_owned()).filter(|text| !text.contains(Affinity::PLACEHOLDER)),
    })
}

/// Whether a server's configuration contains the principal's name.
pub(crate) fn names_principal(spec: &ServerSpec) -> bool {
    spec.life.share == Share::Principal && of_principal(spec, "") != *spec
}

/// The server for one principal, with its name inserted.
pub(crate) fn of_principal(spec: &ServerSpec, principal: &str) -> ServerSpec {
    filled(spec, &|text| Some(text.replace(Share::PLACEHOLDER, principal)))
}

/// The server with each of the owner's texts mapped by `fill`; texts for which it returns `None`
/// are left out.
fn filled(spec: &ServerSpec, fill: &impl Fn(&str) -> Option<String>) -> ServerSpec {
    let mut spec = spec.clone();
    if let Transport::Stdio(command) = &mut spec.transport {
        command.args = command.args.iter().filter_map(|argument| fill(argument)).collect();
        command.env = command.env.iter().filter_map(|(name, value)| Some((name.clone(), fill(value)?))).collect();
        command.cwd = command.cwd.take().and_then(|cwd| match cwd.to_str() {
            Some(text) => fill(text).map(Into::into),
            None => Some(cwd),
        });
    }
    let activations = std::mem::take(&mut spec.life.on_start);
    spec.life.on_start = activations.into_iter().filter_map(|activation| activated(activation, fill)).collect();
    spec
}

fn activated(activation: Activation, fill: &impl Fn(&str) -> Option<String>) -> Option<Activation> {
    let arguments = activation.arguments.into_iter().map(|(name, value)| match value {
        Value::String(text) => fill(&text).map(|text| (name, Value::String(text))),
        value => Some((name, value)),
    });
    Some(Activation { arguments: arguments.collect::<Option<_>>()?, tool: activation.tool })
}

/// Whether the server itself declares such an argument for the tool.
pub(crate) fn declares(tool: &ToolDefinition, argument: &str) -> bool {
    tool.input_schema.get("properties").and_then(Value::as_object).is_some_and(|known| known.contains_key(argument))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, path::PathBuf};

    use belljar_model::StdioCommand;

    use super::*;

    fn affinity(template: &str) -> Affinity {
        Affinity { template: template.to_owned(), instances: Affinity::INSTANCES }
    }

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().expect("an object")
    }

    /// The key of a server with this template and these rules.
    async fn key_of(template: &str, rules: Option<PathRules>, arguments: Value) -> Result<String, CallError> {
        let mut spec = ServerSpec::new("s", Transport::BuiltIn("s".to_owned()));
        spec.life.paths = rules;
        key(&spec, &affinity(template), None, &object(arguments)).await
    }

    #[tokio::test]
    async fn a_key_is_made_of_arguments_and_each_is_asked_for() {
        let two = "{owner}/{name}";
        assert_eq!(key_of(two, None, json!({"owner": "ada", "name": 7})).await.expect("a key"), "ada/7");
        // A value that looks like a piece of the template is not treated as one.
        let braces = json!({"owner": "{name}", "name": "{owner}"});
        assert_eq!(key_of(two, None, braces).await.expect("a key"), "{name}/{owner}");
        for (arguments, expected) in [
            (json!({"owner": "ada"}), "it is missing"),
            (json!({"owner": "ada", "name": null}), "it is missing"),
            (json!({"owner": "ada", "name": ["x"]}), "it must be a text"),
            (json!({"owner": "ada", "name": ""}), "it is empty"),
            (json!({"owner": "ada", "name": "a\nb"}), "it has a control character"),
            (json!({"owner": "ada", "name": "x".repeat(5_000)}), "it is too long"),
        ] {
            let fault = key_of(two, None, arguments).await.expect_err(expected);
            assert!(matches!(fault, CallError::Key { problem, .. } if problem == expected), "{fault}");
        }
    }

    #[tokio::test]
    async fn a_part_of_a_key_is_a_name_and_neither_a_path_nor_an_option() {
        for name in [
            "../../../../etc",
            "..",
            ".",
            "a/b",
            "a/",
            "/etc",
            "/",
            "a\\b",
            "\\\\host\\share",
            "-x",
            "--eval=1",
            "a\u{0}b",
            "a\nb",
            "",
        ] {
            for template in ["{name}", "{owner}/{name}", "/srv/{name}", "repo:{name}"] {
                let refused = key_of(template, None, json!({"owner": "ada", "name": name})).await;
                assert!(matches!(refused, Err(CallError::Key { .. })), "{template} {name:?}: {refused:?}");
            }
        }
        assert!(key_of("{n}", None, json!({"n": -5})).await.is_err());
        for name in ["a", "a b", "a.b", "...", "ünï", "a-b", "a:b"] {
            assert_eq!(key_of("{name}", None, json!({"name": name})).await.expect("a key"), name);
        }
        assert!(key_of("-{a}", None, json!({"a": "x"})).await.is_err(), "the template itself makes an option of it");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_key_that_is_a_path_stays_where_paths_may_lead() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        std::fs::create_dir_all(root.join("in/project")).expect("a folder");
        std::fs::create_dir_all(root.join("out")).expect("a folder");
        symlink(root.join("out"), root.join("in/escape")).expect("a link");
        let inside = root.join("in").to_string_lossy().into_owned();
        let rules = |arguments: &[&str]| {
            let arguments = arguments.iter().map(|name| (*name).to_owned()).collect();
            Some(PathRules { arguments, roots: vec![root.join("in")], ..PathRules::default() })
        };
        let named = |name: &str| json!({"root": inside, "name": name});
        let at = async |template: &str, name: &str| key_of(template, rules(&["root"]), named(name)).await;
        let template = format!("{inside}/{{name}}");
        assert_eq!(at("{root}/{name}", "project").await.expect("a key"), format!("{inside}/project"));
        assert_eq!(at(&template, "project").await.expect("a key"), format!("{inside}/project"));
        for (template, name) in [("{root}/{name}", "escape"), (template.as_str(), "escape"), ("{root}{name}", "side")] {
            let refused = at(template, name).await;
            assert!(matches!(refused, Err(CallError::Path { .. })), "{template} {name}: {refused:?}");
        }
        assert!(matches!(at("{root}/{name}", "../../etc").await, Err(CallError::Key { .. })));
        assert!(matches!(at("{root}/.{name}", ".").await, Err(CallError::Key { .. })));
        // Without roots every folder is allowed, but only as a folder.
        let resolved = key_of(&template, None, json!({"name": "escape"})).await.expect("a key");
        assert_eq!(resolved, root.join("out").to_string_lossy());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_name_behind_a_folder_of_the_owners_leads_out_of_it_by_no_link() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        for sub in ["in/project", "in/closed", "elsewhere", "out"] {
            std::fs::create_dir_all(root.join(sub)).expect("a folder");
        }
        for (to, name) in [
            ("out", "escape"),
            ("nowhere", "dangling"),
            ("in/project", "alias"),
            ("elsewhere", "allowed"),
            ("in/closed", "shut"),
        ] {
            symlink(root.join(to), root.join("in").join(name)).expect("a link");
        }
        symlink(root.join("out"), root.join("in/project/data")).expect("a link");
        let inside = root.join("in").to_string_lossy().into_owned();
        let with = |args: &[String], cwd: Option<String>, rules: Option<PathRules>| {
            let command = StdioCommand {
                command: "serve".to_owned(),
                args: args.to_vec(),
                env: BTreeMap::new(),
                cwd: cwd.map(Into::into),
                sandbox: None,
            };
            let mut spec = ServerSpec::new("s", Transport::Stdio(command));
            spec.life.paths = rules;
            spec
        };
        let rules = PathRules {
            roots: vec![root.join("elsewhere")],
            denied: vec![root.join("in/closed")],
            ..PathRules::default()
        };
        let at = async |spec: &ServerSpec, name: &str| {
            key(spec, &affinity("{name}"), None, &object(json!({ "name": name }))).await
        };
        for spec in [
            with(&[format!("{inside}/{{key}}")], None, None),
            with(&[format!("--project={inside}/{{key}}")], None, None),
            with(&[], Some(format!("{inside}/{{key}}")), None),
            with(&["in/{key}".to_owned()], Some(root.to_string_lossy().into_owned()), None),
        ] {
            for name in ["project", "alias", "not-there-yet"] {
                assert_eq!(at(&spec, name).await.expect("a key"), name);
            }
            for name in ["escape", "dangling", "allowed"] {
                let refused = at(&spec, name).await;
                assert!(matches!(refused, Err(CallError::Path { .. })), "{name}: {refused:?}");
            }
        }
        let deeper = with(&[format!("{inside}/{{key}}/data:ro")], None, None);
        assert!(at(&deeper, "project").await.is_err(), "what stands behind the key is part of the path");
        let ruled = with(&[format!("{inside}/{{key}}")], None, Some(rules));
        assert_eq!(at(&ruled, "allowed").await.expect("where paths may lead"), "allowed");
        for name in ["escape", "shut"] {
            assert!(at(&ruled, name).await.is_err(), "{name}");
        }
    }

    #[test]
    fn callers_see_the_argument_and_the_tool_that_has_it_not_does_not() {
        let project = affinity("{project}");
        let tool =
            |schema: Value| ToolDefinition::from_json(json!({"name": "t", "inputSchema": schema})).expect("a tool");
        let tools = [
            tool(json!({"type": "object"})),
            tool(json!({"type": "object", "properties": {"project": {"type": "string"}}, "required": ["project"]})),
        ];
        let seen = shown(&project, None, &tools);
        assert_eq!(seen[0].input_schema["required"], json!(["project"]));
        assert_eq!(seen[1], tools[1]);
        assert_eq!(tools.each_ref().map(|tool| own(&project, tool)), [vec!["project"], vec![]]);
    }

    #[test]
    fn an_instance_has_the_key_wherever_it_is_named_and_one_without_a_key_leaves_that_out() {
        let command = StdioCommand {
            command: "serve".to_owned(),
            args: vec!["--fast".to_owned(), "--project={key}".to_owned()],
            env: BTreeMap::from([("PROJECT".to_owned(), "{key}".to_owned())]),
            cwd: Some(PathBuf::from("{key}")),
            sandbox: None,
        };
        let mut spec = ServerSpec::new("s", Transport::Stdio(command));
        spec.life.on_start =
            vec![Activation { tool: "activate".into(), arguments: object(json!({"p": "{key}", "n": 1})) }];
        let filled = instance(&spec, Some("/a"));
        let Transport::Stdio(command) = &filled.transport else { panic!("a program") };
        assert_eq!(command.args, ["--fast", "--project=/a"]);
        assert_eq!((command.env["PROJECT"].as_str(), command.cwd.as_deref()), ("/a", Some("/a".as_ref())));
        assert_eq!(Value::Object(filled.life.on_start[0].arguments.clone()), json!({"p": "/a", "n": 1}));
        let empty = instance(&spec, None);
        let Transport::Stdio(command) = &empty.transport else { panic!("a program") };
        assert_eq!((command.args.as_slice(), command.env.len(), &command.cwd), (&["--fast".to_owned()][..], 0, &None));
        assert!(empty.life.on_start.is_empty());
    }
}
