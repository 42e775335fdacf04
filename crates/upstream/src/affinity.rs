//! Which instance of a server a call is for, where each instance can serve one thing alone.
//!
//! The key is made of arguments of the call. Those that the tool itself does not declare are belljar's own: they are added to
//! what callers see of the tool, asked for, and taken out again before the call is sent.

use belljar_model::{Activation, Affinity, ServerSpec, ToolDefinition, Transport};
use serde_json::{Map, Value, json};

use crate::fault::CallFault;

/// The key that `arguments` give.
pub(crate) fn key(server: &str, affinity: &Affinity, arguments: &Map<String, Value>) -> Result<String, CallFault> {
    let mut key = affinity.template.clone();
    for name in affinity.arguments() {
        let fault = |problem| CallFault::Key { server: server.to_owned(), argument: name.to_owned(), problem };
        let value = match arguments.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            None | Some(Value::Null) => return Err(fault("it is missing")),
            Some(_) => return Err(fault("it must be a text")),
        };
        if value.is_empty() {
            return Err(fault("it is empty"));
        }
        if value.chars().any(char::is_control) {
            return Err(fault("it has a control character"));
        }
        if key.len() + value.len() > Affinity::KEY_BYTES {
            return Err(fault("it is too long"));
        }
        key = key.replacen(&format!("{{{name}}}"), &value, 1);
    }
    Ok(key)
}

/// The tools as callers see them.
pub(crate) fn shown(affinity: &Affinity, tools: &[ToolDefinition]) -> Vec<ToolDefinition> {
    let mut tools = tools.to_vec();
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

/// Takes out of `arguments` what `tool` does not declare itself.
pub(crate) fn take_own(affinity: &Affinity, tool: &ToolDefinition, arguments: &mut Map<String, Value>) {
    for name in affinity.arguments() {
        if !declares(tool, name) {
            arguments.remove(name);
        }
    }
}

/// The server for one key. Without a key, what would need one is left out: such an instance can list its tools, and no more is
/// asked of it.
pub(crate) fn instance(spec: &ServerSpec, key: Option<&str>) -> ServerSpec {
    let mut spec = spec.clone();
    let fill = |text: &str| match key {
        Some(key) => Some(text.replace(Affinity::PLACEHOLDER, key)),
        None => Some(text.to_owned()).filter(|text| !text.contains(Affinity::PLACEHOLDER)),
    };
    if let Transport::Stdio(command) = &mut spec.transport {
        command.args = command.args.iter().filter_map(|argument| fill(argument)).collect();
        command.env = command.env.iter().filter_map(|(name, value)| Some((name.clone(), fill(value)?))).collect();
        command.cwd = command.cwd.take().and_then(|cwd| match cwd.to_str() {
            Some(text) => fill(text).map(Into::into),
            None => Some(cwd),
        });
    }
    let activations = std::mem::take(&mut spec.life.on_start);
    spec.life.on_start = activations.into_iter().filter_map(|activation| activated(activation, &fill)).collect();
    spec
}

fn activated(activation: Activation, fill: &impl Fn(&str) -> Option<String>) -> Option<Activation> {
    let arguments = activation.arguments.into_iter().map(|(name, value)| match value {
        Value::String(text) => fill(&text).map(|text| (name, Value::String(text))),
        value => Some((name, value)),
    });
    Some(Activation { arguments: arguments.collect::<Option<_>>()?, tool: activation.tool })
}

fn declares(tool: &ToolDefinition, argument: &str) -> bool {
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

    #[test]
    fn a_key_is_made_of_arguments_and_each_is_asked_for() {
        let two = affinity("{owner}/{name}");
        assert_eq!(key("s", &two, &object(json!({"owner": "ada", "name": 7}))).expect("a key"), "ada/7");
        for (arguments, expected) in [
            (json!({"owner": "ada"}), "it is missing"),
            (json!({"owner": "ada", "name": null}), "it is missing"),
            (json!({"owner": "ada", "name": ["x"]}), "it must be a text"),
            (json!({"owner": "ada", "name": ""}), "it is empty"),
            (json!({"owner": "ada", "name": "a\nb"}), "it has a control character"),
            (json!({"owner": "ada", "name": "x".repeat(5_000)}), "it is too long"),
        ] {
            let fault = key("s", &two, &object(arguments)).expect_err(expected);
            assert!(matches!(fault, CallFault::Key { problem, .. } if problem == expected), "{fault}");
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
        let seen = shown(&project, &tools);
        assert_eq!(seen[0].input_schema["required"], json!(["project"]));
        assert_eq!(seen[1], tools[1]);
        for (tool, expected) in tools.iter().zip([json!({"x": 1}), json!({"project": "p", "x": 1})]) {
            let mut arguments = object(json!({"project": "p", "x": 1}));
            take_own(&project, tool, &mut arguments);
            assert_eq!(Value::Object(arguments), expected);
        }
    }

    #[test]
    fn an_instance_has_the_key_wherever_it_is_named_and_one_without_a_key_leaves_that_out() {
        let command = StdioCommand {
            command: "serve".to_owned(),
            args: vec!["--fast".to_owned(), "--project={key}".to_owned()],
            env: BTreeMap::from([("PROJECT".to_owned(), "{key}".to_owned())]),
            cwd: Some(PathBuf::from("{key}")),
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
