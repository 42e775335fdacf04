//! The rule for names in WIT.
//!
//! 1. A name is cut into words: at every character that is not an ASCII letter or digit, and where
//!    lower case or a digit is followed by upper case (`fooBar`, `HTTPServer`: `http-server`). The
//!    words are joined with `-`, in lower case. A word that begins with a digit gets `n` before it,
//!    since not every reader of WIT takes such words. At most 64 characters are kept.
//! 2. A name without any word is `unnamed`.
//! 3. If several names of servers or tools become equal, the one that had this form already keeps
//!    it. Each of the others gets `-h` and eight digits, the hash of its exact name (`own`). A name
//!    that has the form takes it from another that had it alone. A name that would seem to end in a
//!    mark gets `-h` too, since only the names of errors end in one.
//! 4. If several names of members, cases or types become equal, the one that had this form already
//!    keeps it, or else the first in the order of their bytes. The others get the first free one of
//!    `-n2`, `-n3` and so on.
//!
//! So nothing is dropped, and names do not depend on the order of a list. Keywords of WIT
//! (`record`, `from`) are written with `%` before them, which is not part of the name.
//!
//! Names are for those who write components. A built component is bound to its tools by marks
//! (`mark`), which depend on nothing but the tool, since a name may belong to another tool some
//! day.

use std::collections::{HashMap, HashSet};

use belljar_model::ToolPath;
use sha2::{Digest as _, Sha256};

use crate::bounds::WIT_NAME_CHARS;

/// The name of a name without words.
const UNNAMED: &str = "unnamed";
/// The first character of a mark.
const MARK: char = 't';
/// Bytes of the hash in a mark. Whoever wants a tool with the mark of another has to try 2^80
/// names.
const MARK_BYTES: usize = 10;

/// The names of the configured servers' packages, in their order: `mcp-github`.
pub fn packages(servers: &[&str]) -> Vec<String> {
    assign_lasting(servers, &[]).into_iter().map(|name| format!("mcp-{name}")).collect()
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

/// The name without what other names change about it.
fn base(exact: &str) -> String {
    Some(kebab(exact)).filter(|base| !base.is_empty()).unwrap_or_else(|| UNNAMED.to_owned())
}

/// The name that depends on no other: the words, and the hash of the exact name.
pub(super) fn own(exact: &str) -> String {
    format!("{}-h{:08x}", base(exact), hash(exact))
}

/// What distinguishes a tool from any other, even if others choose names to imitate it: `t`, and
/// twenty digits of the SHA-256 of its server's name and its own.
pub fn mark(path: &ToolPath) -> String {
    let (server, tool) = (path.server(), path.tool());
    // The length makes sure that no two paths give the same text.
    let digest: [u8; 32] = Sha256::digest(format!("belljar tool {}:{server}.{tool}", server.len())).into();
    let digits = digest.iter().take(MARK_BYTES).map(|byte| format!("{byte:02x}"));
    std::iter::once(MARK.to_string()).chain(digits).collect()
}

/// Whether a text has the form of a mark.
pub fn is_mark(text: &str) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    text.strip_prefix(MARK)
        .is_some_and(|digits| digits.len() == 2 * MARK_BYTES && digits.as_bytes().iter().all(is_digit))
}

/// Whether a name could be that of a function's error.
pub(super) fn ends_in_mark(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(_, last)| is_mark(last))
}

/// The 32-bit FNV-1a hash. It only distinguishes names: two names with the same hash can be made on
/// purpose.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The names of one list that components are built with, in its order. None of them is one of
/// `reserved`.
pub(super) fn assign_lasting(exact: &[&str], reserved: &[&str]) -> Vec<String> {
    let bases: Vec<String> = exact.iter().map(|exact| base(exact)).collect();
    let mut claimants: HashMap<&str, usize> = reserved.iter().map(|name| (*name, 2)).collect();
    bases.iter().for_each(|base| *claimants.entry(base).or_default() += 1);
    let is_reserved = |base: &String| reserved.contains(&base.as_str());
    let wanted: Vec<String> = exact
        .iter()
        .zip(&bases)
        .map(|(exact, base)| match claimants.get(base.as_str()) {
            _ if ends_in_mark(base) => own(exact),
            Some(1) => base.clone(),
            _ if exact == base && !is_reserved(base) => base.clone(),
            _ => own(exact),
        })
        .collect();
    // Names that also have the same hash are distinguished by numbers.
    let mut order: Vec<(bool, &str, usize)> =
        exact.iter().zip(&wanted).enumerate().map(|(at, (exact, wanted))| (exact != wanted, *exact, at)).collect();
    order.sort_unstable();
    let mut claims = Claims::new(reserved.iter().copied(), &wanted);
    let mut names = vec![String::new(); exact.len()];
    for (_, _, at) in order {
        if let (Some(name), Some(wanted)) = (names.get_mut(at), wanted.get(at)) {
            *name = claims.claim(wanted);
        }
    }
    names
}

/// The names of one list, in its order. None of them is one of `reserved`.
pub(super) fn assign(exact: &[&str], reserved: &[&str]) -> Vec<String> {
    let bases: Vec<String> = exact.iter().map(|exact| base(exact)).collect();
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
        assert_eq!(packages(&["github", "my_fs", "my-fs"]), ["mcp-github", "mcp-my-fs-hf134228f", "mcp-my-fs"]);
    }

    #[test]
    fn a_mark_is_of_one_path_and_of_no_list() {
        let tools = [("a", "b_c"), ("a", "b-c"), ("a", "bC"), ("a-b", "c"), ("a_b", "c"), ("a", "b.c"), ("a.b", "c")];
        let marks: HashSet<String> = tools.iter().map(|(server, tool)| mark(&ToolPath::new(*server, *tool))).collect();
        assert!(marks.len() == tools.len() && marks.iter().all(|mark| is_mark(mark)), "{marks:?}");
        assert_eq!(mark(&ToolPath::new("github", "create_issue")), "t68d1ff4c2a952f2e67d7", "built components have it");
        let digits = "0123456789abcdef0123";
        assert!(is_mark(&format!("t{digits}")));
        for other in ["", "t", "t01234567", digits] {
            assert!(!is_mark(other), "{other}");
        }
        for other in ["t{}", "t{}01", "t{}g", "t{}A", "h{}0"].map(|form| form.replace("{}", &digits[1..])) {
            assert!(!is_mark(&other), "{other}");
        }
    }

    #[test]
    fn equal_names_are_told_apart_by_what_each_is_and_not_by_an_order() {
        let of = |tools: &[&str]| assign_lasting(tools, &["json"]);
        let both = of(&["foo_bar", "fooBar", "json", "other"]);
        assert_eq!(both, [own("foo_bar"), own("fooBar"), own("json"), "other".to_owned()]);
        // Alone, it keeps the short name.
        assert_eq!(of(&["foo_bar"]), ["foo-bar"]);
        assert_ne!(own("foo_bar"), own("fooBar"));
        // A name that has the form takes it.
        assert_eq!(of(&["foo-bar", "foo_bar"]), ["foo-bar".to_owned(), own("foo_bar")]);
        // Names with the same hash are still distinguished.
        let twice = of(&["a!", "a!"]);
        assert!(twice[0] != twice[1], "{twice:?}");
    }
}
