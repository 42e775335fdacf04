//! "Did you mean": the nearest of a set of names.

/// The longest name that is compared, in bytes. A longer one is not a typing error, and comparing
/// takes quadratic time.
const LONGEST_COMPARED: usize = 128;

/// The candidate that `name` was most likely meant to be, if any is near enough.
///
/// Case, `_`, `-` and `.` are ignored; in addition, about one typing error in three letters is
/// allowed. The first of equally near candidates wins, so the answer is deterministic for an
/// ordered iterator.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.is_empty() || name.len() > LONGEST_COMPARED {
        return None;
    }
    let wanted = folded(name);
    let allowed = (wanted.chars().count() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.into_iter().filter(|candidate| candidate.len() <= LONGEST_COMPARED) {
        let distance = strsim::osa_distance(&wanted, &folded(candidate));
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn folded(name: &str) -> String {
    name.chars().filter(|character| !matches!(character, '_' | '-' | '.')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_and_case_are_forgiven_and_strangers_are_not() {
        let names = ["read_file", "write_file", "list_directory"];
        assert_eq!(nearest("read_fil", names), Some("read_file"));
        assert_eq!(nearest("readFile", names), Some("read_file"));
        assert_eq!(nearest("wirte_file", names), Some("write_file"));
        assert_eq!(nearest("zebra", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest(&"r".repeat(1_000_000), names), None);
    }
}
