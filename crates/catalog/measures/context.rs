//! What tools cost of a model's context: all their definitions at once, or belljar's two
//! definitions plus what a task looks up.

use std::fs;

use belljar_catalog::{Catalog, Detail, Query};
use serde_json::{Value, json};

use super::{List, catalog, retrieval, tokens};

/// What a client shows a model of a tool: its name, description and input schema.
pub fn definition(tool: &Value) -> String {
    json!({ "name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"] }).to_string()
}

/// Tokens of the definitions of belljar's two tools, as `belljar serve` lists them.
pub fn own_definitions() -> usize {
    let file = super::testdata("../../../host/src/serve/tools.json");
    let text = fs::read_to_string(file).expect("the definitions of belljar's tools");
    let tools: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    tokens::count(&tools.iter().map(definition).collect::<Vec<_>>()).iter().sum()
}

/// Tokens of all definitions of some lists.
pub fn direct(lists: &[List]) -> usize {
    let definitions: Vec<String> = lists.iter().flat_map(|(_, tools)| tools.iter().map(definition)).collect();
    tokens::count(&definitions).iter().sum()
}

/// The cost of looking tools up, averaged over the questions that these lists answer.
pub struct LookUp {
    pub questions: usize,
    /// A search in words, and its answer: signatures.
    pub brief: f64,
    /// Then the whole declaration of the right tool, asked for by its path.
    pub full: f64,
}

pub fn look_up(lists: &[List]) -> LookUp {
    let catalog = catalog(lists);
    let mut texts = (Vec::new(), Vec::new());
    for question in retrieval::questions() {
        let Some(path) = question.right.iter().find(|path| catalog.lookup(path).is_some()) else { continue };
        texts.0.push(exchange(&catalog, json!({ "query": question.text }), &Query::new(&question.text)));
        let full = Query { limit: Some(1), detail: Some(Detail::Full), budget: Some(10_000), ..Query::new(path) };
        texts.1.push(exchange(&catalog, json!({ "query": path, "detail": "full", "limit": 1 }), &full));
    }
    let average = |texts: &[String]| {
        let sum: usize = tokens::count(texts).iter().sum();
        float(sum) / float(texts.len())
    };
    LookUp { questions: texts.0.len(), brief: average(&texts.0), full: average(&texts.1) }
}

/// The call that a model writes and the answer that it reads.
fn exchange(catalog: &Catalog, arguments: Value, query: &Query) -> String {
    format!("{}{}", json!({ "name": "search_docs", "arguments": arguments }), catalog.search(query).to_text())
}

pub fn float(number: usize) -> f64 {
    f64::from(u32::try_from(number).expect("a small number"))
}
