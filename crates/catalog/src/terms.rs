//! From a question to what is looked up: each of its words, with the words of the vocabulary that
//! stand for it.

use std::collections::BTreeMap;

use crate::{
    bounds::{CORRECTED_WORDS, CORRECTIONS, QUERY_WORDS},
    index::{letters, verb},
    intents::{Intent, intent},
    vocabulary::Vocabulary,
    words::{joined_pairs, question_words, synonyms},
};

/// What a synonym counts, against the word itself.
const SYNONYM: f64 = 0.35;
/// What a word counts that begins with the unknown word asked for.
const PREFIX: f64 = 0.7;
/// What a word counts that differs from the unknown word asked for by a typing error.
const CORRECTION: f64 = 0.6;

/// What a word counts that is not in the question, and is what the question means.
const MEANT: f64 = 0.6;
/// The share of itself that a word counts which has already said what the question means.
const CUE: f64 = 0.5;

/// What is looked up for a question.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    pub(crate) all: Vec<Term>,
    /// The words that no tool has, as stems. They say nothing about any tool, but how little of the
    /// question is answered.
    pub(crate) unknown: Vec<String>,
}

/// A word asked for, and the words of the vocabulary that stand for it, with what each counts.
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
        // A number is somebody's own: no tool need have it.
        let is_number = word.chars().any(char::is_numeric);
        if stands_for.is_empty() && !is_cue && !is_number {
            terms.unknown.push(word.clone());
        }
        // A wish begins with what is to be done, and so does the name of a tool.
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

/// The words of the vocabulary that begin with an unknown word, or else those that a typing error
/// makes of it.
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
