//! The keys for a server's life: when it starts and stops, how much it may use, and what happens
//! when it is lost.

use std::{fmt::Display, num::NonZeroUsize, path::PathBuf, time::Duration};

use belljar_model::{
    Activation, Affinity, Breaker, ByteSize, DurationError, Effect, EffectDefaults, Framing, Life, PathRules, Repeat,
    Share, parse_duration,
};

use crate::{
    error::{ConfigErrorKind, Located, shown},
    server::Server,
    tree::{Entry, Node, Value, check_unique},
};

pub(crate) const A_DURATION: &str = "a duration longer than zero such as \"20s\"";
const A_COUNT: &str = "a whole number, at least 1";

impl Server<'_> {
    pub(crate) fn life(&self) -> Result<Life, Located> {
        let default = Life::default();
        let (affinity, paths) = (self.affinity()?, self.paths()?);
        let projects = self.projects(affinity.as_ref(), paths.as_ref())?;
        Ok(Life {
            warm: self.boolean("warm")?.unwrap_or(default.warm),
            stateful: self.boolean("stateful")?.unwrap_or(default.stateful),
            idle: match self.get("idle") {
                Some(Entry { node, .. }) if is_never(node) => None,
                _ => self.duration("idle", "a duration such as \"5m\", or \"never\"")?.or(default.idle),
            },
            max_calls: self
                .unless_never("max_calls", "a whole number, at least 1, or \"never\"", count)?
                .unwrap_or(default.max_calls),
            concurrency: self.of_kind("concurrency", A_COUNT, count)?.unwrap_or(default.concurrency),
            max_response: self
                .of("max_response", "a size such as \"5MB\", or a number of bytes", size)?
                .unwrap_or(default.max_response),
            call_timeout: self.duration("call_timeout", A_DURATION)?,
            call_total: self.duration("call_total", A_DURATION)?,
            framing: self
                .of("framing", "one of lines, content_length", |node| named(node, &Framing::ALL))?
                .unwrap_or_default(),
            repeat: self
                .of("repeat", "one of never, read_only, idempotent", |node| named(node, &Repeat::ALL))?
                .unwrap_or_default(),
            breaker: self.breaker()?,
            on_start: self.activations()?,
            affinity,
            projects,
            share: self.of("share", "one of principal, owner", |node| named(node, &Share::ALL))?.unwrap_or_default(),
            paths,
            by_effect: self.by_effect(),
        })
    }

    /// The settings by effect that apply unless this server sets its own.
    fn by_effect(&self) -> EffectDefaults {
        let mut defaults = self.reader.by_effect;
        for effect in Effect::ALL {
            let default = defaults.of_mut(effect);
            default.call_timeout = default.call_timeout.filter(|_| self.get("call_timeout").is_none());
            default.repeat = default.repeat.filter(|_| self.get("repeat").is_none());
        }
        defaults
    }

    pub(crate) fn boolean(&self, key: &str) -> Result<Option<bool>, Located> {
        self.of_kind(key, "true or false", |node| match node.value {
            Value::Boolean(boolean) => Some(boolean),
            _ => None,
        })
    }

    /// The value of `key`, as `read` returns it; a text is an error.
    fn of_kind<T>(
        &self,
        key: &str,
        expected: &'static str,
        read: impl FnOnce(&Node) -> Option<T>,
    ) -> Result<Option<T>, Located> {
        let Some(Entry { node, .. }) = self.get(key) else { return Ok(None) };
        read(node).map(Some).ok_or_else(|| self.expected(node, key, expected))
    }

    /// The same for a key whose value may be a text.
    fn of<T>(
        &self,
        key: &str,
        expected: &'static str,
        read: impl FnOnce(&Node) -> Option<T>,
    ) -> Result<Option<T>, Located> {
        let Some(Entry { node, .. }) = self.get(key) else { return Ok(None) };
        read(node).map(Some).ok_or_else(|| self.misshapen(node, key, expected))
    }

    fn unless_never<T>(
        &self,
        key: &str,
        expected: &'static str,
        read: impl FnOnce(&Node) -> Option<T>,
    ) -> Result<Option<Option<T>>, Located> {
        self.of(key, expected, |node| if is_never(node) { Some(None) } else { read(node).map(Some) })
    }

    pub(crate) fn duration(&self, key: &str, expected: &'static str) -> Result<Option<Duration>, Located> {
        let Some(Entry { node, .. }) = self.get(key) else { return Ok(None) };
        duration(node).map(Some).ok_or_else(|| self.misshapen(node, key, expected_duration(node, expected)))
    }

    fn breaker(&self) -> Result<Breaker, Located> {
        let mut breaker = Breaker::default();
        for entry in
            self.table("breaker", "a table with 'failures' and 'rest'", "an object with 'failures' and 'rest'")?
        {
            let key = format!("breaker.{}", entry.key);
            match entry.key.as_str() {
                "failures" => {
                    breaker.failures = count(&entry.node).ok_or_else(|| self.expected(&entry.node, &key, A_COUNT))?;
                }
                "rest" => {
                    breaker.rest = duration(&entry.node)
                        .ok_or_else(|| self.misshapen(&entry.node, &key, expected_duration(&entry.node, A_DURATION)))?;
                }
                _ => return Err(self.unknown("breaker", entry, &["failures", "rest"])),
            }
        }
        Ok(breaker)
    }

    fn activations(&self) -> Result<Vec<Activation>, Located> {
        let Some(Entry { node, .. }) = self.get("on_start") else { return Ok(Vec::new()) };
        let expected = "a list of calls such as {tool = \"activate\", arguments = {}}";
        let Value::List(calls) = &node.value else { return Err(self.expected(node, "on_start", expected)) };
        calls.iter().enumerate().map(|(index, node)| self.activation(node, index, expected)).collect()
    }

    fn activation(&self, node: &Node, index: usize, expected: &'static str) -> Result<Activation, Located> {
        let place = format!("on_start[{index}]");
        let Value::Table(entries) = &node.value else { return Err(self.expected(node, &place, expected)) };
        check_unique(entries)?;
        let (mut tool, mut arguments) = (None, serde_json::Map::new());
        for entry in entries {
            match entry.key.as_str() {
                "tool" => {
                    let name = self.string(&entry.node, format_args!("{place}.tool"))?;
                    tool = Some(self.not_empty(name, &entry.node, &format!("{place}.tool"))?);
                }
                "arguments" => match self.json(&entry.node, &format!("{place}.arguments"))? {
                    serde_json::Value::Object(object) => arguments = object,
                    _ => return Err(self.expected(&entry.node, format_args!("{place}.arguments"), "a table")),
                },
                _ => return Err(self.unknown(&place, entry, &["tool", "arguments"])),
            }
        }
        match tool {
            Some(tool) => Ok(Activation { tool, arguments }),
            None => Err(self.expected(node, &place, expected)),
        }
    }

    /// A value as JSON, with its texts expanded. It nests no deeper than a file may.
    fn json(&self, node: &Node, place: &str) -> Result<serde_json::Value, Located> {
        Ok(match &node.value {
            Value::Null => serde_json::Value::Null,
            Value::Boolean(boolean) => (*boolean).into(),
            Value::Number(number) => {
                serde_json::from_str(number).map_err(|_| self.expected(node, place, "a value that JSON has too"))?
            }
            Value::String(_) => self.expanded(node, place)?.into(),
            Value::Date => return Err(self.expected(node, place, "a value that JSON has too")),
            Value::List(list) => list.iter().map(|node| self.json(node, place)).collect::<Result<Vec<_>, _>>()?.into(),
            Value::Table(entries) => {
                check_unique(entries)?;
                let members = entries.iter().map(|entry| Ok((entry.key.clone(), self.json(&entry.node, place)?)));
                serde_json::Value::Object(members.collect::<Result<_, Located>>()?)
            }
        })
    }

    fn affinity(&self) -> Result<Option<Affinity>, Located> {
        let instances = self.of_kind("instances", A_COUNT, count)?;
        let Some(Entry { node, .. }) = self.get("key") else {
            return match self.get("instances") {
                Some(entry) => {
                    let server = shown(self.name);
                    Err(ConfigErrorKind::MisplacedKey { server, key: "instances", needs: "key" }.at(entry.offset))
                }
                None => Ok(None),
            };
        };
        // Its placeholders are in braces without a dollar sign, so nothing needs to be expanded.
        let template = self.string(node, "key")?;
        let affinity = Affinity { template, instances: instances.unwrap_or(Affinity::INSTANCES) };
        if affinity.arguments().all(str::is_empty) {
            return Err(self.misshapen(node, "key", "a text with an argument's name in braces such as \"{project}\""));
        }
        Ok(Some(affinity))
    }

    fn paths(&self) -> Result<Option<PathRules>, Located> {
        if self.get("paths").is_none() {
            return Ok(None);
        }
        let mut rules = PathRules::default();
        for entry in self.table("paths", "a table with 'arguments'", "an object with 'arguments'")? {
            let key = format!("paths.{}", entry.key);
            match entry.key.as_str() {
                "arguments" => rules.arguments = self.texts(&entry.node, &key)?,
                "roots" => rules.roots = self.folders(&entry.node, &key)?,
                "denied" => rules.denied = self.folders(&entry.node, &key)?,
                "guidance" => rules.guidance = Some(self.string(&entry.node, &key)?),
                _ => return Err(self.unknown("paths", entry, &["arguments", "roots", "denied", "guidance"])),
            }
        }
        Ok(Some(rules))
    }

    pub(crate) fn texts(&self, node: &Node, key: &str) -> Result<Vec<String>, Located> {
        let Value::List(list) = &node.value else { return Err(self.expected(node, key, "an array of strings")) };
        let text = |(index, node): (usize, &Node)| self.expanded(node, format_args!("{key}[{index}]"));
        list.iter().enumerate().map(text).collect()
    }

    /// Folders, resolved against the folder of the file.
    pub(crate) fn folders(&self, node: &Node, key: &str) -> Result<Vec<PathBuf>, Located> {
        Ok(self.texts(node, key)?.into_iter().map(|folder| self.reader.directory.join(folder)).collect())
    }

    pub(crate) fn unknown(&self, place: impl Display, entry: &Entry, keys: &'static [&'static str]) -> Located {
        let place = format!("'{place}' of server '{}'", shown(self.name));
        ConfigErrorKind::unknown_key(&place, &entry.key, keys).at(entry.offset)
    }
}

pub(crate) fn duration(node: &Node) -> Option<Duration> {
    let Value::String(text) = &node.value else { return None };
    parse_duration(text).ok().filter(|duration| !duration.is_zero())
}

/// The error for an invalid duration: the expected form, or that it is too long.
pub(crate) fn expected_duration(node: &Node, expected: &'static str) -> &'static str {
    match &node.value {
        Value::String(text) if matches!(parse_duration(text), Err(DurationError::TooLong { .. })) => {
            "a duration of at most 30 days"
        }
        _ => expected,
    }
}

fn is_never(node: &Node) -> bool {
    matches!(&node.value, Value::String(text) if text == "never")
}

fn count(node: &Node) -> Option<NonZeroUsize> {
    let Value::Number(number) = &node.value else { return None };
    number.parse().ok()
}

fn size(node: &Node) -> Option<ByteSize> {
    let size: ByteSize = match &node.value {
        Value::Number(text) | Value::String(text) => text.parse().ok()?,
        _ => return None,
    };
    (size.as_u64() > 0).then_some(size)
}

pub(crate) fn named<T: Copy>(node: &Node, names: &[(&str, T)]) -> Option<T> {
    let Value::String(text) = &node.value else { return None };
    names.iter().find(|(name, _)| name == text).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{json as from_json, only, toml};

    #[test]
    fn a_life_is_read_from_both_formats() {
        let text = "[servers.s]\ncommand = 'x'\nwarm = true\nstateful = true\nidle = 'never'\nmax_calls = 7\nconcurrency = 1\nmax_response = '1MB'\n\
             call_timeout = '5s'\ncall_total = '1m'\nframing = 'content_length'\nrepeat = 'idempotent'\nbreaker = { failures = 2, rest = '9s' }\n\
             on_start = [{ tool = 'activate', arguments = { project = '{key}', home = '${userHome}', deep = [1, { a = true }] } }]\n\
             key = '{project}'\ninstances = 2\nshare = 'owner'\n\
             paths = { arguments = ['project'], roots = ['sub', '/abs'], denied = ['${userHome}/private'], guidance = 'no' }\n";
        let expected = Life {
            warm: true,
            stateful: true,
            idle: None,
            max_calls: NonZeroUsize::new(7),
            concurrency: NonZeroUsize::MIN,
            max_response: ByteSize::mb(1),
            call_timeout: Some(Duration::from_secs(5)),
            call_total: Some(Duration::from_secs(60)),
            framing: Framing::ContentLength,
            repeat: Repeat::Idempotent,
            breaker: Breaker { failures: NonZeroUsize::new(2).expect("not zero"), rest: Duration::from_secs(9) },
            on_start: vec![Activation {
                tool: "activate".to_owned(),
                arguments: json!({"project": "{key}", "home": "/home/ada", "deep": [1, {"a": true}]})
                    .as_object()
                    .cloned()
                    .expect("an object"),
            }],
            affinity: Some(Affinity {
                template: "{project}".to_owned(),
                instances: NonZeroUsize::new(2).expect("not zero"),
            }),
            projects: None,
            share: Share::Owner,
            paths: Some(PathRules {
                arguments: vec!["project".to_owned()],
                roots: vec!["/etc/belljar/sub".into(), "/abs".into()],
                denied: vec!["/home/ada/private".into()],
                guidance: Some("no".to_owned()),
            }),
            by_effect: EffectDefaults::default(),
        };
        assert_eq!(only(toml(text)).life, expected);
        let text = r#"{"servers": {"s": {"command": "x", "idle": "90s", "max_calls": "never", "max_response": 1000}}}"#;
        let life = only(from_json(text)).life;
        let expected = (Some(Duration::from_secs(90)), None, ByteSize(1000));
        assert_eq!((life.idle, life.max_calls, life.max_response), expected);
        assert_eq!(only(toml("[servers.s]\ncommand = 'x'\n")).life, Life::default());
    }

    #[test]
    fn a_wrong_value_says_what_it_must_be() {
        for (line, expected) in [
            ("warm = 1", "'warm' of server 's' must be true or false, not a number"),
            ("idle = '0s'", "'idle' of server 's' must be a duration such as \"5m\", or \"never\", not another string"),
            (
                "max_calls = 0",
                "'max_calls' of server 's' must be a whole number, at least 1, or \"never\", not a number",
            ),
            ("concurrency = -1", "'concurrency' of server 's' must be a whole number, at least 1, not a number"),
            (
                "max_response = 'big'",
                "'max_response' of server 's' must be a size such as \"5MB\", or a number of bytes, not another string",
            ),
            (
                "repeat = 'always'",
                "'repeat' of server 's' must be one of never, read_only, idempotent, not another string",
            ),
            ("share = 'all'", "'share' of server 's' must be one of principal, owner, not another string"),
            ("framing = 'http'", "'framing' of server 's' must be one of lines, content_length, not another string"),
            ("breaker = { fails = 1 }", "unknown key 'fails' in 'breaker' of server 's': it is one of failures, rest"),
            (
                "breaker = { failures = 0 }",
                "'breaker.failures' of server 's' must be a whole number, at least 1, not a number",
            ),
            (
                "on_start = [{ arguments = {} }]",
                "'on_start[0]' of server 's' must be a list of calls such as {tool = \"activate\", arguments = {}}, not a table",
            ),
            (
                "on_start = [{ tool = 'a', args = {} }]",
                "unknown key 'args' in 'on_start[0]' of server 's': it is one of tool, arguments",
            ),
            (
                "key = 'project'",
                "'key' of server 's' must be a text with an argument's name in braces such as \"{project}\", not another string",
            ),
            ("instances = 2", "'instances' of server 's' has no meaning without 'key': remove it, or give 'key'"),
            ("paths = { roots = 'x' }", "'paths.roots' of server 's' must be an array of strings, not a string"),
        ] {
            let error = toml(&format!("[servers.s]\nbuiltin = 'x'\n{line}\n")).expect_err(line);
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
