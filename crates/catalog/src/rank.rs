//! Which tools a question is about, the best first.
//!
//! A path stands before a tool's exact name, that before the same name in another spelling, and that before words. Tools with equal scores
//! stand in the order of their paths, so the same catalogue gives the same answer always.

use std::{cmp::Ordering, collections::BTreeMap, sync::Arc};

use belljar_model::Effect;

use crate::{
    bounds::{CORRECTED_WORDS, CORRECTIONS, QUERY_WORDS},
    index::{Posting, letters},
    server::ServerCatalog,
    tool::Tool,
    words::{folded, synonyms, words},
};

/// How fast a word's repetition stops counting: BM25's `k1`.
const SATURATION: f64 = 1.2;
/// What a synonym counts, against the word itself.
const SYNONYM: f64 = 0.3;
/// What a word counts that begins with the unknown word asked for.
const PREFIX: f64 = 0.7;
/// What a word counts that differs from the unknown word asked for by a typing error.
const CORRECTION: f64 = 0.6;
/// The share of its score that a tool keeps which has hardly any of the words asked for.
const LEAST_COVERAGE: f64 = 0.3;
/// The share of the best score below which a tool has nothing to do with the question.
const CUTOFF: f64 = 0.2;

/// A tool that a question is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit<'a> {
    pub(crate) tool: &'a Tool,
    tier: Tier,
    score: f64,
}

/// Why a tool was found, the weakest reason first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Words,
    Spelling,
    Name,
    Path,
}

/// A word asked for, and the words of the vocabulary that stand for it, with what each counts.
struct Term {
    stands_for: Vec<(String, f64)>,
}

/// A word of the vocabulary.
struct LookedUp<'a> {
    /// The tools that have it, for each server.
    postings: Vec<&'a [Posting]>,
    worth: f64,
}

/// What a tool has collected so far.
#[derive(Clone, Copy, Default)]
struct Tally {
    score: f64,
    /// Words of the query that the tool has, and the last of them.
    covered: u16,
    last: u16,
}

/// Ranks the tools of `wanted` servers. How rare a word is, is counted over `all`, so that a filter does not change the order.
pub(crate) fn rank<'a>(
    text: &str,
    all: &'a [Arc<ServerCatalog>],
    wanted: impl Fn(&ServerCatalog) -> bool,
    effect: Option<Effect>,
    most: usize,
) -> (Vec<Hit<'a>>, usize) {
    let terms = terms(text, all);
    let asked = Asked::new(text);
    let tools: usize = all.iter().map(|server| server.tools().len()).sum();
    let looked_up: Vec<Vec<LookedUp<'_>>> = terms.iter().map(|term| look_up(term, all, tools)).collect();
    let mut hits = Vec::new();
    for (at, server) in all.iter().enumerate().filter(|(_, server)| wanted(server)) {
        let mut tallies = vec![Tally::default(); server.tools().len()];
        for (number, term) in (1_u16..).zip(&looked_up) {
            for word in term {
                for posting in word.postings.get(at).copied().unwrap_or_default() {
                    let place = usize::try_from(posting.tool).ok();
                    let Some(tally) = place.and_then(|place| tallies.get_mut(place)) else { continue };
                    let weight = f64::from(posting.weight);
                    tally.score += word.worth * weight / (SATURATION + weight);
                    if tally.last != number {
                        tally.last = number;
                        tally.covered += 1;
                    }
                }
            }
        }
        for (tool, tally) in server.tools().iter().zip(tallies) {
            let tier = asked.tier(server, tool);
            if (tally.covered == 0 && tier == Tier::Words) || effect.is_some_and(|effect| effect != tool.effect()) {
                continue;
            }
            let share = f64::from(tally.covered) / f64::from(u16::try_from(terms.len()).unwrap_or(u16::MAX).max(1));
            hits.push(Hit { tool, tier, score: tally.score * (LEAST_COVERAGE + (1.0 - LEAST_COVERAGE) * share) });
        }
    }
    let best = hits.iter().map(|hit| hit.score).fold(0.0, f64::max);
    hits.retain(|hit| hit.tier > Tier::Words || hit.score >= best * CUTOFF);
    let found = hits.len();
    if found > most {
        hits.select_nth_unstable_by(most, Hit::order);
        hits.truncate(most);
    }
    hits.sort_unstable_by(Hit::order);
    (hits, found)
}

impl Hit<'_> {
    fn order(&self, other: &Self) -> Ordering {
        other
            .tier
            .cmp(&self.tier)
            .then_with(|| other.score.total_cmp(&self.score))
            .then_with(|| self.tool.path().cmp(other.tool.path()))
    }
}

/// The question as a name.
struct Asked<'t> {
    text: &'t str,
    /// Around the first dot.
    path: Option<(&'t str, &'t str)>,
    folded: String,
}

impl<'t> Asked<'t> {
    fn new(text: &'t str) -> Self {
        let text = text.trim();
        Self { text, path: text.split_once('.'), folded: folded(text) }
    }

    fn tier(&self, server: &ServerCatalog, tool: &Tool) -> Tier {
        let is_path = self.path.is_some_and(|(before, after)| before == server.name() && after == tool.names().exact());
        if is_path || self.text == tool.expression() {
            Tier::Path
        } else if self.text == tool.names().exact() || self.text == tool.names().alias() {
            Tier::Name
        } else if self.is_spelling_of(tool.names().exact()) {
            Tier::Spelling
        } else {
            Tier::Words
        }
    }

    /// Whether the name is the same but for case and separators.
    fn is_spelling_of(&self, name: &str) -> bool {
        let letters = name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase);
        !self.folded.is_empty() && letters.eq(self.folded.chars())
    }
}

/// Whether the text has a word that can be looked up.
pub(crate) fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

fn terms(text: &str, all: &[Arc<ServerCatalog>]) -> Vec<Term> {
    let mut asked: Vec<String> = Vec::new();
    let words = words(text, QUERY_WORDS);
    for word in &words {
        if !asked.contains(word) {
            asked.push(word.clone());
        }
    }
    // "screen shot" is also "screenshot".
    for pair in words.windows(2) {
        let joined = pair.concat();
        if asked.len() < QUERY_WORDS && is_known(&joined, all) && !asked.contains(&joined) {
            asked.push(joined);
        }
    }
    let mut corrected = 0;
    let terms = asked.into_iter().map(|word| {
        let known = is_known(&word, all);
        let mut stands_for: Vec<(String, f64)> = synonyms(&word).map(|synonym| (synonym, SYNONYM)).collect();
        if known {
            stands_for.insert(0, (word, 1.0));
        } else if stands_for.is_empty() && corrected < CORRECTED_WORDS {
            corrected += 1;
            stands_for = corrections(&word, all);
        }
        Term { stands_for }
    });
    // A word that nothing stands for says nothing about any tool.
    terms.filter(|term| !term.stands_for.is_empty()).collect()
}

fn is_known(word: &str, all: &[Arc<ServerCatalog>]) -> bool {
    all.iter().any(|server| !server.index().postings(word).is_empty())
}

/// The postings of each word of a term, and what it is worth: BM25's inverse document frequency, times what it counts.
fn look_up<'a>(term: &Term, all: &'a [Arc<ServerCatalog>], tools: usize) -> Vec<LookedUp<'a>> {
    let look_up = |(word, counts): &(String, f64)| {
        let postings: Vec<&[Posting]> = all.iter().map(|server| server.index().postings(word)).collect();
        let having = postings.iter().map(|postings| postings.len()).sum();
        let (tools, having) = (count(tools), count(having));
        LookedUp { postings, worth: counts * (1.0 + (tools - having + 0.5) / (having + 0.5)).ln() }
    };
    term.stands_for.iter().map(look_up).collect()
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

/// The words of the vocabulary that begin with an unknown word, or else those that a typing error makes of it.
fn corrections(word: &str, all: &[Arc<ServerCatalog>]) -> Vec<(String, f64)> {
    let length = word.chars().count();
    if length >= 3 {
        let mut longer: BTreeMap<&str, ()> = BTreeMap::new();
        for server in all {
            longer.extend(server.index().beginning(word).take(CORRECTIONS).map(|word| (word, ())));
        }
        if !longer.is_empty() {
            return longer.into_keys().take(CORRECTIONS).map(|word| (word.to_owned(), PREFIX)).collect();
        }
    }
    let allowed = match length {
        0..4 => return Vec::new(),
        4..7 => 1,
        _ => 2,
    };
    let asked = letters(word);
    let mut near: BTreeMap<(usize, &str), ()> = BTreeMap::new();
    for server in all {
        // One typing error changes at most two letters of the set.
        for candidate in server.index().similar(asked, 2 * allowed) {
            let distance = strsim::osa_distance(word, candidate);
            if u32::try_from(distance).is_ok_and(|distance| distance <= allowed) {
                near.insert((distance, candidate), ());
            }
        }
    }
    // Only the nearest: where one letter is enough, what is two letters away was not meant.
    let least = near.keys().next().map(|(distance, _)| *distance);
    let nearest = near.into_keys().filter(|(distance, _)| Some(*distance) == least).take(CORRECTIONS);
    nearest.map(|(_, word)| (word.to_owned(), CORRECTION)).collect()
}
