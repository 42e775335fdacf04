//! The imports of `workspace`: what lives between runs.

use belljar_model::JsonText;
use belljar_recording::Question;

use super::{catalog::plain, state::RunState};
use crate::{
    bindings::belljar::sandbox::workspace::Host,
    workspace::{MAX_QUESTION_BYTES, NotAnswered},
};

/// Questions of one run. Each costs the host work that no fuel counts.
const MAX_QUESTIONS: u64 = 10_000;

impl Host for RunState {
    async fn artifacts(&mut self, question: String) -> wasmtime::Result<Result<String, String>> {
        self.kept_questions += 1;
        if self.kept_questions > MAX_QUESTIONS {
            let text = format!("the run has asked {MAX_QUESTIONS} times for artifacts, which is the limit");
            return Ok(Err(NotAnswered::new(text, "ask for more at once, or in a later run").to_text()));
        }
        if question.len() > MAX_QUESTION_BYTES {
            let text = format!("this has {} bytes as JSON; the limit is {MAX_QUESTION_BYTES}", question.len());
            return Ok(Err(NotAnswered::argument(text, "save it in parts").to_text()));
        }
        let asked = Question::Artifacts(&question);
        let answer = match &mut self.stand_in {
            Some(stand_in) => stand_in.catalog(asked)?,
            None => {
                let answer = self.turn.wait_for(self.tools.artifacts(question.clone())).await;
                answer.map(JsonText::into_string).map_err(|error| error.to_text())
            }
        };
        self.recorder.catalog(asked, plain(&answer));
        Ok(answer)
    }
}
