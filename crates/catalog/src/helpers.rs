//! The functions of `tools`, which belong to no server. A search for one returns how to call it.

use crate::words::split;

/// Each function, and how to call it.
const HELPERS: [(&str, &str); 6] = [
    (
        "parse",
        "tools.parse(text, notation?: \"json\" | \"jsonl\" | \"python\" | \"keys\" | \"csv\"), at once and without await: CSV gives an array of \
         objects whose values are strings, JSON lines an array, front matter and other lines of `key: value` an object with what follows as body",
    ),
    ("raw", "await tools.raw(path, args) gives the whole answer of a tool: { content, structuredContent, isError }"),
    ("call", "await tools.call(path, args) calls a tool by its path, such as \"fs.read_file\""),
    ("search", "await tools.search(words, limit?) gives [{ path, effect, summary, declaration }]"),
    (
        "describe",
        "await tools.describe(path) gives { path, effect, description, signature, declaration, inputSchema, outputSchema }",
    ),
    ("list", "await tools.list(server?) gives [{ path, effect, summary }]"),
];

/// Words of a search for which `tools.parse` may be the answer.
const NOTATIONS: [&str; 6] = ["parse", "csv", "tsv", "jsonl", "ndjson", "frontmatter"];

/// How to call the function with this path, such as `tools.parse`.
pub(crate) fn by_path(text: &str) -> Option<String> {
    let name = text.strip_prefix("tools.")?;
    let name = name.split('(').next().unwrap_or(name);
    HELPERS.iter().find(|(known, _)| *known == name).map(|(_, call)| format!("every script has {call}"))
}

/// How to call the function that helps with this query.
pub(crate) fn for_wish(text: &str) -> Option<String> {
    let words = split(text);
    let is_front_matter = words.windows(2).any(|pair| pair == ["front", "matter"]);
    let is_notation = words.iter().any(|word| NOTATIONS.contains(&word.as_str()));
    (is_front_matter || is_notation).then(|| by_path("tools.parse")).flatten()
}
