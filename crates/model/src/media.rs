//! Images, sounds and embedded files in a run's value.
//!
//! A tool returns them as content blocks of MCP: objects with base64 data. As text they are useless
//! to a model, and cost thousands of tokens. So they are taken out of the value, which keeps a
//! short text in place of each, and are passed on as blocks.

use std::{borrow::Cow, collections::BTreeMap};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytesize::ByteSize;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ArtifactId, JsonText, display::line};

/// The most blocks of one value; further ones are left out, and a text in their place says so.
/// Clients show every image to the model.
const MAX_BLOCKS: usize = 20;
/// Characters of a type or a name in a placeholder.
const SHOWN_CHARS: usize = 80;
/// The least length of a base64 text that is counted separately from the rest of a value. A shorter
/// one counts as ordinary text.
const COUNTED_APART: usize = 256;

/// A content block of MCP that is not text: an image, a sound, or an embedded resource. It
/// serialises as the block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Media(Value);

impl Media {
    /// The block, as in MCP.
    pub fn into_block(self) -> Value {
        self.0
    }

    /// What it is, as the text in its place says: `image`, `audio` or `resource`.
    pub fn kind(&self) -> &str {
        self.0.get("type").and_then(Value::as_str).unwrap_or("resource")
    }

    /// Its MIME type and its bytes.
    pub fn file(&self) -> Option<(Option<&str>, Vec<u8>)> {
        let holder = self.0.get("resource").unwrap_or(&self.0);
        let mime = holder.get("mimeType").and_then(Value::as_str);
        if let Some(text) = holder.get("text").and_then(Value::as_str) {
            return Some((mime, text.as_bytes().to_vec()));
        }
        let encoded = holder.get("data").or_else(|| holder.get("blob")).and_then(Value::as_str)?;
        Some((mime, STANDARD.decode(encoded).ok()?))
    }

    /// Bytes of text that the block adds for a model.
    pub fn text_bytes(&self) -> usize {
        self.0.pointer("/resource/text").and_then(Value::as_str).map_or(0, str::len)
    }
}

/// Whether a JSON text may contain a block: a cheap search, since most values contain none.
pub fn may_hold_media(text: &str) -> bool {
    text.contains("\"mimeType\"") || text.contains("\"resource\"")
}

/// Takes all blocks out of a value, and leaves a text in place of each:
/// `[image 1: image/png, 9.8 KiB]`.
///
/// It recurses as deeply as the value is nested, which [`JsonBounds`](crate::JsonBounds) bounds.
pub fn take_media(value: &mut Value) -> Vec<Media> {
    let mut found = Vec::new();
    take(value, &mut found);
    found
}

/// Whether a JSON text may contain the handle of a file: a cheap search, like [`may_hold_media`].
pub fn may_hold_handles(text: &str) -> bool {
    text.contains("\"artifact\"")
}

/// The handle that stands in a script for a file that is kept as an artifact:
/// `{"type": "image", "artifact": id, "mimeType": type, "bytes": length}`.
pub fn file_handle(id: ArtifactId, mime: Option<&str>, bytes: u64) -> Value {
    let mut handle = serde_json::json!({ "type": kind_of(mime), "artifact": id, "bytes": bytes });
    if let (Some(mime), Some(members)) = (mime, handle.as_object_mut()) {
        members.insert("mimeType".to_owned(), mime.into());
    }
    handle
}

/// The block of MCP for a file that is kept as an artifact.
pub fn file_block(id: ArtifactId, mime: Option<&str>, bytes: &[u8]) -> Value {
    let data = base64(bytes);
    match kind_of(mime) {
        "resource" => {
            let mut resource = serde_json::json!({ "uri": artifact_uri(id), "blob": data });
            if let (Some(mime), Some(members)) = (mime, resource.as_object_mut()) {
                members.insert("mimeType".to_owned(), mime.into());
            }
            serde_json::json!({ "type": "resource", "resource": resource })
        }
        kind => serde_json::json!({ "type": kind, "data": data, "mimeType": mime }),
    }
}

/// Bytes as base64, as in MCP.
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The address of an artifact as a resource of MCP.
pub fn artifact_uri(id: ArtifactId) -> String {
    format!("belljar://artifacts/{id}")
}

fn kind_of(mime: Option<&str>) -> &'static str {
    match mime {
        Some(mime) if mime.starts_with("image/") => "image",
        Some(mime) if mime.starts_with("audio/") => "audio",
        _ => "resource",
    }
}

/// The most files of one result that are kept as artifacts.
pub const MAX_FILES: usize = MAX_BLOCKS;

/// A file in the content of a tool's result.
#[derive(Debug, Clone, PartialEq)]
pub struct FileBlock {
    /// What the block says that it is: `image`, `audio` or `resource`.
    pub kind: &'static str,
    /// Its MIME type, if the block has one.
    pub mime: Option<String>,
    /// The address of a resource.
    pub uri: Option<String>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl FileBlock {
    /// The file in a block (as JSON) that has more than this many bytes of base64. No tree is built
    /// from the block, since a server may write anything beside the file.
    pub fn of(block: &str, above: u64) -> Option<Self> {
        let Written { kind, data, mime_type: mime, resource } = serde_json::from_str(block).ok()?;
        let is_of = |kind: &str, mime: &str| mime.strip_prefix(kind).is_some_and(|rest| rest.starts_with('/'));
        let (kind, mime, uri, encoded) = match (kind.as_ref(), mime, data, resource) {
            ("image", Some(mime), Some(data), _) if is_of("image", &mime) => ("image", Some(mime), None, data),
            ("audio", Some(mime), Some(data), _) if is_of("audio", &mime) => ("audio", Some(mime), None, data),
            ("resource", _, _, Some(WrittenResource { uri, mime_type, blob: Some(blob) })) => {
                ("resource", mime_type, Some(uri), blob)
            }
            _ => return None,
        };
        if encoded.len() as u64 <= above {
            return None;
        }
        let bytes = STANDARD.decode(encoded.as_bytes()).ok()?;
        Some(Self { kind, mime: mime.map(Cow::into_owned), uri: uri.map(Cow::into_owned), bytes })
    }

    /// The handle in its place, once it is kept as this artifact.
    pub fn handle(&self, id: ArtifactId) -> Value {
        let mut handle = file_handle(id, self.mime.as_deref(), self.bytes.len() as u64);
        if let Some(members) = handle.as_object_mut() {
            members.insert("type".to_owned(), self.kind.into());
            if let Some(uri) = &self.uri {
                members.insert("uri".to_owned(), uri.as_str().into());
            }
        }
        handle
    }
}

/// The parts of a content block that matter for a file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    data: Option<Cow<'a, str>>,
    #[serde(borrow)]
    mime_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    resource: Option<WrittenResource<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenResource<'a> {
    #[serde(borrow)]
    uri: Cow<'a, str>,
    #[serde(borrow)]
    mime_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    blob: Option<Cow<'a, str>>,
}

/// The files whose handles are in a value: each once, in the order of the handles.
///
/// It recurses as deeply as the value is nested.
pub fn handles(value: &Value) -> Vec<ArtifactId> {
    fn find(value: &Value, found: &mut Vec<ArtifactId>) {
        match value {
            Value::Object(members) => match handle_of(members) {
                Some(id) if !found.contains(&id) && found.len() < MAX_BLOCKS => found.push(id),
                Some(_) => {}
                None => members.values().for_each(|member| find(member, found)),
            },
            Value::Array(elements) => elements.iter().for_each(|element| find(element, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    find(value, &mut found);
    found
}

/// Puts each of these blocks in the place of its first handle: a resource, if the handle is one.
/// Other handles stay, including further ones of the same file: a value could have thousands of
/// them.
///
/// It recurses as deeply as the value is nested.
pub fn put_back(value: &mut Value, blocks: &mut BTreeMap<ArtifactId, Value>) {
    match value {
        Value::Object(members) => match handle_of(members).and_then(|id| blocks.remove(&id)) {
            Some(block) => *value = as_handled(block, members),
            None => members.values_mut().for_each(|member| put_back(member, blocks)),
        },
        Value::Array(elements) => elements.iter_mut().for_each(|element| put_back(element, blocks)),
        _ => {}
    }
}

/// The block as the resource that its handle says it was, with its address.
fn as_handled(block: Value, handle: &Map<String, Value>) -> Value {
    let uri = handle.get("uri").and_then(Value::as_str);
    let (Some("resource"), Some(uri)) = (handle.get("type").and_then(Value::as_str), uri) else { return block };
    let holder = block.get("resource").unwrap_or(&block);
    let Some(data) = holder.get("data").or_else(|| holder.get("blob")) else { return block };
    let mut resource = serde_json::json!({ "uri": uri, "blob": data });
    if let (Some(mime), Some(members)) =
        (holder.get("mimeType").filter(|mime| mime.is_string()), resource.as_object_mut())
    {
        members.insert("mimeType".to_owned(), mime.clone());
    }
    serde_json::json!({ "type": "resource", "resource": resource })
}

fn handle_of(members: &Map<String, Value>) -> Option<ArtifactId> {
    let kind = members.get("type")?.as_str()?;
    let id = members.get("artifact")?.as_str()?;
    ["image", "audio", "resource"].contains(&kind).then(|| id.parse().ok()).flatten()
}

fn take(value: &mut Value, found: &mut Vec<Media>) {
    match value {
        Value::Object(members) => match Block::of(members) {
            Some(block) => {
                let number = found.len() + 1;
                let Block { kind, description, block } = block;
                *value = Value::String(if found.len() < MAX_BLOCKS {
                    found.push(Media(block));
                    format!("[{kind} {number}: {description}]")
                } else {
                    format!("[{kind} left out: {description}; an answer has at most {MAX_BLOCKS}]")
                });
            }
            None => members.values_mut().for_each(|member| take(member, found)),
        },
        Value::Array(elements) => elements.iter_mut().for_each(|element| take(element, found)),
        _ => {}
    }
}

/// Whether a value has more than this many bytes of text for a model, not counting the base64 of
/// its blocks.
///
/// A tree is built only if the rest of the value is within `max`, so it has no more nodes than that
/// of a value without blocks.
pub fn text_exceeds(json: &JsonText, max: u64) -> bool {
    let text = json.as_str();
    if text.len() as u64 <= max {
        return false;
    }
    if !may_hold_media(text) || bytes_beside_media(text) as u64 > max {
        return true;
    }
    let Ok(mut value) = json.to_value() else { return true };
    let texts: usize = take_media(&mut value).iter().map(Media::text_bytes).sum();
    JsonText::from_value(&value).as_str().len().saturating_add(texts) as u64 > max
}

/// The bytes of a JSON text without its long base64 strings.
fn bytes_beside_media(text: &str) -> usize {
    let mut rest = text.as_bytes();
    let mut media = 0;
    while let Some(begin) = rest.iter().position(|byte| *byte == b'"') {
        rest = rest.get(begin + 1..).unwrap_or_default();
        let encoded = rest.iter().take_while(|byte| is_base64(**byte)).count();
        let padding = rest.iter().skip(encoded).take(2).take_while(|byte| **byte == b'=').count();
        let length = encoded + padding;
        if length >= COUNTED_APART && length.is_multiple_of(4) && rest.get(length) == Some(&b'"') {
            media += length;
        }
        rest = after_string(rest.get(encoded..).unwrap_or_default());
    }
    text.len().saturating_sub(media)
}

/// The text after the end of the string in which `rest` begins.
fn after_string(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
        let is_end = rest.get(at) == Some(&b'"');
        rest = rest.get(at + if is_end { 1 } else { 2 }..).unwrap_or_default();
        if is_end {
            return rest;
        }
    }
    &[]
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

/// A block that was recognised.
struct Block {
    kind: &'static str,
    description: String,
    block: Value,
}

impl Block {
    fn of(members: &Map<String, Value>) -> Option<Self> {
        match members.get("type")?.as_str()? {
            kind @ ("image" | "audio") => {
                let kind = if kind == "image" { "image" } else { "audio" };
                let mime = members.get("mimeType")?.as_str()?;
                let is_of_kind = mime.strip_prefix(kind).is_some_and(|rest| rest.starts_with('/'));
                let data = members.get("data")?.as_str().filter(|_| is_of_kind)?;
                let description = format!("{}, {}", shown(mime), size(decoded_bytes(data)?));
                let block = serde_json::json!({ "type": kind, "data": data, "mimeType": mime });
                Some(Self { kind, description, block })
            }
            "resource" => {
                let resource = members.get("resource")?.as_object()?;
                let uri = resource.get("uri")?.as_str()?;
                let mime = resource.get("mimeType").and_then(Value::as_str);
                let mut kept = Map::new();
                kept.insert("uri".to_owned(), Value::from(uri));
                if let Some(mime) = mime {
                    kept.insert("mimeType".to_owned(), Value::from(mime));
                }
                let bytes = match (resource.get("blob"), resource.get("text")) {
                    (Some(Value::String(blob)), _) => {
                        kept.insert("blob".to_owned(), Value::from(blob.as_str()));
                        decoded_bytes(blob)?
                    }
                    (_, Some(Value::String(text))) => {
                        kept.insert("text".to_owned(), Value::from(text.as_str()));
                        text.len()
                    }
                    _ => return None,
                };
                let mime = mime.map(|mime| format!(", {}", shown(mime))).unwrap_or_default();
                let description = format!("{}{mime}, {}", shown(uri), size(bytes));
                let block = serde_json::json!({ "type": "resource", "resource": kept });
                Some(Self { kind: "resource", description, block })
            }
            _ => None,
        }
    }
}

/// The decoded length of a base64 text. Invalid base64 might break a client.
fn decoded_bytes(text: &str) -> Option<usize> {
    STANDARD.decode(text).ok().map(|bytes| bytes.len())
}

fn shown(text: &str) -> String {
    let mut characters = text.chars();
    let beginning: String = characters.by_ref().take(SHOWN_CHARS).collect();
    let cut = if characters.next().is_some() { "…" } else { "" };
    format!("{}{cut}", line(&beginning))
}

fn size(bytes: usize) -> String {
    ByteSize::b(bytes as u64).display().iec().to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn image() -> Value {
        json!({ "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png", "annotations": { "priority": 1 } })
    }

    fn taken(mut value: Value) -> (Value, Vec<Value>) {
        let media = take_media(&mut value);
        (value, media.into_iter().map(Media::into_block).collect())
    }

    #[test]
    fn a_block_is_taken_out_wherever_it_stands_and_its_place_says_what_it_was() {
        let bare = json!({ "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" });
        assert_eq!(taken(image()), (json!("[image 1: image/png, 8 B]"), vec![bare.clone()]));
        let sound = json!({ "type": "audio", "data": "AAAA", "mimeType": "audio/wav" });
        let file = json!({ "type": "resource", "resource": { "uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": "AAAA" } });
        let text = json!({ "type": "resource", "resource": { "uri": "note:\n1", "text": "hello" } });
        let (rest, media) = taken(json!({
            "shots": [image(), { "type": "text", "text": "a page" }], "deep": { "er": [sound] }, "files": [file, text],
        }));
        assert_eq!(
            rest,
            json!({
                "shots": ["[image 1: image/png, 8 B]", { "type": "text", "text": "a page" }],
                "deep": { "er": ["[audio 2: audio/wav, 3 B]"] },
                "files": ["[resource 3: file:///a.pdf, application/pdf, 3 B]", "[resource 4: note:\\n1, 5 B]"],
            })
        );
        assert_eq!(media, [bare, sound, file, text]);
    }

    #[test]
    fn a_file_comes_once_however_often_its_handle_is_there() {
        let id = ArtifactId::from_bits(1);
        let handle = file_handle(id, Some("image/png"), 3);
        let mut value = Value::Array(vec![handle.clone(); 1_000]);
        assert_eq!(handles(&value), [id]);
        let block = file_block(id, Some("image/png"), b"png");
        put_back(&mut value, &mut [(id, block.clone())].into());
        assert_eq!(value[0], block);
        assert_eq!(value.as_array().map(|all| all.iter().filter(|each| **each == handle).count()), Some(999));
    }

    #[test]
    fn a_large_file_of_a_result_is_what_its_block_is_and_nothing_beside_it() {
        let (id, data) = (ArtifactId::from_bits(1), "AAAA".repeat(10));
        let of = |block: Value| FileBlock::of(&block.to_string(), 39).map(|file| file.handle(id));
        let large = json!({ "type": "image", "data": data, "mimeType": "image/png", "resource": null });
        assert_eq!(of(large), Some(file_handle(id, Some("image/png"), 30)));
        let file = json!({ "type": "resource", "resource": { "uri": "file:///a.png", "mimeType": "image/png", "blob": data } });
        let handle =
            json!({ "type": "resource", "artifact": id, "bytes": 30, "mimeType": "image/png", "uri": "file:///a.png" });
        assert_eq!(of(file.clone()), Some(handle.clone()));
        // It comes back as what it was.
        let mut value = json!([handle]);
        put_back(&mut value, &mut [(id, file_block(id, Some("image/png"), &[0; 30]))].into());
        assert_eq!(value, json!([file]));
        for other in [
            image(),
            json!({ "type": "text", "text": data }),
            json!({ "type": "resource", "resource": { "uri": "note:1", "text": data, "data": data } }),
            json!({ "type": "image", "data": "AAAA", "mimeType": "image/png", "resource": { "uri": "a:b", "blob": data } }),
            json!({ "type": "image", "data": data, "mimeType": "text/html" }),
            json!({ "type": "image", "data": "?".repeat(40), "mimeType": "image/png" }),
            json!({ "type": "image", "data": [data], "mimeType": "image/png" }),
            json!(data),
        ] {
            assert_eq!(of(other.clone()), None, "{other}");
        }
        assert_eq!(FileBlock::of(&image().to_string(), 12), None, "as large as may stay");
    }

    #[test]
    fn what_only_looks_like_a_block_stays() {
        for value in [
            json!({ "type": "image", "url": "https://example.com/a.png" }),
            json!({ "type": "image", "data": "not base64!", "mimeType": "image/png" }),
            json!({ "type": "image", "data": "AAAA", "mimeType": "text/html" }),
            json!({ "type": "image", "data": ["AAAA"], "mimeType": "image/png" }),
            json!({ "type": "resource", "resource": { "uri": "a:b" } }),
            json!({ "type": "resource_link", "uri": "a:b", "name": "x" }),
            json!({ "data": "AAAA", "mimeType": "image/png" }),
        ] {
            assert_eq!(taken(value.clone()), (value, vec![]));
        }
    }

    #[test]
    fn a_handle_becomes_the_block_of_its_file_and_only_a_handle_does() {
        let (shown, other) = (ArtifactId::from_bits(1), ArtifactId::from_bits(2));
        let mut value = json!({
            "shot": file_handle(shown, Some("image/png"), 8),
            "again": [file_handle(shown, Some("image/png"), 8)],
            "gone": file_handle(other, None, 3),
            "text": { "type": "text", "artifact": shown },
            "none": { "type": "image", "artifact": "a_?" },
        });
        assert_eq!(handles(&value), [shown, other]);
        let block = file_block(shown, Some("image/png"), b"\x89PNG\r\n\x1a\n");
        put_back(&mut value, &mut [(shown, block.clone())].into());
        let blocks = [&value["shot"], &value["again"][0]].into_iter().filter(|found| **found == block);
        assert_eq!(blocks.count(), 1, "the file comes once: {value:#}");
        assert_eq!(value["gone"], json!({ "type": "resource", "artifact": other, "bytes": 3 }));
        let (rest, media) = taken(json!([block, file_block(other, Some("application/pdf"), b"%PDF")]));
        assert_eq!(rest[0], "[image 1: image/png, 8 B]");
        assert_eq!(rest[1], format!("[resource 2: belljar://artifacts/{other}, application/pdf, 4 B]"));
        let files: Vec<_> = media.into_iter().map(Media).collect();
        assert_eq!(files[0].file(), Some((Some("image/png"), b"\x89PNG\r\n\x1a\n".to_vec())));
        assert_eq!((files[1].kind(), files[1].file()), ("resource", Some((Some("application/pdf"), b"%PDF".to_vec()))));
    }

    #[test]
    fn only_so_many_blocks_are_handed_on_and_the_rest_says_so() {
        let (rest, media) = taken(json!(vec![image(); MAX_BLOCKS + 2]));
        assert_eq!(media.len(), MAX_BLOCKS);
        assert_eq!(rest[MAX_BLOCKS + 1], json!("[image left out: image/png, 8 B; an answer has at most 20]"));
    }

    #[test]
    fn only_the_base64_of_blocks_is_no_text() {
        let data = "Ab0+".repeat(COUNTED_APART);
        let exceeds = |value: &Value, max| text_exceeds(&JsonText::from_value(value), max);
        let image = json!({ "type": "image", "data": data, "mimeType": "image/png" });
        assert!(!exceeds(&image, 100));
        assert!(exceeds(&image, 10), "its place takes some room too");
        for text in [
            json!(data),
            json!({ "data": data }),
            json!([image, data]),
            json!({ "mimeType": "image/png", "data": data }),
        ] {
            assert!(exceeds(&text, 100), "{text}");
        }
        let note = json!({ "type": "resource", "resource": { "uri": "a:b", "text": data } });
        assert!(exceeds(&note, 100), "a text is a text");
    }

    #[test]
    fn long_base64_counts_apart_from_the_text_around_it_and_nothing_else_does() {
        let encoded = "Ab0+".repeat(COUNTED_APART / 4);
        let value = json!({ "data": encoded, "a \"quoted\" text": "\\", "short": "Ab0+" });
        let text = value.to_string();
        assert_eq!(bytes_beside_media(&text), text.len() - COUNTED_APART);
        for other in
            [json!(format!("{encoded} ")), json!(format!("{encoded}A")), json!(format!("\"{encoded}")), json!([1, 2])]
        {
            assert_eq!(bytes_beside_media(&other.to_string()), other.to_string().len(), "{other}");
        }
        // A text is read exactly to its end, however it ends.
        for cut in ["\"", "\"\\", "\"abc", "\"AAAA="] {
            assert_eq!(bytes_beside_media(cut), cut.len());
        }
    }
}
