//! Files in the places of their handles: a script holds a handle, and whoever gets its value gets
//! the file.

use std::collections::BTreeMap;

use belljar_ledger::Holder;
use belljar_model::{
    ArtifactId, ArtifactKind, ArtifactRef, JsonText, Limits, Outcome, file_block, handles, may_hold_handles, put_back,
};
use serde_json::Value;

use super::ArtifactStore;
use crate::{Toolbox, labels::Carrier};

/// Puts the files of a value into it, each once, as blocks of MCP, within the bytes that media may
/// have. A handle whose file is not there stays as it is.
pub(crate) async fn with_files(
    outcome: &mut Outcome,
    limits: &Limits,
    (artifacts, holder): (&ArtifactStore, &Holder),
    (toolbox, carrier): (&Toolbox, Carrier<'_>),
) {
    let Ok(text) = &outcome.result else { return };
    // A tree of a larger value would cost too much.
    if text.as_str().len() as u64 > limits.max_output.as_u64() || !may_hold_handles(text.as_str()) {
        return;
    }
    let Ok(mut value) = serde_json::from_str::<Value>(text.as_str()) else { return };
    let mut left = limits.max_result.as_u64();
    let mut blocks: BTreeMap<ArtifactId, Value> = BTreeMap::new();
    for id in handles(&value) {
        match block(id, left, (artifacts, holder), (toolbox, carrier)).await {
            Some((block, bytes)) => {
                left = left.saturating_sub(bytes);
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
}

/// The block of a file with at most so many bytes as base64, and how many it has.
async fn block(
    id: ArtifactId,
    max: u64,
    (artifacts, holder): (&ArtifactStore, &Holder),
    (toolbox, carrier): (&Toolbox, Carrier<'_>),
) -> Option<(Value, u64)> {
    let entry = artifacts.store.entry(holder.clone(), ArtifactRef::Id(id)).await.ok()??;
    let encoded = entry.bytes.div_ceil(3).saturating_mul(4);
    if entry.kind != ArtifactKind::Blob || encoded > max {
        return None;
    }
    // The answer has the file, whoever had its handle.
    toolbox.receive(carrier, &entry.labels).await.ok()?;
    let bytes = artifacts.store.whole(holder.clone(), id).await.ok()??;
    Some((file_block(id, entry.mime.as_deref(), &bytes), encoded))
}
