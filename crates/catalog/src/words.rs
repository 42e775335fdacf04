//! Splits text into the words that are indexed and looked up, the same way for both.

use std::{borrow::Cow, sync::OnceLock};

use crate::bounds::{FIELD_BYTES, WORD_CHARS};

/// Words that occur in every description and distinguish none, sorted. A word that can be a whole
/// name (`get`, `list`) is not included.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "also", "am", "an", "and", "another", "any", "are", "as", "at", "be", "been", "before",
    "between", "but", "by", "can", "could", "did", "do", "does", "each", "every", "for", "from", "had", "has", "have",
    "here", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "me", "my", "need", "needs", "no",
    "not", "of", "on", "one", "only", "or", "other", "others", "out", "please", "should", "since", "so", "some",
    "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "three", "to",
    "two", "until", "up", "us", "use", "used", "uses", "using", "want", "was", "we", "were", "what", "when", "where",
    "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

/// Words that people and tools use for one another: the everyday verbs of computing, and its nouns
/// that have two names. The list is general on purpose; a word belongs here if it means the same
/// for every server. A word may be in several groups.
#[rustfmt::skip]
const SYNONYMS: &[&[&str]] = &[
    &["get", "read", "fetch", "retrieve", "show", "view", "load", "see", "display", "print", "inspect", "return"],
    &["list", "enumerate", "get", "show"],
    &["create", "make", "new", "add", "open", "start"],
    &["add", "append", "insert", "put", "attach"],
    &["delete", "remove", "erase", "destroy", "forget", "discard"],
    &["update", "edit", "modify", "change", "patch", "set", "replace", "rewrite", "overwrite", "alter", "adjust"],
    &["search", "find", "query", "lookup", "look", "locate", "discover", "match"],
    &["run", "execute", "evaluate", "perform"],
    &["open", "navigate", "visit", "go", "browse", "load"],
    &["rename", "move", "relocate"],
    &["save", "write", "store", "record", "remember", "persist", "keep"],
    &["record", "capture", "take"],
    &["send", "post", "submit", "publish"],
    &["press", "hit"],
    &["click", "tap"],
    &["fill", "type", "enter", "input"],
    &["select", "choose", "pick", "switch"],
    &["switch", "checkout", "toggle", "turn"],
    &["upload", "attach"],
    &["wait", "pause", "sleep", "delay"],
    &["start", "begin", "launch", "trigger"],
    &["stop", "end", "finish", "halt"],
    &["undo", "revert", "reset", "restore"],
    &["simulate", "emulate", "mimic", "pretend", "fake", "mock"],
    &["compare", "difference", "diff"],
    &["check", "verify", "audit", "status"],
    &["copy", "duplicate", "clone"],
    &["compress", "zip", "gzip"],
    &["join", "merge", "combine"],
    &["approve", "review"],
    &["reply", "comment", "respond"],
    &["directory", "folder", "dir"],
    &["url", "website", "site", "web", "link", "address"],
    &["javascript", "js", "script"],
    &["image", "picture", "photo", "screenshot"],
    &["video", "screencast", "movie"],
    &["repository", "repo"],
    &["page", "tab"],
    &["dialog", "popup", "alert", "prompt", "modal"],
    &["history", "log"],
    &["size", "big", "large", "small", "dimension"],
    &["relation", "relationship", "link", "connection"],
    &["person", "people", "user", "member"],
    &["database", "db"],
    &["environment", "env"],
    &["slow", "throttle", "performance"],
    &["speed", "performance", "fast"],
    &["bug", "issue", "ticket"],
    &["pr", "pull"],
    &["insert", "write"],
    &["latest", "recent", "newest", "last"],
    &["note", "memo", "observation"],
    &["fact", "observation"],
    &["info", "information", "metadata", "detail"],
    &["column", "field", "property", "schema"],
    &["clock", "time", "date", "hour"],
    &["add", "sum", "total", "plus"],
    &["request", "http", "network"],
];

/// The stems of a text's words, without stop words, at most `most` of them. Only the first
/// [`FIELD_BYTES`] are looked at.
pub(crate) fn words(text: &str, most: usize) -> Vec<String> {
    let mut stems = Vec::new();
    each_stem(text, most, |stem| stems.push(stem.to_owned()));
    stems
}

/// The same, one after another, for callers that do not keep them.
pub(crate) fn each_stem(text: &str, most: usize, mut found: impl FnMut(&str)) {
    let mut count = 0;
    each_word(text, |word| {
        if count < most && STOP_WORDS.binary_search(&word).is_err() {
            count += 1;
            found(&stem(word));
        }
    });
}

/// The stems of neighbouring words, joined: "screen shot" may be "screenshot", and "check out"
/// "checkout".
pub(crate) fn joined_pairs(text: &str, most: usize) -> Vec<String> {
    split(text).windows(2).take(most).map(|pair| stem(&pair.concat()).into_owned()).collect()
}

/// The stems of the synonyms of this stem, each once.
pub(crate) fn synonyms(of: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for group in synonym_stems() {
        if group.iter().any(|stem| stem == of) {
            for stem in group.iter().filter(|stem| *stem != of) {
                if !found.contains(stem) {
                    found.push(stem.clone());
                }
            }
        }
    }
    found
}

fn synonym_stems() -> &'static [Vec<String>] {
    static STEMS: OnceLock<Vec<Vec<String>>> = OnceLock::new();
    STEMS.get_or_init(|| {
        SYNONYMS.iter().map(|group| group.iter().map(|word| stem(word).into_owned()).collect()).collect()
    })
}

/// The words of a question. A thing of a known kind, such as a URL or a pattern, becomes that
/// kind's word.
pub(crate) fn question_words(text: &str, most: usize) -> Vec<String> {
    let mut found = Vec::new();
    for part in text.split_whitespace() {
        if part.contains("://") || part.starts_with("www.") {
            found.push(stem("url").into_owned());
        } else if part.starts_with("*.") || part.contains("/*") {
            found.push(stem("pattern").into_owned());
        } else {
            found.extend(words(part, most.saturating_sub(found.len())));
        }
    }
    found.truncate(most);
    found
}

/// A name without case and separators, which is equal for all spellings of a name.
pub(crate) fn folded(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The words in lower case.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_word(text, |word| words.push(word.to_owned()));
    words
}

/// The words in lower case, one after another. They end at anything but letters and digits, and at
/// the humps of camelCase; a character of a script without spaces is a word by itself.
fn each_word(text: &str, mut found: impl FnMut(&str)) {
    let mut word = String::new();
    let mut length = 0_usize;
    let mut end = |word: &mut String, length: &mut usize| {
        *length = 0;
        if !word.is_empty() {
            found(word);
            word.clear();
        }
    };
    let mut before = ' ';
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if at >= FIELD_BYTES {
            break;
        }
        if !character.is_alphanumeric() {
            // An apostrophe does not end a word: "doesn't", "page's".
            if !(matches!(character, '\'' | '’') && before.is_alphanumeric()) {
                end(&mut word, &mut length);
            }
        } else {
            let mut next_is_lower = || characters.peek().is_some_and(|(_, next)| next.is_lowercase());
            let may_hump = character.is_uppercase() && before.is_alphanumeric();
            let hump = may_hump && (!before.is_uppercase() || next_is_lower());
            if hump || is_ideograph(character) || is_ideograph(before) {
                end(&mut word, &mut length);
            }
            if length < WORD_CHARS {
                match character.is_ascii() {
                    true => word.push(character.to_ascii_lowercase()),
                    false => word.extend(character.to_lowercase()),
                }
                length += 1;
            }
        }
        before = character;
    }
    end(&mut word, &mut length);
}

fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// The word without its plural, its `-ing` or `-ed` and a final `e`. This is good enough for
/// English descriptions, and where it is wrong, it is wrong the same way on both sides.
pub(crate) fn stem(word: &str) -> Cow<'_, str> {
    if word.len() <= 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(word);
    }
    let many = word.strip_suffix("ies").or_else(|| word.strip_suffix("ied")).filter(|root| root.len() > 1);
    if let Some(root) = many {
        return Cow::Owned(format!("{root}y"));
    }
    let singular = if ["sses", "shes", "ches", "xes", "zes"].iter().any(|end| word.ends_with(end)) {
        word.strip_suffix("es").unwrap_or(word)
    } else if ["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        word
    } else {
        word.strip_suffix('s').unwrap_or(word)
    };
    let root = singular.strip_suffix("ing").or_else(|| singular.strip_suffix("ed"));
    let root = match root.filter(|root| root.len() >= 3 && root.contains(['a', 'e', 'i', 'o', 'u', 'y'])) {
        Some(root) => without_double(root),
        None => singular,
    };
    Cow::Borrowed(root.strip_suffix('e').filter(|root| root.len() >= 3).unwrap_or(root))
}

/// `stopp` is `stop`; `call`, `pass` and `buzz` stay.
fn without_double(root: &str) -> &str {
    let shorter = root.strip_suffix(|_: char| true).unwrap_or(root);
    match (root.chars().next_back(), shorter.chars().next_back()) {
        (Some(one), Some(other)) if one == other && !matches!(one, 'l' | 's' | 'z' | 'e' | 'o') => shorter,
        _ => root,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_separators_and_humps() {
        assert_eq!(split("read_text-file.v2"), ["read", "text", "file", "v2"]);
        assert_eq!(split("getHTMLElementById parseURL"), ["get", "html", "element", "by", "id", "parse", "url"]);
        assert_eq!(split("the page's 東京 time"), ["the", "pages", "東", "京", "time"]);
        assert_eq!(split("!!! -- ()"), Vec::<String>::new());
        assert_eq!(split(&"x".repeat(1_000_000)), ["x".repeat(WORD_CHARS)]);
    }

    #[test]
    fn words_that_tell_nothing_are_passed_over_and_do_not_count() {
        assert!(STOP_WORDS.is_sorted(), "they are looked for by halves");
        assert_eq!(words("the Files of a folder, and the others", 99), ["fil", "folder"]);
        assert_eq!(words("the Files of a folder", 1), ["fil"]);
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            ["file", "files", "filed", "filing"],
            ["query", "queries", "queried", "querying"],
            ["stop", "stops", "stopped", "stopping"],
            ["create", "creates", "created", "creating"],
            ["match", "matches", "matched", "matching"],
            ["call", "calls", "called", "calling"],
        ] {
            let stems: Vec<_> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{stems:?}");
        }
        for word in ["string", "css", "status", "this", "ping", "url"] {
            assert!(word.starts_with(&*stem(word)) && stem(word).len() + 1 >= word.len(), "{word}");
        }
    }

    #[test]
    fn a_word_has_its_synonyms_and_no_others() {
        assert_eq!(synonyms(&stem("renaming")), ["mov", "relocat"]);
        assert!(synonyms("zebra").is_empty());
        for group in synonym_stems() {
            let unique: std::collections::BTreeSet<&String> = group.iter().collect();
            assert_eq!(unique.len(), group.len(), "a word stands in a group twice: {group:?}");
        }
    }
}
