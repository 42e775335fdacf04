//! Scripts with names, as the toolbox offers them beside its other tools.

use belljar_model::ToolPath;
use serde_json::Value;

use super::SKILLS;
use crate::Toolbox;

impl Toolbox {
    /// Reads the scripts with names again. This is done before a run and before a search, and never
    /// within a run: reading them may need a place among the runs.
    pub async fn refresh_skills(&self) {
        if let Some(skills) = self.skills() {
            skills.refresh().await;
        }
    }

    /// Whether a path leads to a script with a name.
    pub(crate) fn is_skill(&self, path: &ToolPath) -> bool {
        self.has_skills() && path.server() == SKILLS
    }

    /// Why a script with a name cannot be called.
    pub(crate) fn broken_skill(&self, path: &ToolPath) -> Option<String> {
        let skills = self.skills().filter(|_| self.is_skill(path))?;
        skills.known().broken(path.tool()).map(str::to_owned)
    }

    /// Adds what the interpreter runs to the description of a script with a name.
    pub(crate) fn with_script(&self, path: &ToolPath, described: Value) -> Value {
        let Some(skills) = self.skills().filter(|_| self.is_skill(path)) else { return described };
        let known = skills.known();
        match (described, known.text(path.tool())) {
            (Value::Object(mut described), Some((file, text))) => {
                described.insert("file".to_owned(), file.into());
                described.insert("source".to_owned(), text.into());
                Value::Object(described)
            }
            (described, _) => described,
        }
    }
}
