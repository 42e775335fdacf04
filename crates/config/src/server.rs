//! Reads one server's entry into a [`ServerSpec`]. [`crate::transport`] reads the way to reach it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    path::Path,
    time::Duration,
};

use belljar_model::{AffectedPointers, Asks, Effect, EffectDefaults, EffectRules, Era, ServerSpec, Transport};

use crate::{
    Format,
    error::{ConfigErrorKind, Field, Located, shown},
    expand::Expander,
    tree::{Entry, Node, Value, check_unique, kind},
};

/// The keys of a server in belljar.toml.
pub(crate) const KEYS: &[&str] = &[
    "command",
    "args",
    "env",
    "env_file",
    "cwd",
    "sandbox",
    "url",
    "headers",
    "oauth",
    "proxy",
    "builtin",
    "type",
    "era",
    "start_timeout",
    "effects",
    "idempotent",
    "idempotency",
    "trust_hints",
    "asks",
    "disabled",
    "exclusive",
    "affected",
    // The keys of `life`.
    "warm",
    "stateful",
    "idle",
    "max_calls",
    "concurrency",
    "max_response",
    "call_timeout",
    "call_total",
    "framing",
    "repeat",
    "breaker",
    "on_start",
    "key",
    "instances",
    "projects",
    "share",
    "paths",
    "targets",
    "results",
];

/// The keys of one tool in `affected`.
pub(crate) const AFFECTED_KEYS: &[&str] = &["files", "symbols"];

/// Reads the servers of one file.
pub(crate) struct Reader<'a> {
    pub(crate) format: Format,
    pub(crate) directory: &'a Path,
    pub(crate) expander: Expander<'a>,
    /// The settings for tools whose server does not set its own.
    pub(crate) by_effect: EffectDefaults,
}

impl Reader<'_> {
    /// The server that `entry` describes, or `None` if it is disabled.
    pub(crate) fn read(&self, entry: &Entry) -> Result<Option<ServerSpec>, Located> {
        check_name(entry)?;
        let Value::Table(entries) = &entry.node.value else {
            let expected = self.word("a table with a 'command' or a 'url'", "an object with a 'command' or a 'url'");
            let field = Field::of_server(&entry.key, "");
            return Err(ConfigErrorKind::Expected { field, expected, found: kind(&entry.node, self.format) }
                .at(entry.node.offset));
        };
        check_unique(entries)?;
        let server = Server { reader: self, name: &entry.key, offset: entry.offset, entries };
        server.check_keys()?;
        if server.is_disabled()? {
            return Ok(None);
        }
        let transport = server.transport()?;
        Ok(Some(ServerSpec {
            name: entry.key.clone(),
            start_timeout: server.start_timeout()?,
            effects: server.effect_rules(&transport)?,
            transport,
            era: server.era()?,
            asks: server.asks()?,
            life: server.life()?,
            exclusive: server.boolean("exclusive")?.unwrap_or(false),
            targets: server.targets()?,
            results: server.results()?,
            affected: server.affected()?,
        }))
    }

    fn word(&self, toml: &'static str, json: &'static str) -> &'static str {
        match self.format {
            Format::Toml => toml,
            Format::Json => json,
        }
    }
}

/// A server that is being read.
pub(crate) struct Server<'r> {
    pub(crate) reader: &'r Reader<'r>,
    pub(crate) name: &'r str,
    /// The position of its name.
    pub(crate) offset: usize,
    pub(crate) entries: &'r [Entry],
}

impl<'r> Server<'r> {
    /// The entry of `key`. A `null`, which is only possible in a client's file, counts as absent.
    pub(crate) fn get(&self, key: &str) -> Option<&'r Entry> {
        self.entries.iter().find(|entry| entry.key == key && !matches!(entry.node.value, Value::Null))
    }

    pub(crate) fn field(&self, key: impl Display) -> Field {
        Field::of_server(self.name, key)
    }

    fn check_keys(&self) -> Result<(), Located> {
        let unknown = self.entries.iter().find(|entry| !KEYS.contains(&entry.key.as_str()));
        match (self.reader.format, unknown) {
            (Format::Toml, Some(entry)) => {
                let place = format!("server '{}'", shown(self.name));
                Err(ConfigErrorKind::unknown_key(&place, &entry.key, KEYS).at(entry.offset))
            }
            _ => Ok(()),
        }
    }

    fn is_disabled(&self) -> Result<bool, Located> {
        Ok(self.boolean("disabled")?.unwrap_or(false))
    }

    fn era(&self) -> Result<Era, Located> {
        let Some(Entry { node, .. }) = self.get("era") else { return Ok(Era::default()) };
        let name = self.string(node, "era")?;
        Era::ALL
            .into_iter()
            .find(|era| era.as_str() == name)
            .ok_or_else(|| ConfigErrorKind::UnknownEra { field: self.field("era"), name: shown(&name) }.at(node.offset))
    }

    fn asks(&self) -> Result<Asks, Located> {
        let Some(Entry { node, .. }) = self.get("asks") else { return Ok(Asks::default()) };
        let expected = "an array of \"elicitation\", \"sampling\" and \"roots\"";
        let Value::List(list) = &node.value else { return Err(self.misshapen(node, "asks", expected)) };
        let add = |asks: Asks, node: &Node| match &node.value {
            Value::String(name) => asks.with(name).ok_or_else(|| self.misshapen(node, "asks", expected)),
            _ => Err(self.expected(node, "asks", expected)),
        };
        list.iter().try_fold(Asks::NOTHING, add)
    }

    fn start_timeout(&self) -> Result<Duration, Located> {
        let expected = "a duration longer than zero such as \"20s\"";
        Ok(self.duration("start_timeout", expected)?.unwrap_or(ServerSpec::START_TIMEOUT))
    }

    fn effect_rules(&self, transport: &Transport) -> Result<EffectRules, Located> {
        let is_ours = matches!(transport, Transport::BuiltIn(_));
        let idempotent = match self.get("idempotent") {
            Some(entry) => self.texts(&entry.node, "idempotent")?.into_iter().collect(),
            None => BTreeSet::new(),
        };
        let trust_hints = self.boolean("trust_hints")?.unwrap_or(is_ours);
        let idempotency_keys = self.idempotency()?;
        Ok(EffectRules { declared: self.effects()?, idempotent, idempotency_keys, trust_hints })
    }

    /// The arguments to which belljar adds a key of its own.
    fn idempotency(&self) -> Result<BTreeMap<String, String>, Located> {
        let entries = self.table("idempotency", "a table of arguments", "an object of arguments")?;
        let named = entries.iter().map(|entry| {
            let key = format!("idempotency.{}", entry.key);
            let argument = self.string(&entry.node, &key)?;
            Ok((entry.key.clone(), self.not_empty(argument, &entry.node, &key)?))
        });
        named.collect()
    }

    /// The filters for tools' results. They are checked elsewhere, by code that knows jq's
    /// language.
    fn results(&self) -> Result<BTreeMap<String, String>, Located> {
        let entries = self.table("results", "a table of filters", "an object of filters")?;
        let named = entries.iter().map(|entry| {
            let key = format!("results.{}", entry.key);
            let filter = self.string(&entry.node, &key)?;
            let filter = self.not_empty(filter, &entry.node, &key)?;
            if filter.len() > ServerSpec::FILTER_BYTES {
                return Err(self.misshapen(&entry.node, &key, "a filter of at most 16 KiB"));
            }
            Ok((entry.key.clone(), filter))
        });
        named.collect()
    }

    /// Where results name the things that a call has changed, by tool.
    fn affected(&self) -> Result<BTreeMap<String, AffectedPointers>, Located> {
        let entries = self.table("affected", "a table of tools", "an object of tools")?;
        let of_tool = |entry: &Entry| {
            let place = format!("affected.{}", entry.key);
            let Value::Table(entries) = &entry.node.value else {
                return Err(self.expected(&entry.node, &place, "a table with 'files' and 'symbols'"));
            };
            check_unique(entries)?;
            let mut pointers = AffectedPointers::default();
            for entry in entries {
                let list = || self.pointers(&entry.node, &format!("{place}.{}", entry.key));
                match entry.key.as_str() {
                    "files" => pointers.files = list()?,
                    "symbols" => pointers.symbols = list()?,
                    _ => return Err(self.unknown(&place, entry, AFFECTED_KEYS)),
                }
            }
            Ok((entry.key.clone(), pointers))
        };
        entries.iter().map(of_tool).collect()
    }

    fn pointers(&self, node: &Node, place: &str) -> Result<Vec<String>, Located> {
        let expected = "an array of JSON pointers such as \"/changes/*/path\"";
        let Value::List(list) = &node.value else { return Err(self.expected(node, place, expected)) };
        let pointer = |node: &Node| match &node.value {
            Value::String(text) if text.starts_with('/') => Ok(text.clone()),
            _ => Err(self.misshapen(node, place, expected)),
        };
        list.iter().map(pointer).collect()
    }

    fn effects(&self) -> Result<BTreeMap<String, Effect>, Located> {
        let mut effects = BTreeMap::new();
        for entry in self.table("effects", "a table of effects", "an object of effects")? {
            let key = format!("effects.{}", entry.key);
            let name = self.string(&entry.node, &key)?;
            let effect = name.parse().map_err(|_| {
                let nearest = belljar_model::nearest(&name, Effect::ALL.map(Effect::as_str));
                ConfigErrorKind::UnknownEffect { field: self.field(key), name: shown(&name), nearest }
                    .at(entry.node.offset)
            })?;
            effects.insert(entry.key.clone(), effect);
        }
        Ok(effects)
    }

    /// The entries of the table `key`, whose names must be unique; none if it is absent.
    pub(crate) fn table(&self, key: &str, toml: &'static str, json: &'static str) -> Result<&'r [Entry], Located> {
        let Some(Entry { node, .. }) = self.get(key) else { return Ok(&[]) };
        let Value::Table(entries) = &node.value else {
            return Err(self.expected(node, key, self.reader.word(toml, json)));
        };
        check_unique(entries)?;
        Ok(entries)
    }

    /// The nodes of the array `key`; none if it is absent.
    pub(crate) fn list(&self, node: &'r Node, key: &str) -> Result<&'r [Node], Located> {
        match &node.value {
            Value::List(list) => Ok(list),
            _ => Err(self.expected(node, key, "an array of strings")),
        }
    }

    pub(crate) fn string(&self, node: &Node, key: impl Display) -> Result<String, Located> {
        match &node.value {
            Value::String(string) => Ok(string.clone()),
            _ => Err(self.expected(node, key, "a string")),
        }
    }

    pub(crate) fn expanded(&self, node: &Node, key: impl Display) -> Result<String, Located> {
        let field = self.field(&key);
        self.reader.expander.expand(&self.string(node, key)?, &field).map_err(|fault| fault.at(node.offset))
    }

    pub(crate) fn not_empty(&self, text: String, node: &Node, key: &str) -> Result<String, Located> {
        if text.is_empty() { Err(ConfigErrorKind::Empty { field: self.field(key) }.at(node.offset)) } else { Ok(text) }
    }

    pub(crate) fn expected(&self, node: &Node, key: impl Display, expected: &'static str) -> Located {
        ConfigErrorKind::Expected { field: self.field(key), expected, found: kind(node, self.reader.format) }
            .at(node.offset)
    }

    /// The same for a string that is invalid although a string is the right type.
    pub(crate) fn misshapen(&self, node: &Node, key: &str, expected: &'static str) -> Located {
        let found = match &node.value {
            Value::String(_) => "another string",
            _ => kind(node, self.reader.format),
        };
        ConfigErrorKind::Expected { field: self.field(key), expected, found }.at(node.offset)
    }
}

fn check_name(entry: &Entry) -> Result<(), Located> {
    let name = entry.key.as_str();
    let problem = if name.is_empty() {
        "is empty"
    } else if name.len() > ServerSpec::NAME_BYTES {
        "is too long"
    } else if name.contains('.') {
        "has a dot"
    } else if name.contains(char::is_control) {
        "has a control character"
    } else {
        return Ok(());
    };
    Err(ConfigErrorKind::ServerName { name: shown(name), problem }.at(entry.offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{json, names, only, toml};

    #[test]
    fn a_server_has_its_start_limit_and_effects() {
        let server = only(toml(
            "[servers.fs]\ncommand = 'x'\nstart_timeout = '1m 30s'\neffects = { 'write.file' = 'mutating', look = 'read_only' }\n",
        ));
        assert_eq!(server.start_timeout, Duration::from_secs(90));
        assert!(!server.exclusive);
        assert!(only(toml("[servers.web]\ncommand = 'x'\nexclusive = true\n")).exclusive);
        assert_eq!(
            server.effects.declared,
            BTreeMap::from([("look".to_owned(), Effect::ReadOnly), ("write.file".to_owned(), Effect::Mutating)])
        );
        let plain = only(toml("[servers.fs]\ncommand = 'x'\n"));
        assert_eq!(plain.era, Era::Auto);
        assert_eq!(only(toml("[servers.fs]\ncommand = 'x'\nera = 'discover'\n")).era, Era::Discover);
        assert_eq!((plain.start_timeout, plain.effects), (ServerSpec::START_TIMEOUT, EffectRules::default()));
    }

    #[test]
    fn results_name_what_a_call_has_changed_where_the_owner_says() {
        let server = only(toml(
            "[servers.s]\ncommand = 'x'\n[servers.s.affected]\n'a.b' = { files = ['/changes/*/path'], symbols = ['/name'] }\n",
        ));
        let pointers =
            AffectedPointers { files: vec!["/changes/*/path".to_owned()], symbols: vec!["/name".to_owned()] };
        assert_eq!(server.affected, BTreeMap::from([("a.b".to_owned(), pointers)]));
        for (line, expected) in [
            ("affected = 3", "'affected' of server 's' must be a table of tools, not a number"),
            ("affected = { t = [] }", "'affected.t' of server 's' must be a table with 'files' and 'symbols'"),
            ("affected = { t = { file = [] } }", "unknown key 'file' in 'affected.t' of server 's'"),
            (
                "affected = { t = { files = ['x'] } }",
                "'affected.t.files' of server 's' must be an array of JSON pointers",
            ),
        ] {
            let error = toml(&format!("[servers.s]\ncommand = 'x'\n{line}\n")).expect_err(line);
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn only_a_server_inside_belljar_is_trusted_unasked() {
        let rules = |lines: &str| only(toml(&format!("[servers.s]\n{lines}\n"))).effects;
        assert!(!rules("command = 'x'").trust_hints && !rules("url = 'https://x'").trust_hints);
        assert!(rules("builtin = 'demo'").trust_hints && !rules("builtin = 'demo'\ntrust_hints = false").trust_hints);
        let said = rules("command = 'x'\ntrust_hints = true\nidempotent = ['put', 'put.all']");
        assert!(said.trust_hints);
        assert_eq!(said.idempotent, BTreeSet::from(["put".to_owned(), "put.all".to_owned()]));
    }

    #[test]
    fn a_server_may_ask_what_its_owner_lists_and_otherwise_the_user_alone() {
        let asks = |lines: &str| only(toml(&format!("[servers.s]\ncommand = 'x'\n{lines}\n"))).asks;
        assert_eq!(asks(""), Asks { elicitation: true, sampling: false, roots: false });
        assert_eq!(asks("asks = []"), Asks::NOTHING);
        assert_eq!(asks("asks = ['sampling', 'roots']"), Asks { elicitation: false, sampling: true, roots: true });
        assert!(only(json(r#"{"servers": {"s": {"command": "x", "asks": ["sampling"]}}}"#)).asks.sampling);
    }

    #[test]
    fn the_results_of_tools_have_filters() {
        let results = |lines: &str| toml(&format!("[servers.s]\ncommand = 'x'\n{lines}\n"));
        let found = only(results("[servers.s.results]\nfind = '.a[] | {b}'\n'x.y' = '.'")).results;
        assert_eq!(
            found,
            BTreeMap::from([("find".to_owned(), ".a[] | {b}".to_owned()), ("x.y".to_owned(), ".".to_owned())])
        );
        for (lines, expected) in [
            ("results = '.'".to_owned(), "'results' of server 's' must be a table of filters, not a string"),
            ("results = { t = 1 }".to_owned(), "'results.t' of server 's' must be a string, not a number"),
            ("results = { t = '' }".to_owned(), "'results.t' of server 's'"),
            (format!("results = {{ t = '{}' }}", "x".repeat(20_000)), "a filter of at most 16 KiB, not another string"),
        ] {
            let error = results(&lines).expect_err(expected);
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn our_own_keys_mean_the_same_in_a_clients_file() {
        let text = r#"{"mcpServers": {"fs": {"command": "x", "start_timeout": "5s", "effects": {"w": "external"}}}}"#;
        let server = only(json(text));
        assert_eq!(server.start_timeout, Duration::from_secs(5));
        assert_eq!(server.effects.declared, BTreeMap::from([("w".to_owned(), Effect::External)]));
    }

    #[test]
    fn a_name_that_no_server_can_have_is_an_error() {
        let longest = "n".repeat(ServerSpec::NAME_BYTES);
        assert_eq!(names(toml(&format!("[servers.{longest}]\nbuiltin = 'demo'\n"))), [longest.as_str()]);
        assert_eq!(names(json(r#"{"servers": {"a b/é-1": {"command": "x"}}}"#)), ["a b/é-1"]);
        let rule = "a name has 1 to 64 bytes, and no dot or control character";
        for (name, shown, problem) in [
            ("", "", "is empty"),
            ("a.b", "a.b", "has a dot"),
            ("a\\u001b[2J", "a\\u{1b}[2J", "has a control character"),
            (&format!("{longest}n"), &format!("{longest}n"), "is too long"),
        ] {
            let text = format!("[servers.\"{name}\"]\nbuiltin = 'demo'\n");
            assert_eq!(
                toml(&text).expect_err(name),
                format!("line 1, column 10: server name '{shown}' {problem}: {rule}")
            );
            let text = format!("{{\"servers\": {{\"{name}\": {{}}}}}}");
            assert_eq!(
                json(&text).expect_err(name),
                format!("line 1, column 14: server name '{shown}' {problem}: {rule}")
            );
        }
    }

    #[test]
    fn an_unknown_key_is_an_error_in_belljar_toml_and_passed_over_in_a_clients_file() {
        for (line, expected) in [
            ("comand = 'x'", "line 2, column 1: unknown key 'comand' in server 'fs': did you mean 'command'?"),
            (
                "startTimeout = '5s'",
                "line 2, column 1: unknown key 'startTimeout' in server 'fs': did you mean 'start_timeout'?",
            ),
            (
                "disabled = true\nzebra = 1",
                "line 3, column 1: unknown key 'zebra' in server 'fs': it is one of command, args, env, env_file, cwd, sandbox, url, headers, oauth, proxy, builtin, type, era, start_timeout, effects, idempotent, idempotency, trust_hints, asks, disabled, exclusive, affected, warm, stateful, idle, max_calls, concurrency, max_response, call_timeout, call_total, framing, repeat, breaker, on_start, key, instances, projects, share, paths, targets, results",
            ),
        ] {
            assert_eq!(toml(&format!("[servers.fs]\n{line}\n")).expect_err(line), expected);
        }
        let text =
            r#"{"mcpServers": {"fs": {"command": "x", "comand": 1, "timeout": [], "autoApprove": {"a": 1, "a": 2}}}}"#;
        assert_eq!(names(json(text)), ["fs"]);
    }

    #[test]
    fn a_key_that_is_there_twice_is_an_error_wherever_it_is_read() {
        for (server, column, key) in [
            (r#"{"command": "x", "command": "y"}"#, 36, "command"),
            (r#"{"command": "x", "env": {"K": "1", "K": "2"}}"#, 54, "K"),
            (r#"{"url": "http://x", "headers": {"K": "1", "K": "2"}}"#, 61, "K"),
            (r#"{"command": "x", "effects": {"t": "external", "t": "read_only"}}"#, 65, "t"),
        ] {
            let error = json(&format!("{{\"servers\": {{\"s\": {server}}}}}")).expect_err(server);
            assert_eq!(error, format!("line 1, column {column}: '{key}' is defined twice: rename one, or remove it"));
        }
    }

    #[test]
    fn a_wrong_value_says_what_it_must_be() {
        for (lines, expected) in [
            ("disabled = 'yes'", "line 2, column 12: 'disabled' of server 'fs' must be true or false, not a string"),
            (
                "builtin = 'x'\nstart_timeout = 20",
                "line 3, column 17: 'start_timeout' of server 'fs' must be a duration longer than zero such as \"20s\", not a number",
            ),
            (
                "builtin = 'x'\nstart_timeout = 'soon'",
                "line 3, column 17: 'start_timeout' of server 'fs' must be a duration longer than zero such as \"20s\", not another string",
            ),
            (
                "builtin = 'x'\nstart_timeout = '0s'",
                "line 3, column 17: 'start_timeout' of server 'fs' must be a duration longer than zero such as \"20s\", not another string",
            ),
            (
                "builtin = 'x'\nera = '2026'",
                "line 3, column 7: 'era' of server 'fs' has the unknown value '2026': it is one of auto, initialize and discover",
            ),
            (
                "builtin = 'x'\neffects = ['a']",
                "line 3, column 11: 'effects' of server 'fs' must be a table of effects, not an array",
            ),
            (
                "builtin = 'x'\nasks = 'all'",
                "line 3, column 8: 'asks' of server 'fs' must be an array of \"elicitation\", \"sampling\" and \"roots\", not another string",
            ),
            (
                "builtin = 'x'\nasks = ['all']",
                "line 3, column 9: 'asks' of server 'fs' must be an array of \"elicitation\", \"sampling\" and \"roots\", not another string",
            ),
            (
                "builtin = 'x'\ntrust_hints = 'yes'",
                "line 3, column 15: 'trust_hints' of server 'fs' must be true or false, not a string",
            ),
            (
                "builtin = 'x'\nidempotent = 'put'",
                "line 3, column 14: 'idempotent' of server 'fs' must be an array of strings, not a string",
            ),
            (
                "builtin = 'x'\neffects.t = true",
                "line 3, column 13: 'effects.t' of server 'fs' must be a string, not true or false",
            ),
            (
                "builtin = 'x'\neffects.t = 'readonly'",
                "line 3, column 13: 'effects.t' of server 'fs' has the unknown effect 'readonly': did you mean 'read_only'?",
            ),
            (
                "builtin = 'x'\neffects.t = 'zebra'",
                "line 3, column 13: 'effects.t' of server 'fs' has the unknown effect 'zebra': it is one of read_only, mutating, external",
            ),
        ] {
            assert_eq!(toml(&format!("[servers.fs]\n{lines}\n")).expect_err(lines), expected);
        }
        assert_eq!(
            toml("[servers]\nfs = 'npx'\n").expect_err("a string"),
            "line 2, column 6: server 'fs' must be a table with a 'command' or a 'url', not a string"
        );
        assert_eq!(
            json(r#"{"servers": {"fs": null}}"#).expect_err("null"),
            "line 1, column 20: server 'fs' must be an object with a 'command' or a 'url', not null"
        );
    }
}
