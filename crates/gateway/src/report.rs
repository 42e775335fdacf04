//! An outcome as the text that a model reads: the value, the logs and the error, and nothing that
//! it does not need.
//!
//! No line begins with text of a script or a child, so such text cannot pass for belljar's own
//! words. A text value follows `text:`, with its lines indented. Any other value is on one line as
//! compact JSON; its strings keep their characters, except that those that could affect a terminal
//! are escaped.

use std::fmt::Write as _;

use belljar_model::{
    ByteSize, KeptOf, KeptPart, LogLevel, Outcome, RunError,
    display::{block, json, line},
};

/// What may follow an error inside the text of another error that it caused.
const AFTER_AN_ERROR: [&str; 3] = ["\n", " (line ", "; caused by: "];
/// The prefix of a foreign line.
const INDENT: &str = "  ";

/// The outcome as text. The rest, for programs, is in `structuredContent`.
pub fn report(outcome: &Outcome) -> String {
    let mut text = String::new();
    match &outcome.result {
        Ok(value) => text.push_str(&shown(value.as_str())),
        Err(error) => describe(error, &mut text),
    }
    for part in outcome.kept.iter().filter(|part| part.of != KeptOf::Logs) {
        let _ = write!(text, "\n{}", kept(part));
    }
    if !outcome.logs.is_empty() {
        text.push_str("\n\nlogs:");
        for entry in &outcome.logs {
            let level = match entry.level {
                LogLevel::Log => String::new(),
                level => format!("[{}] ", level.as_str()),
            };
            let _ = write!(text, "\n{INDENT}{level}{}", block(&entry.text, "    "));
        }
    }
    for part in outcome.kept.iter().filter(|part| part.of == KeptOf::Logs) {
        let _ = write!(text, "\n{}", kept(part));
    }
    // A failed script may already have changed something, and its author must see what.
    if !outcome.is_ok() && !outcome.calls.is_empty() {
        text.push_str("\n\ncalls made before the failure:");
        let mut lines: Vec<(String, usize)> = Vec::new();
        for call in &outcome.calls {
            let verdict = match &call.error {
                None => "ok".to_owned(),
                // A server's text may be long, and the error already contains it.
                Some(error) if is_said(error, &outcome.result) => "failed: the error above".to_owned(),
                Some(error) => format!("failed: {}", line(error)),
            };
            let path = format!("{}.{}", call.server, call.tool);
            let line = format!("{} ({}): {verdict}", line(&path), call.effect);
            // Equal failures are reported once, whatever came in between.
            let same = lines.iter_mut().rev().take(if call.error.is_some() { usize::MAX } else { 1 });
            match same.into_iter().find(|(other, _)| *other == line) {
                Some((_, count)) => *count += 1,
                None => lines.push((line, 1)),
            }
        }
        for (line, count) in lines {
            let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
            let _ = write!(text, "\n{line}{times}");
        }
    }
    // The ledger has the details.
    if let Some(run) = outcome.run.filter(|_| !outcome.is_ok()) {
        let _ = write!(text, "\n\nrun: {run}");
    }
    text
}

/// What became of a part that is not shown, and how to read on.
fn kept(part: &KeptPart) -> String {
    let KeptPart { of, id, bytes, not_kept } = part;
    let size = ByteSize::b(*bytes).display().iec().to_string();
    match (of, id, not_kept) {
        (KeptOf::Value, Some(id), _) => format!(
            "preview of {size}: in a later script, await artifacts.get(\"{id}\") is all of it, and artifacts.search(\"words\", {{ in: \"{id}\" }}) finds passages"
        ),
        (KeptOf::Logs, Some(id), _) => {
            format!("all logs, {size}: artifacts.search(\"words\", {{ in: \"{id}\" }}), artifacts.text(\"{id}\")")
        }
        (KeptOf::Media(number), Some(id), _) => {
            format!("{number}: artifacts.get(\"{id}\") is its handle, which shows it again when a script returns it")
        }
        (KeptOf::Value, None, reason) => format!(
            "preview of {size}, which was not kept: {}",
            line(reason.as_deref().unwrap_or("there is no reason"))
        ),
        (_, None, reason) => {
            format!("{of}, {size}, was not kept: {}", line(reason.as_deref().unwrap_or("there is no reason")))
        }
    }
}

/// Whether the run's failure contains this error of a call as a whole: after the name of its class,
/// on its own or as a cause.
fn is_said<T>(error: &str, result: &Result<T, RunError>) -> bool {
    let Err(failure) = result else { return false };
    failure.message.match_indices(error).any(|(at, _)| {
        let (before, after) = (failure.message.get(..at), failure.message.get(at + error.len()..));
        let begins = before.is_some_and(|before| before.is_empty() || before.ends_with(": "));
        begins
            && after.is_some_and(|after| after.is_empty() || AFTER_AN_ERROR.iter().any(|next| after.starts_with(next)))
    })
}

/// A text value is shown as text, after a label; any other as JSON.
fn shown(value: &str) -> String {
    let is_text = value.trim_start().starts_with('"');
    match serde_json::from_str::<String>(value) {
        Ok(text) if is_text && text.contains('\n') => format!("text:\n{INDENT}{}", block(&text, INDENT)),
        // White space alone is visible only in quotes.
        Ok(text) if is_text && text.trim() == text && !text.is_empty() => format!("text: {}", block(&text, INDENT)),
        _ => json(value).into_owned(),
    }
}

fn describe(error: &RunError, text: &mut String) {
    let _ = write!(text, "{} error: {}", error.kind, block(&error.message, INDENT));
    if let Some(line) = error.line {
        let at = if error.kind.is_from_outside() { "last seen at" } else { "at" };
        let _ = write!(text, "\n{at} line {line}");
        if let Some(column) = error.column {
            let _ = write!(text, ", column {column}");
        }
    }
    if let Some(frame) = &error.frame {
        // Each of its lines begins with a number or a bar.
        let _ = write!(text, "\n{}", block(frame, ""));
    }
    if let Some(hint) = &error.hint {
        let _ = write!(text, "\nhint: {}", block(hint, INDENT));
    }
}

#[cfg(test)]
mod tests {
    use belljar_model::{CallRecord, Effect, ErrorKind, JsonText, LogEntry};

    use super::*;

    #[test]
    fn a_failure_shows_where_and_what_had_happened() {
        let mut error =
            RunError::new(ErrorKind::Exception, "TypeError: x is not a function").with_hint("did you mean y?");
        (error.line, error.column) = (Some(3), Some(7));
        let mut outcome = Outcome::refused(error);
        outcome.logs.push(LogEntry { level: LogLevel::Warn, text: "careful".into() });
        let call = |tool: &str| CallRecord {
            server: "fs".into(),
            tool: tool.into(),
            effect: Effect::Mutating,
            ok: true,
            ms: 1.0,
            error: None,
            verdict: None,
            rule: None,
        };
        outcome.calls.extend(["write_file", "move_file", "move_file"].map(call));
        outcome.run = Some(belljar_model::RunId::from_bits(7));
        assert_eq!(
            report(&outcome),
            "exception error: TypeError: x is not a function\nat line 3, column 7\nhint: did you mean y?\n\nlogs:\n  [warn] careful\n\n\
             calls made before the failure:\nfs.write_file (mutating): ok\nfs.move_file (mutating): ok (2 times)\n\nrun: r_0000000000007"
        );
    }

    #[test]
    fn the_error_of_a_call_that_ended_the_run_is_told_once_however_long_it_is() {
        let report_of = |message: &str, error: &str| {
            let mut outcome = Outcome::refused(RunError::new(ErrorKind::Tool, message));
            outcome.calls.push(CallRecord {
                server: "fs".into(),
                tool: "read_file".into(),
                effect: Effect::ReadOnly,
                ok: false,
                ms: 1.0,
                error: Some(error.into()),
                verdict: None,
                rule: None,
            });
            report(&outcome).lines().last().unwrap().to_owned()
        };
        for error in ["busy", "ENOENT: open '/a'", &"x".repeat(500)] {
            let told_above = "fs.read_file (read_only): failed: the error above";
            assert_eq!(report_of(&format!("ToolError: {error}"), error), told_above);
            assert_eq!(report_of(error, error), told_above);
            assert_eq!(report_of(&format!("Error: it failed; caused by: Error: {error} (line 2)"), error), told_above);
        }
        for other in ["Error: the disk is busy", "Error: busy bees"] {
            assert_eq!(report_of(other, "busy"), "fs.read_file (read_only): failed: busy");
        }
    }

    #[test]
    fn a_text_is_shown_as_text_and_begins_no_line() {
        for (value, shown) in [
            (r#""plain""#, "text: plain"),
            (r#""a \"quoted\" {\"b\": 1}""#, "text: a \"quoted\" {\"b\": 1}"),
            (r#""first\n\tsecond\n\nlogs:""#, "text:\n  first\n  \tsecond\n  \n  logs:"),
            (r#""over\rwritten\u001b""#, "text: over\\rwritten\\u{1b}"),
            (r#""""#, r#""""#),
            (r#"" padded ""#, r#"" padded ""#),
            (r#"["a\nb"]"#, r#"["a\nb"]"#),
            ("null", "null"),
        ] {
            let value = JsonText::parse(value.to_owned(), &belljar_model::JsonBounds::with_bytes(100)).expect("JSON");
            let outcome = Outcome {
                run: Some(belljar_model::RunId::from_bits(7)),
                result: Ok(value),
                ..Outcome::refused(RunError::new(ErrorKind::Internal, ""))
            };
            assert_eq!(report(&outcome), shown);
        }
    }
}
