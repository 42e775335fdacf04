//! The list of named scripts.

use serde::Serialize;

use super::SKILLS;
use crate::Toolbox;

/// All named scripts, and the problems in their folders.
#[derive(Debug, Serialize)]
pub struct ListedSkills {
    /// The scripts, sorted by name.
    pub skills: Vec<ListedSkill>,
    /// Files and folders that are not used, and why.
    pub problems: Vec<String>,
}

/// One named script.
#[derive(Debug, Serialize)]
pub struct ListedSkill {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: String,
    /// Whether it can be called.
    pub ok: bool,
    /// The first sentence of its description.
    pub summary: String,
    /// Its signature, on one line.
    pub signature: Option<String>,
    /// Its declaration.
    pub declaration: Option<String>,
    /// Why it cannot be called.
    pub error: Option<String>,
}

impl Toolbox {
    /// The named scripts, read now. Without an engine to read them there are none.
    pub async fn listed_skills(&self) -> ListedSkills {
        self.refresh_skills().await;
        let Some(known) = self.skills().map(|skills| skills.known()) else {
            return ListedSkills { skills: Vec::new(), problems: Vec::new() };
        };
        let catalog = self.catalog(Some(SKILLS)).await;
        let skills = known.skills.iter().map(|(name, skill)| {
            let tool = catalog.server(SKILLS).and_then(|server| server.tool(name));
            let tool = tool.filter(|_| skill.broken.is_none());
            ListedSkill {
                name: name.clone(),
                path: skill.path.clone(),
                ok: skill.broken.is_none(),
                summary: tool.map(|tool| tool.summary().to_owned()).unwrap_or_default(),
                signature: tool.map(|tool| tool.signature().to_owned()),
                declaration: tool.map(|tool| tool.declaration().to_owned()),
                error: skill.broken.clone(),
            }
        });
        ListedSkills { skills: skills.collect(), problems: known.problems.clone() }
    }
}
