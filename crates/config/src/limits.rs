//! The `[limits]` of belljar.toml.

use belljar_model::LimitsPatch;
use serde::Deserialize as _;

use crate::{
    Format,
    error::{Fault, Field, Located},
    tree::{Entry, Node, Value},
};

/// Reads the limits. Their names, types and units are the model's; each is tried alone to know where a wrong one stands.
pub(crate) fn read(node: &Node) -> Result<LimitsPatch, Located> {
    let Value::Table(entries) = &node.value else {
        let found = node.kind(Format::Toml);
        return Err(Fault::Expected { field: Field::of_file("limits"), expected: "a table", found }.at(node.offset));
    };
    let mut object = serde_json::Map::new();
    for entry in entries {
        if !LimitsPatch::NAMES.contains(&entry.key.as_str()) {
            return Err(Fault::unknown_key("limits", &entry.key, &LimitsPatch::NAMES).at(entry.offset));
        }
        let value = json(&entry.node);
        let alone = serde_json::Map::from_iter([(entry.key.clone(), value.clone())]);
        LimitsPatch::deserialize(alone).map_err(|_| unexpected(entry))?;
        object.insert(entry.key.clone(), value);
    }
    LimitsPatch::deserialize(object).map_err(|_| {
        // Each entry was accepted alone and names differ, so this cannot happen; it must not be silent if it does.
        Fault::Expected { field: Field::of_file("limits"), expected: "a table of limits", found: "another one" }
            .at(node.offset)
    })
}

fn json(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Boolean(boolean) => (*boolean).into(),
        Value::Number(number) => number.parse::<serde_json::Number>().map_or_else(|_| no_limit(), Into::into),
        Value::String(string) => string.as_str().into(),
        Value::Null | Value::Date | Value::List(_) | Value::Table(_) => no_limit(),
    }
}

/// Stands for what no limit can be, such as a date: what it holds does not matter for refusing it. (`null` would be accepted.)
fn no_limit() -> serde_json::Value {
    serde_json::Value::Array(Vec::new())
}

fn unexpected(entry: &Entry) -> Located {
    let (expected, takes_strings, takes_numbers) = match entry.key.as_str() {
        "timeout" | "compute" | "call" => ("a duration such as \"30s\", \"500ms\" or \"2m\"", true, false),
        "fuel" | "max_calls" => ("a whole number", false, true),
        _ => ("a size such as \"64MiB\", or a number of bytes", true, true),
    };
    let found = match &entry.node.value {
        Value::String(_) if takes_strings => "another string",
        Value::Number(_) if takes_numbers => "another number",
        _ => entry.node.kind(Format::Toml),
    };
    let field = Field::of_file(format_args!("limits.{}", entry.key));
    Fault::Expected { field, expected, found }.at(entry.node.offset)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use belljar_model::{ByteSize, LimitsPatch};

    use crate::testing::toml;

    #[test]
    fn limits_are_read_with_their_units() {
        let limits = toml("[limits]\ntimeout = '90s'\nmemory = '64MiB'\nmax_output = 4096\nmax_calls = 1_000\n");
        let expected = LimitsPatch {
            timeout: Some(Duration::from_secs(90)),
            memory: Some(ByteSize::mib(64)),
            max_output: Some(ByteSize(4096)),
            max_calls: Some(1_000),
            ..LimitsPatch::default()
        };
        assert_eq!(limits.expect("limits").limits, expected);
    }

    #[test]
    fn every_limit_of_the_model_can_be_set() {
        let line = |name: &&str| match *name {
            "timeout" | "compute" | "call" => format!("{name} = '1s'\n"),
            _ => format!("{name} = 1\n"),
        };
        let text: String = LimitsPatch::NAMES.iter().map(line).collect();
        let limits = toml(&format!("[limits]\n{text}")).expect("limits").limits;
        assert!(!format!("{limits:?}").contains("None"), "{limits:?}");
    }

    #[test]
    fn a_wrong_limit_says_what_it_must_be() {
        for (line, expected) in [
            (
                "timeout = 'soon'",
                "line 2, column 11: 'limits.timeout' must be a duration such as \"30s\", \"500ms\" or \"2m\", not another string",
            ),
            (
                "timeout = 30",
                "line 2, column 11: 'limits.timeout' must be a duration such as \"30s\", \"500ms\" or \"2m\", not a number",
            ),
            (
                "memory = 'lots'",
                "line 2, column 10: 'limits.memory' must be a size such as \"64MiB\", or a number of bytes, not another string",
            ),
            (
                "memory = -1",
                "line 2, column 10: 'limits.memory' must be a size such as \"64MiB\", or a number of bytes, not another number",
            ),
            (
                "memory = [1]",
                "line 2, column 10: 'limits.memory' must be a size such as \"64MiB\", or a number of bytes, not an array",
            ),
            ("max_calls = 1.5", "line 2, column 13: 'limits.max_calls' must be a whole number, not another number"),
            ("max_calls = inf", "line 2, column 13: 'limits.max_calls' must be a whole number, not another number"),
            ("max_calls = '5'", "line 2, column 13: 'limits.max_calls' must be a whole number, not a string"),
            ("fuel = 2027-01-01", "line 2, column 8: 'limits.fuel' must be a whole number, not a date or a time"),
            ("timeuot = '5s'", "line 2, column 1: unknown key 'timeuot' in limits: did you mean 'timeout'?"),
            (
                "zebra = 1",
                "line 2, column 1: unknown key 'zebra' in limits: it is one of timeout, compute, call, fuel, memory, max_calls, max_source, max_arguments, max_result, max_output, max_logs",
            ),
        ] {
            assert_eq!(toml(&format!("[limits]\n{line}\n")).expect_err(line), expected);
        }
        assert_eq!(
            toml("limits = 5").expect_err("no table"),
            "line 1, column 10: 'limits' must be a table, not a number"
        );
    }
}
