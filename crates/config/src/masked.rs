//! A server's entry for display: its whole command, and none of its secrets.
//!
//! Whether a value is a secret depends on its place: the values of `env` and `headers`, OAuth's
//! client secret, the name, password and query of a URL, and the argument of options like
//! `--token`. In addition, anything that looks like a token is masked everywhere. A reference to a
//! variable is not a secret, and is shown. The variables that decide which code a program loads are
//! also shown, because a user who is asked to trust an entry must see them.
//!
//! A stranger who wrote an entry could hide a command behind the name of a secret (`TOKEN=$(curl
//! …)`): in such an entry, text that a shell would act on is never masked.

pub(crate) mod names;

use serde_json::{Map, Value};

use names::{is_secret, loads_code, looks_like_token};

/// Replaces a secret, as in all of belljar's texts.
pub use belljar_model::MASK;

/// The most characters of one text that are shown. A command has some 100 characters; for a longer
/// text, the number of missing characters is shown.
const CHARACTERS: usize = 2_000;
/// The most values of one list or table that are shown.
const VALUES: usize = 200;

/// The author of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// The user, whose secrets are in the entry.
    User,
    /// Anybody else: possible commands are shown even where a secret could be.
    Stranger,
}

/// An entry as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The command with its arguments, quoted as for a shell, or the URL.
    pub what: String,
    /// The other keys of the entry.
    pub details: Vec<String>,
}

/// The entry with its secrets masked.
pub fn entry(entry: &Map<String, Value>, author: Author) -> Map<String, Value> {
    entry.iter().map(|(key, value)| (key.clone(), of_key(key, value, author))).collect()
}

impl Shown {
    /// The entry as text, with its secrets masked. The caller makes control characters visible.
    pub fn of(entry: &Map<String, Value>, author: Author) -> Self {
        let masked = self::entry(entry, author);
        let text = |key: &str| masked.get(key).and_then(Value::as_str);
        let mut what = text("command").or_else(|| text("url")).or_else(|| text("builtin")).map(quoted);
        if let (Some(what), Some(Value::Array(arguments))) = (&mut what, masked.get("args")) {
            for argument in arguments.iter().take(VALUES) {
                what.push(' ');
                what.push_str(&words(argument));
            }
            what.push_str(&more(arguments.len()));
        }
        let first = ["command", "url", "builtin"].into_iter().find(|key| text(key).is_some());
        let rest = masked.iter().filter(|(key, _)| Some(key.as_str()) != first && *key != "args");
        let details = rest.map(|(key, value)| format!("{}: {}", quoted(key), words(value)));
        Self { what: what.unwrap_or_default(), details: details.collect() }
    }
}

/// The value of a key of an entry, masked.
fn of_key(key: &str, value: &Value, author: Author) -> Value {
    match (key, value) {
        ("env", Value::Object(entries)) => {
            let masked = |(name, value): (&String, &Value)| (name.clone(), of_variable(name, value, author));
            Value::Object(entries.iter().map(masked).collect())
        }
        // Nothing executes the value of a header, whoever wrote it and whatever its name is.
        ("headers", Value::Object(entries)) => {
            let masked = |(name, value): (&String, &Value)| (name.clone(), of_header(value));
            Value::Object(entries.iter().map(masked).collect())
        }
        (_, Value::Object(entries)) => Value::Object(entry(entries, author)),
        (_, Value::Array(values)) => {
            let mut masker = Masker { author, is_next: is_secret(key) };
            Value::Array(values.iter().map(|value| masker.value(key, value)).collect())
        }
        (_, Value::String(text)) if is_secret(key) => Value::String(hidden(text)),
        (_, Value::String(text)) => Value::String(Masker { author, is_next: false }.argument(text)),
        (_, other) => other.clone(),
    }
}

fn of_variable(name: &str, value: &Value, author: Author) -> Value {
    match value {
        Value::String(text) if loads_code(name) => Value::String(Masker { author, is_next: false }.argument(text)),
        // A stranger does not know the user's secrets, and any variable may contain a command for a
        // shell.
        Value::String(text) if author == Author::Stranger => {
            let mut masker = Masker { author, is_next: false };
            Value::String(if is_secret(name) { masker.secret(text) } else { masker.argument(text) })
        }
        other => of_header(other),
    }
}

fn of_header(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(hidden(text)),
        Value::Null | Value::Bool(_) => value.clone(),
        _ => Value::String(MASK.to_owned()),
    }
}

/// The mask, unless the text contains no secret.
fn hidden(text: &str) -> String {
    if text.is_empty() || is_reference(text) { text.to_owned() } else { MASK.to_owned() }
}

/// Whether a text is only `${NAME}`, possibly after a scheme. A reference with a default does not
/// count, because the default could be a secret.
fn is_reference(text: &str) -> bool {
    let text = match text.split_once(' ') {
        Some((scheme, rest)) if is_scheme(scheme) => rest,
        _ => text,
    };
    let name = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| !name.contains(['$', '{', '}']) && !name.contains(":-"))
}

/// Whether a word is one that precedes a secret in a header.
fn is_scheme(word: &str) -> bool {
    ["bearer", "basic", "token", "apikey"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Goes through the arguments of a command, or through the words of one text.
struct Masker {
    author: Author,
    /// Whether the next word is a secret, because of the one before it.
    is_next: bool,
}

impl Masker {
    fn value(&mut self, key: &str, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.argument(text)),
            other => of_key(key, other, self.author),
        }
    }

    fn argument(&mut self, text: &str) -> String {
        if self.is_next && !text.starts_with('-') && !text.split(char::is_whitespace).next().is_some_and(is_scheme) {
            self.is_next = false;
            return self.secret(text);
        }
        // The secret in a separate argument is the whole argument, whatever it contains.
        if self.author == Author::User
            && let Some((name, value)) = text.split_once('=')
            && is_secret(name)
            && !value.starts_with(is_quote)
        {
            return format!("{name}={}", hidden(value));
        }
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let after = rest.get(first.len_utf8()..).unwrap_or_default();
            if is_quote(first)
                && self.is_next
                && let Some((quoted, after)) = after.split_once(first)
            {
                self.is_next = false;
                shown.push(first);
                shown.push_str(&self.secret(quoted));
                shown.push(first);
                rest = after;
            } else if first.is_whitespace() || is_quote(first) {
                shown.push(first);
                rest = after;
            } else {
                let end = rest.find(|character: char| character.is_whitespace() || is_quote(character));
                let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
                shown.push_str(&self.word(word));
                rest = after;
            }
        }
        shown
    }

    fn word(&mut self, word: &str) -> String {
        if is_scheme(word) {
            self.is_next = true;
            return word.to_owned();
        }
        if std::mem::take(&mut self.is_next) && !word.starts_with('-') {
            return self.secret(word);
        }
        // `--token=X`, `TOKEN=X`; `--token X`; `Authorization: X`.
        for separator in ['=', ':'] {
            if let Some((name, value)) = word.split_once(separator)
                && is_secret(name)
                && !(separator == ':' && value.starts_with("//"))
            {
                self.is_next = value.is_empty() || is_scheme(value);
                let value = if self.is_next { value.to_owned() } else { self.secret(value) };
                return format!("{name}{separator}{value}");
            }
        }
        if word.starts_with('-') && is_secret(word) {
            self.is_next = true;
            return word.to_owned();
        }
        if word.contains("://") {
            return self.url(word);
        }
        match word.split_once('=') {
            Some((name, value)) if looks_like_token(value) => format!("{name}={MASK}"),
            _ if looks_like_token(word) => MASK.to_owned(),
            _ => word.to_owned(),
        }
    }

    /// A URL without its name and password, the values of its query and its fragment, and the parts
    /// of its path that look like tokens.
    fn url(&self, url: &str) -> String {
        let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
        let (rest, fragment) = rest.split_once('#').map_or((rest, None), |(rest, fragment)| (rest, Some(fragment)));
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
        let (authority, path) = rest.split_once('/').map_or((rest, None), |(authority, path)| (authority, Some(path)));
        let mut shown = format!("{scheme}://");
        match authority.rsplit_once('@') {
            Some((user, host)) => shown.push_str(&format!("{}@{host}", self.secret(user))),
            None => shown.push_str(authority),
        }
        for part in path.into_iter().flat_map(|path| path.split('/')) {
            shown.push('/');
            shown.push_str(if looks_like_token(part) { MASK } else { part });
        }
        if let Some(query) = query {
            let pairs = query.split('&').map(|pair| match pair.split_once('=') {
                Some((name, value)) => format!("{name}={}", self.secret(value)),
                None => self.secret(pair),
            });
            shown.push('?');
            shown.push_str(&pairs.collect::<Vec<_>>().join("&"));
        }
        if let Some(fragment) = fragment {
            shown.push('#');
            shown.push_str(&self.secret(fragment));
        }
        shown
    }

    fn secret(&self, text: &str) -> String {
        if self.author == Author::Stranger && text.contains(acts_in_a_shell) { text.to_owned() } else { hidden(text) }
    }
}

fn is_quote(character: char) -> bool {
    matches!(character, '\'' | '"')
}

/// Whether a character has a meaning to a shell, so that the text could contain a command.
fn acts_in_a_shell(character: char) -> bool {
    character.is_whitespace() || "$`\\'\"|&;<>(){}[]*?!".contains(character)
}

/// A value on one line.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(values) => {
            let shown: Vec<String> = values.iter().take(VALUES).map(words).collect();
            format!("{}{}", shown.join(" "), more(values.len()))
        }
        Value::Object(entries) => {
            let pair = |(name, value): (&String, &Value)| format!("{}={}", quoted(name), words(value));
            let shown: Vec<String> = entries.iter().take(VALUES).map(pair).collect();
            format!("{}{}", shown.join(" "), more(entries.len()))
        }
        other => other.to_string(),
    }
}

/// The number of values that are not shown, if any.
fn more(count: usize) -> String {
    match count.checked_sub(VALUES) {
        None | Some(0) => String::new(),
        Some(more) => format!(" … ({more} more)"),
    }
}

/// A text quoted for a shell, so that the end of an argument is visible.
fn quoted(text: &str) -> String {
    let is_url = text.contains("://");
    let is_plain = |character: char| {
        character.is_alphanumeric() || "-_./:=@%+,~^".contains(character) || (is_url && "?#&".contains(character))
    };
    let end = text.char_indices().nth(CHARACTERS).map(|(end, _)| end);
    let (head, tail) = end.map_or((text, ""), |end| text.split_at(end));
    // The mask itself needs no quotes.
    let shown = if !head.is_empty() && head.replace(MASK, "").chars().all(is_plain) {
        head.to_owned()
    } else {
        format!("'{}'", head.replace('\'', "'\\''"))
    };
    match tail.chars().count() {
        0 => shown,
        more => format!("{shown}… ({more} more characters)"),
    }
}

#[cfg(test)]
mod tests;
