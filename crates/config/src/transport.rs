//! The way to reach a server: the program, the URL or the name that its keys give.

use std::{
    collections::{BTreeMap, HashSet},
    fmt::Display,
};

use belljar_model::{HttpEndpoint, HttpProtocol, StdioCommand, Transport};

use crate::{
    Format, env_file,
    error::{ConfigErrorKind, Located, shown},
    server::Server,
    tree::{Entry, Node, Value},
};

/// The keys that are valid only together with one of the others.
const BELONGINGS: [(&str, &str); 8] = [
    ("args", "command"),
    ("env", "command"),
    ("env_file", "command"),
    ("cwd", "command"),
    ("sandbox", "command"),
    ("headers", "url"),
    ("oauth", "url"),
    ("proxy", "url"),
];

/// The values of `type`, with the key that each needs. Clients use both spellings of the last one.
const TYPES: [(&str, &str); 5] =
    [("stdio", "command"), ("http", "url"), ("sse", "url"), ("streamable-http", "url"), ("streamableHttp", "url")];

impl Server<'_> {
    /// The transport, from whichever of `command`, `url` and `builtin` is given.
    pub(crate) fn transport(&self) -> Result<Transport, Located> {
        match (self.get("command"), self.get("url"), self.get("builtin")) {
            (Some(command), None, None) => {
                self.check_company("command")?;
                self.stdio(&command.node).map(Transport::Stdio)
            }
            (None, Some(url), None) => {
                self.check_company("url")?;
                self.http(&url.node).map(Transport::Http)
            }
            (None, None, Some(builtin)) => {
                self.check_company("builtin")?;
                self.not_empty(self.string(&builtin.node, "builtin")?, &builtin.node, "builtin").map(Transport::BuiltIn)
            }
            (None, None, None) => Err(ConfigErrorKind::NoTransport { server: shown(self.name) }.at(self.offset)),
            (command, url, builtin) => {
                let given = [("command", command), ("url", url), ("builtin", builtin)];
                let keys = given.into_iter().filter_map(|(key, entry)| entry.map(|_| key)).collect();
                Err(ConfigErrorKind::SeveralTransports { server: shown(self.name), keys }.at(self.offset))
            }
        }
    }

    /// Checks that `type`, and in belljar.toml every other key, is allowed together with the `key`
    /// that says how to reach the server.
    fn check_company(&self, key: &str) -> Result<(), Located> {
        if let Some(entry) = self.get("type") {
            let (server, kind) = (shown(self.name), self.string(&entry.node, "type")?);
            let known = TYPES.into_iter().find(|(name, _)| *name == kind);
            let kind = shown(&kind);
            match known {
                None => return Err(ConfigErrorKind::UnknownType { server, kind }.at(entry.node.offset)),
                Some((_, needs)) if needs != key => {
                    return Err(ConfigErrorKind::TypeMismatch { server, kind, needs }.at(entry.node.offset));
                }
                Some(_) => {}
            }
        }
        if self.reader.format == Format::Toml {
            for (belonging, needs) in BELONGINGS.into_iter().filter(|(_, needs)| *needs != key) {
                if let Some(entry) = self.get(belonging) {
                    let server = shown(self.name);
                    return Err(ConfigErrorKind::MisplacedKey { server, key: belonging, needs }.at(entry.offset));
                }
            }
        }
        Ok(())
    }

    fn stdio(&self, command: &Node) -> Result<StdioCommand, Located> {
        let cwd = match self.get("cwd") {
            Some(Entry { node, .. }) => {
                let cwd = self.not_empty(self.argument(node, "cwd")?, node, "cwd")?;
                Some(self.reader.directory.join(cwd))
            }
            None => None,
        };
        Ok(StdioCommand {
            command: self.not_empty(self.argument(command, "command")?, command, "command")?,
            args: self.args()?,
            env: self.env()?,
            cwd,
            sandbox: self.sandbox()?,
        })
    }

    fn args(&self) -> Result<Vec<String>, Located> {
        let Some(Entry { node, .. }) = self.get("args") else { return Ok(Vec::new()) };
        self.list(node, "args")?
            .iter()
            .enumerate()
            .map(|(index, node)| self.argument(node, format_args!("args[{index}]")))
            .collect()
    }

    fn env(&self) -> Result<BTreeMap<String, String>, Located> {
        let mut env = self.env_file()?;
        for entry in self.table("env", "a table of strings", "an object of strings")? {
            let key = format!("env.{}", entry.key);
            if entry.key.is_empty() || entry.key.contains(['=', '\0']) {
                let what = "an environment variable";
                return Err(ConfigErrorKind::BadName { field: self.field(key), what }.at(entry.offset));
            }
            let value = match (&entry.node.value, self.reader.format) {
                // VS Code allows both: a number stands for its text, and null for "not set".
                (Value::Number(number), Format::Json) => number.clone(),
                (Value::Null, _) => continue,
                _ => self.argument(&entry.node, key)?,
            };
            env.insert(entry.key.clone(), value);
        }
        Ok(env)
    }

    /// The variables of the file that the entry names, overridden by those of `env`.
    fn env_file(&self) -> Result<BTreeMap<String, String>, Located> {
        // Clients and our own file spell it differently.
        let (entry, key) = match (self.reader.format, self.get("envFile"), self.get("env_file")) {
            (Format::Json, Some(entry), Some(_)) => {
                return Err(ConfigErrorKind::TwoEnvFiles { server: shown(self.name) }.at(entry.offset));
            }
            (Format::Json, Some(entry), None) => (entry, "envFile"),
            (_, _, Some(entry)) => (entry, "env_file"),
            (_, _, None) => return Ok(BTreeMap::new()),
        };
        let path = self.not_empty(self.argument(&entry.node, key)?, &entry.node, key)?;
        let path = self.reader.directory.join(path);
        env_file::read(&path, &self.field(key)).map_err(|fault| fault.at(entry.node.offset))
    }

    fn http(&self, url: &Node) -> Result<HttpEndpoint, Located> {
        let text = self.expanded(url, "url")?;
        if !is_http_url(&text) {
            return Err(self.misshapen(url, "url", "a URL that begins with http:// or https://"));
        }
        let (mut headers, mut names) = (BTreeMap::new(), HashSet::new());
        for entry in self.table("headers", "a table of strings", "an object of strings")? {
            let key = format!("headers.{}", entry.key);
            if !is_header_name(&entry.key) {
                return Err(ConfigErrorKind::BadName { field: self.field(key), what: "a header" }.at(entry.offset));
            }
            if !names.insert(entry.key.to_ascii_lowercase()) {
                return Err(ConfigErrorKind::DuplicateKey { key: shown(&entry.key) }.at(entry.offset));
            }
            let value = self.expanded(&entry.node, &key)?;
            if value.chars().any(|character| character.is_control() && character != '\t') {
                let what = "a control character, such as a line break";
                return Err(ConfigErrorKind::BadCharacter { field: self.field(key), what }.at(entry.node.offset));
            }
            headers.insert(entry.key.clone(), value);
        }
        let proxy = self.get("proxy").map(|entry| self.proxy(&entry.node)).transpose()?;
        Ok(HttpEndpoint { url: text, headers, protocol: self.http_protocol()?, oauth: self.oauth()?, proxy })
    }

    fn proxy(&self, node: &Node) -> Result<String, Located> {
        let text = self.expanded(node, "proxy")?;
        if is_http_url(&text) {
            Ok(text)
        } else {
            Err(self.misshapen(node, "proxy", "a URL that begins with http:// or https://"))
        }
    }

    /// The protocol, if `type` says so. A client that writes `http` or `sse` means exactly that.
    fn http_protocol(&self) -> Result<HttpProtocol, Located> {
        let Some(entry) = self.get("type") else { return Ok(HttpProtocol::Any) };
        Ok(match self.string(&entry.node, "type")?.as_str() {
            "sse" => HttpProtocol::Sse,
            _ => HttpProtocol::Streamable,
        })
    }

    /// A string for a process. It must not contain a NUL, which no system can pass.
    fn argument(&self, node: &Node, key: impl Display) -> Result<String, Located> {
        let argument = self.expanded(node, &key)?;
        if argument.contains('\0') {
            return Err(ConfigErrorKind::BadCharacter { field: self.field(key), what: "a NUL" }.at(node.offset));
        }
        Ok(argument)
    }
}

/// Checks as much as is possible without the transport's URL parser.
fn is_http_url(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    (scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https"))
        && rest.starts_with(|first: char| !matches!(first, '/' | '?' | '#' | ':'))
        && !rest.contains(|character: char| character.is_whitespace() || character.is_control())
}

/// A `token` of RFC 9110.
fn is_header_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::testing::{json, only, toml};

    fn map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
        entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_program_is_read_with_its_variables() {
        let toml = "[servers.fs]\ncommand = '${userHome}/bin/serve'\nargs = ['-y', '${TOKEN}', '']\nenv = { KEY = 'k-${TOKEN}', NONE = '${NONE:-}' }\ncwd = '${workspaceFolder}/data'\n";
        let json = r#"{"servers": {"fs": {"type": "stdio", "command": "${userHome}/bin/serve", "args": ["-y", "${TOKEN}", ""],
            "env": {"KEY": "k-${env:TOKEN}", "NONE": "${NONE:-}"}, "cwd": "${workspaceFolder}/data", "url": null}}}"#;
        let expected = Transport::Stdio(StdioCommand {
            command: "/home/ada/bin/serve".to_owned(),
            args: vec!["-y".to_owned(), "sesame".to_owned(), String::new()],
            env: map(&[("KEY", "k-sesame"), ("NONE", "")]),
            cwd: Some(PathBuf::from("/projects/engine/data")),
            sandbox: None,
        });
        assert_eq!(only(self::toml(toml)).transport, expected);
        assert_eq!(only(self::json(json)).transport, expected);
    }

    #[test]
    fn a_relative_cwd_is_taken_from_the_files_directory_and_a_relative_command_is_left() {
        for (cwd, expected) in [("sub/dir", "/etc/belljar/sub/dir"), (".", "/etc/belljar/."), ("/abs", "/abs")] {
            let server = only(toml(&format!("[servers.fs]\ncommand = './serve'\ncwd = '{cwd}'\n")));
            let Transport::Stdio(command) = server.transport else { panic!("no program") };
            assert_eq!((command.command.as_str(), command.cwd), ("./serve", Some(PathBuf::from(expected))));
        }
    }

    #[test]
    fn a_remote_server_is_read_with_its_variables() {
        let expected = |protocol| {
            let url = "https://example.com/mcp?key=sesame";
            let headers = map(&[("Authorization", "Bearer sesame")]);
            Transport::Http(HttpEndpoint { headers, protocol, ..HttpEndpoint::new(url) })
        };
        let text = "[servers.r]\nurl = 'https://example.com/mcp?key=${TOKEN}'\nheaders = { Authorization = 'Bearer ${TOKEN}' }\n";
        assert_eq!(only(toml(text)).transport, expected(HttpProtocol::Any));
        for (kind, protocol) in [
            ("http", HttpProtocol::Streamable),
            ("sse", HttpProtocol::Sse),
            ("streamable-http", HttpProtocol::Streamable),
            ("streamableHttp", HttpProtocol::Streamable),
        ] {
            let text = format!(
                r#"{{"mcpServers": {{"r": {{"type": "{kind}", "url": "https://example.com/mcp?key=${{TOKEN}}",
                    "headers": {{"Authorization": "Bearer ${{TOKEN}}"}}, "env": {{"A": "b"}}}}}}}}"#
            );
            assert_eq!(only(json(&text)).transport, expected(protocol));
        }
        let shown = format!("{:?}", toml(text));
        assert!(!shown.contains("sesame"), "{shown}");
    }

    #[test]
    fn a_number_in_a_clients_env_is_its_text_and_null_is_not_set() {
        let server = only(json(r#"{"servers": {"s": {"command": "x", "env": {"PORT": 3000, "GONE": null}}}}"#));
        let Transport::Stdio(command) = server.transport else { panic!("no program") };
        assert_eq!(command.env, map(&[("PORT", "3000")]));
    }

    #[test]
    fn a_file_of_variables_stands_under_the_ones_that_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(".env"), "A=from the file\nB='${TOKEN}'\n").expect("written");
        let path = folder.path().join(".env").display().to_string();
        let toml_text = format!("[servers.s]\ncommand = 'x'\nenv_file = '{path}'\nenv = {{ A = 'named' }}\n");
        let json_text =
            format!(r#"{{"servers": {{"s": {{"command": "x", "envFile": "{path}", "env": {{"A": "named"}}}}}}}}"#);
        for server in [only(toml(&toml_text)), only(json(&json_text))] {
            let Transport::Stdio(command) = server.transport else { panic!("no program") };
            assert_eq!(command.env, map(&[("A", "named"), ("B", "${TOKEN}")]));
        }

        std::fs::write(folder.path().join(".env"), "A=1\nsesame\n").expect("written");
        assert_eq!(
            toml(&toml_text).expect_err("a wrong line"),
            "line 3, column 12: 'env_file' of server 's' names a file that cannot be used: line 2 is not NAME=value"
        );
        assert_eq!(
            json(r#"{"servers": {"s": {"command": "x", "envFile": "${workspaceFolder}/none"}}}"#).expect_err("missing"),
            "line 1, column 47: 'envFile' of server 's' names a file that cannot be used: there is no such file: check the path"
        );
    }

    #[test]
    fn a_built_in_server_is_named() {
        assert_eq!(only(toml("[servers.d]\nbuiltin = 'demo'\n")).transport, Transport::BuiltIn("demo".to_owned()));
    }

    #[test]
    fn a_server_is_reached_in_exactly_one_way() {
        for (lines, expected) in [
            ("args = ['x']", "line 1, column 10: server 's' needs one of 'command', 'url' and 'builtin'"),
            (
                "command = 'x'\nurl = 'http://x'",
                "line 1, column 10: server 's' has 'command' and 'url': keep one of them",
            ),
            (
                "command = 'x'\nurl = 'http://x'\nbuiltin = 'demo'",
                "line 1, column 10: server 's' has 'command' and 'url' and 'builtin': keep one of them",
            ),
            (
                "type = 'http'\ncommand = 'x'",
                "line 2, column 8: server 's' has the type 'http' and no 'url': give 'url', or remove 'type'",
            ),
            (
                "type = 'stdio'\nurl = 'http://x'",
                "line 2, column 8: server 's' has the type 'stdio' and no 'command': give 'command', or remove 'type'",
            ),
            (
                "type = 'ws'\nurl = 'http://x'",
                "line 2, column 8: server 's' has the unknown type 'ws': it is one of stdio, http, sse and streamable-http",
            ),
            (
                "url = 'http://x'\nargs = []",
                "line 3, column 1: 'args' of server 's' has no meaning without 'command': remove it, or give 'command'",
            ),
            (
                "command = 'x'\nheaders = {}",
                "line 3, column 1: 'headers' of server 's' has no meaning without 'url': remove it, or give 'url'",
            ),
            (
                "builtin = 'x'\nenv = {}",
                "line 3, column 1: 'env' of server 's' has no meaning without 'command': remove it, or give 'command'",
            ),
        ] {
            assert_eq!(toml(&format!("[servers.s]\n{lines}\n")).expect_err(lines), expected);
        }
        let text = r#"{"servers": {"s": {"command": "x", "envFile": ".env", "env_file": ".env"}}}"#;
        assert_eq!(
            json(text).expect_err(text),
            "line 1, column 36: server 's' has both 'envFile' and 'env_file': keep one of them"
        );
    }

    #[test]
    fn a_wrong_value_says_what_it_must_be() {
        for (lines, expected) in [
            ("command = 5", "line 2, column 11: 'command' of server 's' must be a string, not a number"),
            ("command = ['npx', '-y']", "line 2, column 11: 'command' of server 's' must be a string, not an array"),
            ("command = ''", "line 2, column 11: 'command' of server 's' is empty: give it a value, or remove it"),
            (
                "command = '${EMPTY}'",
                "line 2, column 11: 'command' of server 's' is empty: give it a value, or remove it",
            ),
            (
                "command = 'x'\nargs = '-y'",
                "line 3, column 8: 'args' of server 's' must be an array of strings, not a string",
            ),
            (
                "command = 'x'\nargs = [\n  'a',\n  5,\n]",
                "line 5, column 3: 'args[1]' of server 's' must be a string, not a number",
            ),
            (
                "command = 'x'\nargs = ['${NUL}']",
                "line 3, column 9: 'args[0]' of server 's' holds a NUL, which cannot be passed on: look also at the variables in it",
            ),
            (
                "command = 'x'\ncwd = ''",
                "line 3, column 7: 'cwd' of server 's' is empty: give it a value, or remove it",
            ),
            (
                "command = 'x'\nenv = ['A=b']",
                "line 3, column 7: 'env' of server 's' must be a table of strings, not an array",
            ),
            (
                "command = 'x'\nenv.PORT = 3000",
                "line 3, column 12: 'env.PORT' of server 's' must be a string, not a number",
            ),
            (
                "command = 'x'\nenv.'A=B' = 'x'",
                "line 3, column 5: 'env.A=B' of server 's' cannot be the name of an environment variable: correct it",
            ),
            (
                "url = 'example.com'",
                "line 2, column 7: 'url' of server 's' must be a URL that begins with http:// or https://, not another string",
            ),
            (
                "url = 'ws://${TOKEN}'",
                "line 2, column 7: 'url' of server 's' must be a URL that begins with http:// or https://, not another string",
            ),
            (
                "url = 'https://x'\nheaders.'A B' = 'x'",
                "line 3, column 9: 'headers.A B' of server 's' cannot be the name of a header: correct it",
            ),
            (
                "url = 'https://x'\nheaders.A = '${LINE}'",
                "line 3, column 13: 'headers.A' of server 's' holds a control character, such as a line break, which cannot be passed on: look also at the variables in it",
            ),
            (
                "url = 'https://x'\nheaders = { A-b = '1', a-B = '2' }",
                "line 3, column 24: 'a-B' is defined twice: rename one, or remove it",
            ),
            (
                "url = 'https://x'\nheaders.A = true",
                "line 3, column 13: 'headers.A' of server 's' must be a string, not true or false",
            ),
            ("builtin = ''", "line 2, column 11: 'builtin' of server 's' is empty: give it a value, or remove it"),
        ] {
            assert_eq!(toml(&format!("[servers.s]\n{lines}\n")).expect_err(lines), expected);
        }
    }

    #[test]
    fn a_variable_without_a_value_is_named_with_its_server_and_field() {
        for (lines, field) in [
            ("command = '${NONE}'", "command"),
            ("command = 'x'\nargs = ['a', '${NONE}']", "args[1]"),
            ("command = 'x'\nenv = { KEY = 'sesame ${NONE}' }", "env.KEY"),
            ("command = 'x'\ncwd = '${NONE}'", "cwd"),
            ("url = '${NONE}'", "url"),
            ("url = 'http://x'\nheaders = { Authorization = 'sesame ${NONE}' }", "headers.Authorization"),
        ] {
            let error = toml(&format!("[servers.s]\n{lines}\n")).expect_err(lines);
            assert!(
                error.contains(&format!("variable 'NONE' is not set, and '{field}' of server 's' needs it")),
                "{error}"
            );
        }
        let text = r#"{"servers": {"s": {"url": "https://x", "headers": {"K": "${input:api-key}"}}}}"#;
        assert!(
            json(text)
                .expect_err(text)
                .starts_with("line 1, column 57: 'headers.K' of server 's' asks for the input 'api-key'")
        );
    }

    #[test]
    fn urls_are_recognised_by_scheme_and_host() {
        for good in ["http://x", "HTTPS://example.com:8080/mcp?a=b#c", "http://[::1]:3000/", "http://user:pass@x"] {
            assert!(is_http_url(good), "{good}");
        }
        for bad in [
            "",
            "http://",
            "http:///x",
            "https://?x",
            "http://:80",
            "file:///etc",
            "example.com",
            "http://a b",
            "http://a\n",
        ] {
            assert!(!is_http_url(bad), "{bad}");
        }
    }
}
