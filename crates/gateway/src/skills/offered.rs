//! Scripts with names, as a run and the toolbox have them beside other tools.

use std::sync::Arc;

use belljar_model::{JsonText, ToolPath};
use serde_json::{Value, json};

use super::{Known, SKILLS};
use crate::Toolbox;

impl Toolbox {
    /// Reads the scripts with names again. This is done before a run and before a search, and never
    /// within a run: reading them may need a place among the runs.
    ///
    /// # Cancellation
    /// What is known stays as it was.
    pub async fn refresh_skills(&self) {
        if let Some(skills) = self.skills() {
            skills.refresh().await;
        }
    }

    /// Whether a path leads to a script with a name. A run that goes on may have some that are gone
    /// with their folder.
    pub(crate) fn is_skill(&self, path: &ToolPath) -> bool {
        path.server() == SKILLS && (self.has_skills() || self.position_of(SKILLS).is_none())
    }
}

/// The scripts with names of a run: those that there were when it began. An owner may change them
/// meanwhile.
#[derive(Default)]
pub(crate) struct RunSkills {
    known: Option<Arc<Known>>,
    goes_on: bool,
}

impl RunSkills {
    /// Those that the toolbox knows now.
    pub(crate) fn of(toolbox: &Toolbox) -> Self {
        Self { known: toolbox.skills().map(|skills| skills.known()), goes_on: false }
    }

    /// The same for a run that goes on. The interpreter has those that its recording has, and says
    /// itself if it has not the one that is called.
    pub(crate) fn going_on(self) -> Self {
        Self { goes_on: true, ..self }
    }

    /// Why a script with a name cannot be called.
    pub(crate) fn broken(&self, path: &ToolPath) -> Option<String> {
        let known = self.known_to(path).filter(|_| !self.goes_on)?;
        known.broken(path.tool()).map(str::to_owned)
    }

    /// Adds what the interpreter runs to the description of a script with a name.
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

    /// What the interpreter needs of a script with a name that no description has any more.
    pub(crate) fn alone(&self, path: &ToolPath) -> Option<JsonText> {
        let (file, text) = self.known_to(path)?.text(path.tool())?;
        Some(JsonText::from_value(&json!({ "path": path.to_string(), "file": file, "source": text })))
    }

    fn known_to(&self, path: &ToolPath) -> Option<&Known> {
        self.known.as_deref().filter(|_| path.server() == SKILLS)
    }
}

/// The answer of a call of a script with a name: the interpreter runs it once it has this. Where it
/// does not have the script, it tells the answer by its text.
pub(crate) fn may_run() -> JsonText {
    JsonText::from_value(&json!({ "_meta": { "belljar/script": true }, "content": [] }))
}
