//! One server's part of the catalogue, made once when its tool list is known, and shared from then
//! on.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::PathBuf,
    sync::Arc,
};

use belljar_model::{EffectRules, ToolDefinition};

use crate::{
    bounds::{FOLDER_CHARS, FOLDERS_SHOWN, REASON_CHARS, TOOLS_PER_SERVER},
    index::Index,
    names::{Names, properties},
    text::{one_line, quoted},
    tool::Tool,
};

/// Names of tools that list the folders in which a server works.
const LISTERS_OF_FOLDERS: [&str; 4] =
    ["list_allowed_directories", "list_allowed_folders", "list_allowed_paths", "get_allowed_directories"];

/// Whether a server's tools are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// They are known, and can be called.
    Ready,
    /// The server has not been started yet.
    NotStarted,
    /// The server cannot be used.
    Unavailable {
        /// Why, on one line.
        reason: String,
        /// What to do about it, on one line.
        hint: String,
    },
}

/// How the catalogue differs from the tool list that the server gave.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// Two tools have the same name. Scripts see the first one.
    #[error("the tool {name:?} is listed more than once; the first one counts")]
    Duplicate {
        /// The name, as it came.
        name: String,
    },
    /// There are too many tools.
    #[error("the server lists {used} tools; only the first {limit} are used")]
    TooMany {
        /// The bound.
        limit: usize,
        /// How many there were.
        used: usize,
    },
}

/// One server and its tools. Immutable; a changed tool list makes a new one.
#[derive(Debug)]
pub struct ServerCatalog {
    names: Names,
    state: ServerState,
    tools: Vec<Tool>,
    by_property: HashMap<String, usize>,
    by_exact_name: HashMap<String, usize>,
    faults: Vec<ListError>,
    index: Index,
}

impl ServerCatalog {
    /// A server whose tools are known. `effects` are the owner's settings for them.
    pub fn ready(names: Names, definitions: Vec<ToolDefinition>, effects: &EffectRules) -> Self {
        let mut server = Self::empty(names, ServerState::Ready);
        let used = definitions.len();
        let (mut seen, mut told) = (HashSet::new(), HashSet::new());
        let mut kept = Vec::new();
        for definition in definitions {
            if kept.len() == TOOLS_PER_SERVER {
                server.faults.push(ListError::TooMany { limit: TOOLS_PER_SERVER, used });
                break;
            }
            if seen.insert(definition.name.clone()) {
                kept.push(definition);
            } else if told.insert(definition.name.clone()) {
                server.faults.push(ListError::Duplicate { name: definition.name });
            }
        }
        let exact: Vec<&str> = kept.iter().map(|definition| definition.name.as_str()).collect();
        let properties = properties(&exact);
        for (names, definition) in properties.into_iter().zip(kept) {
            let (shown, trusted) = (effects.shown(&definition), effects.trusted(&definition));
            let at = server.tools.len();
            server.by_exact_name.insert(names.exact().to_owned(), at);
            server.by_property.extend(names.bound().map(|name| (name.to_owned(), at)));
            server.tools.push(Tool::new(&server.names, names, definition, shown, trusted));
        }
        server.index = Index::new(server.names.exact(), &server.tools);
        server
    }

    /// The same for a server that keeps one state for all calls, such as a page. Its tools are
    /// shown with a remark about that.
    #[must_use]
    pub fn sharing_state(mut self) -> Self {
        self.tools.iter_mut().for_each(Tool::share_state);
        self
    }

    /// The same for the owner's scripts, which are shown with a remark about that.
    #[must_use]
    pub fn of_scripts(mut self) -> Self {
        self.tools.iter_mut().for_each(Tool::mark_as_script);
        self
    }

    /// The same for a server with path arguments of these names, which may lead only into these
    /// folders. Its tools are shown with a remark about that. A relative path is resolved against
    /// the first folder.
    #[must_use]
    pub fn within(mut self, folders: &[PathBuf], arguments: &[String]) -> Self {
        let mut shown: Vec<String> = folders
            .iter()
            .take(FOLDERS_SHOWN)
            .map(|folder| quoted(&one_line(&folder.to_string_lossy(), FOLDER_CHARS)))
            .collect();
        match folders.len().saturating_sub(FOLDERS_SHOWN) {
            0 => {}
            more => shown.push(format!("{more} more")),
        }
        if let Some(first) = shown.first() {
            let relative = if shown.len() > 1 { format!(" (a relative one within {first})") } else { String::new() };
            let text = Arc::from(format!("within {}{relative}", shown.join(" or ")));
            self.tools.iter_mut().for_each(|tool| tool.keep_within(&text, arguments));
        }
        self
    }

    /// The same for a server with these start arguments, each a folder or a file with the option
    /// before it. Its tools that take a path are shown with them, since nothing else may say where
    /// their paths can lead.
    #[must_use]
    pub fn started_with(mut self, arguments: &[(Option<String>, PathBuf)]) -> Self {
        let shown = |(option, path): &(Option<String>, PathBuf)| {
            let path = quoted(&one_line(&path.to_string_lossy(), FOLDER_CHARS));
            option.as_ref().map_or(path.clone(), |option| format!("{} {path}", one_line(option, FOLDER_CHARS)))
        };
        let shown: Vec<String> = arguments.iter().take(FOLDERS_SHOWN).map(shown).collect();
        if !shown.is_empty() {
            let text = Arc::from(shown.join(" "));
            self.tools.iter_mut().for_each(|tool| tool.tell_arguments(&text));
        }
        self
    }

    /// The same for a server whose results are filtered for some tools before a script sees them.
    /// The filters are in jq's language, by the tools' exact names. The tools are shown with a
    /// remark about that.
    #[must_use]
    pub fn filtered(mut self, filters: &BTreeMap<String, String>) -> Self {
        for tool in &mut self.tools {
            if let Some(filter) = filters.get(tool.names().exact()) {
                tool.filter_by(filter);
            }
        }
        self
    }

    /// The tool that lists the folders in which the others work, if there is one.
    pub fn lister_of_folders(&self) -> Option<&Tool> {
        LISTERS_OF_FOLDERS.iter().find_map(|name| self.tool(name))
    }

    /// A server that has not been started yet.
    pub fn not_started(names: Names) -> Self {
        Self::empty(names, ServerState::NotStarted)
    }

    /// A server that cannot be used, with the reason and a hint. Both texts may come from a child.
    pub fn unavailable(names: Names, reason: &str, hint: &str) -> Self {
        let (reason, hint) = (one_line(reason, REASON_CHARS), one_line(hint, REASON_CHARS));
        Self::empty(names, ServerState::Unavailable { reason, hint })
    }

    fn empty(names: Names, state: ServerState) -> Self {
        Self {
            names,
            state,
            tools: Vec::new(),
            by_property: HashMap::new(),
            by_exact_name: HashMap::new(),
            faults: Vec::new(),
            index: Index::default(),
        }
    }

    /// The configured name.
    pub fn name(&self) -> &str {
        self.names.exact()
    }

    /// The names of its global.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Whether its tools are known.
    pub fn state(&self) -> &ServerState {
        &self.state
    }

    /// Its tools, in the order in which it listed them.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// How its list differs from the one that the server gave.
    pub fn faults(&self) -> &[ListError] {
        &self.faults
    }

    /// The tool with this exact name.
    pub fn tool(&self, exact_name: &str) -> Option<&Tool> {
        self.by_exact_name.get(exact_name).and_then(|at| self.tools.get(*at))
    }

    /// The tool under this property of the server's global.
    pub fn property(&self, name: &str) -> Option<&Tool> {
        self.by_property.get(name).and_then(|at| self.tools.get(*at))
    }

    pub(crate) fn index(&self) -> &Index {
        &self.index
    }
}

#[cfg(test)]
mod tests {
    use belljar_model::Effect;
    use serde_json::json;

    use super::*;
    use crate::namespaces;

    fn server(tools: &[serde_json::Value], effects: &[(&str, Effect)]) -> ServerCatalog {
        let definitions = tools.iter().map(|tool| ToolDefinition::from_json(tool.clone()).expect("a tool")).collect();
        let declared = effects.iter().map(|(name, effect)| ((*name).to_owned(), *effect)).collect();
        let effects = EffectRules { declared, ..EffectRules::default() };
        ServerCatalog::ready(namespaces(&["my-fs"]).remove(0), definitions, &effects)
    }

    #[test]
    fn a_tool_is_found_under_its_exact_name_and_under_its_alias() {
        let server = server(&[json!({"name": "read-file"}), json!({"name": "then"})], &[]);
        let read = server.tool("read-file").expect("the exact name");
        assert_eq!(read.expression(), "my_fs.read_file");
        assert_eq!(read.exact_expression().as_deref(), Some("my_fs[\"read-file\"]"));
        for property in ["read-file", "read_file"] {
            assert_eq!(server.property(property).expect("a property").path(), read.path());
        }
        assert!(server.property("then").is_none());
        assert_eq!(server.tool("then").expect("a path").expression(), "my_fs.then_");
        assert_eq!(server.property("then_").expect("an alias").path().to_string(), "my-fs.then");
        assert!(server.tool("read_file").is_none());
    }

    #[test]
    fn the_first_of_equal_names_counts_and_the_others_are_told() {
        let tools =
            [json!({"name": "a", "title": "one"}), json!({"name": "a"}), json!({"name": "b"}), json!({"name": "a"})];
        let server = server(&tools, &[]);
        assert_eq!(server.tools().len(), 2);
        assert_eq!(server.tool("a").expect("the first").definition().title.as_deref(), Some("one"));
        assert_eq!(server.faults(), [ListError::Duplicate { name: "a".to_owned() }]);
        assert_eq!(server.faults()[0].to_string(), "the tool \"a\" is listed more than once; the first one counts");
    }

    #[test]
    fn the_owner_overrides_what_annotations_state() {
        let tools = [json!({"name": "a", "annotations": {"readOnlyHint": true}}), json!({"name": "b"})];
        let server = server(&tools, &[("a", Effect::External), ("absent", Effect::ReadOnly)]);
        assert_eq!(server.tools()[0].effect(), Effect::External);
        assert_eq!(server.tools()[1].effect(), Effect::External);
        assert_eq!(server.tools()[0].trusted_effect().effect(), Effect::External);
    }

    #[test]
    fn a_reason_is_one_safe_line() {
        let server = ServerCatalog::unavailable(namespaces(&["x"]).remove(0), "died\n\u{1b}[2J", "");
        let ServerState::Unavailable { reason, .. } = server.state() else { panic!("unavailable") };
        assert_eq!(reason, "died �[2J");
    }
}
