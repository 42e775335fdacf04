//! Resolves a `$ref` inside its own document. Nothing is ever fetched.

use serde_json::{Map, Value};

use crate::bounds::ANCHOR_SEARCH;

/// What a reference points to.
pub(crate) enum Target<'a> {
    /// The document itself.
    Root,
    /// A schema in it, under a key that is the same for every reference to it.
    Schema {
        /// The pointer or anchor.
        key: String,
        /// The schema: an object or a boolean, or else it is taken as empty.
        schema: &'a Value,
        /// The last part of the pointer, or the anchor, as a name for people.
        name: String,
    },
}

/// Follows a reference. `None` if it leaves the document or points to nothing.
pub(crate) fn resolve<'a>(root: &'a Map<String, Value>, reference: &str) -> Option<Target<'a>> {
    let own = identity(root).unwrap_or_default();
    let local = match reference.strip_prefix(own) {
        Some(local) if local.is_empty() || local.starts_with('#') => local,
        _ => reference,
    };
    if local.is_empty() || local == "#" {
        return Some(Target::Root);
    }
    match local.strip_prefix("#/") {
        Some(pointer) => by_pointer(root, pointer),
        None => by_anchor(root, local),
    }
}

fn identity(schema: &Map<String, Value>) -> Option<&str> {
    schema.get("$id").or_else(|| schema.get("id")).and_then(Value::as_str).map(|id| id.trim_end_matches('#'))
}

fn by_pointer<'a>(root: &'a Map<String, Value>, pointer: &str) -> Option<Target<'a>> {
    let mut parts = pointer.split('/').map(unescaped);
    let mut name = parts.next()?;
    let mut schema = root.get(&name)?;
    for part in parts {
        schema = match schema {
            Value::Object(object) => object.get(&part)?,
            Value::Array(array) => array.get(part.parse::<usize>().ok()?)?,
            _ => return None,
        };
        name = part;
    }
    Some(Target::Schema { key: pointer.to_owned(), schema, name })
}

/// Looks for `$anchor`, `$dynamicAnchor`, or an `$id` that is the whole reference: first in the
/// usual places of definitions, then in the whole document, in a fixed order, without recursion and
/// up to a bound.
fn by_anchor<'a>(root: &'a Map<String, Value>, reference: &str) -> Option<Target<'a>> {
    let anchor = reference.strip_prefix('#').unwrap_or(reference);
    let mut waiting: Vec<&Value> = ["$defs", "definitions"].iter().filter_map(|key| root.get(*key)).collect();
    waiting.extend(root.values().take(ANCHOR_SEARCH));
    let mut looked_at = 0;
    while let Some(value) = waiting.pop() {
        looked_at += 1;
        if looked_at > ANCHOR_SEARCH {
            return None;
        }
        match value {
            Value::Object(object) => {
                let room = ANCHOR_SEARCH.saturating_sub(waiting.len());
                let is = |key: &str, text: &str| object.get(key).and_then(Value::as_str) == Some(text);
                if is("$anchor", anchor) || is("$dynamicAnchor", anchor) || is("$id", reference) || is("id", reference)
                {
                    return Some(Target::Schema { key: reference.to_owned(), schema: value, name: anchor.to_owned() });
                }
                waiting.extend(object.values().take(room));
            }
            Value::Array(array) => waiting.extend(array.iter().take(ANCHOR_SEARCH.saturating_sub(waiting.len()))),
            _ => {}
        }
    }
    None
}

/// One part of a JSON pointer in a URL: percent-decoded, then `~1` and `~0`.
fn unescaped(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let digits = (byte == b'%').then(|| (ahead.next().and_then(hex), ahead.next().and_then(hex)));
        if let Some((Some(high), Some(low))) = digits {
            bytes.push(high << 4 | low);
            rest = ahead;
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8_lossy(&bytes).replace("~1", "/").replace("~0", "~")
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(root: &Value, reference: &str) -> Option<String> {
        match resolve(root.as_object().expect("an object"), reference)? {
            Target::Root => Some("root".to_owned()),
            Target::Schema { schema, .. } => Some(schema["title"].as_str().unwrap_or("untitled").to_owned()),
        }
    }

    #[test]
    fn pointers_anchors_and_ids_are_followed_inside_the_document() {
        let root = json!({
            "$id": "https://example.org/s",
            "$defs": {"a/b": {"title": "slash"}, "c~": {"title": "tilde"}, "é ü": {"title": "accents"},
                      "d": {"$anchor": "here", "title": "anchored"}, "e": {"$id": "other", "title": "by id"}},
            "allOf": [{"title": "zeroth"}],
        });
        for (reference, title) in [
            ("#", "root"),
            ("https://example.org/s", "root"),
            ("#/$defs/a~1b", "slash"),
            ("#/$defs/c~0", "tilde"),
            ("#/$defs/%C3%A9%20%c3%bc", "accents"),
            ("#here", "anchored"),
            ("other", "by id"),
            ("#/allOf/0", "zeroth"),
            ("https://example.org/s#/allOf/0", "zeroth"),
        ] {
            assert_eq!(found(&root, reference).as_deref(), Some(title), "{reference}");
        }
        for nowhere in
            ["#/$defs/x", "#/allOf/1", "#/allOf/x", "https://elsewhere.org/", "file:///etc/passwd", "#/%", "#/"]
        {
            assert_eq!(found(&root, nowhere), None, "{nowhere}");
        }
    }
}
