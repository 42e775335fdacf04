//! Named scripts, as a run and the toolbox have them beside other tools.

use std::sync::Arc;

use belljar_model::{JsonText, ToolPath};
use serde_json::{Value, json};

use super::{Known, SKILLS};
use crate::Toolbox;

impl Toolbox {
    /// Reads the named scripts again. This is done before a run and before a search, and never
    /// within a run, since reading them may need a slot among the runs.
    ///
    /// # Cancellation
    /// What is known stays as it was.
    pub async fn refresh_skills(&self) {
        if let Some(skills) = self.skills() {
            skills.refresh().await;
        }
    }

    /// Whether a path leads to a named script. A resumed run may have scripts that are gone
    /// together with their folder.
    pub(crate) fn is_skill(&self, path: &ToolPath) -> bool {
        path.server() == SKILLS && (self.has_skills() || self.position_of(SKILLS).is_none())
    }
}

/// The named scripts of a run: those that existed when it began. The owner may change them
/// meanwhile.
#[derive(Default)]
pub(crate) struct RunSkills {
    known: Option<Arc<Known>>,
    goes_on: bool,
}

impl RunSkills {
    /// The scripts that the toolbox knows now.
    pub(crate) fn of(toolbox: &Toolbox) -> Self {
        Self { known: toolbox.skills().map(|skills| skills.known()), goes_on: false }
    }

    /// The same for a resumed run. The interpreter has the scripts of its recording, and reports it
    /// itself if the called one is not among them.
    pub(crate) fn going_on(self) -> Self {
        Self { goes_on: true, ..self }
    }

    /// Why a named script cannot be called.
    pub(crate) fn broken(&self, path: &ToolPath) -> Option<String> {
        let known = self.known_to(path).filter(|_| !self.goes_on)?;
        known.broken(path.tool()).map(str::to_owned)
    }

    /// Adds what the interpreter runs to the description of a named script.
    pub(crate) fn with_script(&self, path: &ToolPath, described: Value) -> Value {
        match (described, self.known_to(path).and_then(|known| known.text(path.tool()))) {
            (Value::Object(mut described), Some((file, text))) => {
                described.insert("file".to_owned(), file.into());
                described.insert("source".to_owned(), text.into());
                Value::Object(described)
            }
            (described, _) => described,
        }
    }

    /// What the interpreter needs of a named script that no description has any more.
    pub(crate) fn alone(&self, path: &ToolPath) -> Option<JsonText> {
        let (file, text) = self.known_to(path)?.text(path.tool())?;
        Some(JsonText::from_value(&json!({ "path": path.to_string(), "file": file, "source": text })))
    }

    fn known_to(&self, path: &ToolPath) -> Option<&Known> {
        self.known.as_deref().filter(|_| path.server() == SKILLS)
    }
}

/// The answer to a call of a named script: once the interpreter has it, it runs the script. If it
/// does not have the script, it recognises the answer by its text.
pub(crate) fn may_run() -> JsonText {
    JsonText::from_value(&json!({ "_meta": { "belljar/script": true }, "content": [] }))
}
