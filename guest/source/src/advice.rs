//! What to try where a source is no program: the likely cause, if the text around the place shows
//! it.

use super::Position;

/// A better hint for what is wrong at `position`, if the source shows the cause.
pub(super) fn hint(source: &str, message: &str, position: Option<Position>) -> Option<String> {
    let line = position.and_then(|position| source.lines().nth(position.line.checked_sub(1)? as usize)).unwrap_or("");
    let trimmed = line.trim();
    let first = trimmed.split(|character: char| !character.is_alphanumeric()).next().unwrap_or("");
    if ["f\"", "f'"].iter().any(|mark| has_word(line, mark)) {
        return Some("JavaScript has no f-strings: write a template in back-ticks, `… ${value} …`".to_owned());
    }
    if begins_with_hash(line, message, position) {
        return Some("a comment begins with `//` in JavaScript".to_owned());
    }
    if message.contains("found `for`") && has_word(line, "for ") && line.contains(" in ") {
        let advice = "this is Python's way to make a list; write list.filter((x) => …).map((x) => …)";
        return Some(advice.to_owned());
    }
    if let Some(list) = sliced(line, position) {
        return Some(format!("this is Python's way to take a part; write {list}.slice(start, end)"));
    }
    if trimmed.ends_with(':') && ["for", "if", "while", "else", "elif", "def", "try", "with", "class"].contains(&first)
    {
        let advice = "this is Python; in JavaScript: `for (const x of list) { … }`, `if (condition) { … }`, `function f(x) { … }`";
        return Some(advice.to_owned());
    }
    if ["def", "elif", "lambda", "pass"].contains(&first) {
        return Some("this is Python; write JavaScript: `function f(x) { … }`, `else if`, `(x) => …`".to_owned());
    }
    if message.contains("found `EOF`") {
        return unclosed(source).map(|(bracket, line)| format!("the `{bracket}` in line {line} is never closed"));
    }
    if message.contains("`await` is only allowed") {
        let advice = "make the function around it `async`; a callback of map that is async gives promises: `await Promise.all(list.map(async (x) => …))`";
        return Some(advice.to_owned());
    }
    None
}

/// What a part is taken of in the manner of Python at a place: `list` of `list[1:3]`.
fn sliced(line: &str, position: Option<Position>) -> Option<&str> {
    let column = usize::try_from(position?.column).ok()?.checked_sub(1)?;
    let (at, colon) = line.char_indices().nth(column)?;
    let before = line.get(..at).filter(|_| colon == ':')?;
    let (list, start) = before.rsplit_once('[')?;
    let is_part = |character: char| character.is_alphanumeric() || "_$.".contains(character);
    let list = list.rsplit(|character| !is_part(character)).next().filter(|list| !list.is_empty())?;
    start.chars().all(|character| is_part(character) || " -".contains(character)).then_some(list)
}

/// Whether what is wrong at a place is a `#` before it that begins a comment.
fn begins_with_hash(line: &str, message: &str, position: Option<Position>) -> bool {
    let Some(column) = position.and_then(|position| usize::try_from(position.column).ok()) else { return false };
    // `#name` is a private member, after which there can only be `in`.
    message.starts_with("Expected `in` but found")
        || (message.starts_with("Invalid Character") && line.chars().take(column).any(|character| character == '#'))
}

/// Whether a mark begins somewhere that is not inside of a word.
fn has_word(line: &str, mark: &str) -> bool {
    line.match_indices(mark).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|before| !before.is_alphanumeric() && !"_$'\"`".contains(before))
    })
}

/// The bracket that is never closed, and its line: the first whose counterpart stands at another
/// indentation, or else the last that is open at the end.
fn unclosed(source: &str) -> Option<(char, usize)> {
    let mut open: Vec<(char, usize, usize)> = Vec::new();
    let mut quote = None;
    let mut is_comment = false;
    for (number, line) in source.lines().enumerate() {
        let indentation = line.len() - line.trim_start().len();
        let mut characters = line.chars().peekable();
        if quote != Some('`') {
            quote = None;
        }
        while let Some(character) = characters.next() {
            match (character, quote) {
                ('\\', Some(_)) => drop(characters.next()),
                (character, Some(mark)) if character == mark => quote = None,
                (_, Some(_)) => {}
                ('*', None) if is_comment && characters.peek() == Some(&'/') => is_comment = false,
                (_, None) if is_comment => {}
                ('/', None) if characters.peek() == Some(&'/') => break,
                ('/', None) if characters.peek() == Some(&'*') => is_comment = true,
                ('"' | '\'' | '`', None) => quote = Some(character),
                ('{' | '(' | '[', None) => open.push((character, number + 1, indentation)),
                ('}' | ')' | ']', None) => {
                    let is_first = line.trim_start().starts_with(character);
                    match open.pop() {
                        // A line that closes what a line of another indentation has opened closes
                        // something else.
                        Some((bracket, opened, other)) if is_first && other > indentation => {
                            return Some((bracket, opened));
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }
    open.last().map(|(bracket, line, _)| (*bracket, *line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bracket_that_is_never_closed_is_found_by_its_indentation() {
        assert_eq!(unclosed("function f() {\n  if (x) {\n    y();\n}\nf();"), Some(('{', 2)));
        assert_eq!(unclosed("const s = '{';\n// (\ncall(`${[`\n"), Some(('(', 3)));
        assert_eq!(unclosed("f({ a: [1, 2] });"), None);
        assert_eq!(unclosed("/* { */ f(\n"), Some(('(', 1)));
    }
}
