//! What of WASI is answered: the functions and resources of each interface, so that anything else
//! is named before a component is compiled. A test holds `wasi.txt` against the packages of
//! wasmtime-wasi.

/// A line for each interface, with its items.
const ITEMS: &str = include_str!("wasi.txt");
/// The version of WASI that is answered.
const VERSION: &str = "0.2.";
/// Items that are named, of those that there are not.
const MAX_NAMED: usize = 5;

/// Whether an import is of WASI, and what of it is not answered: `None` if it is not of WASI, or is
/// of an interface without any answer.
pub(crate) fn answered<'a>(import: &str, items: impl Iterator<Item = &'a str>) -> Option<Result<(), String>> {
    let (interface, version) = import.split_once('@').unwrap_or((import, ""));
    let known = ITEMS.lines().find_map(|line| line.strip_prefix(interface)?.strip_prefix(' '))?;
    if !version.starts_with(VERSION) {
        return Some(Err("belljar answers WASI 0.2".to_owned()));
    }
    let is_known = |item: &str| known.split(' ').any(|known| known == item);
    let unknown: Vec<&str> = items.filter(|item| !is_known(item)).collect();
    if unknown.is_empty() {
        return Some(Ok(()));
    }
    let named: Vec<String> = unknown.iter().take(MAX_NAMED).map(|item| crate::imports::shown(item)).collect();
    let more = unknown.len() - named.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    Some(Err(format!("belljar does not offer {}{more} of it", named.join(", "))))
}
