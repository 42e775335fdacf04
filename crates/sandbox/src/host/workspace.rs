//! The imports of `workspace`: what lives between runs.

use belljar_model::JsonText;
use belljar_recording::Question;

use super::{catalog::plain, state::RunState};
use crate::{
    bindings::belljar::sandbox::workspace::Host,
    workspace::{MAX_QUESTION_BYTES, MAX_QUESTIONS, NotAnswered},
};

impl RunState {
    /// Counts a question. If it must not be asked, returns why.
    fn not_asked(&mut self, what: &str, question: &str, hint: &str) -> Option<NotAnswered> {
        self.kept_questions += 1;
        if self.kept_questions > MAX_QUESTIONS {
            return Some(NotAnswered::too_often(what));
        }
        let text = format!("this has {} bytes as JSON; the limit is {MAX_QUESTION_BYTES}", question.len());
        (question.len() > MAX_QUESTION_BYTES).then(|| NotAnswered::argument(text, hint))
    }

    /// A question for the host. It may be large, and is copied only if it is recorded.
    fn sent(&self, question: &mut String) -> String {
        if self.recorder.is_on() { question.clone() } else { std::mem::take(question) }
    }
}

impl Host for RunState {
    async fn artifacts(&mut self, mut question: String) -> wasmtime::Result<Result<String, String>> {
        if let Some(refusal) = self.not_asked("artifacts", &question, "save it in parts") {
            return Ok(Err(refusal.to_text()));
        }
        let answer = match &mut self.stand_in {
            Some(stand_in) => stand_in.catalog(Question::Artifacts(&question))?,
            None => {
                let sent = self.sent(&mut question);
                text_of(self.turn.wait_for(self.tools.artifacts(sent)).await)
            }
        };
        self.recorder.catalog(Question::Artifacts(&question), plain(&answer));
        Ok(answer)
    }

    async fn keep(&mut self, mut question: String) -> wasmtime::Result<Result<String, String>> {
        if let Some(refusal) = self.not_asked("kept values", &question, "keep less of it") {
            return Ok(Err(refusal.to_text()));
        }
        let answer = match &mut self.stand_in {
            Some(stand_in) => stand_in.catalog(Question::Keep(&question))?,
            None => {
                let sent = self.sent(&mut question);
                text_of(self.turn.wait_for(self.tools.keep(sent)).await)
            }
        };
        self.recorder.catalog(Question::Keep(&question), plain(&answer));
        Ok(answer)
    }
}

/// An answer in the form that crosses to the guest.
fn text_of(answer: Result<JsonText, NotAnswered>) -> Result<String, String> {
    answer.map(JsonText::into_string).map_err(|error| error.to_text())
}
