//! The imports of `catalog`: what scripts may read about the tools.

use super::{RunState, glass::belljar::sandbox::catalog::Host};

/// Bytes of a query; what is over does not count.
const MAX_QUERY: usize = 1024;
/// Bytes of the name of a server or the path of a tool; longer ones name nothing.
const MAX_NAME: usize = 8 * 1024;

impl Host for RunState {
    async fn list(&mut self, server: Option<String>) -> wasmtime::Result<Result<String, String>> {
        let server = server.map(|name| bounded(name, MAX_NAME));
        let answer = self.turn.wait_for(self.tools.list(server)).await;
        Ok(answer.map(|text| text.as_str().to_owned()))
    }

    async fn search(&mut self, query: String, limit: u32) -> wasmtime::Result<String> {
        let answer = self.turn.wait_for(self.tools.search(bounded(query, MAX_QUERY), limit as usize)).await;
        Ok(answer.as_str().to_owned())
    }

    async fn describe(&mut self, path: String) -> wasmtime::Result<Result<String, String>> {
        let answer = self.turn.wait_for(self.tools.describe(bounded(path, MAX_NAME))).await;
        Ok(answer.map(|text| text.as_str().to_owned()))
    }
}

fn bounded(mut text: String, max: usize) -> String {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}
