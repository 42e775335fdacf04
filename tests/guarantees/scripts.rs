//! Scripts as models write them work, and scripts with typical mistakes are answered with how to
//! fix them.
//!
//! `tests/scripts` has scripts and, beside each, its expected result: `NAME.expected.json`.
//! `tests/scripts/mistakes` has scripts and the text that a model reads: `NAME.snap`. They run over
//! the real filesystem, memory and everything servers, and over the tool lists of git and
//! playwright with the answers in `tests/scripts/world`. `BELLJAR_ACCEPT=1` accepts the results.

use std::{
    collections::BTreeSet,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use belljar_gateway::{Gateway, report};
use belljar_model::{ByteSize, LimitsPatch, LogLevel, Outcome, Recorded, ServerSpec, StdioCommand, Transport};
use serde_json::{Value, json};

use crate::{
    real_servers::{installed, node},
    stub_server::{Stub, gateway, text},
    support::{Terminal, copy_folder, repository},
};

/// The least size of the corpus: a test of no scripts proves nothing.
const SCRIPTS: usize = 60;
const MISTAKES: usize = 40;

pub(crate) fn corpus() -> PathBuf {
    repository().join("tests/scripts")
}

fn is_accepted() -> bool {
    std::env::var_os("BELLJAR_ACCEPT").is_some()
}

/// The servers for the scripts, and their files.
pub(crate) struct World {
    folder: Arc<tempfile::TempDir>,
    pub(crate) gateway: Gateway,
}

impl World {
    fn new() -> Self {
        Self::of(gateway)
    }

    /// A world whose gateway is made of these servers.
    pub(crate) fn of(gateway: impl FnOnce(&[(&str, Stub)], Vec<ServerSpec>) -> Gateway) -> Self {
        Self::at(Arc::new(tempfile::tempdir().unwrap()), gateway)
    }

    /// Another world, with its own servers on the same folder: their answers are the same, byte for
    /// byte.
    pub(crate) fn beside(&self, gateway: impl FnOnce(&[(&str, Stub)], Vec<ServerSpec>) -> Gateway) -> Self {
        Self::at(self.folder.clone(), gateway)
    }

    fn at(folder: Arc<tempfile::TempDir>, gateway: impl FnOnce(&[(&str, Stub)], Vec<ServerSpec>) -> Gateway) -> Self {
        let place = folder.path().canonicalize().unwrap();
        fs::create_dir_all(place.join("project")).unwrap();
        let server = |name: &str, package: &str, arguments: &[&str], environment: Option<(&str, &Path)>| {
            let script = installed(&format!("@modelcontextprotocol/{package}/dist/index.js"));
            let arguments = std::iter::once(script.to_str().unwrap()).chain(arguments.iter().copied());
            let environment = environment.map(|(key, path)| (key.to_owned(), path.to_str().unwrap().to_owned()));
            let command = StdioCommand {
                command: node().to_owned(),
                args: arguments.map(str::to_owned).collect(),
                env: environment.into_iter().collect(),
                cwd: Some(place.join("project")),
                sandbox: None,
            };
            ServerSpec::new(name, Transport::Stdio(command))
        };
        let memory = place.join("memory.jsonl");
        let others = vec![
            server("fs", "server-filesystem", &["."], None),
            server("memory", "server-memory", &[], Some(("MEMORY_FILE_PATH", &memory))),
            server("everything", "server-everything", &["stdio"], None),
        ];
        let gateway = gateway(&[("git", canned("git")), ("playwright", canned("playwright"))], others);
        Self { folder, gateway }
    }

    /// Runs a script in a world that no other script has changed.
    async fn run(&self, source: &str) -> Outcome {
        self.run_by(&self.gateway, source).await
    }

    /// The same, by another gateway over these servers.
    pub(crate) async fn run_by(&self, gateway: &Gateway, source: &str) -> Outcome {
        let project = self.folder.path().join("project");
        for entry in fs::read_dir(&project).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
        copy_folder(&corpus().join("world/files"), &project);
        let _ = fs::remove_file(self.folder.path().join("memory.jsonl"));
        let limits = LimitsPatch {
            fuel: Some(2_000_000_000),
            timeout: Some(Duration::from_secs(20)),
            max_calls: Some(100),
            ..LimitsPatch::default()
        };
        gateway.execute(source.to_owned()).limits(&limits).await
    }

    /// A text without the name of this test's folder, and without that of the run, which differ
    /// each time.
    pub(crate) fn anonymous(&self, text: &str) -> String {
        let folder = self.folder.path().canonicalize().unwrap();
        let text = text.split_once("\n\nrun: r_").map_or(text, |(text, _)| text);
        text.replace(folder.to_str().unwrap(), "")
    }
}

/// A server with the tools of a real one, whose answers are in a file: the first entry whose
/// arguments match counts.
fn canned(server: &str) -> Stub {
    let path = corpus().join(format!("world/{server}.json"));
    let answers: Vec<Value> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    Stub::new(Stub::real_tools(server), move |tool, arguments| {
        let fits = |answer: &&Value| {
            answer["tool"] == tool
                && answer["arguments"].as_object().is_none_or(|asked| {
                    asked.iter().all(|(name, wanted)| arguments.get(name).is_some_and(|given| same(given, wanted)))
                })
        };
        let Some(answer) = answers.iter().find(fits) else { return text("there is no answer in the test's data") };
        if let Some(message) = answer["error"].as_str() {
            return json!({ "content": [{ "type": "text", "text": message }], "isError": true });
        }
        answer["text"].as_str().map_or_else(|| answer["result"].clone(), text)
    })
}

fn same(given: &Value, wanted: &Value) -> bool {
    given == wanted || given.as_f64().is_some_and(|given| wanted.as_f64() == Some(given))
}

/// The files of a folder with one of these extensions, sorted by name.
pub(crate) fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| endings.contains(&ending))
        })
        .collect();
    files.sort();
    files
}

pub(crate) fn name(path: &Path) -> &str {
    path.file_stem().unwrap().to_str().unwrap()
}

pub(crate) const LANGUAGES: [&str; 3] = ["js", "ts", "md"];

/// The parts of an outcome that are the same each time.
pub(crate) fn essence(outcome: &Outcome) -> Value {
    let mut essence = match &outcome.result {
        Ok(value) => json!({ "value": value.to_value().unwrap() }),
        Err(_) => json!({ "error": report(outcome) }),
    };
    if !outcome.logs.is_empty() {
        let logs = outcome.logs.iter().map(|entry| match entry.level {
            LogLevel::Log => entry.text.clone(),
            level => format!("[{}] {}", level.as_str(), entry.text),
        });
        essence["logs"] = logs.collect();
    }
    if outcome.usage.tool_calls > 0 {
        essence["calls"] = json!(outcome.usage.tool_calls);
    }
    essence
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_as_models_write_them_give_what_is_expected() {
    let world = World::new();
    let scripts = files(&corpus(), &LANGUAGES);
    assert!(scripts.len() >= SCRIPTS, "there are only {} scripts", scripts.len());
    let mut failures = Vec::new();
    for script in &scripts {
        let outcome = world.run(&fs::read_to_string(script).unwrap()).await;
        let given = world.anonymous(&format!("{:#}\n", essence(&outcome)));
        let place = script.with_extension("expected.json");
        if is_accepted() {
            fs::write(&place, &given).unwrap();
        }
        let expected = fs::read_to_string(&place).unwrap_or_else(|_| "nothing: the file is not there\n".to_owned());
        if given != expected {
            failures.push(format!("--- {}\nexpected {expected}given {given}", name(script)));
        }
    }
    assert!(failures.is_empty(), "{} of {} scripts failed\n{}", failures.len(), scripts.len(), failures.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_are_answered_with_a_text_that_suffices_to_fix_them() {
    let world = World::new();
    let folder = corpus().join("mistakes");
    let scripts = files(&folder, &LANGUAGES);
    assert!(scripts.len() >= MISTAKES, "there are only {} scripts", scripts.len());
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let mut failures = Vec::new();
    for script in &scripts {
        let outcome = world.run(&fs::read_to_string(script).unwrap()).await;
        let read = world.anonymous(&report(&outcome));
        let compare = || settings.bind(|| insta::assert_snapshot!(name(script), read));
        if catch_unwind(AssertUnwindSafe(compare)).is_err() {
            failures.push(format!("--- {}\n{read}\n", name(script)));
        }
    }
    assert!(failures.is_empty(), "{} of {} texts are others\n{}", failures.len(), scripts.len(), failures.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_script_of_the_corpus_is_repeated_exactly_in_a_new_process() {
    let world = World::new();
    let world = World { gateway: world.gateway.with_recording(ByteSize::mib(16)), ..world };
    let terminal = Terminal::new();
    let mut runs = Vec::new();
    let mistakes = files(&corpus().join("mistakes"), &LANGUAGES);
    for (at, script) in files(&corpus(), &LANGUAGES).into_iter().chain(mistakes).enumerate() {
        let mut outcome = world.run(&fs::read_to_string(&script).unwrap()).await;
        let Some(Recorded::Whole(bytes)) = outcome.recording.take() else { panic!("{}: {outcome:#?}", name(&script)) };
        let file = format!("{at}-{}.belljar", name(&script));
        fs::write(terminal.folder.path().join(&file), bytes).unwrap();
        runs.push((file, outcome));
    }
    assert!(runs.len() >= SCRIPTS + MISTAKES, "there are only {} scripts", runs.len());
    // A process takes time to start, and most machines have several processors.
    let share = runs.len().div_ceil(std::thread::available_parallelism().map_or(1, usize::from));
    std::thread::scope(|scope| {
        for runs in runs.chunks(share) {
            let terminal = &terminal;
            scope.spawn(move || runs.iter().for_each(|(file, run)| assert_repeated(terminal, file, run)));
        }
    });
}

/// Asserts that the replay of a file, in its own process, equals the run except for measurements of
/// the host.
pub(crate) fn assert_repeated(terminal: &Terminal, file: &str, run: &Outcome) {
    let answer = terminal.belljar(&["replay", file, "--json"]);
    let (mut replay, mut run) = (answer.json(), serde_json::to_value(run).unwrap());
    for part in ["ok", "value", "error", "calls"] {
        assert_eq!(replay[part].take(), run[part].take(), "{file}: {part}");
    }
    assert_eq!(replay["usage"]["fuel"], run["usage"]["fuel"], "{file}: fuel");
    // The gateway's remarks after a run has ended do not belong to the script.
    let (replayed, logs) = (replay["logs"].as_array().unwrap(), run["logs"].as_array().unwrap());
    assert_eq!(replayed.as_slice(), &logs[..replayed.len()], "{file}: logs");
    assert!(logs[replayed.len()..].iter().all(|remark| remark["level"] == "warn"), "{file}: {logs:?}");
}

#[test]
fn every_file_of_the_corpus_is_used() {
    let names = |folder: &Path, endings: &[&str]| -> BTreeSet<String> {
        let strip = |path: &PathBuf| name(path).trim_end_matches(".expected").to_owned();
        files(folder, endings).iter().map(strip).collect()
    };
    let mistakes = corpus().join("mistakes");
    assert_eq!(
        names(&corpus(), &LANGUAGES),
        names(&corpus(), &["json"]),
        "a script and what it must give belong together"
    );
    assert_eq!(names(&mistakes, &LANGUAGES), names(&mistakes, &["snap"]), "a mistake and its text belong together");
    for (folder, others) in [(corpus(), &["json"][..]), (mistakes, &["snap"][..])] {
        let known: BTreeSet<PathBuf> = files(&folder, &LANGUAGES).into_iter().chain(files(&folder, others)).collect();
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            assert!(path.is_dir() || known.contains(&path), "{} is not run by any test", path.display());
        }
        assert_eq!(files(&folder, &LANGUAGES).len(), names(&folder, &LANGUAGES).len(), "two scripts have one name");
    }
}
