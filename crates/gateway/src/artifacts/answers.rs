//! Answers to the questions of scripts.

use std::collections::BTreeSet;

use belljar_ledger::{
    ArtifactEntry, ArtifactError, Found, Holder, MAX_HITS, MAX_LISTED, MAX_READ, NewArtifact, Search, Stored,
};
use belljar_model::{ArtifactKind, ArtifactRef, ByteSize, JsonBounds, JsonText, base64, file_handle};
use belljar_sandbox::{MAX_ARTIFACT_BYTES, NotAnswered};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::{ArtifactStore, asked::Asked};
use crate::{Toolbox, labels::Carrier, remarks::Remarks};

/// Longer contents are read on a thread of their own.
const AT_ONCE_BYTES: usize = 256 * 1024;

/// Answers the questions of one run.
pub(crate) struct Answering<'a> {
    pub(crate) artifacts: &'a ArtifactStore,
    pub(crate) toolbox: &'a Toolbox,
    pub(crate) holder: &'a Holder,
    pub(crate) carrier: Carrier<'a>,
    pub(crate) remarks: &'a Remarks,
}

impl Answering<'_> {
    /// The answer to a question, which may be any text.
    pub(crate) async fn answer(&self, question: String) -> Result<JsonText, NotAnswered> {
        let max = self.artifacts.settings.max_artifact.as_u64();
        match Asked::read(question, max).await? {
            Asked::Get(which) => self.get(which).await,
            Asked::Text { which, from, to } => self.text(which, from, to).await,
            Asked::Search { words, within, limit } => self.search(words, within, limit).await,
            Asked::List => self.list().await,
            Asked::Save { name, content } => {
                let labels = self.toolbox.carried(self.carrier.who);
                let artifact =
                    NewArtifact { content, name: Some(name.clone()), mime: None, run: Some(self.carrier.run), labels };
                let stored = self.artifacts.store.store(self.holder.clone(), artifact).await.map_err(refused)?;
                if let Some(remark) = removed(&stored) {
                    self.remarks.tell(remark);
                }
                Ok(JsonText::from_value(&json!({ "id": stored.id, "name": name, "bytes": stored.bytes })))
            }
        }
    }

    async fn get(&self, which: ArtifactRef) -> Result<JsonText, NotAnswered> {
        let entry = self.entry(which.clone()).await?;
        if entry.kind == ArtifactKind::Blob {
            return Ok(JsonText::from_value(&file_handle(entry.id, entry.mime.as_deref(), entry.bytes)));
        }
        if entry.bytes > MAX_ARTIFACT_BYTES as u64 {
            return Err(too_large(entry.bytes));
        }
        let content = self.artifacts.store.whole(self.holder.clone(), entry.id).await.map_err(refused)?;
        let content = content.ok_or_else(|| not_there(&which))?;
        if content.len() <= AT_ONCE_BYTES {
            return as_json(entry.kind, content);
        }
        let read = spawn_blocking(move || as_json(entry.kind, content)).await;
        read.unwrap_or_else(|_| Err(NotAnswered::new("the artifact could not be read", "read a part of it")))
    }

    async fn text(&self, which: ArtifactRef, from: u64, to: u64) -> Result<JsonText, NotAnswered> {
        let entry = self.entry(which.clone()).await?;
        if entry.kind == ArtifactKind::Blob {
            return self.encoded(&which, &entry, from, to).await;
        }
        let mut slice = Slice::new(from, to);
        let mut at = 0;
        while at < entry.bytes && !slice.is_whole() {
            let end = at.saturating_add(MAX_READ).min(entry.bytes);
            let piece = self.artifacts.store.read(self.holder.clone(), entry.id, at..end).await.map_err(refused)?;
            let piece = piece.filter(|piece| !piece.is_empty()).ok_or_else(|| not_there(&which))?;
            at += piece.len() as u64;
            slice.take(&piece);
            if slice.text.len() > MAX_ARTIFACT_BYTES {
                return Err(too_large(slice.text.len() as u64));
            }
        }
        text_as_json(slice.text)
    }

    /// A part of a file as base64, counted in base64 characters.
    async fn encoded(
        &self,
        which: &ArtifactRef,
        entry: &ArtifactEntry,
        from: u64,
        to: u64,
    ) -> Result<JsonText, NotAnswered> {
        let (to, from) = (to.min(entry.bytes.div_ceil(3).saturating_mul(4)), from / 4 * 4..from);
        if from.end >= to {
            return text_as_json(String::new());
        }
        if to - from.start > MAX_ARTIFACT_BYTES as u64 {
            return Err(too_large(to - from.start));
        }
        let (mut at, end) = (from.start / 4 * 3, (to.div_ceil(4) * 3).min(entry.bytes));
        let mut bytes = Vec::new();
        while at < end {
            let to = at.saturating_add(MAX_READ).min(end);
            let piece = self.artifacts.store.read(self.holder.clone(), entry.id, at..to).await.map_err(refused)?;
            let piece = piece.filter(|piece| !piece.is_empty()).ok_or_else(|| not_there(which))?;
            at += piece.len() as u64;
            bytes.extend_from_slice(&piece);
        }
        let place = |at: u64| usize::try_from(at.saturating_sub(from.start)).unwrap_or(usize::MAX);
        let (first, end) = (place(from.end), place(to));
        let written = move || {
            let mut text = base64(&bytes);
            text.truncate(end);
            text.drain(..first.min(text.len()));
            text_as_json(text)
        };
        match end <= AT_ONCE_BYTES {
            true => written(),
            false => spawn_blocking(written).await.unwrap_or_else(|_| Err(not_there(which))),
        }
    }

    async fn search(&self, words: String, within: Option<ArtifactRef>, limit: u32) -> Result<JsonText, NotAnswered> {
        // Even an empty result reveals something about what was searched.
        let within = match within {
            Some(which) => vec![ArtifactRef::Id(self.entry(which).await?.id)],
            None => {
                self.receive(self.artifacts.store.labels(self.holder.clone()).await.map_err(refused)?).await?;
                Vec::new()
            }
        };
        let search = Search { words, within, limit: limit.clamp(1, MAX_HITS) };
        let found = self.artifacts.store.search(self.holder.clone(), search).await.map_err(refused)?;
        let Found { mut hits, pending } = found;
        let (mut known, mut labels) = (BTreeSet::new(), BTreeSet::new());
        for id in hits.iter().map(|hit| hit.artifact).collect::<BTreeSet<_>>() {
            let entry = self.artifacts.store.entry(self.holder.clone(), ArtifactRef::Id(id)).await.map_err(refused)?;
            if let Some(entry) = entry {
                labels.extend(entry.labels);
                known.insert(id);
            }
        }
        self.receive(labels).await?;
        // The labels of an artifact that was removed meanwhile are no longer known.
        hits.retain(|hit| known.contains(&hit.artifact));
        if pending > 0 {
            self.remarks.tell(format!(
                "artifacts.search did not find what is in {pending} artifacts that are still being indexed"
            ));
        }
        Ok(JsonText::from_serializable(&hits))
    }

    async fn list(&self) -> Result<JsonText, NotAnswered> {
        let entries = self.artifacts.store.list(self.holder.clone(), None, MAX_LISTED).await.map_err(refused)?;
        // A name may reveal something of the content.
        self.receive(entries.iter().flat_map(|entry| entry.labels.iter().cloned()).collect()).await?;
        Ok(JsonText::from_value(&entries.iter().map(listed).collect()))
    }

    /// The entry of an artifact. From now on the run carries the artifact's labels.
    async fn entry(&self, which: ArtifactRef) -> Result<ArtifactEntry, NotAnswered> {
        let entry = self.artifacts.store.entry(self.holder.clone(), which.clone()).await.map_err(refused)?;
        let entry = entry.ok_or_else(|| not_there(&which))?;
        self.receive(entry.labels.iter().cloned().collect()).await?;
        Ok(entry)
    }

    /// Lets the run carry these labels, before it gets what they belong to.
    async fn receive(&self, labels: BTreeSet<String>) -> Result<(), NotAnswered> {
        let labels: Vec<String> = labels.into_iter().collect();
        let received = self.toolbox.receive(self.carrier, &labels).await;
        received.map_err(|withheld| {
            NotAnswered::new(format!("the artifact is withheld: {withheld}"), "belljar's owner can see why in its log")
        })
    }
}

/// What a script sees of an artifact without its content.
fn listed(entry: &ArtifactEntry) -> Value {
    let ArtifactEntry { id, name, kind, mime, bytes, run, at, used, unsearched_bytes, .. } = entry;
    let mut listed = json!({ "id": id, "kind": kind, "bytes": bytes });
    let time = |time| jiff::Timestamp::try_from(time).map(|time| time.to_string()).unwrap_or_default();
    if let Some(members) = listed.as_object_mut() {
        let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
        name.iter().for_each(|name| drop(put("name", json!(name))));
        mime.iter().for_each(|mime| drop(put("mimeType", json!(mime))));
        run.iter().for_each(|run| drop(put("run", json!(run))));
        put("at", json!(time(*at)));
        put("used", json!(time(*used)));
        if *unsearched_bytes > 0 {
            put("unsearched_bytes", json!(unsearched_bytes));
        }
    }
    listed
}

/// A content as JSON. The file that it comes from may be damaged.
fn as_json(kind: ArtifactKind, content: Vec<u8>) -> Result<JsonText, NotAnswered> {
    let damaged = || NotAnswered::new("the artifact is damaged", "save it again");
    let text = String::from_utf8(content).map_err(|_| damaged())?;
    if kind == ArtifactKind::Text {
        return text_as_json(text);
    }
    JsonText::parse(text, &JsonBounds::with_bytes(MAX_ARTIFACT_BYTES)).map_err(|_| damaged())
}

fn text_as_json(text: String) -> Result<JsonText, NotAnswered> {
    let json = JsonText::from_value(&Value::String(text));
    let used = json.as_str().len();
    if used > MAX_ARTIFACT_BYTES { Err(too_large(used as u64)) } else { Ok(json) }
}

fn too_large(used: u64) -> NotAnswered {
    let text = format!("this has {used} bytes as JSON, and a script can get {MAX_ARTIFACT_BYTES} at once");
    NotAnswered::argument(text, "read it in parts: artifacts.text(id, { from, to })")
}

/// The message about artifacts that were removed to make room for another.
pub(super) fn removed(stored: &Stored) -> Option<String> {
    let Stored { evicted, evicted_bytes, .. } = stored;
    let size = ByteSize::b(*evicted_bytes).display().iec().to_string();
    (*evicted > 0).then(|| {
        format!(
            "the artifacts had reached the limit of their size ([artifacts] max_bytes), and {evicted} of {size} that were not used for the longest time were removed"
        )
    })
}

fn not_there(which: &ArtifactRef) -> NotAnswered {
    refused(ArtifactError::NotThere(which.clone()))
}

fn refused(error: ArtifactError) -> NotAnswered {
    let is_argument =
        !matches!(error, ArtifactError::Ledger(_) | ArtifactError::NoRoom { .. } | ArtifactError::TooBroad { .. });
    NotAnswered { is_argument, ..NotAnswered::new(error.to_string(), error.hint()) }
}

/// Extracts a part of a text that arrives in chunks of bytes, counted in UTF-16 code units.
struct Slice {
    from: u64,
    to: u64,
    /// Code units of the text so far.
    at: u64,
    /// Bytes of an incomplete character.
    begun: Vec<u8>,
    text: String,
}

impl Slice {
    fn new(from: u64, to: u64) -> Self {
        Self { from, to, at: 0, begun: Vec::new(), text: String::new() }
    }

    fn is_whole(&self) -> bool {
        self.at >= self.to
    }

    fn take(&mut self, piece: &[u8]) {
        let mut bytes = std::mem::take(&mut self.begun);
        bytes.extend_from_slice(piece);
        // The file may be damaged, and then the text has replacement characters.
        for chunk in bytes.utf8_chunks() {
            self.add(chunk.valid());
            let invalid = chunk.invalid();
            let is_last = invalid.len() < 4 && bytes.ends_with(invalid) && !invalid.is_empty();
            if is_last && chunk_is_at_end(&bytes, invalid) {
                self.begun = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.add("\u{fffd}");
            }
        }
    }

    fn add(&mut self, text: &str) {
        for character in text.chars() {
            if self.is_whole() {
                return;
            }
            let end = self.at + character.len_utf16() as u64;
            if self.at >= self.from && end <= self.to {
                self.text.push(character);
            }
            self.at = end;
        }
    }
}

/// Whether these bytes are the last ones, so that more bytes may complete the character.
fn chunk_is_at_end(all: &[u8], last: &[u8]) -> bool {
    all.as_ptr_range().end == last.as_ptr_range().end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_text_is_what_javascript_slices_whatever_the_pieces_are() {
        let text = "aü\u{6771}\u{1f600}z";
        for (from, to, expected) in [
            (0, u64::MAX, text),
            (0, 0, ""),
            (1, 3, "ü\u{6771}"),
            (3, 5, "\u{1f600}"),
            // Both cut a character in two.
            (0, 4, "aü\u{6771}"),
            (4, 6, "z"),
            (5, 9, "z"),
            (9, 12, ""),
            (4, 2, ""),
        ] {
            for size in 1..=text.len() {
                let mut slice = Slice::new(from, to);
                for piece in text.as_bytes().chunks(size) {
                    slice.take(piece);
                }
                assert_eq!(slice.text, expected, "{from}..{to} in pieces of {size}");
            }
        }
    }

    #[test]
    fn a_damaged_text_is_still_a_text() {
        let mut slice = Slice::new(0, u64::MAX);
        for piece in [&b"a\xff"[..], b"b\xe6\x9d", b"c"] {
            slice.take(piece);
        }
        assert_eq!(slice.text, "a\u{fffd}b\u{fffd}c");
        assert!(as_json(ArtifactKind::Value, b"{".to_vec()).is_err());
        assert!(as_json(ArtifactKind::Text, vec![0xff]).is_err());
    }
}
