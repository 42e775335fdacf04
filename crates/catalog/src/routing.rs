//! Which project of a server a request in words is about.
//!
//! The score of a project is a sum over its words, weighted by [`WEIGHTS`]: each word or phrase
//! that occurs in the request, as whole words in the same order, counts once. Nothing is learned
//! and nothing is read from files, so the same words and projects always lead to the same project.

use std::collections::HashSet;

use belljar_model::{Project, Projects};
use serde::Serialize;

/// What a project's word is worth if it occurs in a request.
pub const WEIGHTS: [(Part, u32); 4] = [(Part::Name, 20), (Part::Hint, 10), (Part::Concern, 5), (Part::Language, 3)];
/// The least score with which a request belongs to a project: one hint, or two concerns.
pub const THRESHOLD: u32 = 10;
/// The longest request, in bytes: some pages of text.
pub const REQUEST_BYTES: usize = 8 * 1024;
/// The most scores that are reported.
const SCORES_SHOWN: usize = 20;
/// The most scores in the text of an error.
const SCORES_IN_ERRORS: usize = 3;
/// The most projects in the text of an error.
const NAMES_IN_ERRORS: usize = 12;

/// The role of a word in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// It is the project's name.
    Name,
    /// It means this project and hardly another.
    Hint,
    /// The project is concerned with it.
    Concern,
    /// The project is written in it.
    Language,
}

impl Part {
    /// The points for a word of this kind.
    pub fn points(self) -> u32 {
        WEIGHTS.iter().find(|(part, _)| *part == self).map_or(0, |(_, points)| *points)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Hint => "hint",
            Self::Concern => "concern",
            Self::Language => "language",
        }
    }
}

/// The projects of a server, prepared for matching with requests.
#[derive(Debug, Clone)]
pub struct Router {
    projects: Vec<Routed>,
    default: Option<String>,
}

#[derive(Debug, Clone)]
struct Routed {
    name: String,
    terms: Vec<Term>,
}

#[derive(Debug, Clone)]
struct Term {
    part: Part,
    /// The word as the owner wrote it.
    text: String,
    /// Its words, with a space between them.
    words: String,
}

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Route {
    /// The project, if there is one for the request.
    pub project: Option<String>,
    /// Why this project was chosen.
    pub by: Option<By>,
    /// The score that a project needs.
    pub threshold: u32,
    /// The projects of which a word occurs in the request, the best first.
    pub scores: Vec<Score>,
    /// How many more of them there are.
    pub more: usize,
}

/// Why a request goes to a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// It has the best score.
    Score,
    /// No score is high enough, and the owner has named this project as the default.
    Default,
}

/// The score of a project, and its parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Score {
    /// The project.
    pub project: String,
    /// The sum of the parts.
    pub score: u32,
    /// The words that occur in the request.
    pub parts: Vec<Hit>,
}

/// A word of a project that occurs in a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// Its role in the project.
    pub part: Part,
    /// The word or phrase, as the owner wrote it.
    pub word: String,
    /// Its points.
    pub points: u32,
}

/// A request that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the words have {bytes} bytes; the limit is {REQUEST_BYTES}: a sentence is enough")]
pub struct TooLong {
    /// How many bytes the request has.
    pub bytes: usize,
}

impl Router {
    /// A router of these projects.
    pub fn new(projects: &Projects) -> Self {
        let routed = projects.all.iter().map(|project| {
            let name = std::iter::once((Part::Name, &project.name));
            let hints = project.hints.iter().map(|text| (Part::Hint, text));
            let concerns = project.concerns.iter().map(|text| (Part::Concern, text));
            let languages = project.languages.iter().map(|text| (Part::Language, text));
            let mut seen = HashSet::new();
            let term = |(part, text): (Part, &String)| Term { part, text: text.clone(), words: joined(text) };
            let terms = name.chain(hints).chain(concerns).chain(languages).map(term);
            // A word that occurs twice in a list counts once.
            let terms =
                terms.filter(|term| !term.words.is_empty() && seen.insert((term.part.points(), term.words.clone())));
            Routed { name: project.name.clone(), terms: terms.collect() }
        });
        Self { projects: routed.collect(), default: projects.default.clone() }
    }

    /// Where a request with these words goes. If two projects have the same score, the first one
    /// wins.
    ///
    /// # Errors
    /// The request is longer than [`REQUEST_BYTES`].
    pub fn route(&self, request: &str) -> Result<Route, TooLong> {
        if request.len() > REQUEST_BYTES {
            return Err(TooLong { bytes: request.len() });
        }
        let phrases = phrases(request);
        let mut scores: Vec<Score> = self.projects.iter().filter_map(|project| project.score(&phrases)).collect();
        // The sort is stable, so projects with equal scores keep their order.
        scores.sort_by_key(|score| std::cmp::Reverse(score.score));
        let best = scores.first().filter(|best| best.score >= THRESHOLD).map(|best| best.project.clone());
        let (project, by) = match (best, &self.default) {
            (Some(best), _) => (Some(best), Some(By::Score)),
            (None, Some(default)) => (Some(default.clone()), Some(By::Default)),
            (None, None) => (None, None),
        };
        let more = scores.len().saturating_sub(SCORES_SHOWN);
        scores.truncate(SCORES_SHOWN);
        Ok(Route { project, by, threshold: THRESHOLD, scores, more })
    }
}

impl Routed {
    /// `None` if none of its words occurs in the request.
    fn score(&self, phrases: &HashSet<String>) -> Option<Score> {
        let hits = self.terms.iter().filter(|term| phrases.contains(&term.words));
        let hit = |term: &Term| Hit { part: term.part, word: term.text.clone(), points: term.part.points() };
        let parts: Vec<Hit> = hits.map(hit).collect();
        let score = parts.iter().fold(0_u32, |sum, hit| sum.saturating_add(hit.points));
        (!parts.is_empty()).then(|| Score { project: self.name.clone(), score, parts })
    }
}

impl Route {
    /// Why there is no project for the request, with the best scores and how they came about.
    pub fn problem(&self) -> String {
        let scores = self.scores.iter().take(SCORES_IN_ERRORS).map(Score::shown).collect::<Vec<_>>();
        let shown = if scores.is_empty() { "none has a word in them".to_owned() } else { scores.join(", ") };
        format!("no project has the score of {} that these words need: {shown}", self.threshold)
    }
}

impl Score {
    /// `web 8 (concern checkout +5, language TypeScript +3)`.
    pub fn shown(&self) -> String {
        let parts = self.parts.iter().map(|hit| format!("{} {} +{}", hit.part.as_str(), hit.word, hit.points));
        format!("{} {} ({})", self.project, self.score, parts.collect::<Vec<_>>().join(", "))
    }
}

/// The names of projects in a text, a bounded number of them.
pub fn names_shown(projects: &Projects) -> String {
    let mut names = projects.names().take(NAMES_IN_ERRORS).collect::<Vec<_>>().join(", ");
    let more = projects.all.len().saturating_sub(NAMES_IN_ERRORS);
    if more > 0 {
        names.push_str(&format!(" and {more} more"));
    }
    names
}

/// The words of a text: letters and digits, with the signs that follow the names of some languages
/// (`C++`, `C#`). Case is ignored.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    for character in text.chars() {
        let is_sign = matches!(character, '+' | '#') && !word.is_empty();
        if is_sign || character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        } else if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn joined(text: &str) -> String {
    words(text).join(" ")
}

/// Each run of words that may be a project's, as [`joined`] writes it. Looking one up takes the
/// same time in a long request as in a short one.
fn phrases(request: &str) -> HashSet<String> {
    let words = words(request);
    let mut phrases = HashSet::new();
    for length in 1..=Project::TERM_WORDS {
        phrases.extend(words.windows(length).map(|words| words.join(" ")));
    }
    phrases
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(name: &str, languages: &[&str], concerns: &[&str], hints: &[&str]) -> Project {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Project {
            name: name.to_owned(),
            languages: owned(languages),
            concerns: owned(concerns),
            hints: owned(hints),
            ..Project::default()
        }
    }

    fn router(all: Vec<Project>, default: Option<&str>) -> Router {
        let default = default.map(str::to_owned);
        Router::new(&Projects { argument: "project".to_owned(), all, default })
    }

    fn sum(router: &Router, request: &str) -> Vec<(String, u32)> {
        let route = router.route(request).expect("it is short");
        route.scores.into_iter().map(|score| (score.project, score.score)).collect()
    }

    #[test]
    fn each_word_of_a_project_counts_once_and_only_as_a_whole() {
        let router = router(vec![project("shop", &["Go", "C++"], &["checkout", "unit price"], &["basket"])], None);
        for (request, expected) in [
            ("the Shop: its basket at checkout, in Go", 20 + 10 + 5 + 3),
            ("basket BASKET basket", 10),
            ("baskets, workshop, ago, checkouts", 0),
            ("the unit price", 5),
            ("a unit and a price", 0),
            ("unit-price, unit_price", 5),
            ("in C++ and not in C", 3),
            ("in c and c#", 0),
        ] {
            let found = sum(&router, request).first().map_or(0, |(_, score)| *score);
            assert_eq!(found, expected, "{request}");
        }
    }

    #[test]
    fn the_first_of_two_that_fit_as_well_is_taken_and_none_below_the_threshold() {
        let all = || vec![project("a", &["Go"], &[], &["queue"]), project("b", &["Go"], &[], &["queue"])];
        let route = router(all(), None).route("the queue").expect("it is short");
        assert_eq!((route.project.as_deref(), route.by), (Some("a"), Some(By::Score)));
        let route = router(all(), None).route("something in Go").expect("it is short");
        assert_eq!((route.project.as_deref(), route.by), (None, None));
        assert_eq!(
            route.problem(),
            "no project has the score of 10 that these words need: a 3 (language Go +3), b 3 (language Go +3)"
        );
        let route = router(all(), Some("b")).route("something in Go").expect("it is short");
        assert_eq!((route.project.as_deref(), route.by), (Some("b"), Some(By::Default)));
        let route = router(all(), Some("b")).route("the queue").expect("it is short");
        assert_eq!(route.project.as_deref(), Some("a"), "a default is for what fits nowhere");
    }

    #[test]
    fn signs_of_other_notations_are_no_words() {
        let all = vec![project("(.*)+", &["\\w+"], &["[a-z]*"], &["$^"]), project("x", &[], &[], &["a.b"])];
        let router = router(all, None);
        for request in ["(.*)+", "anything", "\\w+ [a-z]* $^", "", "\u{0}\u{1b}[2J"] {
            assert!(router.route(request).expect("it is short").project.is_none(), "{request}");
        }
        assert_eq!(router.route("a b").expect("it is short").project.as_deref(), Some("x"));
    }

    #[test]
    fn a_request_is_bounded_and_so_is_what_is_told_of_it() {
        let all = (0..5_000).map(|number| project(&format!("p{number}"), &[], &[], &["same"])).collect();
        let router = router(all, None);
        assert_eq!(router.route(&"a".repeat(1_000_000)), Err(TooLong { bytes: 1_000_000 }));
        let words = "same ".repeat(REQUEST_BYTES / 5);
        let route = router.route(&words).expect("it is short enough");
        assert_eq!(route.project.as_deref(), Some("p0"));
        assert_eq!((route.scores.len(), route.more), (SCORES_SHOWN, 5_000 - SCORES_SHOWN));
    }
}
