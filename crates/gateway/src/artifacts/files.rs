//! Puts files in place of their handles: a script has a handle, and whoever gets its value gets the
//! file.

use std::collections::BTreeMap;

use belljar_ledger::Holder;
use belljar_model::{
    ArtifactId, ArtifactKind, ArtifactRef, JsonText, Limits, Outcome, file_block, handles, may_hold_handles, put_back,
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;

use super::ArtifactStore;
use crate::{Toolbox, labels::Carrier};

/// The artifacts whose files are in a value, by the files' digests.
pub(crate) type KnownFiles = BTreeMap<FileDigest, ArtifactId>;

/// The SHA-256 of a file.
pub(crate) type FileDigest = [u8; 32];

pub(crate) fn digest(bytes: &[u8]) -> FileDigest {
    Sha256::digest(bytes).into()
}

/// Puts the files of a value into it as MCP blocks, each once, within the limit for media. A handle
/// whose file is missing stays as it is. Returns which files were inserted.
pub(crate) async fn with_files(
    outcome: &mut Outcome,
    limits: &Limits,
    (artifacts, holder): (&ArtifactStore, &Holder),
    (toolbox, carrier): (&Toolbox, Carrier<'_>),
) -> KnownFiles {
    let mut known = KnownFiles::new();
    let Ok(text) = &outcome.result else { return known };
    // A tree of a larger value would cost too much.
    if text.as_str().len() as u64 > limits.max_output.as_u64() || !may_hold_handles(text.as_str()) {
        return known;
    }
    let Ok(mut value) = serde_json::from_str::<Value>(text.as_str()) else { return known };
    let mut left = limits.max_result.as_u64();
    let mut blocks: BTreeMap<ArtifactId, Value> = BTreeMap::new();
    for id in handles(&value) {
        match block(id, left, (artifacts, holder), (toolbox, carrier)).await {
            Some(File { block, encoded, digest }) => {
                left = left.saturating_sub(encoded);
                known.insert(digest, id);
                blocks.insert(id, block);
            }
            None => {
                tracing::debug!("a value has the handle of {id}, which is not there, is not a file or is too large")
            }
        }
    }
    if !blocks.is_empty() {
        put_back(&mut value, &mut blocks);
        outcome.result = Ok(JsonText::from_value(&value));
    }
    known
}

struct File {
    block: Value,
    /// Its bytes in base64.
    encoded: u64,
    digest: FileDigest,
}

/// A file of at most this many bytes in base64.
async fn block(
    id: ArtifactId,
    max: u64,
    (artifacts, holder): (&ArtifactStore, &Holder),
    (toolbox, carrier): (&Toolbox, Carrier<'_>),
) -> Option<File> {
    let entry = artifacts.store.entry(holder.clone(), ArtifactRef::Id(id)).await.ok()??;
    let encoded = entry.bytes.div_ceil(3).saturating_mul(4);
    if entry.kind != ArtifactKind::Blob || encoded > max {
        return None;
    }
    // Whoever had the handle, the answer contains the file.
    toolbox.receive(carrier, &entry.labels).await.ok()?;
    let bytes = artifacts.store.whole(holder.clone(), id).await.ok()??;
    let made = spawn_blocking(move || File {
        block: file_block(id, entry.mime.as_deref(), &bytes),
        encoded,
        digest: digest(&bytes),
    });
    made.await.ok()
}
