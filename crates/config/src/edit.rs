//! Small changes to a belljar.toml: adds or removes a server. Everything else in it stays the same,
//! to the byte.
//!
//! A change is made to the text, and then the old and the new text are both parsed: a change that
//! would affect anything else is refused.

use std::{ops::Range, path::Path};

use toml_edit::{Document, Item, Table};

use crate::{Config, ConfigError, Format, Variables, document, parse, tree};

/// A server to add.
#[derive(Debug, Clone)]
pub struct NewServer {
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub reached: Reached,
    /// Whether it has state that must not be lost.
    pub stateful: bool,
    /// Whether it is started before it is needed.
    pub warm: bool,
}

/// How a new server is reached.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Reached {
    /// A program.
    Command { command: String, args: Vec<String>, env: Vec<(String, String)> },
    /// A remote server.
    Url { url: String, headers: Vec<(String, String)> },
}

/// Why a configuration was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what each field is")]
pub enum EditError {
    /// The configuration or the new server is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The name is taken.
    #[error("there is a server '{name}' already")]
    Exists { name: String },
    /// There is no such server.
    #[error("there is no server '{name}'")]
    Unknown { name: String, nearest: Option<String> },
    /// The change would affect something else.
    #[error("'{name}' is written in a form that this command cannot change: edit the file by hand")]
    Form { name: String },
}

/// The text of a belljar.toml in `folder`, with another server added at its end.
///
/// # Errors
/// [`EditError`], also if the text was already invalid.
pub fn added(text: &str, folder: &Path, server: &NewServer) -> Result<String, EditError> {
    let (before, names) = read(text, folder)?;
    let name = server.name.clone();
    if names.contains(&name) {
        return Err(EditError::Exists { name });
    }
    let table = server.to_toml();
    let (alone, _) = read(&table, folder)?;
    let gap = match text {
        "" => "",
        _ if text.ends_with("\n\n") => "",
        _ if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let text = format!("{text}{gap}{table}");
    // The old text was valid, so only the combination can be invalid.
    let (after, _) = read(&text, folder).map_err(|_| EditError::Form { name: name.clone() })?;
    let expected = Config { servers: [before.servers.clone(), alone.servers].concat(), ..before };
    if after == expected { Ok(text) } else { Err(EditError::Form { name }) }
}

/// The text of a belljar.toml in `folder`, without one server and without the comment directly
/// above it.
///
/// # Errors
/// [`EditError`], also if the text was already invalid.
pub fn removed(text: &str, folder: &Path, name: &str) -> Result<String, EditError> {
    let (before, names) = read(text, folder)?;
    if !names.iter().any(|there| there == name) {
        let nearest = belljar_model::nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
        return Err(EditError::Unknown { name: name.to_owned(), nearest });
    }
    let form = || EditError::Form { name: name.to_owned() };
    let mut shorter = text.to_owned();
    let mut cuts = cuts(text, name).ok_or_else(form)?;
    cuts.sort_by_key(|cut| std::cmp::Reverse(cut.start));
    for cut in cuts {
        shorter.replace_range(cut, "");
    }
    let (after, left) = read(&shorter, folder).map_err(|_| form())?;
    let servers = before.servers.iter().filter(|server| server.name != name).cloned().collect();
    let expected = Config { servers, ..before };
    let others: Vec<&String> = names.iter().filter(|there| *there != name).collect();
    if after == expected && left.iter().eq(others) { Ok(shorter) } else { Err(form()) }
}

/// The configuration in a text, and the names of all servers in it, including disabled ones.
/// Variables need not be set for this.
fn read(text: &str, folder: &Path) -> Result<(Config, Vec<String>), ConfigError> {
    let variables = Variables {
        environment: &|_| Some("https://unset.invalid".to_owned()),
        home: Some(Path::new("/")),
        workspace: Some(Path::new("/")),
    };
    let config = parse(text, Format::Toml, folder, &variables)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = tree::parse(text, Format::Toml).map_err(|located| located.into_error(text))?;
    Ok((config, document::server_names(&root)))
}

impl NewServer {
    fn to_toml(&self) -> String {
        let mut table = format!("[servers.{}]\n", key(&self.name));
        let mut line = |name: &str, value: String| table.push_str(&format!("{name} = {value}\n"));
        let texts =
            |texts: &[String]| format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "));
        let pairs = |pairs: &[(String, String)]| {
            let pairs = pairs.iter().map(|(name, value)| format!("{} = {}", key(name), quoted(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        };
        match &self.reached {
            Reached::Command { command, args, env } => {
                line("command", quoted(command));
                if !args.is_empty() {
                    line("args", texts(args));
                }
                if !env.is_empty() {
                    line("env", pairs(env));
                }
            }
            Reached::Url { url, headers } => {
                line("url", quoted(url));
                if !headers.is_empty() {
                    line("headers", pairs(headers));
                }
            }
        }
        for (name, is_so) in [("stateful", self.stateful), ("warm", self.warm)] {
            if is_so {
                line(name, "true".to_owned());
            }
        }
        table
    }
}

fn key(name: &str) -> String {
    let is_bare = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { quoted(name) }
}

/// Quotes a text as a TOML basic string.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            _ if character.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(character))),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// The parts of the text that belong to the server, or `None` if they cannot be separated from the
/// rest.
fn cuts(text: &str, name: &str) -> Option<Vec<Range<usize>>> {
    let document = Document::parse(text).ok()?;
    let servers = document.as_table().get("servers")?.as_table()?;
    let (key, item) = servers.get_key_value(name)?;
    if let Some(table) = item.as_table().filter(|table| !table.is_dotted()) {
        let (mut all, mut own) = (Vec::new(), Vec::new());
        headers(document.as_table(), &mut all);
        headers(table, &mut own);
        let cut = |header: &usize| {
            let next = all.iter().filter(|other| *other > header).min();
            let end = before_comments(text, next.map_or(text.len(), |next| line_start(text, *next)), true);
            let start = before_comments(text, line_start(text, *header), false);
            let is_last = text.get(end..).is_none_or(|rest| rest.trim().is_empty());
            let gap = text.get(..start).is_some_and(|before| before.ends_with("\n\n"));
            start - usize::from(gap && is_last)..end
        };
        return Some(own.iter().map(cut).collect());
    }
    let mut spans = Vec::new();
    match item {
        Item::Table(table) => leaves(table, &mut spans)?,
        item => spans.push(key.span()?.start..item.span()?.end),
    }
    let cut = |span: &Range<usize>| {
        let end = text.get(span.end..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| span.end + end + 1);
        line_start(text, span.start)..end
    };
    Some(spans.iter().map(cut).collect())
}

/// The positions of the headers of a table and of those below it.
fn headers(table: &Table, found: &mut Vec<usize>) {
    if !table.is_implicit() && !table.is_dotted() {
        found.extend(table.span().map(|span| span.start));
    }
    for (_, item) in table {
        match item {
            Item::Table(table) => headers(table, found),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|table| headers(table, found)),
            _ => {}
        }
    }
}

/// The positions of the entries of a dotted table.
fn leaves(table: &Table, found: &mut Vec<Range<usize>>) -> Option<()> {
    for (name, item) in table {
        match item {
            Item::Table(table) => leaves(table, found)?,
            item => found.push(table.get_key_value(name)?.0.span()?.start..item.span()?.end),
        }
    }
    Some(())
}

fn line_start(text: &str, offset: usize) -> usize {
    text.get(..offset).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}

/// The start of the comments directly above a line, including empty lines among them with `gaps`.
fn before_comments(text: &str, mut line: usize, gaps: bool) -> usize {
    while line > 0 {
        let above = line_start(text, line - 1);
        let content = text.get(above..line).unwrap_or_default().trim();
        if !(content.starts_with('#') || (gaps && content.is_empty())) {
            break;
        }
        line = above;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(text: &str, server: &NewServer) -> Result<String, EditError> {
        super::added(text, Path::new("/"), server)
    }

    fn removed(text: &str, name: &str) -> Result<String, EditError> {
        super::removed(text, Path::new("/"), name)
    }

    const TEXT: &str = "# mine\n[limits]\ntimeout = \"30s\" # short\n\n# files\n[servers.fs]\ncommand = 'npx'   # odd   spaces\n\n\
                        [servers.fs.env]\nKEY = '${KEY}'\n\n# the web\n[servers.web]\nurl = 'http://x'\n# the end\n";

    fn program(name: &str) -> NewServer {
        let reached = Reached::Command {
            command: "run me".into(),
            args: vec!["a\"b".into(), "c\\d\u{7f}\n".into()],
            env: vec![("A.B".into(), "1".into())],
        };
        NewServer { name: name.into(), reached, stateful: true, warm: false }
    }

    #[test]
    fn a_server_is_added_at_the_end_and_all_else_stays() {
        let text = added(TEXT, &program("a b")).expect("a text");
        let rest = text.strip_prefix(TEXT).expect("what was there");
        assert_eq!(
            rest,
            "\n[servers.\"a b\"]\ncommand = \"run me\"\nargs = [\"a\\\"b\", \"c\\\\d\\u007F\\n\"]\nenv = { \"A.B\" = \"1\" }\nstateful = true\n"
        );
        assert_eq!(added("", &program("x")).expect("a text").lines().next(), Some("[servers.x]"));
    }

    #[test]
    fn what_cannot_be_added_is_refused() {
        assert!(matches!(added(TEXT, &program("fs")), Err(EditError::Exists { .. })));
        for name in ["", "a.b", "a\nb", &"x".repeat(65)] {
            assert!(matches!(added(TEXT, &program(name)), Err(EditError::Config(_))), "{name}");
        }
        let inline = "servers = { fs = { command = 'x' } }\n";
        assert!(matches!(added(inline, &program("b")), Err(EditError::Form { .. })));
        assert!(matches!(added("[servers.fs]\ncomand = 'x'", &program("b")), Err(EditError::Config(_))));
    }

    #[test]
    fn a_server_is_removed_with_its_comment_and_all_else_stays() {
        assert_eq!(
            removed(TEXT, "fs").expect("a text"),
            "# mine\n[limits]\ntimeout = \"30s\" # short\n\n\n\n# the web\n[servers.web]\nurl = 'http://x'\n# the end\n"
        );
        let rest = removed(TEXT, "web").expect("a text");
        assert_eq!(rest, TEXT.replace("# the web\n[servers.web]\nurl = 'http://x'\n", ""));
    }

    #[test]
    fn a_server_is_removed_from_every_form_or_refused() {
        let forms = "[servers]\na = { command = 'x' } # one\nb.command = 'y'\nb.env.K = 'v'\nc.command = 'z'\n";
        assert_eq!(removed(forms, "a").expect("a text"), forms.replace("a = { command = 'x' } # one\n", ""));
        assert_eq!(removed(forms, "b").expect("a text"), forms.replace("b.command = 'y'\nb.env.K = 'v'\n", ""));
        let inline = "servers = { a = { command = 'x' }, b = { command = 'y' } }\n";
        assert!(matches!(removed(inline, "a"), Err(EditError::Form { .. })));
        assert!(matches!(removed(forms, "bb"), Err(EditError::Unknown { nearest: Some(near), .. }) if near == "b"));
    }

    #[test]
    fn what_was_added_can_be_removed_without_a_trace() {
        for text in [TEXT, "", "[limits]\n", "# only a comment\n"] {
            let longer = added(text, &program("new")).expect("a text");
            assert_eq!(removed(&longer, "new").expect("a text"), text);
        }
    }
}
