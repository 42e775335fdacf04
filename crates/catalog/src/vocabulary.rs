//! The words of all servers together, in which a question is looked up.
//!
//! Each server's [`Index`](crate::index::Index) is built once; this joins them, so that a question
//! searches one list of words however many servers there are. It is built at the first search of a
//! catalogue, and dropped with it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::{index::Posting, index::letters, server::ServerCatalog, tool::Tool, words::folded};

/// The words of a catalogue, sorted. They are parallel lists: a search for typing errors reads all
/// the letters, and hardly any words.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    words: Vec<String>,
    /// The letters of each word, as [`letters`] has them.
    letters: Vec<u64>,
    /// Where each word's postings are: the server, and the word's position in its index.
    places: Vec<Vec<(usize, usize)>>,
    /// The number of the first tool of each server. Tools are numbered consecutively.
    first: Vec<usize>,
    /// Each tool's server and place in it.
    tools: Vec<(usize, usize)>,
    /// Each tool's position in the order of the paths, which decides between equal scores.
    order: Vec<u32>,
    /// The tools by name, ignoring case and separators.
    spellings: HashMap<String, Vec<usize>>,
}

impl Vocabulary {
    /// Joins the words of the servers.
    pub(crate) fn new(servers: &[Arc<ServerCatalog>]) -> Self {
        let mut joined: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
        let mut vocabulary = Self::default();
        let mut paths = Vec::new();
        for (at, server) in servers.iter().enumerate() {
            for (place, word) in server.index().words().iter().enumerate() {
                joined.entry(word).or_default().push((at, place));
            }
            vocabulary.first.push(vocabulary.tools.len());
            for (place, tool) in server.tools().iter().enumerate() {
                let number = vocabulary.tools.len();
                let (exact, alias) = (folded(tool.names().exact()), folded(tool.names().alias()));
                if alias != exact {
                    vocabulary.spellings.entry(alias).or_default().push(number);
                }
                vocabulary.spellings.entry(exact).or_default().push(number);
                vocabulary.tools.push((at, place));
                paths.push((tool.path(), number));
            }
        }
        for (word, places) in joined {
            vocabulary.words.push(word.to_owned());
            vocabulary.letters.push(letters(word));
            vocabulary.places.push(places);
        }
        paths.sort_unstable();
        vocabulary.order = vec![0; paths.len()];
        for (place, (_, number)) in (0..).zip(paths) {
            if let Some(order) = vocabulary.order.get_mut(number) {
                *order = place;
            }
        }
        vocabulary
    }

    /// How many tools there are.
    pub(crate) fn tools(&self) -> usize {
        self.tools.len()
    }

    /// The tool with this number, and its server.
    pub(crate) fn tool<'s>(
        &self,
        number: usize,
        servers: &'s [Arc<ServerCatalog>],
    ) -> Option<(&'s ServerCatalog, &'s Tool)> {
        let (server, place) = self.tools.get(number)?;
        let server = servers.get(*server)?;
        Some((server, server.tools().get(*place)?))
    }

    /// The tool's place in the order of the paths.
    pub(crate) fn order(&self, number: usize) -> u32 {
        self.order.get(number).copied().unwrap_or(u32::MAX)
    }

    /// The numbers of the tools with this name, ignoring case and separators.
    pub(crate) fn spelled(&self, folded: &str) -> &[usize] {
        self.spellings.get(folded).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether any tool has the word.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.place(word).is_some()
    }

    /// The tools that have a word, by their numbers, with its weight in each.
    pub(crate) fn postings<'s>(
        &'s self,
        word: &str,
        servers: &'s [Arc<ServerCatalog>],
    ) -> impl Iterator<Item = (usize, f32)> + use<'s> {
        let places = self.place(word).and_then(|place| self.places.get(place)).map(Vec::as_slice).unwrap_or_default();
        places.iter().flat_map(move |(server, place)| {
            let first = self.first.get(*server).copied().unwrap_or(usize::MAX);
            let postings: &[Posting] =
                servers.get(*server).map(|server| server.index().postings(*place)).unwrap_or_default();
            let number = move |tool: u32| usize::try_from(tool).map_or(usize::MAX, |tool| first.saturating_add(tool));
            postings.iter().map(move |posting| (number(posting.tool), posting.weight))
        })
    }

    /// Every word with this prefix, in order.
    pub(crate) fn beginning(&self, prefix: &str) -> impl Iterator<Item = &str> {
        let from = self.words.partition_point(|word| word.as_str() < prefix);
        self.words.iter().skip(from).map(String::as_str).take_while(move |word| word.starts_with(prefix))
    }

    /// The words whose letters differ from these by at most so many bits, in order.
    pub(crate) fn similar(&self, letters: u64, bits: u32) -> impl Iterator<Item = &str> {
        let all = self.words.iter().zip(&self.letters);
        all.filter(move |(_, known)| (*known ^ letters).count_ones() <= bits).map(|(word, _)| word.as_str())
    }

    fn place(&self, word: &str) -> Option<usize> {
        self.words.binary_search_by(|known| known.as_str().cmp(word)).ok()
    }
}
