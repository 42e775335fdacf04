//! What the tests share: a sandbox, tools, and the built binary.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{Arc, OnceLock},
};

use belljar_model::{ErrorKind, Limits, Outcome, RunError};
use belljar_sandbox::{Effect, Image, Program, Sandbox, ToolSet, Tools};
use serde_json::{Value, json};

/// The repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// One sandbox for all tests: runs must not affect each other anyway.
pub(crate) fn sandbox() -> &'static Arc<Sandbox> {
    static SANDBOX: OnceLock<Arc<Sandbox>> = OnceLock::new();
    SANDBOX.get_or_init(|| Arc::new(Sandbox::new(&Image::embedded(), Default::default()).unwrap()))
}

/// A server `box` with a few tools without effects: `echo`, `add`, `fail`, `wait`.
pub(crate) fn tools() -> ToolSet {
    ToolSet::new()
        .with("box", "echo", Effect::ReadOnly, async |arguments| Ok(Value::Object(arguments)))
        .with("box", "add", Effect::ReadOnly, async |arguments| {
            let number = |key: &str| arguments.get(key).and_then(Value::as_f64).ok_or(format!("{key} is no number"));
            Ok(json!(number("a")? + number("b")?))
        })
        .with("box", "fail", Effect::Mutating, async |arguments| {
            Err(arguments.get("message").and_then(Value::as_str).unwrap_or("it failed").to_owned())
        })
        .with("box", "wait", Effect::External, async |arguments| {
            let milliseconds = arguments.get("ms").and_then(Value::as_u64).unwrap_or(0);
            tokio::time::sleep(std::time::Duration::from_millis(milliseconds)).await;
            Ok(json!(milliseconds))
        })
}

/// Runs a script with the tools above and the default limits.
pub(crate) async fn run(source: &str) -> Outcome {
    run_with(source, &Limits::default(), Arc::new(tools())).await
}

/// Runs a script.
pub(crate) async fn run_with(source: &str, limits: &Limits, tools: Arc<dyn Tools>) -> Outcome {
    sandbox().run(Program::new(source)).limits(limits).tools(tools).await
}

/// The value of a script that must succeed.
pub(crate) async fn value(source: &str) -> Value {
    let outcome = run(source).await;
    match &outcome.result {
        Ok(value) => value.to_value().unwrap(),
        Err(error) => panic!("{source}\nfailed: {error:#?}"),
    }
}

/// The error of a script that must fail.
pub(crate) async fn error(source: &str) -> RunError {
    match run(source).await.result {
        Ok(value) => panic!("{source}\nsucceeded: {}", value.as_str()),
        Err(error) => error,
    }
}

/// The error of a script that must fail with this kind.
pub(crate) async fn error_of(kind: ErrorKind, source: &str) -> RunError {
    let error = error(source).await;
    assert_eq!(error.kind, kind, "{source}\n{error:#?}");
    error
}

/// `cargo`, in the repository.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(repository());
    // Cargo tells a test's processes about the test's own package. Build scripts that look for that
    // would run again, and everything that depends on them would be compiled again, whenever a
    // build follows a test.
    let of_package = |name: &String| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    std::env::vars().map(|(name, _)| name).filter(of_package).for_each(|name| {
        cargo.env_remove(name);
    });
    cargo
}

/// The `belljar` binary, built from the current sources.
pub(crate) fn belljar() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        // The whole workspace, so that the features, and with them the dependencies, are the same
        // as for the test itself.
        let mut cargo = cargo();
        cargo.args(["build", "--quiet", "--workspace", "--bins", "--locked"]);
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        assert!(cargo.status().unwrap().success(), "belljar does not build");
        let test = std::env::current_exe().unwrap();
        let binary = test.parent().unwrap().parent().unwrap().join(format!("belljar{}", std::env::consts::EXE_SUFFIX));
        assert!(binary.exists(), "{} is not there after the build", binary.display());
        binary
    })
}

/// An empty folder for a socket: the system limits a socket's path to 103 bytes, whatever folder
/// for temporary files a test run has.
fn short_folder() -> tempfile::TempDir {
    const LONGEST: usize = 40;
    let folder = tempfile::tempdir().unwrap();
    if folder.path().as_os_str().len() > LONGEST { tempfile::tempdir_in("/tmp").unwrap() } else { folder }
}

/// `belljar` in an empty folder, with an empty home and only the test's configuration.
pub(crate) struct Terminal {
    pub(crate) folder: tempfile::TempDir,
    has_daemon: bool,
    variables: Vec<(&'static str, String)>,
}

impl Terminal {
    /// A terminal whose commands work in their own process.
    pub(crate) fn new() -> Self {
        Self { folder: short_folder(), has_daemon: false, variables: Vec::new() }
    }

    /// A terminal whose commands may start a daemon, which the test has to end.
    pub(crate) fn with_daemon() -> Self {
        Self { has_daemon: true, ..Self::new() }
    }

    /// The same with these variables for all its commands.
    pub(crate) fn with_variables(mut self, variables: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        self.variables.extend(variables);
        self
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(belljar());
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.folder.path())
            .env_remove("XDG_STATE_HOME")
            .env_remove("BELLJAR_CONFIG")
            .env_remove("BELLJAR_LOG")
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        if self.has_daemon {
            command.env("XDG_RUNTIME_DIR", self.folder.path()).env_remove("BELLJAR_NO_DAEMON");
        } else {
            command.env("BELLJAR_NO_DAEMON", "1");
        }
        command
    }

    /// Runs a command to its end.
    pub(crate) fn belljar(&self, arguments: &[&str]) -> Answer {
        Answer::of(self.command(arguments).output().unwrap())
    }
}

/// Copies a folder with all that is in it.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            std::fs::copy(&path, target).unwrap();
        }
    }
}

/// A command on its own terminal, made by `script`: its output and its input pass through its
/// stdout and stdin.
pub(crate) fn in_a_terminal(command: &Command, kind: &str) -> Command {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let quoted = words.map(|word| format!("'{}'", word.to_str().unwrap().replace('\'', "'\\''"))).collect::<Vec<_>>();
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &quoted.join(" "), "/dev/null"]);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    script.env("TERM", kind).current_dir(command.get_current_dir().unwrap());
    script
}

/// Runs a command on its own terminal and types a text there. All output is its stdout.
pub(crate) fn on_a_terminal(command: &Command, typed: &str) -> Answer {
    let mut script = in_a_terminal(command, "xterm");
    let mut script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Text that is typed early is read when it is requested.
    let mut keyboard = script.stdin.take().unwrap();
    keyboard.write_all(typed.as_bytes()).unwrap();
    let answer = Answer::of(script.wait_with_output().unwrap());
    drop(keyboard);
    answer
}

/// What a command printed, and its exit code.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Answer {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The one JSON document on stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self:#?}"))
    }
}
