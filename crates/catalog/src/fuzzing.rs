//! What is fuzzed here, with what must hold: `fuzz/` feeds it, and the tests replay what was found.

use std::{collections::HashSet, sync::Arc};

use belljar_model::{EffectRules, ToolDefinition, display};
use serde_json::Value;

use crate::{
    Catalog, Detail, Observed, Query, ServerCatalog, Tool, Words, bounds, estimate_tokens, is_identifier, namespaces,
};

/// What ends a part of a target's input.
const PART: &str = "\n----\n";

/// Names, declarations and search of whatever a server lists: a list, what to search for, and a result of the first tool.
pub fn declarations(data: &[u8]) {
    declared(data);
}

/// The declarations that [`declarations`] makes, for whoever has a compiler at hand.
pub fn declared(data: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(data) else { return String::new() };
    let mut parts = text.split(PART);
    let Ok(Value::Array(list)) = serde_json::from_str(parts.next().unwrap_or_default()) else { return String::new() };
    let words = parts.next().unwrap_or_default();
    let result: Value = parts.next().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();

    let definitions: Vec<_> = list.into_iter().filter_map(|entry| ToolDefinition::from_json(entry).ok()).collect();
    // A server may be called like one of its tools.
    let given = [words, definitions.first().map_or("then", |first| &first.name), "console"];
    let names = namespaces(&given);
    bound_once(names.iter().flat_map(|names| names.bound()));
    let server = names.into_iter().next().expect("as many as were given");
    let server = Arc::new(ServerCatalog::ready(server, definitions, &EffectRules::default()));
    bound_once(server.tools().iter().flat_map(|tool| tool.names().bound()));
    let observed = observed(&result);
    let declared = server.tools().iter().enumerate().map(|(at, tool)| {
        let observed = observed.as_ref().filter(|_| at == 0);
        assert_eq!(server.tool(tool.names().exact()).map(Tool::path), Some(tool.path()));
        declaration(tool, observed)
    });
    let declared = declared.collect();
    search(&Catalog::new(vec![server]), words);
    declared
}

fn declaration(tool: &Tool, observed: Option<&Observed>) -> String {
    assert!(is_identifier(tool.names().alias()), "{:?}", tool.names().alias());
    assert!(tool.summary().chars().count() <= bounds::SUMMARY_CHARS + 1, "{:?}", tool.summary());
    assert!(!tool.signature().contains('\n'), "{:?}", tool.signature());
    let declaration = tool.declaration_with(observed);
    for text in [tool.summary(), tool.signature(), tool.declaration(), &declaration] {
        fit_to_show(text);
    }
    declaration + "\n"
}

/// What was seen of a result, twice, and read again from a file.
fn observed(result: &Value) -> Option<Observed> {
    let mut observed = Observed::default();
    assert!(observed.record(result, &Words::default()) || observed == observed.clone());
    assert!(!observed.record(result, &Words::default()), "the same result shows nothing new");
    let text = serde_json::to_string(&observed).expect("it is plain data");
    let read: Observed = serde_json::from_str(&text).expect("what was written can be read");
    assert_eq!(read, observed);
    read.checked()
}

/// An answer keeps its budget, whatever is asked for.
fn search(catalog: &Catalog, words: &str) {
    for detail in Detail::ALL {
        let budget = 300;
        let query = Query { detail: Some(detail), budget: Some(budget), ..Query::new(words) };
        let answer = catalog.search(&query);
        let text = answer.to_text();
        fit_to_show(&text);
        let is_small = answer.results.len() <= 1 || estimate_tokens(&text) <= budget;
        assert!(is_small, "{} tokens for {} results", estimate_tokens(&text), answer.results.len());
    }
    let _ = catalog.lookup(words).map(Tool::path);
    let _ = catalog.nearest_tool(words).map(Tool::path);
}

/// Nothing acts on a reader or hides from one.
fn fit_to_show(text: &str) {
    for line in text.split('\n') {
        assert_eq!(display::line(line), line, "{text:?}");
    }
}

fn bound_once<'n>(names: impl Iterator<Item = &'n str>) {
    let mut seen = HashSet::new();
    for name in names {
        assert!(seen.insert(name), "{name:?} is bound twice");
    }
}

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
pub(crate) mod replay;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fuzzed_of_declarations_holds_still() {
        replay::replay("declarations", declarations);
    }
}
