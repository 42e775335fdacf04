//! Artifacts, in the ledger's file.
//!
//! `tables.rs` has the tables and the meaning of their numbers. Only the ledger's one thread writes
//! (`upkeep.rs`), in steps of some milliseconds, between which it keeps the entries of runs:
//! `store.rs` stores content piece by piece, `index.rs` then makes it searchable, `sweep.rs`
//! removes what is gone for everybody, and `room.rs` bounds what all principals have together.
//! `read.rs` and `search.rs` read, on their own connections.

mod index;
mod read;
mod room;
mod search;
mod store;
mod sweep;
mod tables;
#[cfg(test)]
mod tests;
mod upkeep;

use std::{collections::BTreeSet, ops::Range, path::PathBuf};

use belljar_model::{ArtifactId, ArtifactRef, ArtifactSettings};
use futures::{FutureExt as _, future::BoxFuture};
use tokio::task::spawn_blocking;

use super::writer::Writer;
use crate::{
    artifacts::{
        ArtifactEntry, ArtifactError, Artifacts, Found, HolderTotals, MAX_LABELS, MAX_LISTED, NewArtifact, Search,
        Stored,
    },
    error::LedgerError,
    holder::Holder,
};
use read::Reader;

pub(super) use sweep::{expire, purge, return_pages};
pub(super) use tables::{TABLES, pages, rewritten, used_pages};
pub(super) use upkeep::{Request, Upkeep, Waiting};

/// The longest media type and the longest label, in bytes.
const MAX_DESCRIPTION: usize = 256;

/// Artifacts in the file of a [`SqliteLedger`](super::SqliteLedger), which writes them.
#[derive(Clone)]
pub struct SqliteArtifacts {
    path: Option<PathBuf>,
    writer: Writer,
    settings: ArtifactSettings,
}

impl SqliteArtifacts {
    pub(super) fn new(path: Option<PathBuf>, writer: Writer, settings: ArtifactSettings) -> Self {
        writer.keep_artifacts(settings);
        Self { path, writer, settings }
    }

    async fn with<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut Reader) -> Result<T, ArtifactError> + Send + 'static,
    ) -> Result<Option<T>, ArtifactError> {
        let path = self.path.clone().ok_or(LedgerError::NoFolder)?;
        let read = spawn_blocking(move || Reader::open(&path)?.map(|mut reader| read(&mut reader)).transpose());
        read.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }

    async fn searched(&self, holder: Holder, search: Search) -> Result<Found, ArtifactError> {
        let query = search::Query::of(&search)?;
        let scope = {
            let holder = holder.clone();
            self.with(move |reader| reader.scope(&holder, &search.within)).await?
        };
        let Some(Some(scope)) = scope else { return Ok(Found::default()) };
        if !scope.unindexed.is_empty() {
            self.writer.index_artifacts(scope.unindexed.clone()).await;
        }
        let found = self.with(move |reader| reader.search(&scope, &query)).await?.unwrap_or_default();
        self.writer.touch_artifacts(found.stale);
        Ok(found.found)
    }
}

impl Artifacts for SqliteArtifacts {
    fn store(&self, holder: Holder, artifact: NewArtifact) -> BoxFuture<'_, Result<Stored, ArtifactError>> {
        async move {
            check(&artifact, &self.settings)?;
            self.writer.store_artifact(holder, artifact, self.settings).await
        }
        .boxed()
    }

    fn list(
        &self,
        holder: Holder,
        before: Option<ArtifactId>,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<ArtifactEntry>, ArtifactError>> {
        let limit = limit.min(MAX_LISTED);
        async move { Ok(self.with(move |reader| reader.list(&holder, before, limit)).await?.unwrap_or_default()) }
            .boxed()
    }

    fn entry(&self, holder: Holder, which: ArtifactRef) -> BoxFuture<'_, Result<Option<ArtifactEntry>, ArtifactError>> {
        async move { Ok(self.with(move |reader| reader.entry(&holder, &which)).await?.flatten()) }.boxed()
    }

    fn labels(&self, holder: Holder) -> BoxFuture<'_, Result<BTreeSet<String>, ArtifactError>> {
        async move { Ok(self.with(move |reader| reader.labels(&holder)).await?.unwrap_or_default()) }.boxed()
    }

    fn read(
        &self,
        holder: Holder,
        id: ArtifactId,
        range: Range<u64>,
    ) -> BoxFuture<'_, Result<Option<Vec<u8>>, ArtifactError>> {
        async move {
            let Some((bytes, stale)) = self.with(move |reader| reader.read(&holder, id, range)).await?.flatten() else {
                return Ok(None);
            };
            self.writer.touch_artifacts(stale.into_iter().collect());
            Ok(Some(bytes))
        }
        .boxed()
    }

    fn search(&self, holder: Holder, search: Search) -> BoxFuture<'_, Result<Found, ArtifactError>> {
        self.searched(holder, search).boxed()
    }

    fn remove(&self, holder: Holder, which: Vec<ArtifactRef>) -> BoxFuture<'_, Result<u64, ArtifactError>> {
        async move { Ok(self.writer.remove_artifacts(holder, Some(which)).await?) }.boxed()
    }

    fn remove_all(&self, holder: Holder) -> BoxFuture<'_, Result<u64, ArtifactError>> {
        async move { Ok(self.writer.remove_artifacts(holder, None).await?) }.boxed()
    }

    fn totals(&self) -> BoxFuture<'_, Result<Vec<HolderTotals>, ArtifactError>> {
        async move { Ok(self.with(|reader| reader.totals()).await?.unwrap_or_default()) }.boxed()
    }
}

fn check(artifact: &NewArtifact, settings: &ArtifactSettings) -> Result<(), ArtifactError> {
    let (used, limit) =
        (artifact.content.bytes().len() as u64, settings.max_artifact.min(ArtifactSettings::LARGEST).as_u64());
    if used > limit {
        return Err(ArtifactError::TooLarge { used, limit });
    }
    let (used, limit) = (used.saturating_add(tables::OVERHEAD.unsigned_abs()), settings.max_bytes.as_u64());
    if used > limit {
        return Err(ArtifactError::NoRoom { used, limit });
    }
    let (used, limit) = (artifact.labels.len(), MAX_LABELS);
    if used > limit {
        return Err(ArtifactError::Described { what: "list of labels", used, limit });
    }
    let longest = artifact.labels.iter().map(String::len).max().unwrap_or_default();
    for (what, used) in [("label", longest), ("media type", artifact.mime.as_ref().map_or(0, String::len))] {
        if used > MAX_DESCRIPTION {
            return Err(ArtifactError::Described { what, used, limit: MAX_DESCRIPTION });
        }
    }
    Ok(())
}
