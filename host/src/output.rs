//! Standard output and standard error, and nothing raw that a stranger wrote.
//!
//! Results go to stdout, all else to stderr. Texts of scripts and children are shown with their control characters made
//! visible, so that none of them can move a cursor, change a title or forge a line.

use std::{
    borrow::Cow,
    fmt::Display,
    io::{self, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default();
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();

/// Whether the user wants to hear of errors alone. Set once, before anything is said.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Keeps to itself what is neither a result nor an error.
pub(crate) fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether the user wants to hear of errors alone.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a line of a result.
pub(crate) fn print(line: impl Display) {
    // Whoever closed our stdout does not want to read what is missing.
    let _ = writeln!(anstream::stdout(), "{line}");
}

/// Prints one JSON document on one line. JSON escapes what could act on a terminal, but for what [`escaped_json`] adds.
pub(crate) fn print_json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(text) => print(escaped_json(&text)),
        Err(error) => say(format_args!("the answer cannot be written as JSON: {error}")),
    }
}

/// Prints a JSON document that is a text already.
pub(crate) fn print_json_text(text: &str) {
    print(escaped_json(text));
}

/// Prints a line to stderr.
pub(crate) fn say(line: impl Display) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// Prints a line to stderr that tells and complains of nothing; none for who wants quiet.
pub(crate) fn remark(line: impl Display) {
    if !is_quiet() {
        say(line);
    }
}

/// Says that something is so that the user may want to know.
pub(crate) fn note(text: impl Display) {
    remark(format_args!("{HINT}note:{HINT:#} {text}"));
}

/// Says what went wrong, and what to try.
pub(crate) fn complain(message: &str, hint: Option<&str>) {
    say(format_args!("{ERROR}error:{ERROR:#} {}", visible(message)));
    if let Some(hint) = hint {
        say(format_args!("{HINT}hint:{HINT:#} {}", visible(hint)));
    }
}

/// Where the log goes: to stderr, an entry a line. What a script, a child or a client wrote can neither act on a terminal nor look like an
/// entry of its own.
pub(crate) struct Log;

impl Write for Log {
    fn write(&mut self, entry: &[u8]) -> io::Result<usize> {
        // An entry is written as a whole.
        io::stderr().write_all(log_line(&String::from_utf8_lossy(entry)).as_bytes())?;
        Ok(entry.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// An entry on one line. Escape characters that are there are of colours: `tracing-subscriber` has made those of texts visible.
pub(crate) fn log_line(entry: &str) -> String {
    let (text, end) = entry.strip_suffix('\n').map_or((entry, ""), |text| (text, "\n"));
    let mut line = String::with_capacity(entry.len());
    for character in text.chars() {
        match character {
            '\n' => line.push_str("\\n"),
            '\u{1b}' => line.push(character),
            _ if is_active(character) => line.extend(character.escape_unicode()),
            _ => line.push(character),
        }
    }
    line + end
}

/// A text whose control characters can be seen and do nothing. Line breaks and tabs stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_active) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_active(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// The same on one line, for names and reasons that stand within one of ours: what follows a line break in them would look like belljar's own.
pub(crate) fn visible_line(text: &str) -> Cow<'_, str> {
    match visible(text) {
        shown if shown.contains(['\n', '\t']) => Cow::Owned(shown.replace('\n', "\\n").replace('\t', "\\t")),
        shown => shown,
    }
}

/// JSON in which also the characters that JSON may leave alone (DEL, C1 controls, bidirectional overrides) are escaped.
fn escaped_json(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_active) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_active(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// Whether a character acts on a terminal instead of standing on it.
fn is_active(character: char) -> bool {
    let is_break = matches!(character, '\n' | '\t');
    let is_bidirectional =
        matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (character.is_control() && !is_break) || is_bidirectional
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_the_log_is_one_line_whatever_is_in_it() {
        assert_eq!(log_line("\u{1b}[33m WARN\u{1b}[0m plain\n"), "\u{1b}[33m WARN\u{1b}[0m plain\n");
        assert_eq!(log_line("a\r\nERROR forged\u{9b}\u{202e}\n"), "a\\u{d}\\nERROR forged\\u{9b}\\u{202e}\n");
    }

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(visible("plain\ttext\n"), "plain\ttext\n");
        assert_eq!(visible_line("a\r\n ok\tb"), "a\\u{d}\\n ok\\tb");
        assert_eq!(visible("\u{1b}[2Jgone\r\u{9b}1m\u{202e}"), "\\u{1b}[2Jgone\\u{d}\\u{9b}1m\\u{202e}");
        let json = serde_json::to_string("\u{1b}\u{7f}\u{9b}\u{202e}").expect("json");
        let escaped = escaped_json(&json);
        assert_eq!(escaped, r#""\u001b\u007f\u009b\u202e""#);
        assert_eq!(serde_json::from_str::<String>(&escaped).expect("json"), "\u{1b}\u{7f}\u{9b}\u{202e}");
    }
}
