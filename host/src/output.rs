//! Standard output and standard error, with foreign texts made safe.
//!
//! Results go to stdout, everything else to stderr. Texts of scripts, children and clients are
//! shown by `belljar_model::display`: on one line ([`visible_line`]), or as a block with further
//! lines indented ([`visible`]), so that none of them can move a cursor, change a title or forge a
//! line of belljar. Only a result on stdout ([`visible_text`]) keeps its lines.

use std::{
    borrow::Cow,
    fmt::Display,
    io::{self, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use anstyle::{AnsiColor, Style};
use belljar_model::display;
pub(crate) use belljar_model::display::line as visible_line;
use serde::Serialize;
use tracing_subscriber::{
    field::MakeExt as _,
    fmt::{FormatFields, format::debug_fn},
};

pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default();
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();

/// Whether the user wants to see errors only. Set once, before anything is printed.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Prints only results and errors from now on.
pub(crate) fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether the user wants to see errors only.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a line of a result.
pub(crate) fn print(line: impl Display) {
    // If our stdout is closed, its reader does not want the rest.
    let _ = writeln!(anstream::stdout(), "{line}");
}

/// Prints one JSON document on one line, with characters that could act on a terminal escaped.
pub(crate) fn print_json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(text) => print(display::json(&text)),
        Err(error) => say(format_args!("the answer cannot be written as JSON: {error}")),
    }
}

/// Prints a JSON document that is already text.
pub(crate) fn print_json_text(text: &str) {
    print(display::json(text));
}

/// Prints a line to stderr.
pub(crate) fn say(line: impl Display) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// Prints an informative line to stderr, unless the user wants quiet.
pub(crate) fn remark(line: impl Display) {
    if !is_quiet() {
        say(line);
    }
}

/// Prints a note that the user may want to know.
pub(crate) fn note(text: impl Display) {
    remark(format_args!("{HINT}note:{HINT:#} {text}"));
}

/// Prints a warning that something was not done, although the command has done its work.
pub(crate) fn warn(text: impl Display) {
    say(format_args!("{WARNING}warning:{WARNING:#} {text}"));
}

/// Prints an error, and what to try.
pub(crate) fn complain(message: &str, hint: Option<&str>) {
    say(format_args!("{ERROR}error:{ERROR:#} {}", visible(message)));
    if let Some(hint) = hint {
        say(format_args!("{HINT}hint:{HINT:#} {}", visible(hint)));
    }
}

/// The destination of the log: stderr, one line per entry.
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

/// How the fields of an entry are written, including its message: each on one line, since any of
/// them may contain a text of a script, a child or a client. The rest of an entry comes from
/// belljar.
pub(crate) fn log_fields() -> impl for<'writer> FormatFields<'writer> + Send + Sync + 'static {
    debug_fn(|writer, field, value| {
        let text = format!("{value:?}");
        let text = visible_line(&text);
        match field.name() {
            "message" => write!(writer, "{text}"),
            name if writer.has_ansi_escapes() => write!(writer, "{DIM}{name}={DIM:#}{text}"),
            name => write!(writer, "{name}={text}"),
        }
    })
    .delimited(" ")
}

/// An entry on one line. Colours pass, as they come from belljar: [`log_fields`] removes them from
/// other texts.
pub(crate) fn log_line(entry: &str) -> String {
    let (text, end) = entry.strip_suffix('\n').map_or((entry, ""), |text| (text, "\n"));
    let mut line = String::with_capacity(entry.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        line.push_str(&visible_line(before));
        let sequence = colour(after);
        line.push_str(if sequence.is_empty() { "\\u{1b}" } else { "\u{1b}" });
        line.push_str(sequence);
        rest = after.strip_prefix(sequence).unwrap_or_default();
    }
    line + &visible_line(rest) + end
}

/// The characters after an escape, as far as they set a colour or a style.
fn colour(text: &str) -> &str {
    let end = text.find(|character: char| !matches!(character, '[' | ';' | '0'..='9')).unwrap_or(text.len());
    match text.get(..=end) {
        Some(sequence) if sequence.starts_with('[') && sequence.ends_with('m') => sequence,
        _ => "",
    }
}

/// A text of several lines after belljar's words, with further lines indented.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    display::block(text, "  ")
}

/// A text on its own, such as a result or a text of belljar, with its lines unchanged.
pub(crate) fn visible_text(text: &str) -> Cow<'_, str> {
    display::block(text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_the_log_is_one_line_whatever_is_in_it() {
        assert_eq!(log_line("\u{1b}[33m WARN\u{1b}[0m plain\n"), "\u{1b}[33m WARN\u{1b}[0m plain\n");
        assert_eq!(log_line("a\r\nERROR forged\u{9b}\u{202e}\n"), "a\\r\\nERROR forged\\u{9b}\\u{202e}\n");
        assert_eq!(log_line("\u{1b}[2J\u{1b}]0;t\u{7}\u{1b}[1\u{1b}"), "\\u{1b}[2J\\u{1b}]0;t\\u{7}\\u{1b}[1\\u{1b}");
        assert_eq!(log_line("\u{1b}é"), "\\u{1b}é");
    }

    #[test]
    fn a_text_after_words_of_ours_starts_no_line() {
        assert_eq!(visible("it failed\nhint: forged"), "it failed\n  hint: forged");
        assert_eq!(visible_text("a\nb\u{1b}"), "a\nb\\u{1b}");
    }
}
