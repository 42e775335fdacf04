//! The rule for names in WIT.
//!
//! 1. A name is cut into words: at every character that is not an ASCII letter or digit, and where
//!    lower case or a digit is followed by upper case (`fooBar`, `HTTPServer`: `http-server`). The
//!    words are joined with `-`, in lower case. A word that begins with a digit gets `n` before it,
//!    since not every reader of WIT takes such words. At most 64 characters are kept.
//! 2. A name without any word is `unnamed`.
//! 3. If several names become equal, the one that had this form already keeps it, or else the first
//!    in the order of their bytes. The others get the first free one of `-n2`, `-n3` and so on.
//!
//! So nothing is dropped, and names do not depend on the order of a list. Keywords of WIT
//! (`record`, `from`) are written with `%` before them, which is not part of the name.

use std::collections::{HashMap, HashSet};

use crate::bounds::WIT_NAME_CHARS;

/// The name of a name without words.
const UNNAMED: &str = "unnamed";

/// The names of the configured servers' packages, in their order: `mcp-github`.
pub fn packages(servers: &[&str]) -> Vec<String> {
    assign(servers, &[]).into_iter().map(|name| format!("mcp-{name}")).collect()
}

/// The name as words of lower case, joined with `-`. Empty if it has no letter and no digit.
pub(super) fn kebab(text: &str) -> String {
    let mut name = String::new();
    let mut previous: Option<char> = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if !character.is_ascii_alphanumeric() {
            previous = None;
            continue;
        }
        let next_is_lower = characters.peek().is_some_and(char::is_ascii_lowercase);
        let begins = match previous {
            None => true,
            Some(previous) => character.is_ascii_uppercase() && (!previous.is_ascii_uppercase() || next_is_lower),
        };
        if name.len() + 2 >= WIT_NAME_CHARS {
            break;
        }
        if begins {
            if !name.is_empty() {
                name.push('-');
            }
            if character.is_ascii_digit() {
                name.push('n');
            }
        }
        name.push(character.to_ascii_lowercase());
        previous = Some(character);
    }
    name
}

/// The names of one list, in its order. None of them is one of `reserved`.
pub(super) fn assign(exact: &[&str], reserved: &[&str]) -> Vec<String> {
    let base = |name: &&str| Some(kebab(name)).filter(|base| !base.is_empty()).unwrap_or_else(|| UNNAMED.to_owned());
    let bases: Vec<String> = exact.iter().map(base).collect();
    let mut order: Vec<(bool, &str, usize)> =
        exact.iter().zip(&bases).enumerate().map(|(at, (exact, base))| (exact != base, *exact, at)).collect();
    order.sort_unstable();
    let mut claims = Claims::new(reserved.iter().copied(), &bases);
    let mut names = vec![String::new(); exact.len()];
    for (_, _, at) in order {
        if let (Some(name), Some(base)) = (names.get_mut(at), bases.get(at)) {
            *name = claims.claim(base);
        }
    }
    names
}

/// The names that are taken, and those that are reserved for their exact owners.
pub(super) struct Claims<'b> {
    taken: HashSet<String>,
    bases: HashSet<&'b str>,
    numbers: HashMap<String, usize>,
}

impl<'b> Claims<'b> {
    /// `reserved` are taken. A number never makes one of `bases`, which are still to be claimed.
    pub(super) fn new<'r>(reserved: impl Iterator<Item = &'r str>, bases: &'b [String]) -> Self {
        Self {
            taken: reserved.map(str::to_owned).collect(),
            bases: bases.iter().map(String::as_str).collect(),
            numbers: HashMap::new(),
        }
    }

    /// Claims `base`, or else the first free one of `base-n2`, `base-n3` and so on. The end of the
    /// last search is remembered, so that ten thousand equal names do not take quadratic time.
    pub(super) fn claim(&mut self, base: &str) -> String {
        if self.taken.insert(base.to_owned()) {
            return base.to_owned();
        }
        let number = self.numbers.entry(base.to_owned()).or_insert(2);
        loop {
            let numbered = format!("{base}-n{number}");
            *number += 1;
            if !self.bases.contains(numbered.as_str()) && self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_words() {
        for (exact, name) in [
            ("create_issue", "create-issue"),
            ("API-get-user", "api-get-user"),
            ("fooBar", "foo-bar"),
            ("HTTPServer", "http-server"),
            ("sha256Hash", "sha256-hash"),
            ("2fa", "n2fa"),
            ("a-1", "a-n1"),
            ("--a..b__", "a-b"),
            ("naïve", "na-ve"),
            ("日本", ""),
            ("record", "record"),
        ] {
            assert_eq!(kebab(exact), name, "{exact}");
        }
        assert!(kebab(&"xY".repeat(10_000)).len() <= WIT_NAME_CHARS);
    }

    #[test]
    fn every_name_of_a_list_gets_one_of_its_own() {
        let names = assign(&["foo_bar", "fooBar", "foo-bar", "foo.bar.n2", "日本", "", "json"], &["json"]);
        assert_eq!(names, ["foo-bar-n4", "foo-bar-n3", "foo-bar", "foo-bar-n2", "unnamed-n2", "unnamed", "json-n2"]);
        let reversed = assign(&["json", "", "日本", "foo.bar.n2", "foo-bar", "fooBar", "foo_bar"], &["json"]);
        assert!(names.iter().eq(reversed.iter().rev()), "the order of the list counts: {reversed:?}");
    }

    #[test]
    fn many_equal_names_cost_no_square() {
        let many = vec!["a!"; 20_000];
        let distinct: HashSet<String> = assign(&many, &[]).into_iter().collect();
        assert_eq!(distinct.len(), many.len());
    }

    #[test]
    fn servers_have_packages() {
        assert_eq!(packages(&["github", "my_fs", "my-fs"]), ["mcp-github", "mcp-my-fs-n2", "mcp-my-fs"]);
    }
}
