//! The parts of WASI that are served: the functions and resources of each interface, so that
//! anything else is reported before a component is compiled. A test compares `wasi.txt` with the
//! packages of wasmtime-wasi.

/// One line for each interface, with its items.
const ITEMS: &str = include_str!("wasi.txt");
/// The version of WASI that is served.
const VERSION: &str = "0.2.";
/// The most missing items that are named.
const MAX_NAMED: usize = 5;

/// Whether an import belongs to WASI, and which of its items are not served: `None` if it does not
/// belong to WASI, or if nothing of its interface is served.
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
