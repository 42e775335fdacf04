//! Decides which names become labels. Servers and their tools choose their own names, so there is a
//! limit on how many labels there are and on how long each is. Names beyond the limit become
//! `other`.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use belljar_model::{ToolPath, display};

/// The label of all names that have no label of their own.
pub(crate) const OTHER: &str = "other";
/// The most servers with labels of their own. The owner chooses these names, and configures fewer.
const MAX_SERVERS: usize = 128;
/// The most tools of one server with labels of their own, in the order of their first calls. One
/// server cannot use up the labels of another.
const MAX_TOOLS: usize = 100;
/// The most characters of a label.
const MAX_CHARACTERS: usize = 100;

/// The names that are labels already.
#[derive(Debug, Default)]
pub(crate) struct Names {
    servers: BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
    other: Option<Arc<str>>,
}

impl Names {
    /// The labels of a server and its tool.
    pub(crate) fn of(&mut self, path: &ToolPath) -> (Arc<str>, Arc<str>) {
        let other = self.other();
        let Some((server, tools)) = self.entry(path.server()) else { return (other.clone(), other) };
        let tool = shown(path.tool());
        if let Some(known) = tools.get(&*tool) {
            return (server, known.clone());
        }
        if tools.len() == MAX_TOOLS {
            return (server, other);
        }
        let tool: Arc<str> = tool.as_ref().into();
        tools.insert(tool.clone());
        (server, tool)
    }

    /// The label of a server.
    pub(crate) fn server(&mut self, name: &str) -> Arc<str> {
        let other = self.other();
        self.entry(name).map_or(other, |(server, _)| server)
    }

    fn entry(&mut self, name: &str) -> Option<(Arc<str>, &mut BTreeSet<Arc<str>>)> {
        let name = shown(name);
        if !self.servers.contains_key(&*name) {
            if self.servers.len() == MAX_SERVERS {
                return None;
            }
            self.servers.insert(name.as_ref().into(), BTreeSet::new());
        }
        let label = self.servers.get_key_value(&*name)?.0.clone();
        Some((label, self.servers.get_mut(&*name)?))
    }

    fn other(&mut self) -> Arc<str> {
        self.other.get_or_insert_with(|| OTHER.into()).clone()
    }
}

/// A name on one line, with nothing in it that could act on its reader. If it is cut, it ends in
/// `…`.
fn shown(name: &str) -> Cow<'_, str> {
    // No character becomes shorter than one character.
    let end = name.char_indices().nth(MAX_CHARACTERS).map_or(name.len(), |(end, _)| end);
    let shown = display::line(name.get(..end).unwrap_or_default());
    if end == name.len() && shown.chars().nth(MAX_CHARACTERS).is_none() {
        return shown;
    }
    Cow::Owned(shown.chars().take(MAX_CHARACTERS - 1).chain(['…']).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_with_many_tools_gets_some_labels_and_takes_none_of_another() {
        let mut names = Names::default();
        let labels: BTreeSet<_> = (0..10_000).map(|at| names.of(&ToolPath::new("big", format!("t{at}"))).1).collect();
        assert_eq!(labels.len(), MAX_TOOLS + 1);
        assert_eq!(&*names.of(&ToolPath::new("big", "t9999")).1, OTHER);
        assert_eq!(&*names.of(&ToolPath::new("big", "t0")).1, "t0");
        assert_eq!(&*names.of(&ToolPath::new("small", "t9999")).1, "t9999");
        for at in 0..1000 {
            names.server(&format!("s{at}"));
        }
        assert_eq!((&*names.server("s999"), &*names.server("small")), (OTHER, "small"));
    }

    #[test]
    fn a_label_is_one_short_line() {
        let mut names = Names::default();
        let (_, tool) = names.of(&ToolPath::new("s", format!("a\n\u{202e}{}", "é".repeat(500))));
        assert!(tool.starts_with("a\\n\\u{202e}é") && tool.ends_with('…'), "{tool}");
        assert_eq!(tool.chars().count(), MAX_CHARACTERS);
    }
}
