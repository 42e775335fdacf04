//! The `sandbox` of a server: what a confined program may access.

use belljar_model::ChildSandbox;

use crate::{error::Located, server::Server, tree::Value};

/// The keys of the table.
pub(crate) const KEYS: &[&str] = &["network", "read", "write"];

impl Server<'_> {
    /// The walls around the program, if it is confined.
    pub(crate) fn sandbox(&self) -> Result<Option<ChildSandbox>, Located> {
        if self.get("sandbox").is_none() {
            return Ok(None);
        }
        let mut sandbox = ChildSandbox { network: true, read: Vec::new(), write: Vec::new() };
        let (toml, json) =
            ("a table with 'network', 'read' and 'write'", "an object with 'network', 'read' and 'write'");
        for entry in self.table("sandbox", toml, json)? {
            let key = format!("sandbox.{}", entry.key);
            match entry.key.as_str() {
                "network" => {
                    let Value::Boolean(network) = entry.node.value else {
                        return Err(self.expected(&entry.node, key, "true or false"));
                    };
                    sandbox.network = network;
                }
                "read" => sandbox.read = self.folders(&entry.node, &key)?,
                "write" => sandbox.write = self.folders(&entry.node, &key)?,
                _ => return Err(self.unknown("sandbox", entry, KEYS)),
            }
        }
        Ok(Some(sandbox))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use belljar_model::{ChildSandbox, ServerSpec, Transport};

    use crate::testing::{only, toml};

    fn sandbox(server: ServerSpec) -> Option<ChildSandbox> {
        match server.transport {
            Transport::Stdio(command) => command.sandbox,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn walls_are_read_with_their_folders_as_seen_from_the_file() {
        let server = "[servers.fs]\ncommand = 'x'\n";
        assert_eq!(sandbox(only(toml(server))), None);
        let all = "sandbox = { network = false, read = ['data', '${userHome}/x'], write = ['/abs'] }\n";
        let walled = sandbox(only(toml(&format!("{server}{all}")))).expect("a sandbox");
        assert!(!walled.network);
        assert_eq!(walled.write, [PathBuf::from("/abs")]);
        assert!(walled.read.iter().all(|path| path.is_absolute()), "{walled:?}");
        let files_alone = sandbox(only(toml(&format!("{server}sandbox = {{}}\n"))));
        assert_eq!(files_alone, Some(ChildSandbox { network: true, read: Vec::new(), write: Vec::new() }));
    }

    #[test]
    fn what_walls_cannot_be_is_an_error() {
        for (line, expected) in [
            (
                "sandbox = true",
                "'sandbox' of server 's' must be a table with 'network', 'read' and 'write', not true or false",
            ),
            ("sandbox = { network = 'no' }", "'sandbox.network' of server 's' must be true or false, not a string"),
            ("sandbox = { write = '/' }", "'sandbox.write' of server 's' must be an array of strings, not a string"),
            ("sandbox = { net = false }", "unknown key 'net' in 'sandbox' of server 's'"),
        ] {
            let error = toml(&format!("[servers.s]\ncommand = 'x'\n{line}\n")).expect_err(line);
            assert!(error.contains(expected), "{error}");
        }
        for other in ["url = 'https://x.example'", "builtin = 'demo'"] {
            let error = toml(&format!("[servers.s]\n{other}\nsandbox = {{}}\n")).expect_err(other);
            assert!(error.contains("'sandbox'") && error.contains("command"), "{error}");
        }
    }
}
