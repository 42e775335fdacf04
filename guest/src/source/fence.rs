//! Markdown code fences around a program.

use std::borrow::Cow;

/// The first fenced block of `text` with its position kept (the lines before it are blank), or the text as it is.
///
/// Only a text whose first line that is not blank is prose or a fence counts as fenced: a program may hold back-ticks of its own,
/// but none of its lines may begin with three of them before the program's first line.
pub(crate) fn unfenced(text: &str) -> Cow<'_, str> {
    if !text.trim_start().starts_with("```") {
        return Cow::Borrowed(text);
    }
    let mut block = String::with_capacity(text.len());
    let mut inside = false;
    for line in text.split_inclusive('\n') {
        let is_fence = line.trim_start().starts_with("```");
        match (inside, is_fence) {
            (false, true) => {
                inside = true;
                block.push('\n');
            }
            (false, false) => block.push('\n'),
            (true, true) => break,
            (true, false) => block.push_str(line),
        }
    }
    Cow::Owned(block)
}
