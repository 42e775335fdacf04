//! Servers and their tools, as `belljar servers` and `belljar search` show them.

use std::future::pending;

use belljar_catalog::{Detail, Found};
use belljar_daemon::requests::{Search, Servers};
use belljar_model::ToolPath;
use belljar_page::{NotShown, SearchAsked};
use futures::{FutureExt as _, future::join_all};
use serde_json::{Value, json, value::RawValue};

use super::{
    calls::cut,
    rules::as_json,
    source::{LedgerSource, refused},
};
use crate::{
    backend::Generation,
    policy::{Known, KnownTools},
};

/// How many tools of a server have their names listed.
const MAX_TOOLS: usize = 1000;
/// The tokens of that list: as many as such names can have.
const LISTED_TOKENS: usize = 1_000_000;
/// How many warnings about definitions are shown. `belljar servers` has all of them.
const MAX_WARNINGS: usize = 100;
/// How many bytes of a schema are shown.
const MAX_SCHEMA: usize = 64 * 1024;

/// Each server, and what was measured of it. None is started.
pub(super) async fn servers(source: &LedgerSource) -> Result<Value, NotShown> {
    let asked = Servers { start: false, stats: true };
    let figures = source.backend().await?.servers(asked, pending().boxed()).await;
    let figures = figures.map_err(|failure| refused(&failure)).and_then(|told| parsed(&told))?;
    let (mut seen, more) = source.generations.current().setup.toolbox.seen_servers(MAX_WARNINGS).await;
    seen["figures"] = figures;
    seen["more_warnings"] = more.into();
    Ok(seen)
}

/// What a model finds, and what it reads.
pub(super) async fn search(source: &LedgerSource, asked: SearchAsked) -> Result<Value, NotShown> {
    let SearchAsked { query, server } = asked;
    found(source, Search { query, server, ..Search::default() }).await
}

/// The names of a server's tools, as a model can list them.
pub(super) async fn of_server(source: &LedgerSource, server: String) -> Result<Value, NotShown> {
    let detail = Some(Detail::Names.to_string());
    let (limit, budget) = (Some(MAX_TOOLS), Some(LISTED_TOKENS));
    let listed = Search { server: Some(server), detail, limit, budget, ..Search::default() };
    Ok(found(source, listed).await?["answer"].take())
}

async fn found(source: &LedgerSource, search: Search) -> Result<Value, NotShown> {
    let told = source.backend().await?.search(search).await.map_err(|failure| refused(&failure))?;
    Ok(json!({ "answer": parsed(&told.answer)?, "text": told.text }))
}

/// A tool: its declaration as a model reads it in full, what it counts as, and the rules for it.
pub(super) async fn one(source: &LedgerSource, path: &str) -> Result<Value, NotShown> {
    let path: ToolPath = path.parse().map_err(|_| unknown(path))?;
    let generation = source.generations.current();
    let toolbox = &generation.setup.toolbox;
    let catalog = toolbox.catalog_of(&[path.server()]).await;
    let tool = catalog.find(&path).ok_or_else(|| unknown(&path.to_string()))?;
    let observed = toolbox.observed(&path);
    let mut shown = Found::with(tool, Detail::Full, observed.as_deref());
    shown.declaration = shown.declaration.map(|text| cut(&text).to_owned());
    let trusted = tool.trusted_effect();
    let definition = tool.definition();
    let schema = json!(definition.input_schema);
    let schema = if schema.to_string().len() > MAX_SCHEMA { Value::Null } else { schema };
    let mut told = json!({
        "found": shown,
        "title": definition.title,
        "description": definition.description.as_deref().map(cut),
        "schema": schema,
        "declares_result": definition.output_schema.is_some(),
        "observed_calls": observed.map(|observed| observed.calls()),
        "trusted_effect": trusted.effect(),
        "destructive": trusted.is_destructive(),
        "rules": [],
    });
    if let Some(rules) = &generation.setup.rules {
        let known = Known::with(rules, &generation.setup.servers, lists(&generation).await);
        if let Some(of_tool) = known.of_tool(&path) {
            let judge = rules.policy.for_tool_but(&path, of_tool.trusted, &of_tool.broken);
            told["rules"] = judge.listed().map(|rule| as_json(&rule)).collect();
            told["default"] = json!(judge.default_verdict());
        }
        told["pinned"] = rules.policy.is_pinned(&path).into();
    }
    Ok(told)
}

/// The tools of each configured server, as far as they are known. None is started.
pub(super) async fn lists(generation: &Generation) -> Vec<KnownTools> {
    let upstream = generation.setup.toolbox.upstream();
    join_all(generation.setup.servers.iter().map(|spec| upstream.known_tools(&spec.name))).await
}

fn unknown(path: &str) -> NotShown {
    NotShown::Unknown(format!("no tool that a script could call has the path '{path}'"))
}

fn parsed(told: &RawValue) -> Result<Value, NotShown> {
    serde_json::from_str(told.get()).map_err(|error| NotShown::Failed(format!("the answer is not JSON: {error}")))
}
