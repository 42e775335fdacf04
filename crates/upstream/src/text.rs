//! Foreign text made fit for one line of a message or a log.

/// `text` without escape sequences, control and direction-changing characters, in at most `limit` characters.
///
/// Line breaks and tabs become spaces; what was cut is marked with an ellipsis.
pub(crate) fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut characters = text.trim().chars().peekable();
    let mut taken = 0;
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            skip_escape(&mut characters);
            continue;
        }
        let character = match character {
            '\n' | '\r' | '\t' => ' ',
            character if is_unfit(character) => continue,
            character => character,
        };
        if taken == limit {
            line.push('…');
            break;
        }
        line.push(character);
        taken += 1;
    }
    line
}

/// `text` without the same characters, with its line breaks and tabs.
pub(crate) fn several_lines(text: &str) -> String {
    let mut lines = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => skip_escape(&mut characters),
            '\n' | '\t' => lines.push(character),
            character if is_fit(character) => lines.push(character),
            _ => {}
        }
    }
    lines
}

/// Skips the rest of a terminal's control sequence, such as the `[31m` of a colour.
fn skip_escape(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    if characters.next_if_eq(&'[').is_some() {
        while characters.next_if(|character| matches!(character, '\u{20}'..='\u{3f}')).is_some() {}
        characters.next_if(|character| matches!(character, '\u{40}'..='\u{7e}'));
    }
}

/// Whether a character can be shown on a line as itself.
pub(crate) fn is_fit(character: char) -> bool {
    !is_unfit(character)
}

fn is_unfit(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_control_characters_are_removed_and_the_length_is_bounded() {
        assert_eq!(one_line("\u{1b}[1;31mred\u{1b}[0m\u{7} a\nb\u{202e}c", 100), "red a bc");
        assert_eq!(one_line("abcdef", 3), "abc…");
        assert_eq!(one_line("abc", 3), "abc");
        assert_eq!(one_line("\u{1b}[", 3), "");
    }
}
