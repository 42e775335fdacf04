//! How well a search finds the right tool, over the questions in `testdata/retrieval`.

use std::fs;

use belljar_catalog::{Catalog, Query};

use super::{baselines, testdata};

/// One in this many questions is held out: it was not used while the ranking was tuned.
const HELD_OUT_EVERY: usize = 3;
/// How far down an engine's answer is examined.
const DEPTH: usize = 20;

/// A question, and the tools that answer it: any of them is right.
pub struct Question {
    pub text: String,
    pub right: Vec<String>,
    pub held_out: bool,
}

/// All questions, in the order of the file.
pub fn questions() -> Vec<Question> {
    read("retrieval/questions.tsv")
}

/// Wishes of a person who has not seen the tools. `src/intents.rs` was written with these in view.
pub fn wishes() -> Vec<Question> {
    read("retrieval/wishes.tsv")
}

/// The same, but not used for tuning.
pub fn wishes_held_out() -> Vec<Question> {
    read("retrieval/wishes-held-out.tsv")
}

fn read(file: &str) -> Vec<Question> {
    let text = fs::read_to_string(testdata(file)).expect("the questions");
    let read = |(number, line): (usize, &str)| {
        let (text, right) = line.split_once('\t').expect("a question, a tab, its tools");
        let right = right.split(' ').map(str::to_owned).collect();
        Question { text: text.to_owned(), right, held_out: number % HELD_OUT_EVERY == 0 }
    };
    (1..).zip(text.lines()).map(read).collect()
}

/// A way to search: from a question to paths, the best first.
pub type Engine<'a> = (&'static str, Box<dyn Fn(&str) -> Vec<String> + 'a>);

/// belljar's search, and what it must beat.
pub fn engines(catalog: &Catalog) -> Vec<Engine<'_>> {
    let bm25 = baselines::Bm25::over_descriptions(catalog);
    vec![
        ("belljar", Box::new(|question| belljar(catalog, question))),
        ("substring", Box::new(|question| baselines::substring(catalog, question))),
        ("BM25 over descriptions", Box::new(move |question| bm25.search(question))),
    ]
}

fn belljar(catalog: &Catalog, question: &str) -> Vec<String> {
    let query = Query { limit: Some(DEPTH), budget: Some(100_000), ..Query::new(question) };
    catalog.search(&query).results.iter().map(|found| found.path.to_string()).collect()
}

/// An engine's figures.
#[derive(Debug, Default, Clone, Copy)]
pub struct Figures {
    pub questions: f64,
    pub recall_at_1: f64,
    pub recall_at_3: f64,
    pub recall_at_5: f64,
    /// Mean reciprocal rank.
    pub mrr: f64,
}

/// The place of the first right tool, from 1.
pub fn place(found: &[String], question: &Question) -> Option<usize> {
    found.iter().take(DEPTH).position(|path| question.right.contains(path)).map(|at| at + 1)
}

/// The figures of an engine over some questions. A question is answered at `k` where one of its
/// tools is among the first `k`.
pub fn figures<'q>(engine: &Engine<'_>, questions: impl Iterator<Item = &'q Question>) -> Figures {
    let mut figures = Figures::default();
    for question in questions {
        figures.questions += 1.0;
        let Some(place) = place(&(engine.1)(&question.text), question) else { continue };
        let place = u32::try_from(place).expect("at most the depth");
        figures.recall_at_1 += f64::from(u8::from(place <= 1));
        figures.recall_at_3 += f64::from(u8::from(place <= 3));
        figures.recall_at_5 += f64::from(u8::from(place <= 5));
        figures.mrr += 1.0 / f64::from(place);
    }
    for sum in [&mut figures.recall_at_1, &mut figures.recall_at_3, &mut figures.recall_at_5, &mut figures.mrr] {
        *sum /= figures.questions;
    }
    figures
}
