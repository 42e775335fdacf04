//! Finds the name that an author meant, if an argument has a different one.

use belljar_model::nearest;

/// The most bytes of a name that are compared.
const LONGEST_COMPARED: usize = 128;

/// The least cost of comparing two names, in comparisons of two characters.
const COMPARED_AT_LEAST: usize = 512;

/// The cost of searching `known` for the name that `given` was meant to be, in comparisons of two
/// characters.
pub(crate) fn comparisons(given: &str, known: &[&str]) -> usize {
    let each = |name: &&str| given.len().min(LONGEST_COMPARED) * name.len().min(LONGEST_COMPARED) + COMPARED_AT_LEAST;
    known.iter().map(each).sum()
}

/// The name in `known` that `given` was probably meant to be.
///
/// This allows for a typing error, an extra or missing word, or a shortened name: `file_path` for
/// `path`, `warn` for `warning`.
pub(crate) fn meant<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    nearest(given, known.iter().copied()).or_else(|| {
        let words = words(given);
        let shares = |name: &&&str| {
            let other = self::words(name);
            let (few, many) = if words.len() < other.len() { (&words, &other) } else { (&other, &words) };
            let begins = given.len() >= 3 && (name.starts_with(given) || given.starts_with(**name));
            begins || (!few.is_empty() && few.iter().all(|word| many.contains(word)))
        };
        let mut sharing = known.iter().filter(shares);
        // If there are several, it is unclear which one was meant.
        sharing.next().filter(|_| sharing.next().is_none()).copied()
    })
}

/// The words of a name in lower case, the same for `filePath`, `file_path` and `file-path`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for character in name.chars().take(LONGEST_COMPARED) {
        let begins = character.is_uppercase() && was_lower;
        if begins || !character.is_alphanumeric() {
            words.push(String::new());
        }
        was_lower = character.is_lowercase();
        if character.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_and_a_word_more_or_less_are_forgiven() {
        assert_eq!(meant("pth", &["path", "head"]), Some("path"));
        assert_eq!(meant("file_path", &["path", "head"]), Some("path"));
        assert_eq!(meant("filePath", &["path", "content"]), Some("path"));
        assert_eq!(meant("name", &["entityName", "contents"]), Some("entityName"));
        assert_eq!(meant("warn", &["error", "warning"]), Some("warning"));
        assert_eq!(meant("path", &["sourcePath", "targetPath"]), None);
        assert_eq!(meant("zebra", &["path", "head"]), None);
        assert_eq!(meant("", &["path"]), None);
    }
}
