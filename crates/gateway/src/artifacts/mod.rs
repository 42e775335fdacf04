//! Artifacts: large values, texts and files that runs leave for later runs of the same holder.
//!
//! `asked.rs` reads the questions of scripts, `answers.rs` answers them, `apart.rs` puts handles in
//! the places of files in tools' results, `files.rs` puts the files back in the run's value, and
//! `put_away.rs` keeps what is too large to be shown in an answer.
//!
//! Whatever a run reads of an artifact has the labels that the artifact was stored with: the run
//! carries them from before it gets the answer.

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
