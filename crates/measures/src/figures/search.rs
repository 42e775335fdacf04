//! The time to find a tool among the user's own, or among made-up ones if none are known.

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_catalog::{Catalog, Query, ServerCatalog, Tool, namespaces};

use super::{Listed, invented};
use crate::{
    Times,
    report::{Microseconds, Milliseconds, Origin, Search, SearchQuery},
};

pub(super) fn all(servers: &[Listed], index_rounds: usize, query_rounds: usize) -> Search {
    let own = servers
        .iter()
        .any(|server| !server.is_built_in && server.tools.as_ref().is_some_and(|tools| !tools.is_empty()));
    let (origin, listed) = match own {
        true => (Origin::Configuration, servers.iter().filter(|server| server.tools.is_some()).cloned().collect()),
        false => (Origin::BuiltIn, invented::servers()),
    };
    let index = (0..index_rounds.max(1)).map(|_| {
        let definitions: Vec<_> = listed.iter().map(definitions).collect();
        let begun = Instant::now();
        let catalog = catalog_of(&listed, definitions);
        // The first search joins the servers' words.
        black_box(catalog.search(&Query::new("anything")));
        begun.elapsed()
    });
    let index = Milliseconds::of(&Times::new(index.collect()));
    let catalog = catalog(&listed);
    let queries = questions(&catalog).into_iter().map(|(kind, query)| {
        let asked = Query::new(query.as_str());
        let once = || -> Duration {
            let begun = Instant::now();
            black_box(catalog.search(&asked));
            begun.elapsed()
        };
        let times = Times::new((0..query_rounds.max(1)).map(|_| once()).collect());
        SearchQuery { kind, query, times: Microseconds::of(&times, 1) }
    });
    let queries = queries.collect();
    Search { origin, servers: listed.len(), tools: catalog.tools().count(), index, queries }
}

/// The catalogue of the servers with known lists.
pub(super) fn catalog(listed: &[Listed]) -> Catalog {
    catalog_of(listed, listed.iter().map(definitions).collect())
}

type Definitions = Vec<belljar_model::ToolDefinition>;

fn definitions(server: &Listed) -> Definitions {
    server.tools.as_ref().map(|tools| tools.as_ref().clone()).unwrap_or_default()
}

fn catalog_of(listed: &[Listed], definitions: Vec<Definitions>) -> Catalog {
    let names: Vec<&str> = listed.iter().map(|server| server.name.as_str()).collect();
    let servers = namespaces(&names).into_iter().zip(definitions);
    let servers = servers
        .map(|(names, tools)| Arc::new(ServerCatalog::ready(names, tools, &belljar_model::EffectRules::default())));
    Catalog::new(servers.collect())
}

/// The questions: a tool in the middle, by the words of its own summary and by its path; and
/// everything.
fn questions(catalog: &Catalog) -> Vec<(&'static str, String)> {
    let tools: Vec<&Tool> = catalog.tools().collect();
    let middle = tools.get(tools.len() / 2);
    let words = middle.map(|tool| ("in words", in_words(tool)));
    let path = middle.map(|tool| ("by its path", tool.path().to_string()));
    words.into_iter().chain(path).chain([("all tools", String::new())]).collect()
}

/// How a person who does not know the tool's name would ask for it.
pub(super) fn in_words(tool: &Tool) -> String {
    match tool.summary() {
        "" => tool.path().tool().replace(['_', '-'], " "),
        summary => summary.to_owned(),
    }
}
