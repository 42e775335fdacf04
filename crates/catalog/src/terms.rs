//! From a question to what is looked up: each of its words, with the words of the vocabulary that stand for it.

use std::collections::BTreeMap;

use crate::{
    bounds::{CORRECTED_WORDS, CORRECTIONS, QUERY_WORDS},
    index::letters,
    vocabulary::Vocabulary,
    words::{joined_pairs, question_words, synonyms},
};

/// What a synonym counts, against the word itself.
const SYNONYM: f64 = 0.35;
/// What a word counts that begins with the unknown word asked for.
const PREFIX: f64 = 0.7;
/// What a word counts that differs from the unknown word asked for by a typing error.
const CORRECTION: f64 = 0.6;

/// A word asked for, and the words of the vocabulary that stand for it, with what each counts.
#[derive(Debug)]
pub(crate) struct Term {
    pub(crate) stands_for: Vec<(String, f64)>,
}

/// The terms of a question. A word that nothing stands for says nothing about any tool, and is not among them.
pub(crate) fn terms(text: &str, vocabulary: &Vocabulary) -> Vec<Term> {
    let mut asked: Vec<String> = Vec::new();
    for word in question_words(text, QUERY_WORDS) {
        if !asked.contains(&word) {
            asked.push(word);
        }
    }
    for joined in joined_pairs(text, QUERY_WORDS) {
        if asked.len() < QUERY_WORDS && vocabulary.has(&joined) && !asked.contains(&joined) {
            asked.push(joined);
        }
    }
    let mut corrected = 0;
    let terms = asked.into_iter().map(|word| {
        let synonyms = synonyms(&word).into_iter().filter(|synonym| vocabulary.has(synonym));
        let mut stands_for: Vec<(String, f64)> = synonyms.map(|synonym| (synonym, SYNONYM)).collect();
        if vocabulary.has(&word) {
            stands_for.insert(0, (word, 1.0));
        } else if stands_for.is_empty() && corrected < CORRECTED_WORDS {
            corrected += 1;
            stands_for = corrections(&word, vocabulary);
        }
        Term { stands_for }
    });
    terms.filter(|term| !term.stands_for.is_empty()).collect()
}

/// The words of the vocabulary that begin with an unknown word, or else those that a typing error makes of it.
fn corrections(word: &str, vocabulary: &Vocabulary) -> Vec<(String, f64)> {
    let length = word.chars().count();
    if length >= 3 {
        let longer: Vec<_> =
            vocabulary.beginning(word).take(CORRECTIONS).map(|word| (word.to_owned(), PREFIX)).collect();
        if !longer.is_empty() {
            return longer;
        }
    }
    let allowed = match length {
        0..4 => return Vec::new(),
        4..8 => 1,
        _ => 2,
    };
    let asked = letters(word);
    let mut near: BTreeMap<(usize, &str), ()> = BTreeMap::new();
    // One typing error changes at most two letters of the set.
    for candidate in vocabulary.similar(asked, 2 * allowed) {
        // Hardly anybody mistypes the first letter.
        if candidate.chars().next() != word.chars().next() {
            continue;
        }
        let distance = strsim::osa_distance(word, candidate);
        if u32::try_from(distance).is_ok_and(|distance| distance <= allowed) {
            near.insert((distance, candidate), ());
        }
    }
    // Only the nearest: where one letter is enough, what is two letters away was not meant.
    let least = near.keys().next().map(|(distance, _)| *distance);
    let nearest = near.into_keys().filter(|(distance, _)| Some(*distance) == least).take(CORRECTIONS);
    nearest.map(|(_, word)| (word.to_owned(), CORRECTION)).collect()
}
