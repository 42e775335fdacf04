//! Questions with several wishes: "read file list directory" is about two tools, and both should be
//! found.
//!
//! A wish begins with a verb and has an object. Adjacent verbs share one: "read write file"
//! contains two wishes.

use crate::{
    bounds::{QUERY_WORDS, WISHES},
    words::{split, stem},
};

/// Verbs that hardly ever name a thing.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "add", "append", "calculate", "compare", "compute", "convert", "copy", "create", "delete", "describe", "download", "edit",
    "execute", "fetch", "find", "get", "insert", "list", "make", "move", "navigate", "read", "remove", "rename", "retrieve",
    "run", "save", "search", "send", "store", "summarize", "take", "update", "upload", "write",
];
/// Words between two wishes, which belong to neither.
const BETWEEN: [&str; 4] = ["and", "then", "or", "also"];

/// The wishes of a question, each as a question of its own; empty if there is only one.
pub(crate) fn wishes(text: &str) -> Vec<String> {
    let clauses: Vec<&str> = text.split([',', ';', '\n']).filter(|clause| !clause.trim().is_empty()).collect();
    let is_list = clauses.len() > 1;
    let mut wishes: Vec<String> = clauses.iter().flat_map(|clause| of_clause(clause, is_list)).take(WISHES).collect();
    if wishes.len() < 2 {
        wishes.clear();
    }
    wishes
}

/// The wishes of a part without commas. If there are several parts, any part with two words is a
/// wish, whatever its verb.
fn of_clause(clause: &str, is_one_of_several: bool) -> Vec<String> {
    let mut words = split(clause);
    words.truncate(QUERY_WORDS);
    words.retain(|word| !BETWEEN.contains(&word.as_str()));
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for word in words.iter().map(String::as_str) {
        let is_verb = is_verb(word);
        match groups.last_mut() {
            Some((verbs, objects)) if is_verb && objects.is_empty() => verbs.push(word),
            Some((_, objects)) if !is_verb => objects.push(word),
            _ if is_verb => groups.push((vec![word], Vec::new())),
            // Words before the first verb belong to every wish.
            _ => {}
        }
    }
    let of_group = |(verbs, objects): &(Vec<&str>, Vec<&str>)| -> Vec<String> {
        let of = |verb: &&str| format!("{verb} {}", objects.join(" "));
        if objects.is_empty() { Vec::new() } else { verbs.iter().map(of).collect() }
    };
    let wishes: Vec<String> = groups.iter().flat_map(of_group).take(WISHES).collect();
    match wishes.is_empty() && is_one_of_several && words.len() > 1 {
        true => vec![words.join(" ")],
        false => wishes,
    }
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
        assert_eq!(
            wishes("create branch, stage files, commit the changes; done"),
            ["create branch", "stage files", "commit the changes"]
        );
        assert_eq!(wishes("read write file"), ["read file", "write file"]);
        for one in [
            "read a file",
            "git log commits",
            "list",
            "the file list",
            "",
            "run sql query",
            "commit history",
            "files, folders",
        ] {
            assert_eq!(wishes(one), Vec::<String>::new(), "{one}");
        }
        assert_eq!(wishes(&"read file ".repeat(100_000)).len(), WISHES);
    }
}
