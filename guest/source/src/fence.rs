//! Markdown code fences around a program.

use std::borrow::Cow;

/// The first fenced block of a text that begins with a fence, else the text as it is.
pub(super) fn unfenced(text: &str) -> Cow<'_, str> {
    if !is_fence(text.trim_start()) {
        return Cow::Borrowed(text);
    }
    block(text).map_or(Cow::Borrowed(text), |(block, _)| Cow::Owned(block))
}

/// The first fenced block of `text`, in its place (the lines around it are blank), and the line of
/// its fence, from 1.
///
/// A program may hold fences of its own, in a template: only what is no program otherwise should be
/// looked at so.
pub(super) fn block(text: &str) -> Option<(String, u32)> {
    let mut block = String::with_capacity(text.len());
    let mut opened = None;
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        match (opened, is_fence(line.trim_start())) {
            (None, true) => {
                opened = Some(number);
                block.push('\n');
            }
            (None, false) => block.push('\n'),
            (Some(_), true) => break,
            (Some(_), false) => block.push_str(line),
        }
    }
    opened.map(|number| (block, number))
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}
