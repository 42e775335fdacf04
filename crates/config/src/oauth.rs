//! Which client belljar is at the authorization server of a remote server, for servers where it
//! cannot register itself.

use belljar_model::OAuthClient;

use crate::{
    Format,
    error::{ConfigErrorKind, Located, shown},
    server::Server,
    tree::{Entry, Node, Value},
};

/// The keys of `oauth` in belljar.toml.
pub(crate) const KEYS: [&str; 6] = ["client_id", "client_metadata", "client_secret", "scopes", "port", "allow_private"];

impl Server<'_> {
    /// The registered client, if the entry has one. Further keys in a client's file belong to the
    /// client and are ignored.
    pub(crate) fn oauth(&self) -> Result<OAuthClient, Located> {
        let mut client = OAuthClient::default();
        for Entry { key, node, offset } in self.table("oauth", "a table", "an object")? {
            let path = format!("oauth.{key}");
            match (key.as_str(), self.reader.format) {
                (_, Format::Json) if matches!(node.value, Value::Null) => {}
                ("client_id", _) | ("clientId", Format::Json) => client.id = Some(self.credential(node, &path)?),
                ("client_metadata", _) => client.metadata = Some(self.document(node, &path)?),
                ("client_secret", _) | ("clientSecret", Format::Json) => {
                    client.secret = Some(self.credential(node, &path)?);
                }
                ("scopes", _) => client.scopes = self.scopes(node)?,
                ("port", _) | ("callbackPort", Format::Json) => client.port = Some(self.port(node, &path)?),
                ("allow_private", _) => {
                    let Value::Boolean(boolean) = node.value else {
                        return Err(self.expected(node, &path, "true or false"));
                    };
                    client.allow_private = boolean;
                }
                (_, Format::Json) => {}
                (_, Format::Toml) => {
                    let place = format!("'oauth' of server '{}'", shown(self.name));
                    return Err(ConfigErrorKind::unknown_key(&place, key, &KEYS).at(*offset));
                }
            }
        }
        Ok(client)
    }

    fn credential(&self, node: &Node, key: &str) -> Result<String, Located> {
        self.not_empty(self.expanded(node, key)?, node, key)
    }

    /// The URL of a document about belljar, which an authorization server must be able to fetch,
    /// and which cannot be the root.
    fn document(&self, node: &Node, key: &str) -> Result<String, Located> {
        let text = self.expanded(node, key)?;
        let path = text.strip_prefix("https://").and_then(|rest| rest.split_once('/'));
        let is_good = path.is_some_and(|(host, path)| !host.is_empty() && !host.contains('@') && !path.is_empty());
        if is_good && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
            return Ok(text);
        }
        Err(self.misshapen(node, key, "a URL with https and a path"))
    }

    fn scopes(&self, node: &Node) -> Result<Vec<String>, Located> {
        let Value::List(list) = &node.value else {
            return Err(self.expected(node, "oauth.scopes", "an array of strings"));
        };
        let scope = |(index, node): (usize, &Node)| {
            let key = format!("oauth.scopes[{index}]");
            let scope = self.string(node, &key)?;
            // The `scope-token` of RFC 6749: anything else would be read as several scopes, or as
            // none.
            let allowed = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
            if scope.is_empty() || !scope.bytes().all(allowed) {
                return Err(self.misshapen(node, &key, "the name of one scope"));
            }
            Ok(scope)
        };
        list.iter().enumerate().map(scope).collect()
    }

    fn port(&self, node: &Node, key: &str) -> Result<u16, Located> {
        let port = match &node.value {
            Value::Number(number) => number.parse().ok().filter(|port| *port > 0),
            _ => None,
        };
        port.ok_or_else(|| self.misshapen(node, key, "a port from 1 to 65535"))
    }
}

#[cfg(test)]
mod tests {
    use belljar_model::Transport;

    use super::*;
    use crate::testing::{json, only, toml};

    #[test]
    fn a_registered_client_is_read_from_both_formats() {
        let expected = OAuthClient {
            id: Some("me".to_owned()),
            metadata: Some("https://me.example/client.json".to_owned()),
            secret: Some("sesame".to_owned()),
            scopes: vec!["a:b".to_owned(), "c".to_owned()],
            port: Some(8123),
            allow_private: true,
        };
        let toml_text = "[servers.s]\nurl = 'https://x'\noauth = { client_id = 'me', client_metadata = 'https://me.example/client.json', client_secret = '${TOKEN}', scopes = ['a:b', 'c'], port = 8123, allow_private = true }\n";
        let json_text = r#"{"mcpServers": {"s": {"url": "https://x", "oauth": {"clientId": "me", "client_metadata": "https://me.example/client.json", "clientSecret": "${TOKEN}",
            "scopes": ["a:b", "c"], "callbackPort": 8123, "allow_private": true, "authServerMetadataUrl": null, "other": 1}}}}"#;
        for server in [only(toml(toml_text)), only(json(json_text))] {
            assert!(!format!("{server:?}").contains("sesame"));
            let Transport::Http(endpoint) = server.transport else { panic!("no url") };
            assert_eq!(endpoint.oauth, expected);
        }
    }

    #[test]
    fn a_wrong_value_says_what_it_must_be() {
        for (oauth, expected) in [
            ("'x'", "line 3, column 9: 'oauth' of server 's' must be a table, not a string"),
            (
                "{ zebra = 'x' }",
                "line 3, column 11: unknown key 'zebra' in 'oauth' of server 's': it is one of client_id, client_metadata, client_secret, scopes, port, allow_private",
            ),
            (
                "{ client_id = '' }",
                "line 3, column 23: 'oauth.client_id' of server 's' is empty: give it a value, or remove it",
            ),
            (
                "{ client_metadata = 'https://me.example' }",
                "line 3, column 29: 'oauth.client_metadata' of server 's' must be a URL with https and a path, not another string",
            ),
            (
                "{ client_metadata = 'http://me.example/client.json' }",
                "line 3, column 29: 'oauth.client_metadata' of server 's' must be a URL with https and a path, not another string",
            ),
            (
                "{ scopes = ['a b'] }",
                "line 3, column 21: 'oauth.scopes[0]' of server 's' must be the name of one scope, not another string",
            ),
            (
                "{ allow_private = 1 }",
                "line 3, column 27: 'oauth.allow_private' of server 's' must be true or false, not a number",
            ),
            (
                "{ port = 70000 }",
                "line 3, column 18: 'oauth.port' of server 's' must be a port from 1 to 65535, not a number",
            ),
        ] {
            let text = format!("[servers.s]\nurl = 'https://x'\noauth = {oauth}\n");
            assert_eq!(toml(&text).expect_err(oauth), expected);
        }
    }
}
