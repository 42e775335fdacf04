//! What to run.

use std::time::Duration;

use belljar_model::ByteSize;

/// A script.
#[derive(Debug, Clone)]
pub struct Program {
    /// JavaScript or TypeScript, as its author wrote it.
    pub source: String,
    /// On whose behalf it runs. Clients take turns where runs must queue; those that are not told
    /// apart are one.
    pub client: String,
    /// Where the script's random numbers come from. Drawn from the operating system where there is
    /// none.
    pub seed: Option<[u8; 32]>,
    /// In which order the script gets its answers:
    /// [`Outcome::order`](belljar_model::Outcome::order) of an earlier run. As they come, where
    /// there is none. A script that does not ask again for what it asked for then waits for it
    /// until its timeout.
    pub order: Option<Vec<u64>>,
    /// How many bytes a recording of the run may have, if there is to be one. What goes beyond ends
    /// the recording, and not the run.
    pub max_recording: Option<ByteSize>,
    /// After how long the run may be put aside while it waits for people alone: it ends then as
    /// `approval`, and goes on by [`Sandbox::resume`](crate::Sandbox::resume). Sooner,
    /// where others queue. It needs a recording.
    pub rest_after: Option<Duration>,
    /// Whether its calls are found and [`Tools::plan`](crate::Tools::plan) is asked, and nothing is
    /// run. The value is null then.
    pub only_plan: bool,
}

/// How a run goes on that was put aside.
#[derive(Debug, Clone, Default)]
pub struct GoingOn {
    /// As of a [`Program`].
    pub client: String,
    /// As of a [`Program`], for what it did before and what it does.
    pub max_recording: Option<ByteSize>,
    /// As of a [`Program`].
    pub rest_after: Option<Duration>,
}

impl Program {
    /// A script with a fresh seed.
    pub fn new(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            client: String::new(),
            seed: None,
            order: None,
            max_recording: None,
            rest_after: None,
            only_plan: false,
        }
    }

    /// The same script, on behalf of a client.
    #[must_use]
    pub fn with_client(mut self, client: impl Into<String>) -> Self {
        self.client = client.into();
        self
    }

    /// The same script with random numbers that can be repeated.
    #[must_use]
    pub fn with_seed(mut self, seed: [u8; 32]) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The same script, whose run is recorded within so many bytes:
    /// [`Outcome::recording`](belljar_model::Outcome::recording).
    #[must_use]
    pub fn with_recording(mut self, max: ByteSize) -> Self {
        self.max_recording = Some(max);
        self
    }

    /// The same script, of which only the calls are found that stand in it.
    #[must_use]
    pub fn only_planned(mut self) -> Self {
        self.only_plan = true;
        self
    }

    /// The same script, with its answers in a recorded order.
    #[must_use]
    pub fn with_order(mut self, order: Vec<u64>) -> Self {
        self.order = Some(order);
        self
    }
}

impl From<&str> for Program {
    fn from(source: &str) -> Self {
        Self::new(source)
    }
}

impl From<String> for Program {
    fn from(source: String) -> Self {
        Self::new(source)
    }
}
