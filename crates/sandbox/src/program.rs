//! What to run.

use std::time::Duration;

use belljar_model::ByteSize;
use belljar_recording::{GlobalFunction, Surroundings};

use crate::Function;

/// A script.
#[derive(Debug, Clone)]
pub struct Program {
    /// JavaScript or TypeScript, as its author wrote it.
    pub source: String,
    /// JavaScript that runs before the script. The script's author need not know about it: its
    /// lines are not counted. It may add properties to namespaces, which hide tools of the same
    /// name. When it has ended, the namespaces are frozen.
    pub prelude: Option<String>,
    /// Whether the script finds belljar's own global, `tools`. Without it the name is free for a
    /// namespace or a function.
    pub builtins: bool,
    /// Whether the script has `artifacts`, whose questions [`Tools::artifacts`] answers. A
    /// namespace or a function of that name hides it.
    ///
    /// [`Tools::artifacts`]: crate::Tools::artifacts
    pub artifacts: bool,
    /// Whether the script has `keep`, whose questions [`Tools::keep`] answers. A namespace or a
    /// function of that name hides it.
    ///
    /// [`Tools::keep`]: crate::Tools::keep
    pub keep: bool,
    /// Whether the value of the run is in extended JSON, as [`ScriptValue`](crate::ScriptValue)
    /// reads it: with undefined and bytes. In plain JSON, undefined is null.
    pub extended_value: bool,
    /// The client for which it runs. Clients take turns in the queue; runs without one count as one
    /// client.
    pub client: String,
    /// The seed of the script's random numbers. Drawn from the operating system if there is none.
    pub seed: Option<[u8; 32]>,
    /// The order in which the script gets its answers:
    /// [`Outcome::order`](belljar_model::Outcome::order) of an earlier run. If there is none, it
    /// gets them as they arrive. If there is one, a script that does not begin the same calls and
    /// timers again ends with an error.
    pub order: Option<Vec<u64>>,
    /// How many bytes a recording of the run may have, if there is to be one. Beyond that the
    /// recording ends, but not the run.
    pub max_recording: Option<ByteSize>,
    /// How long the run may wait for people alone before it is put aside, or less if others queue.
    /// It then ends with an error of the kind `approval`, and
    /// [`Sandbox::resume`](crate::Sandbox::resume) resumes it. This needs a recording.
    pub rest_after: Option<Duration>,
    /// Whether only the calls in the source are found and passed to
    /// [`Tools::plan`](crate::Tools::plan), and nothing is run. The value is then null.
    pub only_plan: bool,
    /// Whether only the signature of a named script is read, and nothing is run. The value is then
    /// a JSON object with `text`, and, as far as there is a signature, `description`, `schema` or
    /// `schemaText`, `result` and `calls`.
    pub only_signature: bool,
    /// The SHA-256 of a component that others built and that runs in place of a script. The source
    /// is then its order, as JSON.
    pub component: Option<[u8; 32]>,
}

/// How to resume a suspended run.
#[derive(Debug, Clone, Default)]
pub struct GoingOn {
    /// As of a [`Program`].
    pub client: String,
    /// As in a [`Program`]: for what the run did before and what it does now.
    pub max_recording: Option<ByteSize>,
    /// As of a [`Program`].
    pub rest_after: Option<Duration>,
}

impl Program {
    /// A script with a fresh seed.
    pub fn new(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            prelude: None,
            builtins: true,
            artifacts: false,
            keep: false,
            extended_value: false,
            client: String::new(),
            seed: None,
            order: None,
            max_recording: None,
            rest_after: None,
            only_plan: false,
            only_signature: false,
            component: None,
        }
    }

    /// The same script behind a prelude.
    #[must_use]
    pub fn with_prelude(mut self, prelude: impl Into<String>) -> Self {
        self.prelude = Some(prelude.into());
        self
    }

    /// The same script without belljar's own globals.
    #[must_use]
    pub fn without_builtins(mut self) -> Self {
        self.builtins = false;
        self
    }

    /// The same script with the global `artifacts`.
    #[must_use]
    pub fn with_artifacts(mut self) -> Self {
        self.artifacts = true;
        self
    }

    /// The same script with the global `keep`.
    #[must_use]
    pub fn with_keep(mut self) -> Self {
        self.keep = true;
        self
    }

    /// The same script, whose value is in extended JSON.
    #[must_use]
    pub fn with_extended_value(mut self) -> Self {
        self.extended_value = true;
        self
    }

    /// What a recording keeps of the script's surroundings, with these global functions.
    pub fn surroundings(&self, functions: &[Function]) -> Surroundings {
        Surroundings {
            prelude: self.prelude.clone(),
            functions: functions.iter().map(GlobalFunction::from).collect(),
            no_builtins: !self.builtins,
            artifacts: self.artifacts && self.builtins,
            keep: self.keep && self.builtins,
            extended_value: self.extended_value,
            component: self.component.is_some(),
        }
    }

    /// The same script, for a client.
    #[must_use]
    pub fn with_client(mut self, client: impl Into<String>) -> Self {
        self.client = client.into();
        self
    }

    /// The same script with this seed, so that its random numbers can be repeated.
    #[must_use]
    pub fn with_seed(mut self, seed: [u8; 32]) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The same script, recorded within this many bytes:
    /// [`Outcome::recording`](belljar_model::Outcome::recording).
    #[must_use]
    pub fn with_recording(mut self, max: ByteSize) -> Self {
        self.max_recording = Some(max);
        self
    }

    /// The same script, of which only the calls are found ([`Program::only_plan`]).
    #[must_use]
    pub fn only_planned(mut self) -> Self {
        self.only_plan = true;
        self
    }

    /// The same named script, of which only the signature is read. It sets the field of that name.
    #[must_use]
    pub fn only_signature(mut self) -> Self {
        self.only_signature = true;
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
