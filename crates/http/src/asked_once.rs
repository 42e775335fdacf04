//! What the client of a session is asked for once.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::OnceCell;

/// A text of a client, which is asked for it at the first use and again once it has changed.
#[derive(Debug, Default)]
pub struct AskedOnce(Mutex<Cell>);

type Cell = Arc<OnceCell<Option<Arc<str>>>>;

impl AskedOnce {
    /// The text, if the client has one. Whoever comes while it is being asked for waits for the
    /// same answer.
    pub async fn get_or_ask(&self, ask: impl Future<Output = Option<Arc<str>>>) -> Option<Arc<str>> {
        let cell = self.0.lock().clone();
        cell.get_or_init(|| ask).await.clone()
    }

    /// Forgets it, because it has changed. An answer that is on its way is not kept.
    pub fn forget(&self) {
        *self.0.lock() = Cell::default();
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_client_is_asked_once_and_again_after_a_change() {
        let asked = AskedOnce::default();
        assert_eq!(asked.get_or_ask(ready(Some("a".into()))).await.as_deref(), Some("a"));
        assert_eq!(asked.get_or_ask(pending()).await.as_deref(), Some("a"));
        asked.forget();
        assert_eq!(asked.get_or_ask(ready(None)).await, None);
        assert_eq!(asked.get_or_ask(pending()).await, None, "that there is none is an answer too");
    }

    #[tokio::test]
    async fn an_answer_that_was_given_up_is_asked_for_again() {
        let asked = AskedOnce::default();
        assert!(asked.get_or_ask(pending()).now_or_never().is_none());
        assert_eq!(asked.get_or_ask(ready(Some("a".into()))).await.as_deref(), Some("a"));
    }
}
