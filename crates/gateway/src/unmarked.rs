//! Finds errors that a child returns as ordinary texts, without `isError`.
//!
//! Nothing is thrown in that case, and a script that expects data mistakes the text for it.
//! Recognising such a text is a guess, so this only makes a remark for the author, and never
//! changes the result.

use belljar_model::{JsonText, ToolPath};
use serde_json::Value;

use crate::tool_result;

/// The largest result that is examined, in bytes. An error is short; this also bounds the work.
const LOOKED_AT: usize = 4 * 1024;
/// Each such error contains one of these.
const SIGNS: [&str; 6] = ["rror", "RROR", "xception", "XCEPTION", "ailed", "AILED"];
/// Words before the first colon, as in "Database error: no such column".
const HEAD_WORDS: usize = 6;
/// Characters of the text that the remark repeats.
const SHOWN: usize = 120;

/// The remark for the author of a script about this result, if it looks like an unmarked error.
pub(crate) fn remark(path: &ToolPath, result: &JsonText) -> Option<String> {
    let raw = result.as_str();
    // Only candidates are parsed, since this is on the path of each call.
    if raw.len() > LOOKED_AT || !SIGNS.iter().any(|sign| raw.contains(sign)) {
        return None;
    }
    let result = result.to_value().ok()?;
    let is_marked = result.get("isError").is_some_and(|marked| *marked == Value::Bool(true));
    if is_marked || result.get("structuredContent").is_some_and(|structured| !structured.is_null()) {
        return None;
    }
    let text = tool_result::text(&result)?;
    let line = text.trim_start().lines().next().filter(|line| reads_like_an_error(line))?;
    let shown: String = line.chars().take(SHOWN).collect();
    Some(format!(
        "{path} gave a text that reads like an error, and its server has not marked it as one, so nothing was thrown: {shown:?}"
    ))
}

/// "Error: …", "Database error: …", "Failed to …".
fn reads_like_an_error(line: &str) -> bool {
    let is_word = |word: &str, wanted: &str| word.eq_ignore_ascii_case(wanted);
    let mut first = line.split_whitespace();
    if first.next().is_some_and(|word| is_word(word, "failed")) && first.next().is_some_and(|word| is_word(word, "to"))
    {
        return true;
    }
    let Some((head, rest)) = line.split_once(':') else { return false };
    let mut words = head.split_whitespace();
    // A line of a log, a link or a setting has text directly after the colon, and often much text
    // before it.
    (rest.is_empty() || rest.starts_with(' '))
        && words.by_ref().take(HEAD_WORDS).any(|word| ["error", "exception"].iter().any(|wanted| is_word(word, wanted)))
        && words.count() <= HEAD_WORDS
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn remark_on(result: Value) -> Option<String> {
        remark(&ToolPath::new("db", "query"), &JsonText::from_value(&result))
    }

    fn text(text: &str) -> Value {
        json!({ "content": [{ "type": "text", "text": text }] })
    }

    #[test]
    fn a_text_that_reads_like_an_error_is_remarked_on() {
        for error in [
            "Database error: no such column: town",
            "Error: no",
            "  error:\nat 3",
            "Failed to open x",
            "Error in line 3: x",
            "ERROR: no",
            "Unhandled exception: x",
            "EXCEPTION: x",
            "FAILED to open x",
        ] {
            assert!(remark_on(text(error)).is_some(), "{error}");
        }
        let remark = remark_on(text("Error: a\u{1b}[2J\u{202e}b\nsecond")).unwrap();
        assert!(remark.ends_with(r#"nothing was thrown: "Error: a\u{1b}[2J\u{202e}b""#), "{remark}");
        assert!(remark_on(text(&format!("Error: {}", "x".repeat(3_000)))).unwrap().len() < 300);
    }

    #[test]
    fn nothing_else_is() {
        for fine in [
            "",
            "no error",
            "[]",
            "errors: 0",
            "The build passed: error was not seen",
            "Errors found: 3",
            "error:x",
            "2026-11-10T00:00:33Z ERROR db took=540ms",
            "Commit: 1a31a55",
        ] {
            assert_eq!(remark_on(text(fine)), None, "{fine}");
        }
        let mut marked = text("Error: no");
        marked["isError"] = json!(true);
        assert_eq!(remark_on(marked), None);
        let mut declared = text("Error: no");
        declared["structuredContent"] = json!({ "content": "Error: no" });
        assert_eq!(remark_on(declared), None);
        assert_eq!(remark_on(json!({ "content": [{ "type": "image", "data": "x" }] })), None);
        assert_eq!(remark_on(text(&format!("Error: {}", "x".repeat(5_000)))), None);
    }
}
