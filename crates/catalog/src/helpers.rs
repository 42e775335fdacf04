//! The functions of `tools`, which no server has: who searches for one is told how it is called.

use crate::words::split;

/// Each function, and how it is called.
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

/// Words of a search that `tools.parse` answers, or helps with.
const NOTATIONS: [&str; 6] = ["parse", "csv", "tsv", "jsonl", "ndjson", "frontmatter"];

/// How the function is called whose path the text is, such as `tools.parse`.
pub(crate) fn by_path(text: &str) -> Option<String> {
    let name = text.strip_prefix("tools.")?;
    let name = name.split('(').next().unwrap_or(name);
    HELPERS.iter().find(|(known, _)| *known == name).map(|(_, call)| format!("every script has {call}"))
}

/// How the function is called that helps with what is asked for.
pub(crate) fn for_wish(text: &str) -> Option<String> {
    let words = split(text);
    let is_front_matter = words.windows(2).any(|pair| pair == ["front", "matter"]);
    let is_notation = words.iter().any(|word| NOTATIONS.contains(&word.as_str()));
    (is_front_matter || is_notation).then(|| by_path("tools.parse")).flatten()
}
