//! Values separated by commas, semicolons, tabs or bars, with names in the first line.
//!
//! A value in double quotes may hold separators, ends of lines, and doubled quotes (RFC 4180).

use std::collections::BTreeSet;

/// A table: its names, which differ, and as many values in each row.
pub struct Table {
    pub names: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// Why a text is not a table.
pub struct Error {
    pub what: String,
    /// Counted from 1.
    pub line: usize,
}

const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];

/// `is_asked_for` where the author says that it is CSV: otherwise one column is not a table, and
/// neither is a line of names alone.
///
/// # Errors
/// It is not such a table, and why.
pub fn read(text: &str, is_asked_for: bool) -> Result<Table, Error> {
    let text = text.trim_start_matches('\u{feff}');
    let separator = SEPARATORS
        .into_iter()
        .max_by_key(|separator| {
            let names = Records { rest: text, separator: *separator, line: 1 }.next();
            // Of equals, the first counts.
            let place = SEPARATORS.iter().rev().position(|other| other == separator).unwrap_or_default();
            (names.and_then(Result::ok).map_or(0, |(_, names)| names.len()), place)
        })
        .unwrap_or(',');
    let mut records = Records { rest: text, separator, line: 1 };
    let fault = |what: String, line| Err(Error { what, line });
    let names = match records.next() {
        Some(names) => names?.1,
        None if is_asked_for => Vec::new(),
        None => return fault("there is nothing".to_owned(), 1),
    };
    if !is_asked_for && names.len() < 2 {
        return fault("one column is not a table".to_owned(), 1);
    }
    let names = distinct(&names);
    let mut rows = Vec::new();
    for record in records {
        let (line, values) = record?;
        if values.len() != names.len() {
            return fault(format!("{} values for {} names", values.len(), names.len()), line);
        }
        rows.push(values);
    }
    if rows.is_empty() && !is_asked_for {
        return fault("one line is not a table".to_owned(), 1);
    }
    Ok(Table { names, rows })
}

/// Names that differ: what stands twice is numbered, and what has no name is named by its column.
fn distinct(names: &[String]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut distinct = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let mut name = match name.trim() {
            "" => format!("column_{}", index + 1),
            name => name.to_owned(),
        };
        if taken.contains(&name) {
            name = format!("{name}_{}", index + 1);
        }
        while taken.contains(&name) {
            name.push('_');
        }
        taken.insert(name.clone());
        distinct.push(name);
    }
    distinct
}

/// The records of a text, each with the line in which it begins. Empty lines are none.
struct Records<'text> {
    rest: &'text str,
    separator: char,
    line: usize,
}

impl Iterator for Records<'_> {
    type Item = Result<(usize, Vec<String>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let first = self.rest.lines().next()?;
            if !first.trim().is_empty() {
                break;
            }
            self.rest = self.rest.get(first.len()..)?;
            self.end_line();
        }
        let begins = self.line;
        let mut values = Vec::new();
        loop {
            match self.value() {
                Ok(value) => values.push(value),
                Err(fault) => {
                    self.rest = "";
                    return Some(Err(fault));
                }
            }
            match self.rest.strip_prefix(self.separator) {
                Some(rest) => self.rest = rest,
                None => break,
            }
        }
        self.end_line();
        Some(Ok((begins, values)))
    }
}

impl Records<'_> {
    fn value(&mut self) -> Result<String, Error> {
        let Some(quoted) = self.rest.strip_prefix('"') else {
            let ends = |character: char| character == self.separator || character == '\n' || character == '\r';
            let (value, rest) = self.rest.split_at(self.rest.find(ends).unwrap_or(self.rest.len()));
            self.rest = rest;
            return Ok(value.to_owned());
        };
        let opened = self.line;
        let mut value = String::new();
        let mut rest = quoted;
        loop {
            let Some((before, after)) = rest.split_once('"') else {
                let what = "a quote is never closed".to_owned();
                return Err(Error { what, line: opened });
            };
            value.push_str(before);
            self.line += before.matches('\n').count();
            match after.strip_prefix('"') {
                Some(after) => {
                    value.push('"');
                    rest = after;
                }
                None => {
                    rest = after;
                    break;
                }
            }
        }
        self.rest = rest;
        if rest.is_empty() || rest.starts_with([self.separator, '\n', '\r']) {
            return Ok(value);
        }
        let what = "text follows a closing quote".to_owned();
        Err(Error { what, line: self.line })
    }

    /// Passes over the end of a line, if one comes next.
    fn end_line(&mut self) {
        let rest = self.rest.strip_prefix("\r\n").or_else(|| self.rest.strip_prefix(['\n', '\r']));
        if let Some(rest) = rest {
            self.rest = rest;
            self.line += 1;
        }
    }
}
