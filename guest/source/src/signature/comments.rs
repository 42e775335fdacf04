//! What comments say of the place before which they stand.

use std::collections::BTreeMap;

use oxc::ast::ast::Program;

/// Bytes of the text of the comments at one place.
const MAX_TEXT: usize = 4 * 1024;
/// Bytes of a schema in a comment.
const MAX_SCHEMA: usize = 16 * 1024;
/// What stands before a schema.
const SCHEMA: &str = "@schema";

/// The comments of a program, by the start of what they stand before.
pub(super) struct Comments {
    at: BTreeMap<u32, String>,
    /// Those with which the file begins.
    first: String,
}

/// What the comments of a function say.
#[derive(Default)]
pub(super) struct Said {
    pub(super) text: String,
    /// The text behind `@schema`.
    pub(super) schema: Option<String>,
}

impl Comments {
    pub(super) fn of(source: &str, program: &Program<'_>) -> Self {
        let mut at: BTreeMap<u32, String> = BTreeMap::new();
        let mut first = None;
        for comment in program.comments.iter().filter(|comment| comment.is_leading()) {
            let span = comment.content_span();
            let content = source.get(span.start as usize..span.end as usize).unwrap_or_default();
            first.get_or_insert(comment.attached_to);
            let text = at.entry(comment.attached_to).or_default();
            if text.len() < MAX_TEXT + MAX_SCHEMA {
                text.push_str(&plain(content));
                text.push('\n');
            }
        }
        let begins_with = first.filter(|at| program.body.first().is_none_or(|first| *at <= start_of(first)));
        let first = begins_with.and_then(|first| at.get(&first).cloned()).unwrap_or_default();
        Self { at, first }
    }

    /// What is said of the function that is exported there, or else at the beginning of the file.
    pub(super) fn of_statement(&self, offset: u32) -> Said {
        let own = self.at.get(&offset).map(|text| said(text)).unwrap_or_default();
        let first = said(&self.first);
        Said { text: if own.text.is_empty() { first.text } else { own.text }, schema: own.schema.or(first.schema) }
    }

    /// What is said of a member of a type, on one line.
    pub(super) fn of_member(&self, offset: u32) -> Option<String> {
        let text = said(self.at.get(&offset)?).text;
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!line.is_empty()).then_some(line)
    }
}

fn start_of(statement: &oxc::ast::ast::Statement<'_>) -> u32 {
    use oxc::span::GetSpan as _;
    statement.span().start
}

/// A comment's content without the stars at the beginnings of its lines.
fn plain(content: &str) -> String {
    let line = |line: &str| line.trim().trim_start_matches('*').trim().to_owned();
    content.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Divides a comment into its text and its tags, of which one is read.
fn said(text: &str) -> Said {
    let schema = text.split_once(SCHEMA).map(|(_, behind)| object(behind));
    let before = text.split_once(SCHEMA).map_or(text, |(before, _)| before);
    let lines = before.lines().take_while(|line| !line.starts_with('@'));
    let text = lines.collect::<Vec<_>>().join("\n");
    Said { text: cut(text.trim(), MAX_TEXT).to_owned(), schema }
}

/// The object at the beginning of a text: as far as its braces go. The host reads it.
fn object(text: &str) -> String {
    let text = cut(text.trim_start(), MAX_SCHEMA);
    let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if in_text => is_escaped = true,
            '"' => in_text = !in_text,
            '{' if !in_text => depth += 1,
            '}' if !in_text => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return text.get(..=at).unwrap_or(text).to_owned();
                }
            }
            _ => {}
        }
    }
    text.to_owned()
}

fn cut(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
