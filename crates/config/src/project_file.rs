//! The file in which a project describes itself: `.serena/project.yml`, or another that the owner
//! names.
//!
//! The file is in the project, whose authors are not the owner: its size is bounded, its paths stay
//! below its folder, and its contents affect only where calls are routed. Only texts and lists of
//! texts are read from the YAML. Everything else is ignored, and no alias is followed.

use std::path::{Path, PathBuf};

use belljar_model::Project;
use saphyr_parser::{Event, Parser};

use crate::{error::shown, file};

/// The largest file, in bytes: some thousand lines.
const FILE_BYTES: u64 = 64 * 1024;
/// The deepest nesting of values. Serena's files have three levels.
const DEPTH: usize = 32;

/// The contents of the file.
#[derive(Debug, Default)]
struct Said {
    path: Option<String>,
    languages: Vec<String>,
    concerns: Vec<String>,
    hints: Vec<String>,
}

/// Adds the contents of the file wherever the owner has not set a value.
///
/// # Errors
/// What is wrong with the file, without quoting it.
pub(crate) fn add(project: &mut Project, path: &Path) -> Result<(), String> {
    let root = root_of(path)?;
    let real = path.canonicalize().map_err(|error| error.to_string())?;
    if !real.starts_with(&root) {
        return Err("it leads out of its folder".to_owned());
    }
    let text = file::read_within(&real, FILE_BYTES).map_err(|fault| fault.to_string())?;
    let said = read(&text)?;
    if project.path.is_none() {
        project.path = Some(match &said.path {
            None => root,
            Some(path) => {
                let found = below(&root, path)?;
                project.within = Some(root);
                found
            }
        });
    }
    for (own, said) in [
        (&mut project.languages, said.languages),
        (&mut project.concerns, said.concerns),
        (&mut project.hints, said.hints),
    ] {
        if own.is_empty() {
            *own = said;
        }
    }
    Ok(())
}

/// The folder of the project: that of the file, or the one around it if that is hidden.
fn root_of(path: &Path) -> Result<PathBuf, String> {
    let folder = path.parent().ok_or("it is not in a folder")?;
    let is_hidden = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let root = if is_hidden { folder.parent().unwrap_or(folder) } else { folder };
    root.canonicalize().map_err(|error| error.to_string())
}

/// The folder that a path in the file refers to.
fn below(root: &Path, path: &str) -> Result<PathBuf, String> {
    let said = shown(path);
    let real = root.join(path).canonicalize().map_err(|error| format!("'path' {said} cannot be resolved: {error}"))?;
    if real.starts_with(root) { Ok(real) } else { Err(format!("'path' {said} leads out of the folder of the project")) }
}

/// Reads the known keys at the top level.
fn read(text: &str) -> Result<Said, String> {
    let mut reader = Reader { parser: Parser::new_from_str(text), depth: 0 };
    let mut said = Said::default();
    loop {
        match reader.next()? {
            Event::StreamEnd => return Ok(said),
            Event::MappingStart(..) => break,
            Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
            // An empty document is a null.
            Event::Scalar(text, ..) if text.is_empty() || text == "~" || text == "null" => {}
            _ => return Err("it is not a mapping".to_owned()),
        }
    }
    loop {
        let name = match reader.next()? {
            Event::MappingEnd => return Ok(said),
            Event::Scalar(name, ..) => name.into_owned(),
            other => {
                reader.pass_over(&other)?;
                String::new()
            }
        };
        match name.as_str() {
            "path" => said.path = Some(reader.text("path")?),
            "language" | "languages" => said.languages.extend(reader.texts("languages")?),
            "concerns" => said.concerns = reader.texts("concerns")?,
            "hints" => said.hints = reader.texts("hints")?,
            _ => {
                let value = reader.next()?;
                reader.pass_over(&value)?;
            }
        }
    }
}

struct Reader<'t> {
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<Event<'t>, String> {
        match self.parser.next_event() {
            None => Ok(Event::StreamEnd),
            Some(Ok((Event::Alias(_), span))) => {
                Err(format!("line {}: it has an alias, and none is followed", span.start.line()))
            }
            Some(Ok((event, span))) => {
                match event {
                    Event::MappingStart(..) | Event::SequenceStart(..) => self.depth += 1,
                    Event::MappingEnd | Event::SequenceEnd => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
                if self.depth > DEPTH {
                    return Err(format!("line {}: more than {DEPTH} values are within each other", span.start.line()));
                }
                Ok(event)
            }
            Some(Err(error)) => Err(format!("line {}: it is not YAML", error.marker().line())),
        }
    }

    /// Skips the value that begins with `event`.
    fn pass_over(&mut self, event: &Event<'t>) -> Result<(), String> {
        let mut open = usize::from(matches!(event, Event::MappingStart(..) | Event::SequenceStart(..)));
        while open > 0 {
            match self.next()? {
                Event::MappingStart(..) | Event::SequenceStart(..) => open += 1,
                Event::MappingEnd | Event::SequenceEnd => open -= 1,
                Event::StreamEnd => return Err("it ends in the middle".to_owned()),
                _ => {}
            }
        }
        Ok(())
    }

    fn text(&mut self, name: &str) -> Result<String, String> {
        match self.next()? {
            Event::Scalar(text, ..) if !text.is_empty() => Ok(text.into_owned()),
            _ => Err(format!("'{name}' is not a text")),
        }
    }

    /// A list of texts, or a single text instead of a list.
    fn texts(&mut self, name: &str) -> Result<Vec<String>, String> {
        let not_texts = || format!("'{name}' is not a list of texts");
        let mut texts = Vec::new();
        match self.next()? {
            Event::Scalar(text, ..) if text.is_empty() || text == "~" || text == "null" => return Ok(texts),
            Event::Scalar(text, ..) => texts.push(text.into_owned()),
            Event::SequenceStart(..) => loop {
                match self.next()? {
                    Event::Scalar(text, ..) => texts.push(text.into_owned()),
                    Event::SequenceEnd => break,
                    _ => return Err(not_texts()),
                }
                if texts.len() > Project::MOST_TERMS {
                    return Err(format!("'{name}' has more than {} texts", Project::MOST_TERMS));
                }
            },
            _ => return Err(not_texts()),
        }
        match texts.iter().find(|text| !is_term(text)) {
            Some(_) => Err(format!("'{name}' has a text that is not one to eight words")),
            None => Ok(texts),
        }
    }
}

/// Whether a text can be one or several words that describe a project.
pub(crate) fn is_term(text: &str) -> bool {
    let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).count();
    text.len() <= Project::TERM_BYTES && (1..=Project::TERM_WORDS).contains(&words) && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_too_strange_to_be_answered() {
        const SEED: &[u8] = b"# s\n--- !t\nname: &a \"x\\u0041\"\nlanguages: [go, 'c#']\nhints:\n- |2\n  a\n- >-\n  b\n? k\n: {a: [1, {b: *a}]}\n...\n%YAML 1.2\n---\n\tx";
        const SIGNS: &[u8] = b"\n\t :-?[]{},#&*!|>'\"%@`~\\\0\xef\xbb\xbf\xc2\x85a1";
        // A generator by Knuth: it makes the same texts each time.
        let mut state = 1_u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap_or_default() % below
        };
        let mut read_well = 0;
        for _ in 0..20_000 {
            let mut bytes = SEED.get(..next(SEED.len())).unwrap_or_default().to_vec();
            for _ in 0..next(6) {
                let sign = SIGNS.get(next(SIGNS.len())).copied().unwrap_or_default();
                let at = next(bytes.len() + 1);
                bytes.insert(at, sign);
            }
            read_well += usize::from(read(&String::from_utf8_lossy(&bytes)).is_ok());
        }
        assert!((1..20_000).contains(&read_well), "{read_well}");
    }
}
