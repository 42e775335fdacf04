//! Splits content into passages, the units that a search finds and locates.
//!
//! A JSON value is taken apart until its parts are small enough; a text is cut at its paragraphs
//! and lines. The same content always has the same passages. Content is read from a file, so it may
//! be anything.

use std::{borrow::Cow, collections::HashSet, ops::Range};

use belljar_model::{
    ArtifactKind,
    json_scan::{Token, TokenKind, Tokens, characters},
};

/// The longest passage, in bytes.
pub(crate) const PASSAGE: usize = 2048;
/// The most passages of one artifact. Anything after them is not found.
pub(crate) const MOST: usize = 65_536;

/// The largest size, in bytes, of elements of an array that share a passage.
const SMALL: usize = 64;
/// The largest size of a passage that such elements share.
const SMALL_TOGETHER: usize = 512;
/// In a text with more bytes than this, small parts share passages in proportion to its length, so
/// that there are not too many passages.
const GRAINS: usize = MOST / 2;
/// A paragraph shorter than this is joined with the next.
const PARAGRAPH: usize = 512;
/// The longest JSON pointer, in bytes. Anything deeper is found by the pointer of the level above.
const POINTER: usize = 512;

/// A part of some content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passage {
    /// Its place in the content, in bytes.
    pub(crate) at: Range<usize>,
    /// The JSON pointer of its value, or of the first of its values.
    pub(crate) pointer: String,
    /// Its form.
    pub(crate) form: Form,
}

/// The form of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A plain text.
    Plain,
    /// Values in a JSON text.
    Json,
    /// Characters inside a string of a JSON text.
    Inside,
}

impl Form {
    pub(crate) const ALL: [Self; 3] = [Self::Plain, Self::Json, Self::Inside];

    /// The passage as it is shown.
    pub(crate) fn shown(self, raw: &str) -> String {
        match self {
            Self::Plain | Self::Json => raw.to_owned(),
            Self::Inside => characters(raw).collect(),
        }
    }

    /// The passage as it is searched: without escapes.
    pub(crate) fn searched(self, raw: &str) -> Cow<'_, str> {
        if self == Self::Plain || !raw.contains('\\') {
            return Cow::Borrowed(raw);
        }
        // The quotes and brackets of JSON also separate words.
        Cow::Owned(characters(raw).collect())
    }
}

/// The passages of some content, and how many bytes at its end are in none of them because there
/// are too many.
pub(crate) fn passages(kind: ArtifactKind, content: &str) -> (Vec<Passage>, usize) {
    up_to(MOST, kind, content)
}

fn up_to(most: usize, kind: ArtifactKind, content: &str) -> (Vec<Passage>, usize) {
    let mut found = match kind {
        ArtifactKind::Value => of_value(most, content),
        ArtifactKind::Text => {
            let form = Form::Plain;
            split(content, 0..content.len(), form)
                .map(|at| Passage { at, pointer: String::new(), form })
                .take(most + 1)
                .collect()
        }
        ArtifactKind::Blob => Vec::new(),
    };
    let over = found.get(most).map_or(0, |first| content.len().saturating_sub(first.at.start));
    found.truncate(most);
    (found, over)
}

/// An array or object that is being taken apart.
struct Level {
    is_array: bool,
    /// How many elements came before.
    index: usize,
    /// The name of the next member, without its quotes, and where it begins.
    name: Range<usize>,
    /// The length of its own pointer.
    pointer: usize,
}

/// A JSON text being taken apart.
struct Cutter<'text> {
    text: &'text str,
    most: usize,
    grain: usize,
    pointer: String,
    found: Vec<Passage>,
    /// Whether more values can be added to the last passage, because it belongs to the innermost
    /// level.
    is_open: bool,
}

fn of_value(most: usize, text: &str) -> Vec<Passage> {
    let large = large_containers(text);
    let mut cutter =
        Cutter { text, most, grain: text.len() / GRAINS, pointer: String::new(), found: Vec::new(), is_open: false };
    let mut levels: Vec<Level> = Vec::new();
    let mut tokens = Tokens::of(text);
    while let Some(token) = tokens.next() {
        if cutter.found.len() > most {
            break;
        }
        match token.kind {
            TokenKind::Key => {
                if let Some(level) = levels.last_mut() {
                    level.name = token.at;
                }
                continue;
            }
            TokenKind::EndArray | TokenKind::EndObject => {
                if let Some(level) = levels.pop() {
                    cutter.pointer.truncate(level.pointer);
                    cutter.is_open = false;
                }
                continue;
            }
            _ => {}
        }
        let own = cutter.pointer.len();
        let mut start = token.at.start;
        if let Some(level) = levels.last_mut() {
            if level.is_array {
                cutter.pointer.push('/');
                cutter.pointer.push_str(&level.index.to_string());
                level.index = level.index.saturating_add(1);
            } else {
                // The name is part of the passage, because it is searched too.
                start = level.name.start.min(start);
                let name = text.get(level.name.clone()).unwrap_or_default();
                push_name(&mut cutter.pointer, name.strip_prefix('"').and_then(|name| name.strip_suffix('"')));
            }
        }
        let fits = cutter.pointer.len() <= POINTER;
        if !fits {
            cutter.pointer.truncate(own);
        }
        let is_container = matches!(token.kind, TokenKind::BeginArray | TokenKind::BeginObject);
        if is_container && fits && large.contains(&token.at.start) {
            let is_array = token.kind == TokenKind::BeginArray;
            levels.push(Level { is_array, index: 0, name: token.at.end..token.at.end, pointer: own });
            cutter.is_open = false;
            continue;
        }
        cutter.value(start, &token, tokens.skip_value(&token).0, levels.last().is_some_and(|level| level.is_array));
        cutter.pointer.truncate(own);
    }
    cutter.found
}

impl Cutter<'_> {
    /// A value that is not taken apart further.
    fn value(&mut self, start: usize, first: &Token, end: usize, is_in_array: bool) {
        let bytes = end.saturating_sub(start);
        if bytes > PASSAGE {
            self.is_open = false;
            // In a string, only the part within the quotes counts; its name is in the pointer.
            let (at, form) = match first.kind {
                TokenKind::Text => (first.at.start + 1..end.saturating_sub(1), Form::Inside),
                _ => (start..end, Form::Json),
            };
            let pointer = &self.pointer;
            let room = (self.most + 1).saturating_sub(self.found.len());
            let pieces = split(self.text, at, form).map(|at| Passage { at, pointer: pointer.clone(), form });
            self.found.extend(pieces.take(room));
            return;
        }
        let is_small = is_in_array && bytes <= SMALL && matches!(first.kind, TokenKind::Text | TokenKind::Scalar);
        let together = if is_small { SMALL_TOGETHER.max(self.grain) } else { self.grain }.min(PASSAGE);
        if self.is_open
            && let Some(last) = self.found.last_mut()
            && end.saturating_sub(last.at.start) <= together
        {
            last.at.end = end;
            return;
        }
        self.is_open = true;
        self.found.push(Passage { at: start..end, pointer: self.pointer.clone(), form: Form::Json });
    }
}

/// Where the arrays and objects begin that are longer than a passage.
fn large_containers(text: &str) -> HashSet<usize> {
    let (mut open, mut large) = (Vec::new(), HashSet::new());
    for token in Tokens::of(text) {
        match token.kind {
            TokenKind::BeginArray | TokenKind::BeginObject => open.push(token.at.start),
            TokenKind::EndArray | TokenKind::EndObject => {
                if let Some(start) = open.pop()
                    && token.at.end - start > PASSAGE
                {
                    large.insert(start);
                }
            }
            _ => {}
        }
    }
    large
}

fn push_name(pointer: &mut String, name: Option<&str>) {
    pointer.push('/');
    for character in characters(name.unwrap_or_default()) {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
        if pointer.len() > POINTER {
            break;
        }
    }
}

/// Cuts a part of a text at paragraphs, else at lines, else between words, else anywhere between
/// characters, into pieces of at most [`PASSAGE`].
fn split(text: &str, at: Range<usize>, form: Form) -> impl Iterator<Item = Range<usize>> {
    let (mut from, end) = (at.start, at.end.min(text.len()));
    std::iter::from_fn(move || {
        if from >= end {
            return None;
        }
        let rest = text.get(from..end)?;
        let length = if rest.len() <= PASSAGE { rest.len() } else { piece(rest, form) };
        let piece = from..from + length;
        from = piece.end;
        Some(piece)
    })
}

/// The length of the first piece of a text that is longer than one.
fn piece(text: &str, form: Form) -> usize {
    let (mut paragraph, mut line, mut word, mut any) = (0, 0, 0, 0);
    let mut was_line = false;
    let mut rest = text.char_indices();
    while let Some((at, character)) = rest.next() {
        if at > PASSAGE {
            break;
        }
        any = at;
        let mut character = character;
        // The two characters of an escape are never separated.
        if form != Form::Plain && character == '\\' {
            character = match rest.next() {
                Some((_, 'n')) => '\n',
                Some((_, 't' | 'r')) => ' ',
                _ => 'x',
            };
        }
        let after = rest.offset();
        if after > PASSAGE {
            break;
        }
        match character {
            '\n' => {
                if was_line && after >= PARAGRAPH {
                    paragraph = after;
                }
                line = after;
                was_line = true;
            }
            '\r' => {}
            ' ' | '\t' | ',' => {
                word = after;
                was_line &= character != ',';
            }
            _ => was_line = false,
        }
    }
    [paragraph, line, word, any].into_iter().find(|length| *length > 0).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: ArtifactKind, content: &str) -> Vec<(String, String)> {
        let (found, over) = passages(kind, content);
        assert_eq!(over, 0);
        let shown = |passage: Passage| (passage.pointer, passage.form.shown(&content[passage.at]));
        found.into_iter().map(shown).collect()
    }

    fn pair(pointer: &str, text: &str) -> (String, String) {
        (pointer.to_owned(), text.to_owned())
    }

    #[test]
    fn a_small_value_is_one_passage_and_each_record_of_a_large_one_is() {
        assert_eq!(of(ArtifactKind::Value, r#"{"a":[1,2]}"#), [pair("", r#"{"a":[1,2]}"#)]);
        let record = |n: usize| format!(r#"{{"id":{n},"text":"{}"}}"#, "x".repeat(400));
        let rows = (0..20).map(record).collect::<Vec<_>>().join(", ");
        let found = of(ArtifactKind::Value, &format!(r#"{{"rows~/":[{rows}],"ok":true}}"#));
        assert_eq!(found.len(), 21);
        assert_eq!(found[7], ("/rows~0~1/7".to_owned(), record(7)));
        assert_eq!(found[20], pair("/ok", r#""ok":true"#));
    }

    #[test]
    fn small_elements_share_a_passage_and_a_long_text_is_cut_at_its_paragraphs() {
        let numbers = format!("[{}]", (0..2000).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
        let found = of(ArtifactKind::Value, &numbers);
        assert!(found.len() > 10 && found.len() < 40, "{}", found.len());
        assert!(found[1].1.starts_with(found[1].0.strip_prefix('/').expect("a place")));

        let paragraph = format!("{}\n\n", "word ".repeat(150));
        let text = paragraph.repeat(20);
        let expected: Vec<_> = (0..10).map(|_| pair("", &paragraph.repeat(2))).collect();
        assert_eq!(of(ArtifactKind::Text, &text), expected);
        let json = serde_json::json!({"body": text, "n": 1}).to_string();
        let found = of(ArtifactKind::Value, &json);
        assert_eq!(found[0], pair("/body", &paragraph.repeat(2)));
        assert_eq!(found.last(), Some(&pair("/n", "\"n\":1")));
    }

    #[test]
    fn passages_are_all_of_a_text_and_bounded_whatever_it_is() {
        for text in [
            "\u{e9}".repeat(5000),
            "\u{1f600}".repeat(3000),
            "a\n".repeat(9000),
            "\n".repeat(9000),
            format!("{}\r\n{}", "x".repeat(3000), "y ".repeat(3000)),
        ] {
            let (found, _) = passages(ArtifactKind::Text, &text);
            assert!(found.iter().all(|passage| passage.at.len() <= PASSAGE));
            assert_eq!(found.iter().map(|passage| &text[passage.at.clone()]).collect::<String>(), text);
            let json = serde_json::Value::from(text.clone()).to_string();
            let (found, _) = passages(ArtifactKind::Value, &json);
            let shown: String = found.iter().map(|passage| passage.form.shown(&json[passage.at.clone()])).collect();
            assert_eq!(shown, text);
        }
    }

    #[test]
    fn hostile_shapes_have_bounded_passages() {
        let deep = format!("{}\"{}\"{}", "[".repeat(3000), "x".repeat(3000), "]".repeat(3000));
        let names = format!(
            "{{{}}}",
            (0..5).map(|n| format!("\"{}{n}\":[{n}]", "k".repeat(4000))).collect::<Vec<_>>().join(",")
        );
        let wide = format!("[{}]", (0..500_000).map(|n| format!("{{\"a\":{n}}}")).collect::<Vec<_>>().join(","));
        for json in [
            deep.as_str(),
            &names,
            &wide,
            "\"",
            "{\"a\":",
            "]]]",
            "[[[[",
            "",
            ",",
            "{\"\\",
            &"[".repeat(9000),
            &"\\".repeat(9000),
        ] {
            let (found, over) = passages(ArtifactKind::Value, json);
            assert!(found.len() <= MOST);
            assert_eq!(over, 0);
            for passage in &found {
                assert!(passage.at.len() <= PASSAGE && passage.pointer.len() <= POINTER);
                passage.form.shown(&json[passage.at.clone()]);
            }
        }
    }

    #[test]
    fn what_is_beyond_the_most_passages_is_counted() {
        let record = format!("{{\"a\":\"{}\"}},", "x".repeat(500));
        let json = format!("[{}0]", record.repeat(70));
        let (found, over) = up_to(50, ArtifactKind::Value, &json);
        assert_eq!(found.len(), 50);
        assert_eq!(found.last().expect("one").at.end + 1 + over, json.len());
        let text = "words\n".repeat(10_000);
        let (found, over) = up_to(10, ArtifactKind::Text, &text);
        assert_eq!((found.len(), found.last().expect("one").at.end + over), (10, text.len()));
    }
}
