//! Questions that wish for several things: "read file list directory" is about two tools, and each is to be found.
//!
//! A wish begins with a verb and has something that it is about. Verbs side by side share that: "read write file" wishes for both.

use crate::{
    bounds::{QUERY_WORDS, WISHES},
    words::{split, stem},
};

/// What is done with things, in words that hardly ever name a thing.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "add", "append", "calculate", "compare", "compute", "convert", "copy", "create", "delete", "describe", "download", "edit",
    "execute", "fetch", "find", "get", "insert", "list", "make", "move", "navigate", "read", "remove", "rename", "retrieve",
    "run", "save", "search", "send", "store", "summarize", "take", "update", "upload", "write",
];
/// Words between two wishes, which belong to none.
const BETWEEN: [&str; 4] = ["and", "then", "or", "also"];

/// The wishes of a question, each as a question of its own; none where it wishes for one thing.
pub(crate) fn wishes(text: &str) -> Vec<String> {
    let mut words = split(text);
    words.truncate(QUERY_WORDS);
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for word in words.iter().map(String::as_str).filter(|word| !BETWEEN.contains(word)) {
        let is_verb = is_verb(word);
        match groups.last_mut() {
            Some((verbs, objects)) if is_verb && objects.is_empty() => verbs.push(word),
            Some((_, objects)) if !is_verb => objects.push(word),
            _ if is_verb => groups.push((vec![word], Vec::new())),
            // What stands before the first verb is about all of it.
            _ => {}
        }
    }
    let wishes = groups.iter().filter(|(_, objects)| !objects.is_empty()).flat_map(|(verbs, objects)| {
        let of = move |verb: &&str| format!("{verb} {}", objects.join(" "));
        verbs.iter().map(of)
    });
    let mut wishes: Vec<String> = wishes.take(WISHES).collect();
    if wishes.len() < 2 {
        wishes.clear();
    }
    wishes
}

fn is_verb(word: &str) -> bool {
    VERBS.iter().any(|verb| *verb == word || stem(verb) == stem(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verb_with_something_after_it_is_a_wish() {
        assert_eq!(wishes("read file list directory"), ["read file", "list directory"]);
        assert_eq!(
            wishes("Search files, then read the files and write a summary"),
            ["search files", "read the files", "write a summary"]
        );
        assert_eq!(wishes("read write file"), ["read file", "write file"]);
        for one in ["read a file", "git log commits", "list", "the file list", "", "run sql query", "commit history"] {
            assert_eq!(wishes(one), Vec::<String>::new(), "{one}");
        }
        assert_eq!(wishes(&"read file ".repeat(100_000)).len(), WISHES);
    }
}
