//! The file of variables that an entry may name: `KEY=value` lines, as in the `.env` files of
//! editors and shells.
//!
//! Its values are usually secrets, so an error names the line by its number, and contains nothing
//! of its text.

use std::{collections::BTreeMap, path::Path};

use crate::{error::ConfigErrorKind, error::Field, file};

/// Reads the variables of the file at `path`. Nothing in it is expanded.
pub(crate) fn read(path: &Path, field: &Field) -> Result<BTreeMap<String, String>, ConfigErrorKind> {
    let unusable = |problem: String| ConfigErrorKind::EnvFile { field: field.clone(), problem };
    let text = file::read(path).map_err(|fault| unusable(fault.to_string()))?;
    variables(text.strip_prefix('\u{feff}').unwrap_or(&text))
        .map_err(|(line, problem)| unusable(format!("line {line} {problem}")))
}

fn variables(text: &str) -> Result<BTreeMap<String, String>, (usize, &'static str)> {
    let mut variables = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at = |problem| (index + 1, problem);
        let assignment = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = assignment.split_once('=').ok_or(at("is not NAME=value"))?;
        let name = name.trim();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        if name.is_empty() || !name.bytes().all(is_name) {
            return Err(at("does not begin with the name of a variable"));
        }
        let value = value_of(value.trim()).ok_or(at("has a quotation mark that is not closed, or text after it"))?;
        if value.contains('\0') {
            return Err(at("holds a NUL"));
        }
        variables.insert(name.to_owned(), value);
    }
    Ok(variables)
}

/// A value without its quotation marks or the comment after it. If a name occurs twice, the last
/// one counts, as in a shell.
fn value_of(text: &str) -> Option<String> {
    if let Some(rest) = text.strip_prefix('\'') {
        let (value, after) = rest.split_once('\'')?;
        return is_comment(after).then(|| value.to_owned());
    }
    let Some(rest) = text.strip_prefix('"') else {
        let end = text.find(" #").unwrap_or(text.len());
        let value = if text.starts_with('#') { "" } else { text.get(..end).unwrap_or(text) };
        return Some(value.trim_end().to_owned());
    };
    let (mut value, mut characters) = (String::new(), rest.chars());
    loop {
        match characters.next()? {
            '"' => return is_comment(characters.as_str()).then_some(value),
            '\\' => match characters.next()? {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                escaped @ ('"' | '\\' | '$') => value.push(escaped),
                other => value.extend(['\\', other]),
            },
            character => value.push(character),
        }
    }
}

fn is_comment(text: &str) -> bool {
    let text = text.trim_start();
    text.is_empty() || text.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_shells_and_editors_do() {
        let text = "# a comment\n\nA=1\nexport B = two words # comment\nC='sing$le # not'\nD=\"a\\\"b\\n\\x\" # c\nE=\nF=#\nA=last\nG=a#b\n";
        let expected = [
            ("A", "last"),
            ("B", "two words"),
            ("C", "sing$le # not"),
            ("D", "a\"b\n\\x"),
            ("E", ""),
            ("F", ""),
            ("G", "a#b"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(variables(text), Ok(BTreeMap::from(expected)));
    }

    #[test]
    fn a_wrong_line_is_named_by_its_number_alone() {
        for (text, line) in [("A=1\nsesame\n", 2), ("=sesame", 1), ("\n\nA B=sesame", 3), ("A='sesame", 1)] {
            let (at, problem) = variables(text).expect_err(text);
            assert_eq!(at, line, "{text}");
            assert!(!problem.contains("sesame"), "{problem}");
        }
        for text in ["A=\"sesame", "A=\"x\" sesame", "A='x'sesame", "A=x\0"] {
            assert!(variables(text).is_err(), "{text:?}");
        }
    }
}
