//! A record of what belljar has run, kept for later queries.
//!
//! The gateway writes to a [`Ledger`]: each run at its start and its end, and each call that may
//! change something *before* it is sent. So after a crash the ledger shows which calls may have
//! happened. It is a narrow trait; its implementation is [`SqliteLedger`], a file in the user's
//! state folder that several processes use at once.
//!
//! At level `calls` no values are kept: only sizes and keyed digests of sources, arguments and
//! answers. Questions to the owner are kept here too, with their arguments for as long as they are
//! open. The same file also contains the values that scripts keep between runs ([`Keeps`]), which
//! are stored in full. Nothing here decides what is called, and no call is made from what is read
//! here.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod artifacts;
mod asked;
mod entry;
mod error;
mod excerpt;
mod holder;
mod keeps;
mod key;
mod ledger;
mod passages;
mod query;
mod sqlite;

pub use artifacts::{
    ArtifactEntry, ArtifactError, Artifacts, Content, Found, Hit, HolderTotals, MAX_HITS, MAX_LABELS, MAX_LISTED,
    MAX_READ, MAX_WITHIN, MAX_WORDS, MAX_WORDS_BYTES, NewArtifact, Search, Stored,
};
pub use asked::{Carried, Count, CountId, Mark, Measured, Passed, PinnedServer, Pins};
pub use entry::{Asker, Assumption, Call, CallEnd, CallState, Digest, Entry, KeptRecording, RunEnd, RunRest, RunStart};
pub use error::LedgerError;
pub use holder::Holder;
pub use keeps::{
    Changed, KeepAuthor, KeepBounds, KeepChange, KeepTotals, Keeps, KeptEntry, KeptValue, MAX_KEPT_NAME,
    MAX_WORKSPACES, NoRoom, Replaces, Swapped,
};
pub use ledger::{Ledger, Purpose};
pub use query::{
    Filter, KeptCall, KeptQuestion, KeptRun, KeptVerdicts, NotResting, Purge, QuestionFilter, RestingRun, RunState,
    Since, WholeRun,
};
pub use sqlite::{Options, SqliteArtifacts, SqliteLedger};
