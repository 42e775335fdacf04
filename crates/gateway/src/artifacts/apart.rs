//! Files in the results of tools: they stay outside the jar, and the script gets handles to them.
//!
//! A server decides how many files there are and how large they are. So they are read one at a
//! time, and a run keeps only a bounded amount of them. The rest stays in its result, as it does
//! without artifacts.

use std::{collections::BTreeMap, time::Duration};

use belljar_ledger::{Content, Holder, NewArtifact};
use belljar_model::{
    ArtifactId, ArtifactSettings, ByteSize, FileBlock, JsonBounds, JsonText, MAX_FILES, RunId, may_hold_media,
};
use parking_lot::Mutex;
use tokio::{task::spawn_blocking, time::timeout};

use super::{
    ArtifactStore,
    answers::removed,
    files::{FileDigest, digest},
};
use crate::{
    remarks::Remarks,
    tool_result::{large_blocks, with_parts},
};

/// The most files that one run keeps.
const MOST: usize = 100;
/// The most bytes of these files, but at most a quarter of what a principal may have. Older
/// artifacts make room for them.
const MOST_BYTES: ByteSize = ByteSize::mib(64);
/// How long all files of a result may take to be kept.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most bytes that handles may add to one result, if they are larger than their files.
const HANDLES_BYTES: usize = 64 * 1024;

/// The files that a run has kept so far. The same file is kept once.
#[derive(Default)]
pub(crate) struct RunFiles(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    ids: BTreeMap<FileDigest, ArtifactId>,
    /// How many files are kept or being kept, and their bytes.
    count: usize,
    bytes: u64,
}

impl RunFiles {
    fn known(&self, digest: &FileDigest) -> Option<ArtifactId> {
        self.0.lock().ids.get(digest).copied()
    }

    /// Reserves room for one more file, and returns whether there was any.
    fn takes(&self, bytes: u64, settings: &ArtifactSettings) -> bool {
        let most = MOST_BYTES.as_u64().min(settings.max_bytes.as_u64() / 4);
        let mut kept = self.0.lock();
        let fits = kept.count < MOST && kept.bytes.saturating_add(bytes) <= most;
        if fits {
            kept.count += 1;
            kept.bytes += bytes;
        }
        fits
    }
}

/// Keeps the files of one result.
pub(crate) struct Apart<'a> {
    pub(crate) artifacts: &'a ArtifactStore,
    pub(crate) holder: &'a Holder,
    pub(crate) run: RunId,
    /// The labels that the run carries once it has the result.
    pub(crate) labels: Vec<String>,
    pub(crate) files: &'a RunFiles,
    pub(crate) remarks: &'a Remarks,
}

impl Apart<'_> {
    /// The result with its large files replaced by handles. A file that cannot be kept stays.
    ///
    /// # Cancellation
    /// A file that is being stored may still be stored, but nobody has its id.
    pub(crate) async fn from(&self, result: JsonText) -> JsonText {
        let inline = self.artifacts.settings.inline.as_u64();
        if result.as_str().len() as u64 <= inline || !may_hold_media(result.as_str()) {
            return result;
        }
        let mut handles = Vec::new();
        // What was done before the timeout counts.
        if timeout(PATIENCE, self.keep(&result, inline, &mut handles)).await.is_err() {
            tracing::warn!(run = %self.run, "files of a result were not kept in time, and enter the jar");
        }
        if handles.is_empty() {
            return result;
        }
        let whole = result.clone();
        let made = spawn_blocking(move || {
            let bounds = JsonBounds::with_bytes(whole.as_str().len().saturating_add(HANDLES_BYTES));
            JsonText::parse(with_parts(whole.as_str(), &handles)?, &bounds).ok()
        });
        made.await.ok().flatten().unwrap_or(result)
    }

    async fn keep(&self, result: &JsonText, inline: u64, handles: &mut Vec<(std::ops::Range<usize>, String)>) {
        let text = result.clone();
        let blocks = spawn_blocking(move || large_blocks(text.as_str(), inline)).await.unwrap_or_default();
        for place in blocks.into_iter().take(MAX_FILES) {
            let (text, at) = (result.clone(), place.clone());
            let file = spawn_blocking(move || {
                let file = FileBlock::of(text.as_str().get(at)?, inline)?;
                Some((digest(&file.bytes), file))
            });
            let Ok(Some((digest, file))) = file.await else { continue };
            if let Some(id) = self.kept(digest, &file).await {
                handles.push((place, file.handle(id).to_string()));
            }
        }
    }

    /// The artifact that a file is kept as.
    async fn kept(&self, digest: FileDigest, file: &FileBlock) -> Option<ArtifactId> {
        if let Some(id) = self.files.known(&digest) {
            return Some(id);
        }
        if !self.files.takes(file.bytes.len() as u64, &self.artifacts.settings) {
            self.remarks.tell(format!(
                "some files of tools' results have their bytes in the script: a run keeps at most {MOST} files as artifacts, and {} of them",
                MOST_BYTES.display().iec()
            ));
            return None;
        }
        let artifact = NewArtifact {
            content: Content::Blob(file.bytes.as_slice().into()),
            name: None,
            mime: file.mime.clone(),
            run: Some(self.run),
            labels: self.labels.clone(),
        };
        match self.artifacts.store.store(self.holder.clone(), artifact).await {
            Ok(stored) => {
                removed(&stored).into_iter().for_each(|remark| self.remarks.tell(remark));
                self.files.0.lock().ids.insert(digest, stored.id);
                Some(stored.id)
            }
            Err(error) => {
                tracing::warn!(run = %self.run, "a file of a result was not kept, and enters the jar: {error}");
                None
            }
        }
    }
}
