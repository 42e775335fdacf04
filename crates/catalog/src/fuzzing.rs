//! The fuzzed functions and their invariants: `fuzz/` feeds them, and the tests replay its corpus.

use std::{collections::HashSet, sync::Arc};

use belljar_model::{EffectRules, ToolDefinition, display};
use serde_json::Value;

use crate::{
    Catalog, Detail, Names, Observed, Query, ServerCatalog, Tool, Words, bounds, estimate_tokens, is_identifier,
    namespaces,
    wit::{self, Kind, Mapping, Package, Selection, Worlds},
};

/// The WIT packages of the servers that [`declarations`] makes, for callers that have a reader of
/// WIT.
pub fn packages(data: &[u8]) -> Vec<String> {
    let Ok(text) = std::str::from_utf8(data) else { return Vec::new() };
    let Ok(Value::Array(list)) = serde_json::from_str(text.split(PART).next().unwrap_or_default()) else {
        return Vec::new();
    };
    let definitions: Vec<_> = list.into_iter().filter_map(|entry| ToolDefinition::from_json(entry).ok()).collect();
    let given = [definitions.first().map_or("types", |first| &first.name).to_owned(), "types".to_owned()];
    let given = given.each_ref().map(String::as_str);
    let names = namespaces(&given);
    let ready = |names: &Names| ServerCatalog::ready(names.clone(), definitions.clone(), &EffectRules::default());
    let servers: Vec<ServerCatalog> = names.iter().map(ready).collect();
    let mappings: Vec<Mapping> =
        wit::packages(&given).iter().zip(&servers).map(|(package, server)| Mapping::new(package, server)).collect();
    mappings.iter().zip(&servers).for_each(|(mapping, server)| mapped(mapping, server));
    let all: Vec<Selection<'_>> = mappings.iter().map(Selection::all).collect();
    let texts =
        [Package::new(&all[..1], Worlds::Imports), Package::new(&all, Worlds::Guest)].map(|package| package.text());
    for text in &texts {
        fit_to_show(text);
        for line in text.lines().filter_map(|line| line.trim_start().strip_prefix("/// ")) {
            assert!(
                !["\"", "\\", "*/", "/*"].iter().any(|end| line.contains(end)),
                "{line:?} ends a comment somewhere"
            );
        }
    }
    texts.into()
}

/// Checks that nothing that can be imported is dropped, and that all names differ.
fn mapped(mapping: &Mapping, server: &ServerCatalog) {
    let functions = mapping.functions().iter();
    let importable = server.tools().iter().map(Tool::path).filter(|path| path.is_importable());
    assert!(functions.clone().map(|function| &function.path).eq(importable));
    let types = mapping.definitions().iter().map(|definition| &definition.name);
    let is_marked = |name: &str| name.rsplit_once('-').is_some_and(|(_, last)| wit::is_mark(last));
    assert!(functions.clone().all(|function| is_marked(&function.error) && !is_marked(&function.name)));
    assert!(types.clone().all(|name| !is_marked(name)));
    let names = functions.flat_map(|function| [&function.name, &function.error]);
    bound_once(names.chain(types).map(String::as_str));
    for definition in mapping.definitions() {
        match &definition.kind {
            Kind::Record(record) => bound_once(record.fields.iter().map(|field| field.name.as_str())),
            Kind::Enum(cases) => bound_once(cases.iter().map(|case| case.name.as_str())),
            Kind::Variant(cases) => bound_once(cases.iter().map(|case| case.name.as_str())),
        }
    }
}

/// The separator between parts of a target's input.
const PART: &str = "\n----\n";

/// Names, declarations and search for any server: a list, a query, and a result of the first tool.
pub fn declarations(data: &[u8]) {
    declared(data);
}

/// The declarations that [`declarations`] makes, for callers that have a compiler.
pub fn declared(data: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(data) else { return String::new() };
    let mut parts = text.split(PART);
    let Ok(Value::Array(list)) = serde_json::from_str(parts.next().unwrap_or_default()) else { return String::new() };
    let words = parts.next().unwrap_or_default();
    let result: Value = parts.next().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();

    let definitions: Vec<_> = list.into_iter().filter_map(|entry| ToolDefinition::from_json(entry).ok()).collect();
    // A server may have the same name as one of its tools.
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

/// The observation of a result, recorded twice, and read again from a file.
fn observed(result: &Value) -> Option<Observed> {
    let mut observed = Observed::default();
    assert!(observed.record(result, &Words::default()) || observed == observed.clone());
    assert!(!observed.record(result, &Words::default()), "the same result shows nothing new");
    let text = serde_json::to_string(&observed).expect("it is plain data");
    let read: Observed = serde_json::from_str(&text).expect("what was written can be read");
    assert_eq!(read, observed);
    read.checked()
}

/// Checks that an answer keeps its budget, whatever the query is.
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

/// Checks that no character controls a terminal or is invisible.
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
        replay::replay("declarations", |data| {
            declarations(data);
            for text in packages(data) {
                let read = wit_parser::Resolve::default().push_str("package.wit", &text);
                assert!(read.is_ok(), "{:#}\n{text}", read.unwrap_err());
            }
        });
    }
}
