//! The words of one server's tools, with their weights.
//!
//! This is BM25F, written out. The `bm25` crate scores one text per document and hashes words into
//! 32 bits. Tools need fields of different weight, since a word in the name says more than one in a
//! parameter's description, and a vocabulary that can be searched for typing errors. A field's
//! length is compared with a typical one, not with the average of all tools, so that a server's
//! index is built once and does not change when another server comes or goes.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::{
    bounds::{INDEXED_DEPTH, INDEXED_PARAMETERS, WORDS_PER_FIELD},
    tool::Tool,
    words::{each_stem, words},
};

/// How much a field's length counts against it: BM25's `b`.
const LENGTH_WEIGHT: f32 = 0.6;

/// A field's weight, and its typical number of words in real tool lists.
struct Field {
    weight: f32,
    typical_words: f32,
}

const NAME: Field = Field { weight: 4.0, typical_words: 3.0 };
/// Extra weight of the first word of a name: `commit` says more about `git_commit` than about
/// `list_commits`.
const VERB_WEIGHT: f32 = 6.0;
const TITLE: Field = Field { weight: 2.0, typical_words: 3.0 };
const SERVER: Field = Field { weight: 1.5, typical_words: 1.0 };
const SUMMARY: Field = Field { weight: 2.5, typical_words: 8.0 };
const DESCRIPTION: Field = Field { weight: 0.8, typical_words: 25.0 };
const PARAMETER_NAMES: Field = Field { weight: 0.5, typical_words: 6.0 };
const PARAMETER_TEXTS: Field = Field { weight: 0.3, typical_words: 30.0 };

/// A word's weight in one tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posting {
    /// The tool's position in its server's list.
    pub(crate) tool: u32,
    /// The sum over the fields: weight times occurrences, adjusted for the field's length.
    pub(crate) weight: f32,
}

/// One server's words, sorted.
#[derive(Debug, Default)]
pub(crate) struct Index {
    words: Vec<String>,
    /// The tools that have each word.
    postings: Vec<Vec<Posting>>,
}

impl Index {
    /// Indexes a server's tools.
    pub(crate) fn new(server: &str, tools: &[Tool]) -> Self {
        let mut index = Unsorted::default();
        for (place, tool) in (0_u32..).zip(tools) {
            let definition = tool.definition();
            let mut parameters = Parameters::default();
            parameters.collect(&definition.input_schema, 0);
            index.add(place, &NAME, [definition.name.as_str()]);
            index.add_verb(place, server, &definition.name);
            index.add(place, &TITLE, definition.title.as_deref());
            index.add(place, &SERVER, [server]);
            index.add(place, &SUMMARY, [tool.summary()]);
            index.add(place, &DESCRIPTION, definition.description.as_deref());
            index.add(place, &PARAMETER_NAMES, parameters.names);
            index.add(place, &PARAMETER_TEXTS, parameters.texts);
        }
        index.sorted()
    }

    /// Every word.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// The tools that have the word at this position.
    pub(crate) fn postings(&self, place: usize) -> &[Posting] {
        self.postings.get(place).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The word under which names that begin with this stem are found. It never equals a word of a
/// question.
pub(crate) fn verb(stem: &str) -> String {
    format!("!{stem}")
}

/// Words that come before the verb in the names of some servers.
const BEFORE_VERBS: [&str; 2] = ["api", "browser"];

/// The letters of a word, one bit each. One typing error changes at most two bits.
pub(crate) fn letters(word: &str) -> u64 {
    word.chars().fold(0, |letters, letter| letters | 1 << (u32::from(letter) % 64))
}

/// An index being built.
#[derive(Default)]
struct Unsorted {
    numbers: HashMap<String, usize>,
    /// The tools of each word, by its number, in order.
    postings: Vec<Vec<Posting>>,
    /// The words of one field, by their numbers.
    field: Vec<usize>,
}

impl Unsorted {
    /// Adds the words of a tool's field.
    fn add<'t>(&mut self, tool: u32, field: &Field, texts: impl IntoIterator<Item = &'t str>) {
        self.field.clear();
        for text in texts {
            let room = WORDS_PER_FIELD.saturating_sub(self.field.len());
            if room == 0 {
                break;
            }
            each_stem(text, room, |word| {
                let number = self.number(word);
                self.field.push(number);
            });
        }
        // At most some hundreds, so nothing is rounded.
        let length = u16::try_from(self.field.len()).map_or(f32::from(u16::MAX), f32::from);
        let share = field.weight / (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / field.typical_words);
        for number in &self.field {
            let Some(postings) = self.postings.get_mut(*number) else { continue };
            match postings.last_mut().filter(|posting| posting.tool == tool) {
                Some(posting) => posting.weight += share,
                None => postings.push(Posting { tool, weight: share }),
            }
        }
    }

    /// Adds the word with which a tool's name begins, ignoring the server's own name: `commit` of
    /// `git_commit`.
    fn add_verb(&mut self, tool: u32, server: &str, name: &str) {
        let server = words(server, WORDS_PER_FIELD);
        let is_before = |word: &String| server.contains(word) || BEFORE_VERBS.contains(&word.as_str());
        if let Some(first) = words(name, WORDS_PER_FIELD).into_iter().find(|word| !is_before(word)) {
            let number = self.number(&verb(&first));
            if let Some(postings) = self.postings.get_mut(number) {
                postings.push(Posting { tool, weight: VERB_WEIGHT });
            }
        }
    }

    fn number(&mut self, word: &str) -> usize {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let number = self.postings.len();
        self.numbers.insert(word.to_owned(), number);
        self.postings.push(Vec::new());
        number
    }

    fn sorted(mut self) -> Index {
        let mut words: Vec<(String, usize)> = self.numbers.into_iter().collect();
        words.sort_unstable();
        let mut index = Index::default();
        for (word, number) in words {
            index.words.push(word);
            index.postings.push(self.postings.get_mut(number).map(std::mem::take).unwrap_or_default());
        }
        index
    }
}

/// The texts of a tool's parameters.
#[derive(Default)]
struct Parameters<'t> {
    seen: usize,
    names: Vec<&'t str>,
    texts: Vec<&'t str>,
}

impl<'t> Parameters<'t> {
    /// Collects from a schema and those inside it, to a bounded depth.
    fn collect(&mut self, schema: &'t Map<String, Value>, depth: usize) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            self.seen += 1;
            if self.seen > INDEXED_PARAMETERS {
                return;
            }
            self.names.push(name);
            let Some(property) = property.as_object() else { continue };
            self.texts.extend(property.get("description").and_then(Value::as_str));
            let values = property.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            self.texts.extend(values.take(INDEXED_PARAMETERS));
            if depth < INDEXED_DEPTH {
                let items = property.get("items").and_then(Value::as_object);
                self.collect(items.unwrap_or(property), depth + 1);
            }
        }
    }
}
