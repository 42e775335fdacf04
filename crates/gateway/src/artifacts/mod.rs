//! Artifacts: large values, texts and files that a run leaves for later runs of the same holder.
//!
//! `asked.rs` parses the questions of scripts, `answers.rs` answers them, `apart.rs` replaces files
//! in tools' results by handles, `files.rs` puts the files back into the run's value, and
//! `put_away.rs` stores what is too large to show in an answer.
//!
//! Whatever a run reads of an artifact has the labels that the artifact was stored with. The run
//! carries them before it gets the answer.

mod answers;
mod apart;
mod asked;
mod files;
mod put_away;

use std::sync::Arc;

use belljar_ledger::Artifacts;
use belljar_model::ArtifactSettings;

pub(crate) use answers::Answering;
pub(crate) use apart::{Apart, RunFiles};
pub(crate) use files::{KnownFiles, with_files};
pub(crate) use put_away::{PutAway, Shown, cut_logs, roomier};

/// Where artifacts are kept, and how large they may be.
#[derive(Clone)]
pub struct ArtifactStore {
    /// The store.
    pub store: Arc<dyn Artifacts>,
    /// Its settings.
    pub settings: ArtifactSettings,
}
