//! The JSON that is being written, with the brackets that are open.

use crate::{FaultKind, MAX_DEPTH};

/// What is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    List,
    /// A tuple, or an expression in parentheses: a comma makes it a tuple.
    Parentheses {
        has_comma: bool,
    },
    /// A set or a dict: which of them, a colon or a comma behind the first element tells.
    Braces,
    Set,
    /// A dict, in which a key comes next or was just read.
    Key,
    /// A dict, in which a value comes next or was just read.
    Value,
}

struct Level {
    open: Open,
    /// Where its bracket stands in the output.
    bracket: usize,
    /// Where its last element or key begins there.
    element: usize,
    is_empty: bool,
}

pub(crate) struct Output {
    pub(crate) json: String,
    levels: Vec<Level>,
}

impl Output {
    /// For the JSON of a text with so many bytes.
    pub(crate) fn for_bytes(bytes: usize) -> Self {
        Self { json: String::with_capacity(bytes + bytes / 8), levels: Vec::new() }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.levels.is_empty()
    }

    /// A value begins: what separates it from the one before is written now, since a comma may also
    /// be the last thing in a list.
    pub(crate) fn begin_value(&mut self) {
        let Some(level) = self.levels.last_mut() else { return };
        if !level.is_empty && level.open != Open::Value {
            self.json.push(',');
        }
        if level.open != Open::Value {
            level.element = self.json.len();
        }
        level.is_empty = false;
    }

    pub(crate) fn push(&mut self, bracket: char) -> Result<(), FaultKind> {
        if self.levels.len() >= MAX_DEPTH {
            return Err(FaultKind::Depth);
        }
        self.begin_value();
        let (open, written) = match bracket {
            '(' => (Open::Parentheses { has_comma: false }, '['),
            '{' => (Open::Braces, '{'),
            _ => (Open::List, '['),
        };
        let bracket = self.json.len();
        self.levels.push(Level { open, bracket, element: bracket, is_empty: true });
        self.json.push(written);
        Ok(())
    }

    /// A comma behind a value.
    pub(crate) fn comma(&mut self) -> Result<(), FaultKind> {
        let Some(level) = self.levels.last_mut() else { return Err(FaultKind::Unexpected) };
        level.open = match level.open {
            Open::Parentheses { .. } => Open::Parentheses { has_comma: true },
            Open::Braces => {
                self.json.replace_range(level.bracket..=level.bracket, "[");
                Open::Set
            }
            Open::Key => return Err(FaultKind::Unexpected),
            Open::Value => Open::Key,
            other => other,
        };
        Ok(())
    }

    /// A colon behind a key, which JSON has as a text.
    pub(crate) fn colon(&mut self) -> Result<(), FaultKind> {
        let Some(level) = self.levels.last_mut() else { return Err(FaultKind::Unexpected) };
        if !matches!(level.open, Open::Braces | Open::Key) {
            return Err(FaultKind::Unexpected);
        }
        match self.json.as_bytes().get(level.element) {
            Some(b'"') => {}
            // A space is what is left of a parenthesis.
            Some(b'[' | b'{' | b' ') | None => return Err(FaultKind::Key),
            // A key that is a number or a constant is the last thing written, and short.
            Some(_) => {
                self.json.insert(level.element, '"');
                self.json.push('"');
            }
        }
        self.json.push(':');
        level.open = Open::Value;
        Ok(())
    }

    /// A closing bracket. `is_after_comma` where the last thing read was a comma.
    pub(crate) fn close(&mut self, bracket: char, is_after_comma: bool) -> Result<(), FaultKind> {
        let Some(level) = self.levels.pop() else { return Err(FaultKind::Unexpected) };
        match (level.open, bracket) {
            (Open::List, ']') | (Open::Set, '}') => self.json.push(']'),
            (Open::Parentheses { has_comma }, ')') if has_comma || level.is_empty => self.json.push(']'),
            (Open::Parentheses { .. }, ')') => {
                self.json.replace_range(level.bracket..=level.bracket, " ");
            }
            (Open::Braces, '}') if level.is_empty => self.json.push('}'),
            (Open::Braces, '}') => {
                self.json.replace_range(level.bracket..=level.bracket, "[");
                self.json.push(']');
            }
            (Open::Value, '}') => self.json.push('}'),
            (Open::Key, '}') if is_after_comma => self.json.push('}'),
            _ => return Err(FaultKind::Unexpected),
        }
        Ok(())
    }
}
