//! Ranks the tools that match a question, the best first.
//!
//! A path ranks before a tool's exact name, that before the same name in another spelling, and that
//! before words, even if several tools are named in one question. Tools with equal scores are
//! sorted by path, so the same catalogue always gives the same answer.

use std::{cmp::Ordering, sync::Arc};

use belljar_model::Effect;

use crate::{
    bounds::{DEFAULT_RESULTS, QUERY_WORDS},
    server::ServerCatalog,
    terms::{Term, Terms, terms},
    tool::Tool,
    vocabulary::Vocabulary,
    wishes::wishes,
    words::{folded, split, stem},
};

/// How fast a word's repetition stops counting: BM25's `k1`.
const SATURATION: f64 = 2.0;
/// The share of its score that a tool keeps if it has hardly any of the query's words.
const LEAST_COVERAGE: f64 = 0.3;
/// The share of the best score below which a tool has little to do with the question: it is
/// counted, and shown only to those who ask for more than the default.
const CUTOFF: f64 = 0.2;

/// The share of its score that a deprecated tool keeps.
const DEPRECATED: f64 = 0.7;

/// The share of its score that a deleting tool keeps, if the question does not mention deleting.
const UNASKED_DELETION: f64 = 0.5;
/// Verbs in the names of such tools.
const DELETING: [&str; 2] = ["delete", "remove"];

/// The share of a question that the best tool must match. A tool that matches less is shown as a
/// partial match.
const FITS: f64 = 0.45;
/// Of the question's words that occur in any tool, the share that the best tool must match, and the
/// least number of such words.
const FITS_THE_REST: f64 = 0.75;
const LEAST_WORDS: usize = 3;
/// Tools that are shown if none fits.
const SHOWN_OF_UNFIT: usize = 5;

/// The tools that match a question, the best first.
#[derive(Debug, Default)]
pub(crate) struct Ranking<'a> {
    pub(crate) tools: Vec<&'a Tool>,
    /// How many there are, including those that are left out.
    pub(crate) found: usize,
    /// How many of them have little to do with the question.
    pub(crate) weak: usize,
    /// The words that no tool has, if they make up most of the question.
    pub(crate) missing: Vec<String>,
    /// Whether the best tool has most of the other words, and several of them.
    pub(crate) fits_the_rest: bool,
}

/// A tool that matches a question.
#[derive(Debug, Clone, Copy)]
struct Hit {
    tool: usize,
    tier: Tier,
    score: f64,
    /// Its position in the order of the paths.
    order: u32,
}

/// Why a tool was found, the weakest reason first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Words,
    Spelling,
    Name,
    Path,
}

/// A tool's score so far.
#[derive(Clone, Copy, Default)]
struct Tally {
    score: f64,
    /// The weight of the question's words that the tool has.
    covered: f64,
    /// The weight of the current word, including synonyms.
    weight: f64,
}

/// Ranks the tools of `wanted` servers. The rarity of a word is counted over `all`, so that a
/// filter does not change the order.
///
/// If the question has several wishes, the best answers to each of them follow the first tool.
pub(crate) fn rank<'a>(
    text: &str,
    vocabulary: &Vocabulary,
    all: &'a [Arc<ServerCatalog>],
    wanted: impl Fn(&ServerCatalog) -> bool,
    effect: Option<Effect>,
    asked: usize,
) -> Ranking<'a> {
    let wanted: &dyn Fn(&ServerCatalog) -> bool = &wanted;
    let (mut ranking, is_named) = rank_one(text, vocabulary, all, wanted, effect, asked);
    if is_named {
        return ranking;
    }
    let mut place = 1;
    for wish in wishes(text) {
        let (answers, _) = rank_one(&wish, vocabulary, all, wanted, effect, 1);
        let Some(best) = answers.tools.first().copied().filter(|_| answers.missing.is_empty()) else { continue };
        match ranking.tools.iter().position(|tool| std::ptr::eq(*tool, best)) {
            Some(at) if at < place => continue,
            Some(at) => {
                ranking.tools.remove(at);
            }
            // It was among the weak tools that were cut off and counted.
            None => ranking.weak = ranking.weak.saturating_sub(usize::from(ranking.found > ranking.tools.len())),
        }
        ranking.tools.insert(place.min(ranking.tools.len()), best);
        place += 1;
    }
    ranking.tools.truncate(asked);
    ranking.found = ranking.found.max(ranking.tools.len());
    ranking
}

/// The same for one wish, and whether it names a tool.
fn rank_one<'a>(
    text: &str,
    vocabulary: &Vocabulary,
    all: &'a [Arc<ServerCatalog>],
    wanted: &dyn Fn(&ServerCatalog) -> bool,
    effect: Option<Effect>,
    asked: usize,
) -> (Ranking<'a>, bool) {
    let mut tallies = vec![Tally::default(); vocabulary.tools()];
    let mut worth_of_all = 0.0;
    let Terms { all: terms, unknown } = terms(text, vocabulary);
    for term in &terms {
        worth_of_all += count_term(term, vocabulary, all, &mut tallies);
    }
    let asks_for_deletion =
        terms.iter().flat_map(|term| &term.stands_for).any(|(word, _)| DELETING.iter().any(|verb| *word == stem(verb)));
    let worth_of_unknown = count(unknown.len()) * (1.0 + (count(tallies.len()) + 0.5) / 0.5).ln();
    let Named { tiers, only: only_names } = named(text, vocabulary, all);
    let is_wanted = |number: usize| {
        let tool = vocabulary.tool(number, all);
        tool.is_some_and(|(server, tool)| wanted(server) && effect.is_none_or(|effect| effect == tool.effect()))
    };
    let mut hits: Vec<Hit> = tiers
        .iter()
        .map(|(tool, tier)| Hit { tool: *tool, tier: *tier, score: 0.0, order: vocabulary.order(*tool) })
        .filter(|hit| is_wanted(hit.tool))
        .collect();
    let is_named = |number: usize| tiers.iter().any(|(tool, _)| *tool == number);
    for (tool, tally) in tallies.iter().enumerate() {
        if tally.covered > 0.0 && !is_named(tool) && is_wanted(tool) {
            let share = tally.covered / worth_of_all;
            let is_deprecated = vocabulary.tool(tool, all).is_some_and(|(_, tool)| tool.is_deprecated());
            let kept = if is_deprecated { DEPRECATED } else { 1.0 };
            let is_unasked = !asks_for_deletion && vocabulary.tool(tool, all).is_some_and(|(_, tool)| deletes(tool));
            let kept = if is_unasked { kept * UNASKED_DELETION } else { kept };
            let score = tally.score * kept * (LEAST_COVERAGE + (1.0 - LEAST_COVERAGE) * share);
            hits.push(Hit { tool, tier: Tier::Words, score, order: vocabulary.order(tool) });
        }
    }
    // A question that consists of tool names wants only these tools.
    let strongest = hits.iter().map(|hit| hit.tier).max();
    if strongest == Some(Tier::Path) && only_names {
        hits.retain(|hit| hit.tier == Tier::Path);
    } else if strongest > Some(Tier::Words) && only_names && text.contains(char::is_whitespace) {
        hits.retain(|hit| hit.tier > Tier::Words);
    }
    let best = hits.iter().map(|hit| hit.score).fold(0.0, f64::max);
    let mut found = hits.len();
    let fits_well = |hit: &&Hit| hit.tier > Tier::Words || hit.score >= best * CUTOFF;
    let mut weak = found - hits.iter().filter(fits_well).count();
    if asked <= DEFAULT_RESULTS {
        hits.retain(|hit| fits_well(&hit));
    }
    let most = asked.max(SHOWN_OF_UNFIT);
    if hits.len() > most {
        hits.select_nth_unstable_by(most, Hit::order);
        hits.truncate(most);
    }
    hits.sort_unstable_by(Hit::order);
    let covered = |hit: &Hit| tallies.get(hit.tool).map_or(0.0, |tally| tally.covered);
    let covered = hits.iter().take(SHOWN_OF_UNFIT).map(covered).fold(0.0, f64::max);
    let has_name = hits.first().is_some_and(|hit| hit.tier > Tier::Words);
    let fits = has_name || unknown.is_empty() || covered >= FITS * (worth_of_all + worth_of_unknown);
    if !fits {
        hits.truncate(SHOWN_OF_UNFIT);
        (found, weak) = (hits.len(), 0);
    }
    hits.truncate(asked);
    let tools = hits.iter().filter_map(|hit| vocabulary.tool(hit.tool, all)).map(|(_, tool)| tool);
    let fits_the_rest = terms.len() >= LEAST_WORDS && covered >= FITS_THE_REST * worth_of_all;
    let missing = if fits { Vec::new() } else { unknown };
    (Ranking { tools: tools.collect(), found, weak, missing, fits_the_rest }, has_name)
}

impl Hit {
    fn order(&self, other: &Self) -> Ordering {
        let by_score = other.tier.cmp(&self.tier).then_with(|| other.score.total_cmp(&self.score));
        by_score.then_with(|| self.order.cmp(&other.order))
    }
}

/// Adds a term's score to each tool, and returns the term's weight.
///
/// A word and its synonyms count as one word: which of them a tool's author chose, and how rare
/// that choice is, means nothing.
fn count_term(term: &Term, vocabulary: &Vocabulary, all: &[Arc<ServerCatalog>], tallies: &mut [Tally]) -> f64 {
    let mut touched = Vec::new();
    let mut having = 0.0;
    for (word, counts) in &term.stands_for {
        for (number, weight) in vocabulary.postings(word, all) {
            let Some(tally) = tallies.get_mut(number) else { continue };
            if tally.weight == 0.0 {
                touched.push(number);
            }
            tally.weight += counts * f64::from(weight);
            having += counts;
        }
    }
    let counts = term.stands_for.iter().map(|(_, counts)| *counts).fold(0.0, f64::max);
    // BM25's inverse document frequency.
    let worth = counts * (1.0 + (count(tallies.len()) - having + 0.5).max(0.5) / (having + 0.5)).ln();
    for number in touched {
        let Some(tally) = tallies.get_mut(number) else { continue };
        let weight = std::mem::take(&mut tally.weight) / counts;
        tally.score += worth * weight / (SATURATION + weight);
        tally.covered += worth;
    }
    worth
}

/// Whether a tool's name begins with such a verb, possibly after a prefix such as `API-`.
fn deletes(tool: &Tool) -> bool {
    split(tool.names().exact()).iter().take(2).any(|word| DELETING.contains(&word.as_str()))
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

/// The tools that a question names.
struct Named {
    /// Each tool once, and how it is named.
    tiers: Vec<(usize, Tier)>,
    /// Whether the question consists of tool names only.
    only: bool,
}

/// The tools that the question names, as a whole or among its words.
fn named(text: &str, vocabulary: &Vocabulary, all: &[Arc<ServerCatalog>]) -> Named {
    let text = text.trim();
    let whole = tiers(text, vocabulary, all);
    if !whole.is_empty() {
        return Named { tiers: whole, only: true };
    }
    let mut named = Named { tiers: Vec::new(), only: true };
    for word in text.split(is_between_names).filter(|word| !word.is_empty()).take(QUERY_WORDS) {
        // A plain word may be meant as a word, even if a tool has that name.
        let is_name = word.contains(['_', '-', '.']) || word.chars().skip(1).any(char::is_uppercase);
        let tools = if is_name { tiers(word, vocabulary, all) } else { Vec::new() };
        named.only &= !tools.is_empty();
        for (number, tier) in tools {
            if named.tiers.iter().all(|(known, _)| *known != number) {
                named.tiers.push((number, tier));
            }
        }
    }
    named
}

fn is_between_names(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, ',' | ';' | '(' | ')' | '/' | '"' | '\'' | '`')
}

/// The tools that have the text as their name, each once, and how.
fn tiers(text: &str, vocabulary: &Vocabulary, all: &[Arc<ServerCatalog>]) -> Vec<(usize, Tier)> {
    let path = text.split_once('.');
    let whole = folded(text);
    let after = path.map(|(_, after)| folded(after)).unwrap_or_default();
    let mut tiers: Vec<(usize, Tier)> = Vec::new();
    for number in vocabulary.spelled(&after).iter().chain(vocabulary.spelled(&whole)) {
        let Some((server, tool)) = vocabulary.tool(*number, all) else { continue };
        let names = tool.names();
        let is_path = path.is_some_and(|(before, after)| {
            (before == server.name() && after == names.exact()) || text == tool.expression()
        });
        let tier = if is_path {
            Tier::Path
        } else if text == names.exact() || text == names.alias() {
            Tier::Name
        } else if !whole.is_empty() && folded(names.exact()) == whole && !tool.is_deprecated() {
            Tier::Spelling
        } else {
            continue;
        };
        if tiers.iter().all(|(known, _)| known != number) {
            tiers.push((*number, tier));
        }
    }
    tiers
}

/// Whether the text has a word that can be looked up.
pub(crate) fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}
