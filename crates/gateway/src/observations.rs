//! The shapes of results that no server declares, kept from run to run.
//!
//! For each tool it keeps a [`belljar_catalog::Observed`]: types and the names of members, never a
//! value. The host chooses the folder; without one, shapes last as long as the process. If the file
//! cannot be read or has another format, only the shapes are lost.

use std::{
    collections::{HashMap, HashSet},
    io::{self, Read as _, Write as _},
    sync::Arc,
};

use belljar_catalog::{Notation, Observed, Words};
use belljar_model::ToolPath;
use cap_std::fs::{Dir, OpenOptions};
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The file in the state folder.
const FILE: &str = "shapes.json";
/// The name of the file's format; a file of another format is ignored until it is replaced.
const VERSION: u32 = 1;
/// The largest file that is read: some thousand shapes.
const FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Tools whose shapes are kept. Those with the fewest calls are forgotten first.
const TOOLS: usize = 500;

/// What has been observed of each tool. Shared by all runs.
#[derive(Default)]
pub(crate) struct Observations {
    folder: Option<Dir>,
    known: Mutex<Known>,
    /// The key under which the shapes of filtered tools are kept. A different filter gives
    /// different shapes.
    filtered: HashMap<ToolPath, ToolPath>,
}

#[derive(Default)]
struct Known {
    shapes: HashMap<ToolPath, Arc<Observed>>,
    /// Tools whose shapes this process has seen since the file was written.
    unsaved: HashSet<ToolPath>,
    /// Whether any of them showed something new.
    is_new: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    tools: Vec<(String, Observed)>,
}

/// Why no shapes could be read from a file.
#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it has more than {FILE_BYTES} bytes")]
    TooLarge,
    #[error("it holds no shapes: {0}")]
    Malformed(#[from] serde_json::Error),
    #[error("its version is {0}; this program reads {VERSION}")]
    OtherVersion(u32),
}

impl Known {
    fn is_unsaved(&self, only_news: bool) -> bool {
        !self.unsaved.is_empty() && (self.is_new || !only_news)
    }

    /// Keeps what is known of a tool now, and forgets the least seen tools if there are too many.
    fn keep(&mut self, tool: &ToolPath, observed: Observed) {
        self.shapes.insert(tool.clone(), Arc::new(observed));
        self.unsaved.insert(tool.clone());
        if self.shapes.len() > TOOLS {
            let least = self.shapes.iter().filter(|(path, _)| *path != tool).min_by_key(|(_, shape)| shape.calls());
            if let Some(least) = least.map(|(path, _)| path.clone()) {
                self.shapes.remove(&least);
            }
        }
    }
}

impl Observations {
    /// Loads the shapes in the folder, and will save them there.
    pub(crate) fn in_folder(folder: Dir) -> Self {
        let shapes = read(&folder).unwrap_or_else(|fault| {
            tracing::warn!("{FILE} in the state folder is ignored: {fault}");
            HashMap::new()
        });
        Self { folder: Some(folder), known: Mutex::new(Known { shapes, ..Known::default() }), ..Self::default() }
    }

    /// The same, with the shapes of some tools kept under other names.
    pub(crate) fn with_filtered(mut self, filtered: HashMap<ToolPath, ToolPath>) -> Self {
        self.filtered = filtered;
        self
    }

    /// What is known of a tool's results.
    pub(crate) fn of(&self, tool: &ToolPath) -> Option<Arc<Observed>> {
        self.known().shapes.get(self.kept_as(tool)).cloned()
    }

    /// Takes in a result, as a script gets it.
    pub(crate) fn record(&self, tool: &ToolPath, words: &Words, result: &Value) {
        let tool = self.kept_as(tool);
        let mut known = self.known();
        let mut observed = known.shapes.get(tool).map(|observed| (**observed).clone()).unwrap_or_default();
        let is_new = observed.record(result, words);
        known.is_new |= is_new;
        known.keep(tool, observed);
    }

    /// Whether a tool has written data in a notation that is neither JSON nor Python's: then none
    /// of its texts are parsed.
    pub(crate) fn writes_other(&self, tool: &ToolPath) -> bool {
        self.known().shapes.get(tool).is_some_and(|observed| observed.writes_other())
    }

    /// Notes how a tool has written its data as text.
    pub(crate) fn note(&self, tool: &ToolPath, notation: Notation) {
        let mut known = self.known();
        let mut observed = known.shapes.get(tool).map(|observed| (**observed).clone()).unwrap_or_default();
        known.is_new |= observed.note(notation);
        known.keep(tool, observed);
    }

    /// Whether [`Observations::save`] has something to write.
    pub(crate) fn has_unsaved(&self, only_news: bool) -> bool {
        self.folder.is_some() && self.known().is_unsaved(only_news)
    }

    /// Writes what this process has seen. With `only_news`, it writes only if a type has changed.
    /// It blocks.
    pub(crate) fn save(&self, only_news: bool) {
        let Some(folder) = &self.folder else { return };
        let mut known = self.known();
        if !known.is_unsaved(only_news) {
            return;
        }
        // Another process may have written meanwhile; for each tool, the last writer wins.
        let mut shapes = read(folder).unwrap_or_default();
        let mine = known.shapes.iter().filter(|(path, _)| known.unsaved.contains(path));
        shapes.extend(mine.map(|(path, observed)| (path.clone(), observed.clone())));
        if let Err(error) = write(folder, shapes) {
            tracing::warn!("{FILE} cannot be written to the state folder: {error}");
        }
        known.unsaved.clear();
        known.is_new = false;
    }

    fn kept_as<'a>(&'a self, tool: &'a ToolPath) -> &'a ToolPath {
        self.filtered.get(tool).unwrap_or(tool)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock()
    }
}

fn read(folder: &Dir) -> Result<HashMap<ToolPath, Arc<Observed>>, ReadError> {
    let file = match folder.open(FILE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(HashMap::new()),
        file => file?,
    };
    let mut bytes = Vec::new();
    let read = file.take(FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if u64::try_from(read).is_ok_and(|read| read > FILE_BYTES) {
        return Err(ReadError::TooLarge);
    }
    let file: File = serde_json::from_slice(&bytes)?;
    if file.version != VERSION {
        return Err(ReadError::OtherVersion(file.version));
    }
    let tools = file.tools.into_iter().take(TOOLS);
    Ok(tools.filter_map(|(path, observed)| Some((path.parse().ok()?, Arc::new(observed.checked()?)))).collect())
}

/// Writes a temporary file and renames it, so that there is always a complete one.
fn write(folder: &Dir, shapes: HashMap<ToolPath, Arc<Observed>>) -> io::Result<()> {
    let mut tools: Vec<(String, Observed)> =
        shapes.into_iter().map(|(path, observed)| (path.to_string(), Arc::unwrap_or_clone(observed))).collect();
    tools
        .sort_by(|(path, one), (other_path, other)| other.calls().cmp(&one.calls()).then_with(|| path.cmp(other_path)));
    tools.truncate(TOOLS);
    let text = serde_json::to_vec(&File { version: VERSION, tools })?;
    let beside = format!("{FILE}.{}", std::process::id());
    let mut file = belljar_files::open(folder, &beside, OpenOptions::new().write(true).create(true).truncate(true))?;
    file.write_all(&text)?;
    drop(file);
    folder.rename(&beside, folder, FILE)
}

#[cfg(test)]
mod tests {
    use cap_std::ambient_authority;
    use serde_json::json;

    use super::*;

    fn folder() -> (tempfile::TempDir, impl Fn() -> Dir) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_owned();
        (folder, move || Dir::open_ambient_dir(&path, ambient_authority()).expect("the folder"))
    }

    fn path(text: &str) -> ToolPath {
        text.parse().expect("a path")
    }

    #[test]
    fn shapes_outlive_the_process_and_other_processes_keep_theirs() {
        let (_folder, open) = folder();
        let (one, other) = (Observations::in_folder(open()), Observations::in_folder(open()));
        one.record(&path("a.x"), &Words::default(), &json!({"n": 1}));
        other.record(&path("b.y"), &Words::default(), &json!("text"));
        one.save(true);
        other.save(true);
        let next = Observations::in_folder(open());
        for tool in ["a.x", "b.y"] {
            assert_eq!(next.of(&path(tool)).map(|observed| observed.calls()), Some(1), "{tool}");
        }
        let files: Vec<_> = open().entries().expect("entries").map(|file| file.expect("a file").file_name()).collect();
        assert_eq!(files, [FILE], "nothing is left beside it");
        #[cfg(unix)]
        {
            use cap_std::fs::PermissionsExt as _;
            assert_eq!(open().metadata(FILE).expect("it is there").permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn how_a_tool_writes_its_data_is_kept_too() {
        let (_folder, open) = folder();
        let observations = Observations::in_folder(open());
        for (tool, notation) in [("a.rows", Notation::Python), ("a.log", Notation::Other)] {
            observations.note(&path(tool), notation);
            observations.record(&path(tool), &Words::default(), &json!([1]));
        }
        observations.save(true);
        let next = Observations::in_folder(open());
        assert!(next.writes_other(&path("a.log")) && !next.writes_other(&path("a.rows")));
        assert!(!next.writes_other(&path("a.unknown")));
    }

    #[test]
    fn only_news_is_written_at_once_and_the_counts_at_the_end() {
        let (_folder, open) = folder();
        let observations = Observations::in_folder(open());
        let record = || observations.record(&path("a.x"), &Words::default(), &json!({"n": 1}));
        let kept = || Observations::in_folder(open()).of(&path("a.x")).map(|observed| observed.calls());
        record();
        observations.save(true);
        record();
        observations.save(true);
        assert_eq!(kept(), Some(1));
        observations.save(false);
        assert_eq!(kept(), Some(2));
    }

    #[test]
    fn a_corrupt_file_is_ignored_and_replaced() {
        for corrupt in
            ["", "{", "[]", r#"{"version":9,"tools":[]}"#, r#"{"version":1,"tools":[["a.x",{"calls":"many"}]]}"#]
        {
            let (_folder, open) = folder();
            open().write(FILE, corrupt).expect("written");
            let observations = Observations::in_folder(open());
            assert!(observations.of(&path("a.x")).is_none());
            observations.record(&path("a.x"), &Words::default(), &json!(1));
            observations.save(false);
            assert!(Observations::in_folder(open()).of(&path("a.x")).is_some(), "{corrupt}");
        }
        let (_folder, open) = folder();
        open().write(FILE, vec![b' '; 5 * 1024 * 1024]).expect("written");
        assert!(matches!(read(&open()), Err(ReadError::TooLarge)));
    }

    #[test]
    fn the_number_of_tools_is_bounded() {
        let (_folder, open) = folder();
        let observations = Observations::in_folder(open());
        for number in 0..TOOLS + 50 {
            observations.record(&path(&format!("a.t{number}")), &Words::default(), &json!(1));
        }
        assert_eq!(observations.known().shapes.len(), TOOLS);
        observations.save(false);
        assert_eq!(read(&open()).expect("shapes").len(), TOOLS);
    }
}
