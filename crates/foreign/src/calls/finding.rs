//! Tools that a component finds by their paths while it runs.
//!
//! A component can find the run's tools, under the names that scripts see. Each server is asked for
//! its directory once, when a path first names it, and the answer is recorded. So the same paths
//! find the same tools in a replay.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use belljar_model::{ToolPath, nearest};
use belljar_sandbox::{AnswerStyle, Directory, GrantedTool, Namespace, Tools, common::Stop};
use parking_lot::Mutex;

use crate::tape::Tape;

/// The most bytes of a path.
const MAX_PATH: usize = 1024;
/// The most missing paths in a run that get a hint. A component that asks more often does not read
/// hints.
const MAX_HINTS: u32 = 100;
/// The most work for hints in a run: bytes of the wanted name times bytes of the existing names,
/// added up. This work uses no fuel. The limit takes a tenth of a second; it is enough to look for
/// a hundred names of twenty bytes among four hundred.
const MAX_COMPARED: u64 = 16 << 20;

/// What a run can find and has found.
pub(crate) struct Finder {
    tools: Arc<dyn Tools>,
    namespaces: Vec<Namespace>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    directories: BTreeMap<usize, Result<Arc<Listed>, String>>,
    found: Vec<(GrantedTool, AnswerStyle)>,
    numbers: HashMap<(usize, String), u32>,
    missed: u32,
    /// The work done for hints so far.
    compared: u64,
}

/// The tools of a server, by their names.
pub(crate) struct Listed(BTreeMap<String, GrantedTool>);

impl Listed {
    fn new(directory: &Directory) -> Self {
        // In a separate process, the path of a tool is a number: only the property contains its
        // name.
        let locks = [ToolPath::ACQUIRE, ToolPath::RELEASE];
        let mut tools = BTreeMap::new();
        for (name, tool) in directory.properties().filter(|(name, _)| !locks.contains(name)) {
            tools.entry(name.to_owned()).or_insert_with(|| tool.clone());
        }
        Self(tools)
    }

    /// The tool with this name.
    pub(crate) fn get(&self, tool: &str) -> Option<&GrantedTool> {
        self.0.get(tool)
    }
}

impl Finder {
    pub(crate) fn new(tools: Arc<dyn Tools>) -> Self {
        Self { namespaces: tools.namespaces(), tools, state: Mutex::default() }
    }

    /// The position of a server, and the style of its answers.
    pub(crate) fn server(&self, name: &str) -> Option<(usize, AnswerStyle)> {
        let at = self.namespaces.iter().position(|namespace| namespace.server == name)?;
        Some((at, self.namespaces.get(at)?.answers))
    }

    /// The tools of the server at a position, or why there are none. The server is asked once in a
    /// run.
    pub(crate) async fn listed(&self, at: usize, tape: &Tape) -> Result<Result<Arc<Listed>, String>, Stop> {
        if let Some(known) = self.state.lock().directories.get(&at) {
            return Ok(known.clone());
        }
        let directory = tape.directory(at, &*self.tools).await?;
        let listed = directory.map(|directory| Arc::new(Listed::new(&directory)));
        Ok(self.state.lock().directories.entry(at).or_insert(listed).clone())
    }

    /// The number of the tool with a path, or why there is none.
    pub(crate) async fn find(&self, path: &str, tape: &Tape) -> Result<Result<u32, String>, Stop> {
        if path.len() > MAX_PATH {
            return Ok(Err(format!("the path has {} bytes; the limit is {MAX_PATH}", path.len())));
        }
        let path: ToolPath = match path.parse() {
            Ok(path) => path,
            Err(fault) => return Ok(Err(fault.to_string())),
        };
        let Some((at, answers)) = self.server(path.server()) else {
            let near = self.near(path.server(), self.namespaces.iter().map(|namespace| namespace.server.as_str()));
            return Ok(Err(format!("there is no server '{}'{near}", path.server())));
        };
        let listed = match self.listed(at, tape).await? {
            Ok(listed) => listed,
            Err(reason) => return Ok(Err(reason)),
        };
        let Some(tool) = listed.get(path.tool()) else {
            let near = self.near(path.tool(), listed.0.keys().map(String::as_str));
            let (server, tool) = (path.server(), path.tool());
            return Ok(Err(format!("{server} has no tool '{tool}', or the owner's rules let nobody call it{near}")));
        };
        let mut state = self.state.lock();
        let State { found, numbers, .. } = &mut *state;
        let number = *numbers.entry((at, path.tool().to_owned())).or_insert_with(|| {
            found.push((tool.clone(), answers));
            u32::try_from(found.len() - 1).unwrap_or(u32::MAX)
        });
        Ok(Ok(number))
    }

    /// The tool that was found under a number.
    pub(crate) fn found(&self, number: u32) -> Option<(GrantedTool, AnswerStyle)> {
        self.state.lock().found.get(number as usize).cloned()
    }

    /// The most similar name, as the end of a message, unless finding it takes too long.
    fn near<'n>(&self, name: &str, names: impl Iterator<Item = &'n str> + Clone) -> String {
        {
            let mut state = self.state.lock();
            state.missed = state.missed.saturating_add(1);
            if state.missed > MAX_HINTS {
                return String::new();
            }
            let bytes = names.clone().map(|name| name.len() as u64).fold(0, u64::saturating_add);
            let compared = state.compared.saturating_add(bytes.saturating_mul(name.len() as u64));
            if compared > MAX_COMPARED {
                return String::new();
            }
            state.compared = compared;
        }
        nearest(name, names).map(|near| format!("; did you mean {near}?")).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use belljar_sandbox::{Effect, ToolSet, common::Recorder};

    use super::*;

    /// The message for a missing path on a server with this many tools, whose names have this many
    /// bytes.
    async fn missed(finder: &Finder, bytes: usize) -> String {
        let path = format!("kit.{}", "x".repeat(bytes));
        finder.find(&path, &Tape::of_run(Recorder::new(None))).await.expect("it goes on").expect_err("it is not there")
    }

    fn finder(tools: usize, bytes: usize) -> Finder {
        let mut set = ToolSet::new();
        for number in 0..tools {
            let name = format!("{}{number:05}", "x".repeat(bytes - 5));
            set = set.with("kit", &name, Effect::ReadOnly, async |_| Ok(serde_json::Value::Null));
        }
        Finder::new(Arc::new(set))
    }

    #[tokio::test]
    async fn names_are_compared_for_a_bounded_time() {
        let hint = "did you mean ";
        // The first hundred misses of a common server get a hint each.
        let common = finder(400, 20);
        for _ in 0..MAX_HINTS {
            assert!(missed(&common, 20).await.contains(hint));
        }
        assert!(!missed(&common, 20).await.contains(hint));
        // 10,000 names of 125 bytes are too much work even for a single hint.
        let large = finder(10_000, 125);
        let said = missed(&large, 125).await;
        assert!(said.contains("has no tool") && !said.contains(hint), "{said}");
        // The work adds up.
        let middling = finder(2000, 100);
        for _ in 0..3 {
            missed(&middling, 40).await;
        }
        assert_eq!(middling.state.lock().compared, 2 * 2000 * 100 * 40);
    }
}
