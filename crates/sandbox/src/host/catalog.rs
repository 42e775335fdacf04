//! The imports of `catalog`: what scripts may read about the tools.

use super::{RunState, glass::belljar::sandbox::catalog::Host};

/// Bytes of a query or a path; longer ones find nothing.
const MAX_QUERY: usize = 1024;

impl Host for RunState {
    async fn list(&mut self, server: Option<String>) -> wasmtime::Result<Result<String, String>> {
        let server = server.map(bounded);
        self.meter.stand(true);
        let answer = self.tools.list(server).await;
        self.meter.stand(false);
        Ok(answer.map(|text| text.as_str().to_owned()))
    }

    async fn search(&mut self, query: String, limit: u32) -> wasmtime::Result<String> {
        self.meter.stand(true);
        let answer = self.tools.search(bounded(query), limit as usize).await;
        self.meter.stand(false);
        Ok(answer.as_str().to_owned())
    }

    async fn describe(&mut self, path: String) -> wasmtime::Result<Result<String, String>> {
        self.meter.stand(true);
        let answer = self.tools.describe(bounded(path)).await;
        self.meter.stand(false);
        Ok(answer.map(|text| text.as_str().to_owned()))
    }
}

fn bounded(mut text: String) -> String {
    let mut end = text.len().min(MAX_QUERY);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}
