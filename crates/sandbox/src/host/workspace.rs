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

impl RunState {
    /// Counts a question, and says why it is not asked, if it is not.
    fn not_asked(&mut self, what: &str, question: &str, hint: &str) -> Option<NotAnswered> {
        self.kept_questions += 1;
        if self.kept_questions > MAX_QUESTIONS {
            let text = format!("the run has asked {MAX_QUESTIONS} times for {what}, which is the limit");
            return Some(NotAnswered::new(text, "ask for more at once, or in a later run"));
        }
        let text = format!("this has {} bytes as JSON; the limit is {MAX_QUESTION_BYTES}", question.len());
        (question.len() > MAX_QUESTION_BYTES).then(|| NotAnswered::argument(text, hint))
    }
}

impl Host for RunState {
    async fn artifacts(&mut self, question: String) -> wasmtime::Result<Result<String, String>> {
        if let Some(refusal) = self.not_asked("artifacts", &question, "save it in parts") {
            return Ok(Err(refusal.to_text()));
        }
        let asked = Question::Artifacts(&question);
        let answer = match &mut self.stand_in {
            Some(stand_in) => stand_in.catalog(asked)?,
            None => text_of(self.turn.wait_for(self.tools.artifacts(question.clone())).await),
        };
        self.recorder.catalog(asked, plain(&answer));
        Ok(answer)
    }

    async fn keep(&mut self, question: String) -> wasmtime::Result<Result<String, String>> {
        if let Some(refusal) = self.not_asked("kept values", &question, "keep less of it") {
            return Ok(Err(refusal.to_text()));
        }
        let asked = Question::Keep(&question);
        let answer = match &mut self.stand_in {
            Some(stand_in) => stand_in.catalog(asked)?,
            None => text_of(self.turn.wait_for(self.tools.keep(question.clone())).await),
        };
        self.recorder.catalog(asked, plain(&answer));
        Ok(answer)
    }
}

/// An answer as it crosses.
fn text_of(answer: Result<JsonText, NotAnswered>) -> Result<String, String> {
    answer.map(JsonText::into_string).map_err(|error| error.to_text())
}
