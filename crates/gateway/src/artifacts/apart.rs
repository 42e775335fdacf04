//! Files in the results of tools: they stay outside of the jar, and the script gets their handles.

use belljar_ledger::{Content, Holder, NewArtifact};
use belljar_model::{FileBlock, JsonBounds, JsonText, RunId, file_blocks, may_hold_media};
use serde_json::Value;
use tokio::task::spawn_blocking;

use super::{ArtifactStore, answers::removed};
use crate::{
    remarks::Remarks,
    tool_result::{content_of, with_content},
};

/// Bytes that the handles in one result have at most, where they are larger than their files.
const HANDLES_BYTES: usize = 64 * 1024;

/// Keeps the files of one result.
pub(crate) struct Apart<'a> {
    pub(crate) artifacts: &'a ArtifactStore,
    pub(crate) holder: &'a Holder,
    pub(crate) run: RunId,
    /// What the run carries once it has the result.
    pub(crate) labels: Vec<String>,
    pub(crate) remarks: &'a Remarks,
}

impl Apart<'_> {
    /// The result with handles in the places of its large files. A file that cannot be kept stays.
    pub(crate) async fn from(&self, result: JsonText) -> JsonText {
        let inline = self.artifacts.settings.inline.as_u64();
        if result.as_str().len() as u64 <= inline || !may_hold_media(result.as_str()) {
            return result;
        }
        let text = result.clone();
        let read = spawn_blocking(move || {
            let content = content_of(text.as_str())?;
            let files = file_blocks(&content, inline);
            (!files.is_empty()).then_some((content, files))
        });
        // It does not panic; without it the result stays as it is.
        let Ok(Some((mut content, files))) = read.await else { return result };
        for file in files {
            let position = file.position;
            if let (Some(handle), Some(block)) = (self.kept(file).await, content.get_mut(position)) {
                *block = handle;
            }
        }
        let whole = result.clone();
        let made = spawn_blocking(move || {
            let bounds = JsonBounds::with_bytes(whole.as_str().len().saturating_add(HANDLES_BYTES));
            JsonText::parse(with_content(whole.as_str(), &content)?, &bounds).ok()
        });
        made.await.ok().flatten().unwrap_or(result)
    }

    /// The handle of a file that is kept now.
    async fn kept(&self, file: FileBlock) -> Option<Value> {
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
                Some(file.handle(stored.id))
            }
            Err(error) => {
                tracing::warn!(run = %self.run, "a file of a result was not kept, and enters the jar: {error}");
                None
            }
        }
    }
}
