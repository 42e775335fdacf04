//! The part of a passage that shows why it was found. It is short, because what a model reads costs
//! tokens.

use std::{collections::BTreeSet, ops::Range};

/// Bytes of an excerpt.
pub(crate) const EXCERPT: usize = 600;
/// The fewest characters that two forms of a word have in common.
const LEAST_IN_COMMON: usize = 3;
/// The most words that are looked for.
const MOST_TERMS: usize = 32;

/// The part of a text that has the most of these words, in whole lines or else whole words, with an
/// ellipsis where something is left out. It is the whole text if none of the words is found, which
/// can happen because the index knows more forms of words.
pub(crate) fn excerpt(text: &str, words: &[String]) -> String {
    if text.len() <= EXCERPT {
        return text.to_owned();
    }
    let terms: BTreeSet<String> =
        words.iter().flat_map(|word| runs(word).map(|(_, run)| run.to_lowercase())).take(MOST_TERMS).collect();
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    for (at, run) in runs(text) {
        found.extend(terms.iter().enumerate().filter_map(|(term, word)| Some((place(at.clone(), run, word)?, term))));
    }
    let Some(best) = densest(&found) else { return text.to_owned() };
    let around = around(text, best);
    let (before, after) = (if around.start > 0 { "…" } else { "" }, if around.end < text.len() { "…" } else { "" });
    format!("{before}{}{after}", text.get(around).unwrap_or_default())
}

/// Where a run of letters matches a word: the word is part of it, or both have the same beginning,
/// like the forms of one word.
fn place(at: Range<usize>, run: &str, word: &str) -> Option<Range<usize>> {
    // The lower case of letters outside ASCII may have another length.
    if let Some(part) = run.find(word) {
        return Some(at.start + part..at.start + part + word.len());
    }
    let lower = run.to_lowercase();
    let common = lower.chars().zip(word.chars()).take_while(|(one, other)| one == other).count();
    let shorter = lower.chars().count().min(word.chars().count());
    let is_form = common >= LEAST_IN_COMMON && common * 5 >= shorter * 3;
    (is_form || lower.contains(word)).then(|| at.start..at.end.min(at.start + EXCERPT / 2))
}

/// The words of a text: runs of letters and digits.
fn runs(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text.get(rest..)?.find(char::is_alphanumeric)?;
        let run = text.get(start..)?;
        let end = start + run.find(|character: char| !character.is_alphanumeric()).unwrap_or(run.len());
        rest = end;
        Some((start..end, text.get(start..end)?))
    })
}

/// The range, within half an excerpt, of the places that have the most different stems.
fn densest(found: &[(Range<usize>, usize)]) -> Option<Range<usize>> {
    let of = |first: usize| {
        let (start, mut end) = (found.get(first)?.0.start, found.get(first)?.0.end);
        let mut stems = BTreeSet::new();
        for (at, stem) in found.iter().skip(first).take_while(|(at, _)| at.end <= start.saturating_add(EXCERPT / 2)) {
            if stems.insert(*stem) {
                end = at.end;
            }
        }
        Some((stems.len(), start..end))
    };
    // Of two that are equally good, the first wins.
    (0..found.len()).filter_map(of).rev().max_by_key(|(stems, _)| *stems).map(|(_, at)| at)
}

/// As much text around a place as fits into an excerpt.
fn around(text: &str, place: Range<usize>) -> Range<usize> {
    let place = text.floor_char_boundary(place.start)..text.ceil_char_boundary(place.end);
    let room = EXCERPT.saturating_sub(place.len());
    let start = place.start.saturating_sub(room / 2);
    let end = (start + EXCERPT).min(text.len());
    let start = text.ceil_char_boundary(end.saturating_sub(EXCERPT).min(place.start));
    let end = text.floor_char_boundary(end);
    let is_end = |at: usize| at == 0 || at == text.len();
    let before = text.get(start..place.start).unwrap_or_default();
    let after = text.get(place.end..end).unwrap_or_default();
    let start = match before.find('\n').or_else(|| before.find(char::is_whitespace)) {
        Some(at) if !is_end(start) => start + at + 1,
        _ => start,
    };
    let end = match after.rfind('\n').or_else(|| after.rfind(char::is_whitespace)) {
        Some(at) if !is_end(end) => place.end + at,
        _ => end,
    };
    // The character at its start may be a longer space.
    text.ceil_char_boundary(start)..end.max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_lines_with_the_words_are_shown_and_the_rest_is_left_out() {
        let line = |number: usize| format!("{number:04} a line of a log that says nothing at all\n");
        let mut text: String = (0..40).map(line).collect();
        text.replace_range(0..4, "refu");
        let said = "0020 the database REFUSED the connection\n";
        text.replace_range(20 * line(0).len()..21 * line(0).len(), said);
        let shown = excerpt(&text, &words("refused connections"));
        assert!(shown.contains(said) && shown.len() <= EXCERPT + 6, "{shown}");
        assert!(shown.starts_with("…00") && shown.ends_with("all…"), "{shown}");
        // The passage has the word in a form that is not recognised here.
        assert_eq!(excerpt(&text, &words("went")), text);
        for (written, searched) in [("fail", "failing"), ("policy", "policies"), ("connections", "connect")] {
            let text = format!("{}the {written} of it {}", "xyz ".repeat(300), "zyx ".repeat(300));
            let shown = excerpt(&text, &words(searched));
            assert!(shown.contains(written) && shown.len() <= EXCERPT + 6, "{searched}: {shown}");
        }
    }

    #[test]
    fn an_excerpt_is_a_part_of_its_text_whatever_that_is() {
        for unit in ["word ", "x", "\u{1f600}", "e\u{301}", "\u{3000}东", "\n", "İ ", "a\u{2028}"] {
            let text = unit.repeat(2_048 / unit.len());
            for at in [0, 500, 1_000, 2_000] {
                let mut text = text.clone();
                text.insert_str(text.floor_char_boundary(at), " needle ");
                for search in ["needle", "东 a", "needle \u{1f600} İ"] {
                    let shown = excerpt(&text, &words(search));
                    if shown == text {
                        assert_ne!(search, "needle");
                        continue;
                    }
                    let part = shown.trim_start_matches('…').trim_end_matches('…');
                    assert!(text.contains(part) && part.len() <= EXCERPT, "{unit:?} {at} {search}");
                    assert!(search != "needle" || part.contains("needle"), "{unit:?} {at}: {shown}");
                }
            }
        }
        assert_eq!(excerpt("short", &words("x")), "short");
    }
}
