//! The imports of `catalog`: what scripts may read about the tools.

use belljar_model::JsonText;
use belljar_recording::Question;

use super::{
    RunState,
    glass::belljar::sandbox::catalog::{CallError, Host},
};
use crate::Objection;

/// Bytes of a query; what is over does not count.
const MAX_QUERY: usize = 1024;
/// Bytes of the name of a server or the path of a tool; longer ones name nothing.
const MAX_NAME: usize = 8 * 1024;
/// Bytes of arguments that are checked before a run; of longer ones nothing is said.
const MAX_CHECKED: usize = 32 * 1024;
/// Calls of one run that are checked before it; the guest asks of fewer.
const MAX_CHECKS: u32 = 100;

impl Host for RunState {
    async fn list(&mut self, server: Option<String>) -> wasmtime::Result<Result<String, String>> {
        let server = server.map(|name| bounded(name, MAX_NAME));
        let answer = match &mut self.stand_in {
            Some(stand_in) => stand_in.catalog(Question::List(server.as_deref()))?,
            None => self.turn.wait_for(self.tools.list(server.clone())).await.map(JsonText::into_string),
        };
        self.recorder.catalog(Question::List(server.as_deref()), plain(&answer));
        Ok(answer)
    }

    async fn search(&mut self, query: String, limit: u32) -> wasmtime::Result<String> {
        let query = bounded(query, MAX_QUERY);
        let answer = match &mut self.stand_in {
            // A search is never refused.
            Some(stand_in) => {
                stand_in.catalog(Question::Search { query: &query, limit })?.unwrap_or_else(|reason| reason)
            }
            None => self.turn.wait_for(self.tools.search(query.clone(), limit as usize)).await.into_string(),
        };
        self.recorder.catalog(Question::Search { query: &query, limit }, Ok(&answer));
        Ok(answer)
    }

    async fn describe(&mut self, path: String) -> wasmtime::Result<Result<String, String>> {
        let path = bounded(path, MAX_NAME);
        let answer = match &mut self.stand_in {
            Some(stand_in) => stand_in.catalog(Question::Describe(&path))?,
            None => self.turn.wait_for(self.tools.describe(path.clone())).await.map(JsonText::into_string),
        };
        self.recorder.catalog(Question::Describe(&path), plain(&answer));
        Ok(answer)
    }

    async fn check(&mut self, namespace: u32, entry: u32, arguments: String) -> wasmtime::Result<Option<CallError>> {
        let directory = self.directories.get(namespace as usize).and_then(Option::as_ref);
        let tool = match directory {
            Some(Ok(directory)) => directory.tool(entry as usize).cloned(),
            _ => None,
        };
        let Some(tool) = tool.filter(|_| arguments.len() <= MAX_CHECKED && self.checks < MAX_CHECKS) else {
            return Ok(None);
        };
        self.checks += 1;
        let question = Question::Check { namespace, entry, arguments: &arguments };
        let answer = match &mut self.stand_in {
            Some(stand_in) => stand_in.catalog(question)?,
            None => {
                let objection = self.turn.wait_for(self.tools.check(&tool, arguments.clone())).await;
                objection.map_or(Ok(String::new()), |objection| Err(objection.to_text()))
            }
        };
        self.recorder.catalog(question, plain(&answer));
        let objection = answer.err().and_then(|text| Objection::from_text(&text));
        let error = |Objection { message, hint }| CallError { message, hint, refused: true, denied: None };
        Ok(objection.map(error))
    }
}

fn plain(answer: &Result<String, String>) -> Result<&str, &str> {
    answer.as_deref().map_err(String::as_str)
}

fn bounded(mut text: String, max: usize) -> String {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}
