//! The terms of a question: its words, each with the words of the vocabulary that stand for it.

use std::collections::BTreeMap;

use crate::{
    bounds::{CORRECTED_WORDS, CORRECTIONS, QUERY_WORDS},
    index::{letters, verb},
    intents::{Intent, intent},
    vocabulary::Vocabulary,
    words::{joined_pairs, question_words, synonyms},
};

/// The weight of a synonym, relative to the word itself.
const SYNONYM: f64 = 0.35;
/// The weight of a word that begins with the unknown word.
const PREFIX: f64 = 0.7;
/// The weight of a word that differs from the unknown word by a typing error.
const CORRECTION: f64 = 0.6;

/// The weight of a word that is not in the question, but is its intent.
const MEANT: f64 = 0.6;
/// The remaining weight of a word that served as a cue for the intent.
const CUE: f64 = 0.5;

/// What is looked up for a question.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    pub(crate) all: Vec<Term>,
    /// The words that no tool has, as stems. They show how much of the question is unanswered.
    pub(crate) unknown: Vec<String>,
}

/// A word of the question, and the words of the vocabulary that stand for it, with their weights.
#[derive(Debug)]
pub(crate) struct Term {
    /// Its stem.
    word: String,
    pub(crate) stands_for: Vec<(String, f64)>,
}

/// The terms of a question.
pub(crate) fn terms(text: &str, vocabulary: &Vocabulary) -> Terms {
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
    let Intent { meant, cues } = intent(text, QUERY_WORDS);
    let mut corrected = 0;
    let mut terms = Terms::default();
    for (place, word) in asked.into_iter().enumerate() {
        let is_known = vocabulary.has(&word);
        let synonyms = synonyms(&word).into_iter().filter(|synonym| vocabulary.has(synonym));
        let mut stands_for: Vec<(String, f64)> = synonyms.map(|synonym| (synonym, SYNONYM)).collect();
        if is_known {
            stands_for.insert(0, (word.clone(), 1.0));
        } else if stands_for.is_empty() && corrected < CORRECTED_WORDS {
            corrected += 1;
            stands_for = corrections(&word, vocabulary);
        }
        let is_cue = cues.contains(&word);
        // A number is specific to the question, so tools need not contain it.
        let is_number = word.chars().any(char::is_numeric);
        if stands_for.is_empty() && !is_cue && !is_number {
            terms.unknown.push(word.clone());
        }
        // A wish begins with a verb, and so does the name of a tool.
        if place == 0 {
            let verbs = stands_for.iter().map(|(word, counts)| (verb(word), *counts));
            let verbs: Vec<_> = verbs.filter(|(verb, _)| vocabulary.has(verb)).collect();
            stands_for.extend(verbs);
        }
        if is_cue && !(is_known && meant.contains(&word)) {
            stands_for.iter_mut().for_each(|(_, counts)| *counts *= CUE);
        }
        if !stands_for.is_empty() {
            terms.all.push(Term { word, stands_for });
        }
    }
    for word in meant {
        if vocabulary.has(&word) && terms.all.iter().all(|term| term.word != word) {
            terms.all.push(Term { stands_for: vec![(word.clone(), MEANT)], word });
        }
    }
    terms
}

/// The words of the vocabulary that begin with an unknown word, or else those that differ from it
/// by a typing error.
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
        // People rarely mistype the first letter.
        if candidate.chars().next() != word.chars().next() {
            continue;
        }
        let distance = strsim::osa_distance(word, candidate);
        if u32::try_from(distance).is_ok_and(|distance| distance <= allowed) {
            near.insert((distance, candidate), ());
        }
    }
    // Only the nearest words: if one typing error explains it, a word that is two errors away was
    // not meant.
    let least = near.keys().next().map(|(distance, _)| *distance);
    let nearest = near.into_keys().filter(|(distance, _)| Some(*distance) == least).take(CORRECTIONS);
    nearest.map(|(_, word)| (word.to_owned(), CORRECTION)).collect()
}
