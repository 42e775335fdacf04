//! Call stacks, in positions of the author's source.

use std::fmt::Write as _;

use belljar_guest_source::{self as source, MAIN, Position, SCRIPT_NAME};

use crate::waits::Waiting;

/// How the files of scripts with names begin, in stacks.
pub const NAMED_SCRIPTS: &str = "skills/";

/// A call that was going on.
pub struct Frame {
    function: String,
    /// The file of a script with a name; none of the script itself.
    file: Option<String>,
    pub position: Position,
}

impl Frame {
    /// Where it is, if that is in a script with a name: `skills/NAME.ts:3:5`.
    pub fn in_named(&self) -> Option<String> {
        let Position { line, column } = self.position;
        self.file.as_ref().map(|file| format!("{file}:{line}:{column}"))
    }

    /// Where it is, if that is in the script itself.
    pub fn in_script(&self) -> Option<Position> {
        self.file.is_none().then_some(self.position)
    }
}

/// The frames of the script, and of the scripts with names that it calls, in a stack as the engine
/// writes it, the innermost first. Others, such as those of built-in functions, have no place in
/// the author's source.
pub fn frames(raw: &str) -> Vec<Frame> {
    raw.lines().filter_map(|line| frame(line.trim().strip_prefix("at ")?)).collect()
}

fn frame(line: &str) -> Option<Frame> {
    let (function, place) = line.rsplit_once(" (")?;
    let mut parts = place.trim_end_matches(')').rsplitn(3, ':');
    let (column, line, path) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?);
    if path == SCRIPT_NAME {
        return Some(Frame { function: named(function), file: None, position: source::original(line, column)? });
    }
    let position = source::original_in(path.strip_prefix(NAMED_SCRIPTS).map(|_| path)?, line, column)?;
    Some(Frame { function: named(function), file: Some(path.to_owned()), position })
}

/// The frames of functions that wait.
pub fn of_waiting(waiting: &[Waiting]) -> Vec<Frame> {
    waiting.iter().map(|wait| Frame { function: named(&wait.function), file: None, position: wait.position }).collect()
}

/// A function that waits, in a sentence.
pub fn line_of_waiting(waiting: &Waiting) -> String {
    format!("{} (line {})", named(&waiting.function), waiting.position.line)
}

/// What a function is called. The engine gives any that has no name that of a program.
fn named(function: &str) -> String {
    match function {
        MAIN => "<main>",
        "" | "<main>" => "<anonymous>",
        function => function,
    }
    .to_owned()
}

/// The frames, a line each, if there are any.
pub fn text(frames: &[Frame]) -> Option<String> {
    (!frames.is_empty()).then(|| lines(frames, "").join("\n"))
}

/// A stack as scripts expect to read it: a headline, and an indented line for each frame.
pub fn with_headline(headline: &str, raw: &str) -> String {
    let mut text = headline.to_owned();
    for line in lines(&frames(raw), "    ") {
        let _ = write!(text, "\n{line}");
    }
    text
}

fn lines(frames: &[Frame], indentation: &str) -> Vec<String> {
    let line = |frame: &Frame| {
        let Frame { function, file, position: Position { line, column } } = frame;
        let file = file.as_deref().unwrap_or(SCRIPT_NAME);
        format!("{indentation}at {function} ({file}:{line}:{column})")
    };
    frames.iter().map(line).collect()
}
