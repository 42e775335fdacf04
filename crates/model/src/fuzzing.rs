//! The fuzzed function and its invariants: `fuzz/` feeds it, and the test below replays its corpus.

use serde_json::Value;

use crate::{Annotations, JsonBounds, JsonError, JsonText, ToolDefinition, ToolPath};

/// A text becomes JSON within bounds, or is refused: its tree is never deeper or larger than the
/// bounds say.
pub fn json_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = text.parse::<ToolPath>().map(|path| assert_eq!(path.to_string(), text));
    let parsed = JsonText::parse(text.to_owned(), &JsonBounds::with_bytes(usize::MAX));
    let tree = match (parsed, serde_json::from_str::<Value>(text)) {
        (Ok(parsed), tree) => {
            assert_eq!(parsed.as_str(), text.trim_matches([' ', '\t', '\n', '\r']));
            assert_eq!(parsed.to_value().ok(), tree.as_ref().ok().cloned());
            // JSON that has no tree: `1e999`, and half a surrogate pair.
            let Ok(tree) = tree else { return };
            tree
        }
        (Err(JsonError::Syntax(_)), Ok(tree)) => panic!("refused, though it is {tree}"),
        (Err(_), _) => return,
    };
    let (values, depth) = measure(text);
    let within = |values, depth| JsonText::parse(text.to_owned(), &JsonBounds { bytes: text.len(), depth, values });
    // An empty array or object counts as if it had one value.
    assert!(within(2 * values, depth).is_ok(), "{values} values and depth {depth} are not enough");
    if let Some(less) = depth.checked_sub(1) {
        assert!(matches!(within(usize::MAX, less), Err(JsonError::TooDeep { .. })), "deeper than {less}");
    }
    if values > 1 {
        let fewer = within(values - 1, depth);
        assert!(matches!(fewer, Err(JsonError::TooMany { .. })), "more than {} values", values - 1);
    }
    let short = JsonBounds::with_bytes(text.len().saturating_sub(1));
    assert!(matches!(JsonText::parse(text.to_owned(), &short), Err(JsonError::TooLong { .. })));
    assert_eq!(JsonText::from_value(&tree).to_value().ok().as_ref(), Some(&tree), "written and read again");
    definition(&tree);
}

/// Whatever an entry of a list contains, it is a tool with a name and an object as schema, or not a
/// tool.
fn definition(entry: &Value) {
    let Ok(tool) = ToolDefinition::from_json(entry.clone()) else { return };
    assert!(!tool.name.is_empty() && tool.name.len() <= ToolDefinition::NAME_BYTES);
    let again = serde_json::json!({ "name": tool.name, "inputSchema": tool.input_schema });
    let again = ToolDefinition::from_json(again).expect("it had a name");
    assert_eq!(again.input_schema, tool.input_schema);
    assert_eq!(again.annotations, Annotations::default());
}

/// The number of values in a JSON text, and how deep it nests. Members with equal names all count,
/// though a tree has only the last.
fn measure(text: &str) -> (usize, usize) {
    let (mut values, mut depth, mut deepest, mut begins) = (1, 0_usize, 0, false);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte.is_ascii_whitespace() {
            continue;
        }
        // The first element of an array or object.
        if std::mem::take(&mut begins) && !b"]}".contains(&byte) {
            values += 1;
        }
        match byte {
            b'[' | b'{' => {
                (depth, begins) = (depth + 1, true);
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            b'"' => while bytes.next().is_some_and(|byte| byte != b'"' && (byte != b'\\' || bytes.next().is_some())) {},
            _ => {}
        }
    }
    (values, deepest)
}

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fuzzed_of_json_text_holds_still() {
        replay::replay("json_text", json_text);
    }
}
