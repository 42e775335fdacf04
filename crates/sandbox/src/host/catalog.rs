//! The imports of `catalog`: what scripts may read about the tools.

use belljar_model::JsonText;
use belljar_recording::Question;

use super::state::RunState;
use crate::{
    bindings::belljar::sandbox::catalog::{self, Host},
    plan::{Finding, MAX_PLAN_BYTES, NO_FINDINGS, Objection, PlannedCalls},
};

/// Bytes of a query; the rest is ignored.
const MAX_QUERY: usize = 1024;
/// Bytes of the name of a server or the path of a tool; longer ones do not exist.
const MAX_NAME: usize = 8 * 1024;
/// Bytes of the words of a request. This is more than a router takes: it refuses longer words with
/// an error that says so.
const MAX_REQUEST: usize = 32 * 1024;

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

    async fn route(&mut self, server: String, words: Option<String>) -> wasmtime::Result<Result<String, String>> {
        let server = bounded(server, MAX_NAME);
        let words = words.map(|words| bounded(words, MAX_REQUEST));
        let question = Question::Route { server: &server, words: words.as_deref() };
        let answer = match &mut self.stand_in {
            Some(stand_in) => stand_in.catalog(question)?,
            None => {
                let asked = self.tools.route(server.clone(), words.clone());
                self.turn.wait_for(asked).await.map(JsonText::into_string)
            }
        };
        self.recorder.catalog(question, plain(&answer));
        Ok(answer)
    }

    async fn plan(&mut self, calls: String) -> wasmtime::Result<Vec<catalog::Finding>> {
        // A guest asks once; repeated questions are ignored.
        if std::mem::replace(&mut self.is_planned, true) || calls.len() > MAX_PLAN_BYTES {
            return Ok(Vec::new());
        }
        let question = Question::Plan(&calls);
        let answer = match &mut self.stand_in {
            Some(stand_in) => stand_in.catalog(question)?,
            None => Ok(match PlannedCalls::parse(&calls) {
                Some(planned) => Finding::to_text(&self.turn.wait_for(self.tools.plan(planned)).await),
                None => NO_FINDINGS.to_owned(),
            }),
        };
        self.recorder.catalog(question, plain(&answer));
        let findings = answer.map(|text| Finding::from_text(&text)).unwrap_or_default();
        Ok(findings.into_iter().map(crossing).collect())
    }
}

/// A finding in the form that crosses to the guest.
fn crossing(finding: Finding) -> catalog::Finding {
    match finding {
        Finding::Nothing => catalog::Finding::Nothing,
        Finding::NoSuchTool { certain } => catalog::Finding::NoSuchTool(certain),
        Finding::Objection(Objection { message, hint, denied, certain }) => {
            catalog::Finding::Objection(catalog::Objection { message, hint, denied, certain })
        }
    }
}

pub(super) fn plain(answer: &Result<String, String>) -> Result<&str, &str> {
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
