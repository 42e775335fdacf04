//! A text that the client of a session is asked for once.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::OnceCell;

/// A text of the client, which is requested at the first use, and again after it has changed.
#[derive(Debug, Default)]
pub struct AskedOnce(Mutex<Cell>);

type Cell = Arc<OnceCell<Option<Arc<str>>>>;

impl AskedOnce {
    /// The text, if the client has one. Callers that come while it is being requested wait for the
    /// same answer.
    ///
    /// # Errors
    /// The client has not answered. It is asked again the next time.
    pub async fn get_or_ask<E>(
        &self,
        ask: impl Future<Output = Result<Option<Arc<str>>, E>>,
    ) -> Result<Option<Arc<str>>, E> {
        let cell = self.0.lock().clone();
        cell.get_or_try_init(|| ask).await.cloned()
    }

    /// Forgets the text, because it has changed. An answer that is already on its way is not kept.
    pub fn forget(&self) {
        *self.0.lock() = Cell::default();
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use futures::FutureExt as _;

    use super::*;

    type Answer = Result<Option<Arc<str>>, &'static str>;

    #[tokio::test]
    async fn a_client_is_asked_once_and_again_after_a_change() {
        let asked = AskedOnce::default();
        let a: Answer = Ok(Some("a".into()));
        assert_eq!(asked.get_or_ask(ready(a.clone())).await, a);
        assert_eq!(asked.get_or_ask(pending::<Answer>()).await, a);
        asked.forget();
        assert_eq!(asked.get_or_ask(ready(Answer::Ok(None))).await, Ok(None));
        assert_eq!(asked.get_or_ask(pending::<Answer>()).await, Ok(None), "that there is none is an answer too");
    }

    #[tokio::test]
    async fn an_answer_that_was_given_up_is_asked_for_again() {
        let asked = AskedOnce::default();
        assert!(asked.get_or_ask(pending::<Answer>()).now_or_never().is_none());
        assert_eq!(asked.get_or_ask(ready(Answer::Err("late"))).await, Err("late"));
        let a: Answer = Ok(Some("a".into()));
        assert_eq!(asked.get_or_ask(ready(a.clone())).await, a);
    }
}
