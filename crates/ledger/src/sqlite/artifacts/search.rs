//! Searches a holder's indexes.
//!
//! First it looks for passages with all the words; if there are too few, for passages that have all
//! of them as parts of words; and if there are none at all, for passages with any of the words. The
//! result depends only on the file, so a repeated run gets the same result.
//!
//! SQLite ranks a passage by examining all passages that match, and how many have each word. Words
//! that very many passages have are therefore left out of the ranking: they would add little to it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use belljar_model::ArtifactId;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};

use super::{
    read::{Reader, Scope, content, is_stale},
    tables::{IS_THERE, State, artifact_of, form, ids, index_names},
};
use crate::{
    artifacts::{ArtifactError, Found, Hit, MAX_HITS, MAX_WITHIN, MAX_WORDS, MAX_WORDS_BYTES, Search},
    excerpt::excerpt,
    passages::{Form, PASSAGE},
};

/// How long a search may take.
const LONGEST: Duration = Duration::from_secs(5);
/// Instructions of SQLite between two looks at the clock.
const INSTRUCTIONS: i32 = 10_000;
/// The most sequences of three characters that are looked up. Every hit is checked anyway.
const TRIGRAMS: usize = 48;
/// The most parts of artifacts that are examined for parts of words, latest first.
const PARTS: i64 = 100;
/// A word that occurs in this many passages says nothing about how well one of them matches.
const COMMON: i64 = 5_000;
/// The most bytes from the first to the last passage of one part.
const MOST_OF_PART: u64 = 1024 * 1024;

/// What is searched for, as the indexes understand it.
pub(super) struct Query {
    /// The words; empty if the text contains none.
    words: Vec<String>,
    /// The three-character sequences of everything that is searched for; `None` if all of it is
    /// shorter.
    trigrams: Option<String>,
    /// What a passage must contain, ignoring case.
    parts: Vec<String>,
    limit: usize,
}

impl Query {
    pub(super) fn of(search: &Search) -> Result<Self, ArtifactError> {
        let used = search.words.len();
        if used > MAX_WORDS_BYTES {
            return Err(ArtifactError::TooManyWords { used, limit: MAX_WORDS_BYTES, unit: "bytes" });
        }
        let used = search.within.len();
        if used > MAX_WITHIN {
            return Err(ArtifactError::TooManyWithin { used, limit: MAX_WITHIN });
        }
        // NUL, which ends a text for SQLite, separates words here.
        let is_between = |character: char| character.is_whitespace() || character == '\0';
        let mut terms: Vec<&str> = search.words.split(is_between).filter(|term| !term.is_empty()).collect();
        let used = terms.len();
        if used > MAX_WORDS {
            return Err(ArtifactError::TooManyWords { used, limit: MAX_WORDS, unit: "words" });
        }
        terms.sort_unstable();
        terms.dedup();
        let is_word = |term: &&&str| term.chars().any(char::is_alphanumeric);
        let words: Vec<String> = terms.iter().filter(is_word).map(|term| quoted(term)).collect();
        let mut trigrams = BTreeSet::new();
        for term in &terms {
            let characters: Vec<char> = term.chars().collect();
            trigrams.extend(characters.windows(3).map(|three| three.iter().collect::<String>()));
        }
        let trigrams: Vec<String> = trigrams.iter().take(TRIGRAMS).map(|three| quoted(three)).collect();
        if words.is_empty() && trigrams.is_empty() {
            return Err(ArtifactError::NoWords);
        }
        Ok(Self {
            words,
            trigrams: (!trigrams.is_empty()).then(|| trigrams.join(" AND ")),
            parts: terms.iter().map(|term| term.to_lowercase()).collect(),
            limit: usize::try_from(search.limit.min(MAX_HITS)).unwrap_or_default(),
        })
    }
}

/// A text in which no character has a special meaning to SQLite.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// What was found, and the artifacts whose use is to be recorded.
#[derive(Default)]
pub(super) struct Searched {
    pub(super) found: Found,
    pub(super) stale: Vec<i64>,
}

impl Reader {
    /// Searches some of a holder's artifacts.
    pub(super) fn search(&mut self, scope: &Scope, query: &Query) -> Result<Searched, ArtifactError> {
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, deadline) = (is_over.clone(), Instant::now() + LONGEST);
        let watch = move || {
            let late = Instant::now() >= deadline;
            over.fetch_or(late, Relaxed);
            late
        };
        let searched = self.connection.progress_handler(INSTRUCTIONS, Some(watch)).and_then(|()| {
            // Everything must be read at one moment.
            let moment = self.connection.unchecked_transaction()?;
            search(&moment, scope, query)
        });
        match searched {
            Err(error)
                if is_over.load(Relaxed) && error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) =>
            {
                Err(ArtifactError::TooBroad { limit: LONGEST })
            }
            searched => searched.map_err(|error| self.failed(&error)),
        }
    }
}

fn search(connection: &Connection, scope: &Scope, query: &Query) -> rusqlite::Result<Searched> {
    let pending = connection
        .prepare_cached("SELECT number FROM artifacts WHERE holder = ?1 AND state = ?2")?
        .query_map(params![scope.holder, State::Stored.number()], |row| row.get(0))?
        .collect::<Result<Vec<i64>, _>>()?;
    let is_within = |number: &i64| scope.numbers.as_ref().is_none_or(|numbers| numbers.contains(number));
    let pending = pending.iter().filter(|number| is_within(number)).count() as u64;
    let is_indexed = connection
        .prepare_cached("SELECT 1 FROM artifact_holders WHERE id = ?1 AND is_indexed = 1")?
        .exists(params![scope.holder])?;
    if !is_indexed || query.limit == 0 {
        return Ok(Searched { found: Found { hits: Vec::new(), pending }, stale: Vec::new() });
    }
    let mut index = Index { connection, scope, artifacts: BTreeMap::new() };
    let mut scores: BTreeMap<i64, f64> = BTreeMap::new();
    let ranking = index.ranking(&query.words)?;
    let found = index.words(&query.words, &ranking, " AND ", query.limit)?;
    scores.extend(found.into_iter().map(|(id, share)| (id, 2.0 + share)));
    if scores.len() < query.limit
        && let Some(trigrams) = &query.trigrams
    {
        for (id, share) in index.parts(trigrams, &query.parts, query.limit)? {
            scores.entry(id).or_insert(1.0 + share);
        }
    }
    if scores.is_empty() && query.words.len() > 1 {
        let words = if ranking.is_empty() { &query.words } else { &ranking };
        scores.extend(index.words(words, &ranking, " OR ", query.limit)?);
    }
    let mut best: Vec<(i64, f64)> = scores.into_iter().collect();
    // Of two that are equally good, the later one comes first.
    best.sort_by(|(a, a_score), (b, b_score)| b_score.total_cmp(a_score).then(b.cmp(a)));
    best.truncate(query.limit);
    let (mut hits, mut stale) = (Vec::new(), BTreeSet::new());
    for (id, score) in best {
        let number = artifact_of(id);
        let Some(artifact) = index.artifact(number)? else { continue };
        let Some((pointer, form, text)) = index.passage(id, artifact.bytes)? else { continue };
        // A JSON passage stays whole, so that it remains JSON.
        let text = if form == Form::Json { text } else { excerpt(&text, &query.parts) };
        if is_stale(artifact.used_ms) {
            stale.insert(number);
        }
        hits.push(Hit { artifact: artifact.id, pointer, text, score: (score * 1e4).round() / 1e4 });
    }
    Ok(Searched { found: Found { hits, pending }, stale: stale.into_iter().collect() })
}

/// Where a passage is in its artifact's content.
#[derive(Clone, Copy)]
struct Place {
    from: u64,
    to: u64,
    form: Form,
}

impl Place {
    /// The place given by the columns of a row, if content of this length can have it.
    fn of((start, length, number_of_form): (i64, i64, i64), bytes: i64) -> Option<Self> {
        let (from, length) = (u64::try_from(start).ok()?, u64::try_from(length).ok()?);
        let to = from.checked_add(length)?;
        let makes_sense = length <= PASSAGE as u64 && to <= bytes.max(0).cast_unsigned();
        makes_sense.then_some(Self { from, to, form: form(number_of_form)? })
    }
}

/// A holder's indexes.
struct Index<'c> {
    connection: &'c Connection,
    scope: &'c Scope,
    /// The artifacts that were looked up; `None` for those that do not exist.
    artifacts: BTreeMap<i64, Option<Artifact>>,
}

#[derive(Clone, Copy)]
struct Artifact {
    id: ArtifactId,
    bytes: i64,
    used_ms: i64,
}

impl Index<'_> {
    /// Those of the words that are not common.
    fn ranking(&self, words: &[String]) -> rusqlite::Result<Vec<String>> {
        let (index, _) = index_names(self.scope.holder);
        let mut count = self.connection.prepare_cached(&format!(
            "SELECT count(*) FROM (SELECT rowid FROM {index} WHERE {index} MATCH ?1 LIMIT {COMMON})"
        ))?;
        let mut ranking = Vec::new();
        for word in words {
            if count.query_row(params![word], |row| row.get::<_, i64>(0))? < COMMON {
                ranking.push(word.clone());
            }
        }
        Ok(ranking)
    }

    /// The passages that match the words, best first, each with its score from 0 to 1. If all words
    /// are common, these are the latest passages.
    fn words(
        &mut self,
        words: &[String],
        ranking: &[String],
        operator: &str,
        limit: usize,
    ) -> rusqlite::Result<Vec<(i64, f64)>> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let (index, _) = index_names(self.scope.holder);
        let bounds = self.bounds();
        let select = |columns: &str, order: &str| {
            format!(
                "SELECT {columns} FROM {index} WHERE {index} MATCH ?1 AND rowid >= ?2 AND rowid < ?3 ORDER BY {order}"
            )
        };
        let mut found = Vec::new();
        // All matching passages, if some words are left out of the ranking.
        let mut matching: Option<BTreeSet<i64>> = None;
        if ranking.len() < words.len() {
            let mut statement = self.connection.prepare_cached(&select("rowid", "rowid DESC"))?;
            let mut rows = statement.query(params![words.join(operator), bounds.start, bounds.end])?;
            let mut all = BTreeSet::new();
            while let Some(row) = rows.next()? {
                let id: i64 = row.get(0)?;
                if !ranking.is_empty() {
                    all.insert(id);
                } else if self.is_there(artifact_of(id))? {
                    found.push((id, 0.0));
                    if found.len() == limit {
                        break;
                    }
                }
            }
            if ranking.is_empty() {
                return Ok(found);
            }
            matching = Some(all);
        }
        let mut statement = self.connection.prepare_cached(&select("rowid, rank", "rank"))?;
        let mut rows = statement.query(params![ranking.join(operator), bounds.start, bounds.end])?;
        while found.len() < limit
            && let Some(row) = rows.next()?
        {
            let (id, rank): (i64, f64) = (row.get(0)?, row.get(1)?);
            if matching.as_ref().is_none_or(|matching| matching.contains(&id)) && self.is_there(artifact_of(id))? {
                let goodness = if rank.is_finite() { (-rank).max(0.0) } else { 0.0 };
                found.push((id, goodness / (1.0 + goodness)));
            }
        }
        Ok(found)
    }

    /// Passages that have all these parts, latest first, each with a score from 0 to 1 for how
    /// often it has them.
    fn parts(&mut self, trigrams: &str, parts: &[String], limit: usize) -> rusqlite::Result<Vec<(i64, f64)>> {
        let (_, index) = index_names(self.scope.holder);
        let bounds = self.bounds();
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT rowid FROM {index} WHERE {index} MATCH ?1 AND rowid >= ?2 AND rowid < ?3
             ORDER BY rowid DESC LIMIT ?4"
        ))?;
        let mut rows = statement.query(params![trigrams, bounds.start, bounds.end, PARTS])?;
        let mut found = Vec::new();
        while found.len() < limit
            && let Some(row) = rows.next()?
        {
            let part: i64 = row.get(0)?;
            let number = artifact_of(part);
            let Some(artifact) = self.artifact(number)?.filter(|_| self.is_in_scope(number)) else { continue };
            for (id, text) in self.part(part, artifact.bytes)? {
                let text = text.to_lowercase();
                let times: usize = parts.iter().map(|part| text.matches(part.as_str()).count()).sum();
                if parts.iter().all(|part| text.contains(part.as_str())) {
                    #[expect(clippy::cast_precision_loss, reason = "a passage has some thousand characters")]
                    let times = times as f64;
                    found.push((id, times / (1.0 + times)));
                }
            }
        }
        Ok(found)
    }

    /// The texts of the passages that one row of the index of parts covers.
    fn part(&self, part: i64, bytes: i64) -> rusqlite::Result<Vec<(i64, String)>> {
        let number = artifact_of(part);
        let mut statement = self.connection.prepare_cached(
            "SELECT id, start, length, form, part FROM artifact_passages WHERE id >= ?1 AND id < ?2 ORDER BY id",
        )?;
        let mut rows = statement.query(params![part, ids(number).end])?;
        let mut places: Vec<(i64, Place)> = Vec::new();
        // The rows of one part are consecutive.
        while let Some(row) = rows.next()?
            && row.get::<_, i64>(4)? == part
        {
            if let Some(place) = Place::of((row.get(1)?, row.get(2)?, row.get(3)?), bytes) {
                places.push((row.get(0)?, place));
            }
        }
        let (Some(start), Some(end)) =
            (places.iter().map(|(_, place)| place.from).min(), places.iter().map(|(_, place)| place.to).max())
        else {
            return Ok(Vec::new());
        };
        if end - start > MOST_OF_PART {
            return Ok(Vec::new());
        }
        let whole = content(self.connection, number, start..end)?;
        let text = |(id, place): (i64, Place)| {
            let at = |at: u64| usize::try_from(at - start).unwrap_or_default();
            let raw = String::from_utf8_lossy(whole.get(at(place.from)..at(place.to))?);
            Some((id, place.form.searched(&raw).into_owned()))
        };
        Ok(places.into_iter().filter_map(text).collect())
    }

    /// The pointer, the form and the text of a passage; `None` if there is no valid one.
    fn passage(&self, id: i64, bytes: i64) -> rusqlite::Result<Option<(String, Form, String)>> {
        let row = self
            .connection
            .prepare_cached("SELECT start, length, form, pointer FROM artifact_passages WHERE id = ?1")?
            .query_row(params![id], |row| Ok((Place::of((row.get(0)?, row.get(1)?, row.get(2)?), bytes), row.get(3)?)))
            .optional()?;
        let Some((Some(place), pointer)) = row else { return Ok(None) };
        let raw = content(self.connection, artifact_of(id), place.from..place.to)?;
        Ok(Some((pointer, place.form, place.form.shown(&String::from_utf8_lossy(&raw)))))
    }

    /// The range of ids that are searched.
    fn bounds(&self) -> std::ops::Range<i64> {
        match self.scope.numbers.as_deref() {
            Some([first, .., last]) => ids(*first).start..ids(*last).end,
            Some([only]) => ids(*only),
            _ => 0..i64::MAX,
        }
    }

    fn is_in_scope(&self, number: i64) -> bool {
        self.scope.numbers.as_ref().is_none_or(|numbers| numbers.contains(&number))
    }

    fn is_there(&mut self, number: i64) -> rusqlite::Result<bool> {
        Ok(self.is_in_scope(number) && self.artifact(number)?.is_some())
    }

    fn artifact(&mut self, number: i64) -> rusqlite::Result<Option<Artifact>> {
        if let Some(known) = self.artifacts.get(&number) {
            return Ok(*known);
        }
        let found = self
            .connection
            .prepare_cached(&format!(
                "SELECT id, bytes, used_ms FROM artifacts WHERE number = ?1 AND holder = ?2 AND {IS_THERE}"
            ))?
            .query_row(params![number, self.scope.holder], |row| {
                let id = ArtifactId::from_bits(row.get::<_, i64>(0)?.cast_unsigned());
                Ok(Artifact { id, bytes: row.get(1)?, used_ms: row.get(2)? })
            })
            .optional()?;
        self.artifacts.insert(number, found);
        Ok(found)
    }
}
