//! What a client is told once, when it connects: the servers, a run's limits, and other things that
//! the definitions do not say.

use belljar_catalog::namespaces;
use belljar_model::{LedgerLevel, Limits, ServerSpec};

use crate::{artifacts, setup::Loaded};

/// Bytes of all servers' names. With more servers, a model has to search.
const NAMES_BYTES: usize = 600;

/// What a model is told if nothing is kept between runs.
const NOTHING_KEPT: &str = "Nothing is kept from one run to the next.";
const ARTIFACTS: &str = "A value or logs that are too large to be shown come back as a preview with the id of an artifact: in later scripts \
                         artifacts.get(id) is all of it, artifacts.search(words, { in: id }) finds passages, artifacts.text(id, { from, to }) \
                         is a part; artifacts.save(name, value) keeps more, artifacts.list() names all.";
const KEEP: &str = "What is assigned to a member of keep (keep.seen = ids) is there in later scripts.";
const NOTHING_ELSE: &str = "Nothing else is kept from one run to the next.";

/// The instructions of a server over the children of this configuration.
pub(super) fn instructions(loaded: &Loaded) -> String {
    let mut limits = loaded.limits();
    let artifacts = artifacts::settings(loaded);
    if let Some(settings) = artifacts {
        limits.max_output = limits.max_output.max(settings.max_artifact);
    }
    let has_keep = loaded.config.keep.enabled && loaded.config.ledger.level != LedgerLevel::Off;
    let kept = kept(artifacts.is_some(), has_keep);
    let instructions = of_servers(&loaded.config.servers, &limits, &kept);
    if loaded.policy.is_some() { with_rules(&instructions) } else { instructions }
}

/// Says what is kept between runs.
fn kept(has_artifacts: bool, has_keep: bool) -> String {
    let parts = [has_artifacts.then_some(ARTIFACTS), has_keep.then_some(KEEP)];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    if parts.is_empty() { NOTHING_KEPT.to_owned() } else { format!("{} {NOTHING_ELSE}", parts.join(" ")) }
}

/// The instructions of a server over these children.
fn of_servers(servers: &[ServerSpec], limits: &Limits, kept: &str) -> String {
    let seconds = limits.timeout.as_secs_f64();
    format!(
        "The tools of many MCP servers, called from code: find them with search_docs, then write one script for execute_code that \
         calls, loops, filters and returns only what is needed. {} A run has at most {seconds} s, {} calls and {} of returned value; \
         beyond that it fails. console.log comes back with the answer. A tool gives what its signature says: a string in it stays a \
         string, also one that is JSON, so JSON.parse it. Promise<unknown> is the tool's text, parsed already where that is JSON or a \
         Python literal, or an array of its content blocks where there is more than text (tools.raw(path, args) gives the whole \
         answer, annotations too). tools.parse(text) gives CSV as an array of objects whose values are strings (Number(row.total)), \
         JSON lines as an array, a Python literal as data, front matter as an object of its keys and body. {kept} An image or file that a tool gave is shown if the script returns its content block or handle, alone or in a value. A \
         tool that fails throws a ToolError (server, tool, message, content): catch it where the script can go on.",
        named(servers),
        limits.max_calls,
        limits.max_output.display().iec(),
    )
}

/// The same if the owner has rules for calls.
fn with_rules(instructions: &str) -> String {
    format!("{instructions} A call that the owner's rules do not allow throws a PolicyError (server, tool, rule, why).")
}

fn named(servers: &[ServerSpec]) -> String {
    let exact: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    let names = namespaces(&exact);
    let mut room = NAMES_BYTES;
    let fits = |name: &&str| {
        let left = room.checked_sub(name.len() + 2);
        room = left.unwrap_or_default();
        left.is_some()
    };
    let shown: Vec<&str> = names.iter().map(|names| names.alias()).take_while(fits).collect();
    match (names.len(), names.len() - shown.len()) {
        (0, _) => "No server is configured.".to_owned(),
        (_, 0) => format!("Servers: {}.", shown.join(", ")),
        (_, more) => format!("Servers: {}, and {more} more.", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use belljar_model::Transport;

    use super::*;

    fn of(names: &[String]) -> String {
        let server = |name: &String| ServerSpec::new(name.as_str(), Transport::BuiltIn("x".to_owned()));
        of_servers(&names.iter().map(server).collect::<Vec<_>>(), &Limits::default(), &kept(true, true))
    }

    #[test]
    fn the_instructions_name_the_servers_and_the_caps_and_stay_short() {
        let few = of(&["fs".to_owned(), "my-notes".to_owned()]);
        for part in [
            "Servers: fs, my_notes.",
            "120 s, 1000 calls and 256.0 KiB",
            "console.log",
            "ToolError",
            "image",
            "artifacts.get(id)",
            "keep.seen",
            "Nothing else is kept",
            "tools.raw(path, args)",
            "tools.parse(text)",
        ] {
            assert!(few.contains(part), "{part}: {few}");
        }
        let many = of(&(0..2_000).map(|number| format!("server{number}")).collect::<Vec<_>>());
        assert!(many.contains("server0, server1, ") && many.contains(" more."), "{many}");
        assert!(many.len() < few.len() + NAMES_BYTES + 40, "{} bytes", many.len());
        assert!(!few.contains("PolicyError") && with_rules(&few).contains("PolicyError"));
        assert!(of(&[]).contains("No server is configured."));
        assert_eq!(kept(false, false), NOTHING_KEPT);
        assert!(!kept(false, true).contains("artifacts") && !kept(true, false).contains("keep."));
    }
}
