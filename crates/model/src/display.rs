//! Which characters of a foreign text are dangerous, and how to show such a text.
//!
//! Names, messages, logs and descriptions come from scripts, child servers and clients. Some
//! characters in them affect the reader: they move a terminal's cursor, start a line that looks
//! like belljar's own, change the direction of the following text, or are invisible. Every output
//! of belljar passes foreign texts through here, as one line ([`fn@line`]), as an indented block
//! ([`block`]) or as JSON ([`json`]), and no other place has a list of such characters.
//!
//! Nothing is dropped: a character that may not be shown becomes its escape, such as `\u{202e}`.

use std::{borrow::Cow, fmt::Write as _, iter::Peekable, str::Chars};

/// A character of a text, by its effect on a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Glyph {
    /// It is visible, or part of something visible, such as the joiners and selectors of emoji.
    Plain(char),
    /// It affects the reader, is invisible, or looks like a blank.
    Hidden(char),
}

/// The characters of a text, each with whether it is visible in its context.
pub fn glyphs(text: &str) -> impl Iterator<Item = Glyph> {
    Glyphs { characters: text.chars().peekable(), previous: None }
}

/// Whether a character affects its reader, is invisible, or looks like a blank, when it is on its
/// own.
///
/// These are Unicode's control characters (`Cc`), its line and paragraph separators,
/// `Default_Ignorable_Code_Point` and `Bidi_Control` of Unicode 17, the interlinear annotations,
/// and the blank Braille pattern. Spaces are not among them.
pub const fn is_hidden(character: char) -> bool {
    matches!(character,
        // Controls, line breaks and tabs included.
        '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}'
        // Soft hyphen, combining grapheme joiner, Arabic letter mark.
        | '\u{AD}' | '\u{34F}' | '\u{61C}'
        // Fillers that are blank: Hangul, Khmer, Mongolian, Braille, halfwidth Hangul.
        | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{2800}' | '\u{3164}' | '\u{FFA0}'
        // Zero width spaces and joiners, direction marks, separators, embeddings, overrides,
        // isolates, invisible operators.
        | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        // Variation selectors, byte order mark, interlinear annotations and the unassigned before
        // them.
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFF0}'..='\u{FFFB}'
        // Controls of shorthand and of musical notation.
        | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        // Tags, more variation selectors, and what is reserved for such.
        | '\u{E0000}'..='\u{E0FFF}')
}

/// The text on one line. Line breaks and tabs are shown as `\n`, `\r` and `\t`.
pub fn line(text: &str) -> Cow<'_, str> {
    rewritten(text, |hidden, shown| match hidden {
        '\n' => shown.push_str("\\n"),
        '\r' => shown.push_str("\\r"),
        '\t' => shown.push_str("\\t"),
        _ => shown.extend(hidden.escape_unicode()),
    })
}

/// The text with its line breaks and tabs. Each line but the first begins with `indent`, so that no
/// line can pass for one of the program that shows it.
///
/// A line break is `\n` or `\r\n`. A `\r` alone is shown as an escape: on a terminal it would
/// overwrite its line.
pub fn block<'text>(text: &'text str, indent: &str) -> Cow<'text, str> {
    let text: Cow<'text, str> = if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() };
    let shown = rewritten(&text, |hidden, shown| match hidden {
        '\n' => {
            shown.push('\n');
            shown.push_str(indent);
        }
        '\t' => shown.push('\t'),
        '\r' => shown.push_str("\\r"),
        _ => shown.extend(hidden.escape_unicode()),
    });
    match shown {
        Cow::Owned(shown) => Cow::Owned(shown),
        // Whatever was not rewritten is the original text, which we may own already.
        Cow::Borrowed(_) => text,
    }
}

/// A JSON text in which [hidden](is_hidden) characters that JSON allows in strings are escaped. Its
/// value stays the same.
pub fn json(text: &str) -> Cow<'_, str> {
    rewritten(text, |hidden, shown| match hidden {
        // In JSON these occur only between values.
        '\n' | '\t' => shown.push(hidden),
        '\r' => shown.push(' '),
        _ => {
            for unit in hidden.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        }
    })
}

/// The text with `write` called for each hidden character.
fn rewritten(text: &str, mut write: impl FnMut(char, &mut String)) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~');
    if text.bytes().all(is_plain) || !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for glyph in glyphs(text) {
        match glyph {
            Glyph::Plain(character) => shown.push(character),
            Glyph::Hidden(character) => write(character, &mut shown),
        }
    }
    Cow::Owned(shown)
}

struct Glyphs<'text> {
    characters: Peekable<Chars<'text>>,
    /// The previous character, if it is visible.
    previous: Option<char>,
}

impl Iterator for Glyphs<'_> {
    type Item = Glyph;

    fn next(&mut self) -> Option<Glyph> {
        let character = self.characters.next()?;
        let next = self.characters.peek().copied();
        if is_hidden(character) && !belongs(self.previous, character, next) {
            self.previous = None;
            return Some(Glyph::Hidden(character));
        }
        self.previous = Some(character);
        Some(Glyph::Plain(character))
    }
}

/// Whether a character that would be hidden on its own belongs to the spelling of its neighbours:
/// in emoji, and in scripts whose letters join. Only one at a time: a row of them could carry a
/// hidden message.
fn belongs(previous: Option<char>, character: char, next: Option<char>) -> bool {
    const EMOJI_STYLE: char = '\u{FE0F}';
    let (Some(previous), next) = (previous, next.unwrap_or('\0')) else { return false };
    match character {
        // Text or emoji style; keys such as 1️⃣ have it between the digit and the frame.
        '\u{FE0E}' | EMOJI_STYLE => {
            is_pictograph(previous) || (matches!(previous, '0'..='9' | '#' | '*') && next == '\u{20E3}')
        }
        '\u{200D}' if previous == EMOJI_STYLE || is_pictograph(previous) => is_pictograph(next),
        '\u{200C}' | '\u{200D}' => is_of_joining_script(previous) && is_of_joining_script(next),
        _ => false,
    }
}

/// Whether a character is in a block that has emoji, skin tones included.
const fn is_pictograph(character: char) -> bool {
    matches!(character,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21FF}'
        | '\u{2300}'..='\u{27BF}' | '\u{2900}'..='\u{297F}' | '\u{2B00}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}'
        | '\u{3297}' | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}')
}

/// Whether a character is of a script in which zero width joiners and non-joiners are part of the
/// spelling: Arabic and its neighbours, the scripts of India, Myanmar, Khmer.
const fn is_of_joining_script(character: char) -> bool {
    matches!(character,
        '\u{620}'..='\u{DFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17B3}' | '\u{17B6}'..='\u{17DD}'
        | '\u{FB50}'..='\u{FDFF}')
}

#[cfg(test)]
mod tests {
    use icu_properties::{
        CodePointSetData,
        props::{BidiControl, DefaultIgnorableCodePoint, Emoji},
    };

    use super::*;

    #[test]
    fn what_is_hidden_is_what_unicode_says() {
        let ignorable = CodePointSetData::new::<DefaultIgnorableCodePoint>();
        let bidirectional = CodePointSetData::new::<BidiControl>();
        for character in '\0'..=char::MAX {
            let by_unicode =
                character.is_control() || ignorable.contains(character) || bidirectional.contains(character);
            let by_us = matches!(character, '\u{2028}' | '\u{2029}' | '\u{FFF9}'..='\u{FFFB}' | '\u{2800}');
            assert_eq!(is_hidden(character), by_unicode || by_us, "U+{:04X}", u32::from(character));
        }
    }

    #[test]
    fn every_emoji_may_have_a_style() {
        let emoji = CodePointSetData::new::<Emoji>();
        for character in ('\u{80}'..=char::MAX).filter(|character| emoji.contains(*character)) {
            assert!(is_pictograph(character), "U+{:04X}", u32::from(character));
            assert!(!is_hidden(character), "U+{:04X}", u32::from(character));
        }
    }

    #[test]
    fn nothing_hidden_is_left_and_nothing_is_dropped() {
        for hidden in ('\0'..=char::MAX).filter(|character| is_hidden(*character)) {
            let text = format!("a{hidden}b");
            let clean = |shown: &str| {
                !shown.contains(|character| is_hidden(character) && character != '\n' && character != '\t')
            };
            let one = line(&text);
            assert!(clean(&one) && !one.contains(['\n', '\t']) && one.len() > 3, "{one:?}");
            let more = block(&text, "  ");
            assert!(clean(&more) && more.len() >= 3, "{more:?}");
            assert!(more.lines().skip(1).all(|line| line.starts_with("  ")), "{more:?}");
            let quoted = serde_json::to_string(&text).expect("json");
            let escaped = json(&quoted);
            assert!(escaped.is_ascii(), "{escaped}");
            assert_eq!(serde_json::from_str::<String>(&escaped).expect("json"), text);
        }
    }

    #[test]
    fn forms_are_as_they_are_described() {
        assert_eq!(line("a\r\n ok\tb"), "a\\r\\n ok\\tb");
        assert_eq!(line("\u{1b}[2Jgone\u{9b}1m\u{202e}"), "\\u{1b}[2Jgone\\u{9b}1m\\u{202e}");
        assert_eq!(block("a\r\nhint: b\tc\rd", "  "), "a\n  hint: b\tc\\rd");
        assert_eq!(block("a\r\n", ""), "a\n");
        assert_eq!(json("{\"a\":\r\n\"\u{9b}\u{e0041}\"}"), "{\"a\": \n\"\\u009b\\udb40\\udc41\"}");
        assert!(matches!(line("plain, and é 日本語"), Cow::Borrowed(_)));
    }

    #[test]
    fn emoji_and_joined_letters_stay_whole() {
        for text in [
            "⚠\u{fe0f} ❤\u{fe0e}",
            "👩\u{200d}👧",
            "🏳\u{fe0f}\u{200d}🌈",
            "👍🏽\u{200d}❤",
            "1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم",
            "क\u{94d}\u{200d}ष",
        ] {
            assert_eq!(line(text), text);
        }
        for (text, shown) in [
            ("a\u{fe0f}", "a\\u{fe0f}"),
            ("1\u{fe0f}2", "1\\u{fe0f}2"),
            ("😀\u{fe0f}\u{fe0f}", "😀\u{fe0f}\\u{fe0f}"),
            ("😀\u{e0100}", "😀\\u{e0100}"),
            ("a\u{200d}b", "a\\u{200d}b"),
            ("👩\u{200d}", "👩\\u{200d}"),
            ("👩\u{200d}\u{200d}👧", "👩\\u{200d}\\u{200d}👧"),
            ("می\u{200c}", "می\\u{200c}"),
            ("🏴\u{e0067}\u{e007f}", "🏴\\u{e0067}\\u{e007f}"),
        ] {
            assert_eq!(line(text), shown);
        }
    }
}
