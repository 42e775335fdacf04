//! The words of one server's tools, with their weights.
//!
//! This is BM25F, written out: the `bm25` crate scores one text per document and hashes words into 32 bits, while tools want
//! fields of different worth (a word of the name says more than one of a parameter's description) and a vocabulary in which
//! typing errors can be looked for. A field's length is measured against a typical one, not against the average of all tools,
//! so that a server's index is made once and does not change when another server comes or goes.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{
    bounds::{INDEXED_DEPTH, INDEXED_PARAMETERS, WORDS_PER_FIELD},
    tool::Tool,
    words::words,
};

/// How much a field's length counts against it: BM25's `b`.
const LENGTH_WEIGHT: f32 = 0.6;

/// What a field is worth, and how many words it has in real tool lists.
struct Field {
    weight: f32,
    typical_words: f32,
}

const NAME: Field = Field { weight: 4.0, typical_words: 3.0 };
const TITLE: Field = Field { weight: 2.0, typical_words: 3.0 };
const SERVER: Field = Field { weight: 1.5, typical_words: 1.0 };
const SUMMARY: Field = Field { weight: 2.5, typical_words: 8.0 };
const DESCRIPTION: Field = Field { weight: 0.8, typical_words: 25.0 };
const PARAMETER_NAMES: Field = Field { weight: 0.5, typical_words: 6.0 };
const PARAMETER_TEXTS: Field = Field { weight: 0.3, typical_words: 30.0 };

/// A word's weight in one tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posting {
    /// The tool's place in its server's list.
    pub(crate) tool: u32,
    /// The sum over the fields: weight, times occurrences, by length.
    pub(crate) weight: f32,
}

/// One server's words, in their order.
#[derive(Debug, Default)]
pub(crate) struct Index {
    words: Vec<String>,
    /// The tools that have each word.
    postings: Vec<Vec<Posting>>,
}

impl Index {
    /// Indexes a server's tools.
    pub(crate) fn new(server: &str, tools: &[Tool]) -> Self {
        let mut postings: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
        let server = words(server, WORDS_PER_FIELD);
        for (place, tool) in (0_u32..).zip(tools) {
            let mut weights: BTreeMap<String, f32> = BTreeMap::new();
            let definition = tool.definition();
            let title = definition.title.as_deref().unwrap_or_default();
            let description = definition.description.as_deref().unwrap_or_default();
            let mut parameters = Parameters::default();
            parameters.collect(&definition.input_schema, 0);
            add(&mut weights, &NAME, words(&definition.name, WORDS_PER_FIELD));
            add(&mut weights, &TITLE, words(title, WORDS_PER_FIELD));
            add(&mut weights, &SERVER, server.clone());
            add(&mut weights, &SUMMARY, words(tool.summary(), WORDS_PER_FIELD));
            add(&mut weights, &DESCRIPTION, words(description, WORDS_PER_FIELD));
            add(&mut weights, &PARAMETER_NAMES, parameters.names);
            add(&mut weights, &PARAMETER_TEXTS, parameters.texts);
            for (word, weight) in weights {
                postings.entry(word).or_default().push(Posting { tool: place, weight });
            }
        }
        let (words, postings): (Vec<String>, Vec<Vec<Posting>>) = postings.into_iter().unzip();
        Self { words, postings }
    }

    /// Every word.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// The tools that have the word at this place.
    pub(crate) fn postings(&self, place: usize) -> &[Posting] {
        self.postings.get(place).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The letters of a word, a bit each. One typing error changes at most two bits.
pub(crate) fn letters(word: &str) -> u64 {
    word.chars().fold(0, |letters, letter| letters | 1 << (u32::from(letter) % 64))
}

fn add(weights: &mut BTreeMap<String, f32>, field: &Field, words: Vec<String>) {
    // At most some hundreds: no rounding.
    let length = u16::try_from(words.len()).map_or(f32::from(u16::MAX), f32::from);
    let share = field.weight / (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / field.typical_words);
    for word in words {
        *weights.entry(word).or_default() += share;
    }
}

/// The words of a tool's parameters.
#[derive(Default)]
struct Parameters {
    seen: usize,
    names: Vec<String>,
    texts: Vec<String>,
}

impl Parameters {
    /// Collects from a schema and those inside it, to a bounded depth.
    fn collect(&mut self, schema: &Map<String, Value>, depth: usize) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            self.seen += 1;
            if self.seen > INDEXED_PARAMETERS {
                return;
            }
            push(&mut self.names, name);
            let Some(property) = property.as_object() else { continue };
            if let Some(text) = property.get("description").and_then(Value::as_str) {
                push(&mut self.texts, text);
            }
            let values = property.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            for value in values.take(INDEXED_PARAMETERS) {
                push(&mut self.texts, value);
            }
            if depth < INDEXED_DEPTH {
                let items = property.get("items").and_then(Value::as_object);
                self.collect(items.unwrap_or(property), depth + 1);
            }
        }
    }
}

fn push(field: &mut Vec<String>, text: &str) {
    field.extend(words(text, WORDS_PER_FIELD.saturating_sub(field.len())));
}
