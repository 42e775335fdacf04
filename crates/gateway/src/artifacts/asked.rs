//! Parses the question of a script, which may be any text.

use belljar_ledger::Content;
use belljar_model::{ArtifactName, ArtifactNameError, ArtifactRef, JsonBounds, JsonText};
use belljar_sandbox::NotAnswered;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::task::spawn_blocking;

/// Longer questions are read on their own thread.
const AT_ONCE_BYTES: usize = 256 * 1024;

/// The most bytes of a question besides its value.
const AROUND_BYTES: u64 = 64 * 1024;

/// What a script asks.
#[derive(Debug)]
pub(super) enum Asked {
    Get(ArtifactRef),
    /// A part of a text, in UTF-16 code units.
    Text {
        which: ArtifactRef,
        from: u64,
        to: u64,
    },
    Search {
        words: String,
        within: Option<ArtifactRef>,
        limit: u32,
    },
    List,
    Save {
        name: ArtifactName,
        content: Content,
    },
}

/// The question in its JSON form.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Question<'a> {
    Get(String),
    Text {
        id: String,
        #[serde(default)]
        from: u64,
        to: Option<u64>,
    },
    Search {
        words: String,
        #[serde(rename = "in")]
        within: Option<String>,
        limit: u32,
    },
    List {},
    Save {
        name: String,
        #[serde(borrow)]
        value: &'a RawValue,
    },
}

impl Asked {
    /// Reads a question whose value may have at most `max` bytes.
    pub(super) async fn read(question: String, max: u64) -> Result<Self, NotAnswered> {
        if question.len() as u64 > max.saturating_add(AROUND_BYTES) {
            return Err(too_large(question.len(), max));
        }
        if question.len() <= AT_ONCE_BYTES {
            return Self::parse(&question, max);
        }
        let read = spawn_blocking(move || Self::parse(&question, max)).await;
        read.unwrap_or_else(|_| Err(NotAnswered::new("the value could not be read", "save it in parts")))
    }

    fn parse(question: &str, max: u64) -> Result<Self, NotAnswered> {
        let question = serde_json::from_str(question).map_err(|fault| {
            NotAnswered::argument(format!("this is not a question about artifacts: {fault}"), "see artifacts.list()")
        })?;
        Ok(match question {
            Question::Get(id) => Self::Get(named(&id)?),
            Question::Text { id, from, to } => Self::Text { which: named(&id)?, from, to: to.unwrap_or(u64::MAX) },
            Question::Search { words, within, limit } => {
                Self::Search { words, within: within.as_deref().map(named).transpose()?, limit }
            }
            Question::List {} => Self::List,
            Question::Save { name, value } => {
                let name = name.parse::<ArtifactName>().map_err(|fault| wrong_name(&fault))?;
                Self::Save { name, content: content(value.get(), max)? }
            }
        })
    }
}

fn named(id: &str) -> Result<ArtifactRef, NotAnswered> {
    id.parse::<ArtifactRef>().map_err(|fault| wrong_name(&fault))
}

fn wrong_name(fault: &ArtifactNameError) -> NotAnswered {
    NotAnswered::argument(fault.to_string(), "artifacts.list() has the ids and names of all that are there")
}

/// The content as which a JSON text is kept. A JSON string is kept as text, so that a search finds
/// its lines.
pub(super) fn content(json: &str, max: u64) -> Result<Content, NotAnswered> {
    if json.len() as u64 > max {
        return Err(too_large(json.len(), max));
    }
    if json.trim_start().starts_with('"')
        && let Ok(text) = serde_json::from_str::<String>(json)
    {
        return Ok(Content::Text(text.into()));
    }
    let bounds = JsonBounds::with_bytes(usize::try_from(max).unwrap_or(usize::MAX));
    let value = JsonText::parse(json.to_owned(), &bounds);
    value
        .map(Content::Value)
        .map_err(|fault| NotAnswered::argument(fault.to_string(), "save a flatter or smaller value"))
}

fn too_large(used: usize, max: u64) -> NotAnswered {
    let text = format!("the value has {used} bytes as JSON; the limit is {max} ([artifacts] max_artifact)");
    NotAnswered::argument(text, "save it in parts, under names of their own")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_read_and_anything_else_is_refused() {
        let read = |question: &str| Asked::parse(question, 100);
        assert!(matches!(read(r#"{"list":{}}"#), Ok(Asked::List)));
        assert!(matches!(read(r#"{"get":"pages"}"#), Ok(Asked::Get(ArtifactRef::Name(_)))));
        assert!(matches!(read(r#"{"get":"a_0000000000001"}"#), Ok(Asked::Get(ArtifactRef::Id(_)))));
        assert!(matches!(read(r#"{"text":{"id":"x","from":3}}"#), Ok(Asked::Text { from: 3, to: u64::MAX, .. })));
        assert!(matches!(read(r#"{"search":{"words":"a","limit":5}}"#), Ok(Asked::Search { within: None, .. })));
        let saved = |value: &str| read(&format!(r#"{{"save":{{"name":"n","value":{value}}}}}"#));
        assert!(matches!(saved("[1]"), Ok(Asked::Save { content: Content::Value(_), .. })));
        assert!(matches!(saved(r#""a\nb""#), Ok(Asked::Save { content: Content::Text(text), .. }) if &*text == "a\nb"));
        for wrong in [
            "",
            "1",
            "{}",
            r#"{"list":{},"get":"x"}"#,
            r#"{"list":{"all":true}}"#,
            r#"{"drop":"x"}"#,
            r#"{"get":""}"#,
            r#"{"get":1}"#,
            r#"{"text":{"id":"x","from":-1}}"#,
            r#"{"save":{"name":"a_0000000000001","value":1}}"#,
            r#"{"save":{"name":"n"}}"#,
            &format!(r#"{{"save":{{"name":"n","value":{}}}}}"#, "[".repeat(200)),
            &format!(r#"{{"save":{{"name":"n","value":"{}"}}}}"#, "x".repeat(101)),
            &format!(r#"{{"save":{{"name":"n","value":{}{}}}}}"#, "[".repeat(128), "]".repeat(128)),
        ] {
            let refused = read(wrong).expect_err(wrong);
            assert!(refused.is_argument && refused.hint.is_some(), "{wrong}: {refused:?}");
        }
    }
}
