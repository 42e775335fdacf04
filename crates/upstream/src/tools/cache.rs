//! Tool lists on disk, so that a search need not start servers.
//!
//! The key of a list is the server: the command, its arguments, the names of its variables, its
//! folder and framing, or the URL, and belljar's version. Only a hash of these is written, since
//! arguments may be secrets. What is read is foreign text: it is bounded, and an unusable file
//! counts as absent.

use std::{
    io::{self, Read as _, Write as _},
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_model::{JsonBounds, JsonText, ServerSpec, ToolDefinition, Transport};
use cap_std::fs::{Dir, OpenOptions};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio_util::task::TaskTracker;

/// The largest file that is read or written.
const FILE_BYTES: usize = 16 * 1024 * 1024;
/// The most lists that are kept. The oldest are removed first.
const FILES: usize = 128;
/// Older lists are refreshed when there is an opportunity.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);
/// The prefix of the files' names.
const PREFIX: &str = "tools-";
/// Changes with the format of the files.
const FORMAT: u64 = 1;

/// A server's key on disk: a hash, since its configuration may hold secrets. A server inside this
/// process has none.
pub(crate) fn identity(spec: &ServerSpec, version: &str) -> Option<String> {
    let identity = match &spec.transport {
        Transport::Stdio(command) => json!({
            "command": command.command,
            "args": command.args,
            "env": command.env.keys().collect::<Vec<_>>(),
            "cwd": command.cwd,
        }),
        Transport::Http(endpoint) => json!({
            "url": endpoint.url,
            "headers": endpoint.headers.keys().collect::<Vec<_>>(),
        }),
        _ => return None,
    };
    let identity = json!([FORMAT, version, identity]).to_string();
    let hash: String = Sha256::digest(identity).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    Some(hash)
}

/// The place of one server's list.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    folder: Arc<Dir>,
    name: String,
    writes: TaskTracker,
}

impl Cache {
    /// The file in `folder` for the list of `spec`, for this version of belljar. A server inside
    /// this process has none.
    pub(crate) fn of(folder: &Arc<Dir>, spec: &ServerSpec, version: &str, writes: &TaskTracker) -> Option<Self> {
        let hash = identity(spec, version)?;
        Some(Self { folder: folder.clone(), name: format!("{PREFIX}{hash}.json"), writes: writes.clone() })
    }

    /// The list, if there is a usable one. Blocks.
    pub(crate) fn read(&self) -> Option<Vec<ToolDefinition>> {
        let file = match self.folder.open(&self.name) {
            Ok(file) => file,
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::info!("the list of tools in {} cannot be read: {error}", self.name);
                }
                return None;
            }
        };
        let tools = parse(file);
        if tools.is_none() {
            tracing::info!("what is in {} is not a list of tools, and is ignored", self.name);
        }
        tools
    }

    /// Whether the list is old. Blocks for a moment.
    pub(crate) fn is_stale(&self) -> bool {
        // A time in the future is invalid.
        self.written().is_some_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > FRESH))
    }

    /// When the list was written. Blocks for a moment.
    pub(crate) fn written(&self) -> Option<SystemTime> {
        let written = self.folder.metadata(&self.name).and_then(|file| file.modified());
        written.ok().map(cap_std::time::SystemTime::into_std)
    }

    /// Writes the list in the background.
    pub(crate) fn write(&self, tools: Arc<Vec<ToolDefinition>>) {
        let cache = self.clone();
        self.writes.spawn_blocking(move || {
            if let Err(error) = cache.replace(&tools) {
                tracing::info!("the list of tools cannot be written to {}: {error}", cache.name);
            }
        });
    }

    fn replace(&self, tools: &[ToolDefinition]) -> io::Result<()> {
        let tools: Vec<Value> = tools.iter().map(as_listed).collect();
        let text = json!({"format": FORMAT, "tools": tools}).to_string();
        if text.len() > FILE_BYTES {
            return Err(io::Error::other("it is too long"));
        }
        let unfinished = format!("{}.{}", self.name, std::process::id());
        let written = self.write_file(&unfinished, text.as_bytes());
        let replaced = written.and_then(|()| self.folder.rename(&unfinished, &self.folder, &self.name));
        if replaced.is_err() {
            // It may not exist.
            let _ = self.folder.remove_file(&unfinished);
        }
        replaced?;
        self.prune()
    }

    fn write_file(&self, name: &str, text: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        belljar_files::open(&self.folder, name, &mut options)?.write_all(text)
    }

    /// Removes the oldest lists, if there are too many.
    fn prune(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in self.folder.entries()? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name.starts_with(PREFIX) {
                let written = entry.metadata().and_then(|file| file.modified()).map(|time| time.into_std());
                files.push((written.unwrap_or(SystemTime::UNIX_EPOCH), name));
            }
        }
        files.sort();
        for (_, name) in files.iter().take(files.len().saturating_sub(FILES)) {
            // Another process may have been faster.
            let _ = self.folder.remove_file(name);
        }
        Ok(())
    }
}

fn parse(file: impl io::Read) -> Option<Vec<ToolDefinition>> {
    let mut text = String::new();
    let limit = u64::try_from(FILE_BYTES).unwrap_or(u64::MAX);
    file.take(limit + 1).read_to_string(&mut text).ok()?;
    let mut file = JsonText::parse(text, &JsonBounds::with_bytes(FILE_BYTES)).ok()?.to_value().ok()?;
    if file.get("format").and_then(Value::as_u64) != Some(FORMAT) {
        return None;
    }
    let Value::Array(tools) = file.get_mut("tools")?.take() else { return None };
    tools.into_iter().map(|tool| ToolDefinition::from_json(tool).ok()).collect()
}

/// A definition as `tools/list` has it.
fn as_listed(tool: &ToolDefinition) -> Value {
    let hints = &tool.annotations;
    json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": {
            "readOnlyHint": hints.read_only,
            "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent,
            "openWorldHint": hints.open_world,
        },
    })
}

#[cfg(test)]
mod tests {
    use belljar_model::StdioCommand;
    use cap_std::ambient_authority;

    use super::*;

    struct Scratch(std::path::PathBuf, Arc<Dir>);

    impl Scratch {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("belljar-cache-{}-{name}", std::process::id()));
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(&folder).expect("a folder");
            let dir = Dir::open_ambient_dir(&folder, ambient_authority()).expect("it is there");
            Self(folder, Arc::new(dir))
        }

        fn cache(&self, argument: &str) -> Cache {
            self.versioned(argument, "1")
        }

        fn versioned(&self, argument: &str, version: &str) -> Cache {
            let command = StdioCommand {
                command: "serve".to_owned(),
                args: vec![argument.to_owned()],
                env: [("TOKEN".to_owned(), "sesame".to_owned())].into(),
                cwd: None,
                sandbox: None,
            };
            let spec = ServerSpec::new("s", Transport::Stdio(command));
            Cache::of(&self.1, &spec, version, &TaskTracker::new()).expect("a program has one")
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn tools() -> Vec<ToolDefinition> {
        let full = json!({
            "name": "a", "title": "A", "description": "does", "inputSchema": {"type": "object", "properties": {"z": {}, "b": {}}},
            "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "idempotentHint": false},
        });
        [full, json!({"name": "b"})].into_iter().map(|tool| ToolDefinition::from_json(tool).expect("a tool")).collect()
    }

    #[test]
    fn a_list_is_read_as_it_was_written_and_by_its_own_server_alone() {
        let scratch = Scratch::new("round");
        scratch.cache("x").replace(&tools()).expect("it can be written");
        assert_eq!(scratch.cache("x").read(), Some(tools()));
        assert_eq!(scratch.cache("y").read(), None);
        assert_eq!(scratch.versioned("x", "2").read(), None);
        assert!(!scratch.cache("x").is_stale() && !scratch.cache("y").is_stale());
    }

    #[test]
    #[cfg(unix)]
    fn a_file_is_the_owners_alone_and_holds_no_argument() {
        use std::os::unix::fs::PermissionsExt as _;
        let scratch = Scratch::new("private");
        scratch.cache("hidden-argument").replace(&tools()).expect("it can be written");
        for entry in std::fs::read_dir(&scratch.0).expect("a folder") {
            let path = entry.expect("a file").path();
            assert_eq!(path.metadata().expect("it is there").permissions().mode() & 0o777, 0o600);
            let text = std::fs::read_to_string(&path).expect("it can be read");
            assert!(!text.contains("hidden-argument") && !text.contains("sesame"));
        }
    }

    #[test]
    fn what_is_no_list_counts_as_absent() {
        let scratch = Scratch::new("garbage");
        let cache = scratch.cache("x");
        for garbage in [
            &b""[..],
            b"\xff\xfe",
            b"[]",
            b"{}",
            b"{\"format\":1}",
            b"{\"format\":0,\"tools\":[]}",
            b"{\"format\":1,\"tools\":[{}]}",
            b"{\"format\":1,\"tools\":[{\"name\":",
        ] {
            cache.write_file(&cache.name, garbage).expect("it can be written");
            assert_eq!(cache.read(), None, "{}", String::from_utf8_lossy(garbage));
        }
        let deep = format!("{{\"format\":1,\"tools\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        cache.write_file(&cache.name, deep.as_bytes()).expect("it can be written");
        assert_eq!(cache.read(), None);
        cache.replace(&tools()).expect("garbage is replaced");
        assert_eq!(cache.read(), Some(tools()));
    }

    #[test]
    fn there_is_a_bound_on_the_lists_that_are_kept() {
        let scratch = Scratch::new("bound");
        for number in 0..FILES + 20 {
            scratch.cache(&number.to_string()).replace(&[]).expect("it can be written");
        }
        assert_eq!(std::fs::read_dir(&scratch.0).expect("a folder").count(), FILES);
    }
}
