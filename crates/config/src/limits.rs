//! The `[limits]` and `[runs]` of belljar.toml.

use belljar_model::{LimitKind, LimitName, LimitSpec, LimitsPatch, RunsPatch};
use serde::de::DeserializeOwned;

use crate::{
    error::{ConfigErrorKind, Field, Located},
    life::expected_duration,
    tree::{Entry, Node, Value},
};

/// Reads the limits.
pub(crate) fn read(node: &Node) -> Result<LimitsPatch, Located> {
    table("limits", &LimitsPatch::NAMES, node)
}

/// Reads how many runs there may be.
pub(crate) fn runs(node: &Node) -> Result<RunsPatch, Located> {
    table("runs", &RunsPatch::NAMES, node)
}

/// Reads a table whose names, types and units come from the model. Each entry is tried alone to
/// find the position of a wrong one.
fn table<T: DeserializeOwned>(name: &'static str, names: &'static [&'static str], node: &Node) -> Result<T, Located> {
    let Value::Table(entries) = &node.value else {
        let found = node.kind();
        return Err(
            ConfigErrorKind::Expected { field: Field::of_file(name), expected: "a table", found }.at(node.offset)
        );
    };
    let mut object = serde_json::Map::new();
    for entry in entries {
        if !names.contains(&entry.key.as_str()) {
            return Err(ConfigErrorKind::unknown_key(name, &entry.key, names).at(entry.offset));
        }
        let value = json(&entry.node);
        let alone = serde_json::Map::from_iter([(entry.key.clone(), value.clone())]);
        T::deserialize(alone).map_err(|_| unexpected(name, entry))?;
        object.insert(entry.key.clone(), value);
    }
    T::deserialize(object).map_err(|_| {
        // Each entry was accepted alone and names are unique, so this cannot happen; if it does, it
        // must not be silent.
        ConfigErrorKind::Expected { field: Field::of_file(name), expected: "a table of limits", found: "another one" }
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

/// Replaces a value that no limit can have, such as a date: it is refused whatever its content.
/// (`null` would be accepted.)
fn no_limit() -> serde_json::Value {
    serde_json::Value::Array(Vec::new())
}

fn unexpected(table: &str, entry: &Entry) -> Located {
    let limit = LimitName::from_name(&entry.key).and_then(LimitSpec::of).map(|spec| spec.kind);
    let (expected, takes_strings, takes_numbers) = match (limit, entry.key.as_str()) {
        (Some(LimitKind::Duration), _) | (None, "queue_timeout") => {
            (expected_duration(&entry.node, "a duration such as \"30s\", \"500ms\" or \"2m\""), true, false)
        }
        (Some(LimitKind::Count), _) | (None, "max_queued") => ("a whole number", false, true),
        (None, "process") => ("true or false", false, false),
        (None, "max_live" | "max_computing") => ("a whole number above 0", false, true),
        (Some(LimitKind::Size), _) | (None, _) => ("a size such as \"64MiB\", or a number of bytes", true, true),
    };
    let found = match &entry.node.value {
        Value::String(_) if takes_strings => "another string",
        Value::Number(_) if takes_numbers => "another number",
        _ => entry.node.kind(),
    };
    let field = Field::of_file(format_args!("{table}.{}", entry.key));
    ConfigErrorKind::Expected { field, expected, found }.at(entry.node.offset)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use belljar_model::{ByteSize, LimitKind, LimitSpec, LimitsPatch};

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
        let line = |spec: &LimitSpec| match spec.kind {
            LimitKind::Duration => format!("{} = '1s'\n", spec.name),
            LimitKind::Size | LimitKind::Count => format!("{} = 1\n", spec.name),
        };
        let text: String = LimitSpec::ALL.iter().map(line).collect();
        let limits = toml(&format!("[limits]\n{text}")).expect("limits").limits;
        assert!(!format!("{limits:?}").contains("None"), "{limits:?}");
    }

    #[test]
    fn how_many_runs_there_may_be_is_read_with_its_units() {
        let text = "[runs]\nmax_live = 8\nlive_memory = '2GiB'\nmax_computing = 2\nmax_queued = 0\nqueue_timeout = '5s'\nprocess = true\n";
        let runs = toml(text).expect("runs").runs;
        assert_eq!((runs.max_live.map(u32::from), runs.max_computing.map(u32::from)), (Some(8), Some(2)));
        assert_eq!((runs.live_memory, runs.max_queued), (Some(ByteSize::gib(2)), Some(0)));
        assert_eq!((runs.queue_timeout, runs.process), (Some(Duration::from_secs(5)), Some(true)));
        for (line, expected) in [
            ("process = 1", "line 2, column 11: 'runs.process' must be true or false, not a number"),
            ("max_live = 0", "line 2, column 12: 'runs.max_live' must be a whole number above 0, not another number"),
            (
                "queue_timeout = 5",
                "line 2, column 17: 'runs.queue_timeout' must be a duration such as \"30s\", \"500ms\" or \"2m\", not a number",
            ),
            ("max_liv = 5", "line 2, column 1: unknown key 'max_liv' in runs: did you mean 'max_live'?"),
        ] {
            assert_eq!(toml(&format!("[runs]\n{line}\n")).expect_err(line), expected);
        }
    }

    #[test]
    fn a_wrong_limit_says_what_it_must_be() {
        for (line, expected) in [
            (
                "timeout = 'soon'",
                "line 2, column 11: 'limits.timeout' must be a duration such as \"30s\", \"500ms\" or \"2m\", not another string",
            ),
            (
                "timeout = '18446744073709551615s'",
                "line 2, column 11: 'limits.timeout' must be a duration of at most 30 days, not another string",
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
                "line 2, column 1: unknown key 'zebra' in limits: it is one of timeout, compute, wait, call, fuel, memory, max_calls, max_concurrent_calls, max_source, max_arguments, max_result, max_output, max_logs, max_held, max_log_lines",
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
