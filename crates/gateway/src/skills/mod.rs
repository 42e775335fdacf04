//! The owner's named scripts, which other scripts call as `skills.NAME`.
//!
//! They are files in the folders that the owner's configuration names. To the rest of this crate
//! they are the tools of one more server, which is never started: they are found, checked, judged
//! and recorded like tools. The answer of such a call is only that the script may run. It runs in
//! the jar of the script that calls it.
//!
//! - `folder.rs`: the files, within bounds.
//! - `signature.rs`: what each script takes. It is read in a jar, since this crate parses no
//!   script.
//! - `circles.rs`: scripts that call each other in a circle.
//! - `listed.rs`: the list of the scripts.
//! - `offered.rs`: the scripts of a run, beside the tools of servers.

mod circles;
mod folder;
mod listed;
mod offered;
mod signature;

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use belljar_engine::Engine;
use belljar_model::ToolDefinition;
use parking_lot::Mutex;
use tokio::time::{Instant, timeout_at};

pub use folder::{MAX_FILE_BYTES, SkillFolder, is_skill_name};
pub use listed::{ListedSkill, ListedSkills};
pub(crate) use offered::{RunSkills, may_run};
use signature::{Read, Signature};

/// The name of the server whose tools the scripts are. No other server may have it.
pub const SKILLS: &str = "skills";

/// The description of each script for a model.
const OF_THE_OWNER: &str = "A script of belljar's owner: each tool that it calls is judged by itself.";

/// How long one reading of the folders may take, including the wait for a slot to read scripts in.
/// A later reading does the rest.
const READING: Duration = Duration::from_secs(10);
/// How long nothing is read again after there was no slot.
const PAUSE: Duration = Duration::from_secs(1);

/// The scripts of some folders.
pub struct Skills {
    folders: Vec<SkillFolder>,
    /// Where signatures are read; without one, there are no scripts.
    engine: OnceLock<Engine>,
    known: Mutex<Arc<Known>>,
    /// Allows one reading of the folders at a time. If there was no slot to read in, nothing is
    /// read again until this time.
    reading: tokio::sync::Mutex<Option<Instant>>,
}

/// What the folders contained when they were last read.
#[derive(Default)]
pub(crate) struct Known {
    skills: BTreeMap<String, Skill>,
    list: Arc<Vec<ToolDefinition>>,
    /// Files and folders that are not used, and why.
    problems: Vec<String>,
}

/// One script.
pub(crate) struct Skill {
    /// The file's name in stack traces: `skills/NAME.ts`.
    file: String,
    path: String,
    text: Arc<str>,
    read: Arc<Read>,
    /// Why it cannot be called, if it cannot.
    broken: Option<String>,
}

impl Skills {
    /// The scripts in these folders. None is read yet.
    pub fn new(folders: Vec<SkillFolder>) -> Self {
        Self { folders, engine: OnceLock::new(), known: Mutex::default(), reading: tokio::sync::Mutex::default() }
    }

    /// Sets the engine that reads signatures.
    pub(crate) fn read_with(&self, engine: &Engine) {
        self.engine.get_or_init(|| engine.clone());
    }

    /// Converts a script to the form of a named one: unchanged, or wrapped in the function that
    /// such a script exports.
    ///
    /// # Errors
    /// Why it cannot be converted.
    pub(crate) async fn named(engine: &Engine, text: &str) -> Result<String, String> {
        signature::named(text, engine).await
    }

    /// What is known of the scripts.
    pub(crate) fn known(&self) -> Arc<Known> {
        self.known.lock().clone()
    }

    /// Reads the folders again. A file that has not changed is not examined.
    ///
    /// # Cancellation
    /// What is known stays as it was.
    pub(crate) async fn refresh(&self) {
        let Some(engine) = self.engine.get() else { return };
        let mut not_before = self.reading.lock().await;
        if not_before.is_some_and(|then| Instant::now() < then) {
            return;
        }
        *not_before = None;
        let folders = self.folders.clone();
        let scanned = match tokio::task::spawn_blocking(move || folder::scan(&folders)).await {
            Ok(scanned) => scanned,
            Err(error) => {
                tracing::warn!("the folders of scripts with names could not be read: {error}");
                return;
            }
        };
        let before = self.known();
        let mut skills = BTreeMap::new();
        let deadline = Instant::now() + READING;
        for found in scanned.files {
            let known = before.skills.get(&found.name);
            let read = match known.filter(|known| known.read.is_of(&found)) {
                Some(known) => known.read.clone(),
                None if not_before.is_some() => Arc::new(signature::unread(&found)),
                None => {
                    let read = timeout_at(deadline, signature::read(&found, engine)).await;
                    let read = read.unwrap_or_else(|_| signature::unread(&found));
                    if !read.is_lasting() {
                        *not_before = Some(Instant::now() + PAUSE);
                    }
                    Arc::new(read)
                }
            };
            let skill = match known.filter(|known| !read.is_lasting() && known.read.signature().is_some()) {
                // The script stays as it was until it can be read.
                Some(known) => known.before_circles(),
                None => {
                    let broken = read.broken(&found.file);
                    Skill { file: found.file, path: found.path, text: found.text.into(), read, broken }
                }
            };
            skills.insert(found.name, skill);
        }
        circles::find(&mut skills);
        let list: Vec<ToolDefinition> = skills.iter().map(|(name, skill)| skill.definition(name)).collect();
        let list = if list == *before.list { before.list.clone() } else { Arc::new(list) };
        *self.known.lock() = Arc::new(Known { skills, list, problems: scanned.problems });
    }
}

impl Known {
    /// The scripts as the tools of a server.
    pub(crate) fn list(&self) -> Arc<Vec<ToolDefinition>> {
        self.list.clone()
    }

    /// Why a script cannot be called, if it cannot.
    pub(crate) fn broken(&self, name: &str) -> Option<&str> {
        self.skills.get(name)?.broken.as_deref()
    }

    /// The file and the text of a script that can be called.
    pub(crate) fn text(&self, name: &str) -> Option<(&str, &str)> {
        let skill = self.skills.get(name).filter(|skill| skill.broken.is_none())?;
        Some((&skill.file, &skill.text))
    }
}

impl Skill {
    /// The same script, without the check for circles.
    fn before_circles(&self) -> Self {
        let Self { file, path, text, read, .. } = self;
        let broken = read.broken(file);
        Self { file: file.clone(), path: path.clone(), text: text.clone(), read: read.clone(), broken }
    }

    fn signature(&self) -> Option<&Signature> {
        self.read.signature().filter(|_| self.broken.is_none())
    }

    fn definition(&self, name: &str) -> ToolDefinition {
        let mut definition = ToolDefinition::unknown(name);
        definition.annotations.read_only = Some(true);
        match (self.signature(), &self.broken) {
            (Some(signature), _) => {
                definition.description = Some(match signature.description.as_str() {
                    "" => OF_THE_OWNER.to_owned(),
                    described => format!("{described}\n\n{OF_THE_OWNER}"),
                });
                definition.input_schema = signature.schema.clone();
                definition.output_schema = signature.result.clone();
            }
            (None, broken) => {
                let why = broken.as_deref().unwrap_or_default();
                definition.description = Some(format!("Cannot be called: {why}\n\n{OF_THE_OWNER}"));
            }
        }
        definition
    }
}
