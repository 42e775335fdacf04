//! Where answers of calls are held back before they are read into memory.
//!
//! A caller that cannot take more answers just now closes its gate. The wire that has read the
//! answer's message then waits and reads nothing more from that child, which eventually can no
//! longer write. Only one message waits for each child, but calls of others at the same child wait
//! behind it, so a gate should open soon.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use futures::future::BoxFuture;
use rmcp::model::RequestId;

/// Asked before the answer of a call is passed on.
pub trait AnswerGate: Send + Sync + 'static {
    /// Waits until an answer of this many bytes may come. It may be called again after the future
    /// was dropped.
    fn admit(&self, bytes: usize) -> BoxFuture<'_, ()>;
}

/// The gate of one call, as long as somebody waits for its answer.
#[derive(Clone)]
pub(crate) struct Gate(Weak<dyn AnswerGate>);

impl Gate {
    pub(crate) fn of(gate: &Arc<dyn AnswerGate>) -> Self {
        Self(Arc::downgrade(gate))
    }

    /// Waits until the answer may come.
    ///
    /// # Cancellation
    /// It may be asked again.
    pub(crate) async fn admit(&self, bytes: usize) {
        if let Some(gate) = self.0.upgrade() {
            gate.admit(bytes).await;
        }
    }
}

/// The gates of unanswered requests.
pub(crate) struct Gates {
    of: HashMap<RequestId, Gate>,
    /// At this number of gates, unneeded ones are removed, since a child need not answer.
    sweep_at: usize,
}

/// Fewer gates are not worth checking.
const FEW: usize = 64;

impl Default for Gates {
    fn default() -> Self {
        Self { of: HashMap::new(), sweep_at: FEW }
    }
}

impl Gates {
    pub(crate) fn add(&mut self, id: RequestId, gate: Gate) {
        self.of.insert(id, gate);
        if self.of.len() >= self.sweep_at {
            self.of.retain(|_, gate| gate.0.strong_count() > 0);
            self.sweep_at = FEW.max(self.of.len().saturating_mul(2));
        }
    }

    /// The gate of the request that an answer with this id belongs to. A number may come back as a
    /// text.
    pub(crate) fn take(&mut self, id: &RequestId) -> Option<Gate> {
        self.of.remove(id).or_else(|| match id {
            RequestId::String(text) => self.of.remove(&RequestId::Number(text.parse().ok()?)),
            RequestId::Number(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Open;

    impl AnswerGate for Open {
        fn admit(&self, _: usize) -> BoxFuture<'_, ()> {
            Box::pin(std::future::ready(()))
        }
    }

    #[test]
    fn gates_of_requests_that_are_never_answered_are_forgotten() {
        let mut gates = Gates::default();
        let kept: Arc<dyn AnswerGate> = Arc::new(Open);
        gates.add(RequestId::Number(0), Gate::of(&kept));
        for number in 1..10_000 {
            let dropped: Arc<dyn AnswerGate> = Arc::new(Open);
            gates.add(RequestId::Number(number), Gate::of(&dropped));
        }
        assert!(gates.of.len() <= FEW, "{}", gates.of.len());
        assert!(gates.take(&RequestId::String("0".into())).is_some(), "a number may come back as a text");
        assert!(gates.take(&RequestId::Number(0)).is_none(), "an answer comes once");
    }
}
