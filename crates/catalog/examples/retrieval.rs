//! Prints how well tools are found: `cargo run -p belljar-catalog --example retrieval --release`
//!
//! The questions and the lists are in `testdata`. With `--misses`, it lists the tuning questions
//! for which no right tool comes first, and what comes first instead.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

#[path = "../measures/mod.rs"]
mod measures;

use belljar_catalog::Query;
use measures::{catalog, lists, retrieval, tokens};
use retrieval::{Engine, Question};

/// Tools in an answer of the engines that have no answer format of their own.
const RESULTS: usize = 5;

fn main() {
    let catalog = catalog(&lists());
    let questions = retrieval::questions();
    let (wishes, wishes_held_out) = (retrieval::wishes(), retrieval::wishes_held_out());
    let engines = retrieval::engines(&catalog);
    if std::env::args().any(|argument| argument == "--misses") {
        return misses(&engines[0], &questions);
    }
    println!(
        "{} questions over {} tools of {} servers\n",
        questions.len(),
        catalog.tools().count(),
        catalog.servers().len()
    );
    println!("| search | questions | recall@1 | recall@3 | recall@5 | MRR | tokens per answer |");
    println!("|---|---|---|---|---|---|---|");
    for (at, engine) in engines.iter().enumerate() {
        for (part, questions, held_out) in [
            ("all", &questions, None),
            ("tuned on", &questions, Some(false)),
            ("held out", &questions, Some(true)),
            ("vague wishes", &wishes, None),
            ("vague wishes held out", &wishes_held_out, None),
        ] {
            let part_of =
                || questions.iter().filter(|question| held_out.is_none_or(|wanted| wanted == question.held_out));
            let figures = retrieval::figures(engine, part_of());
            let answer = |question: &Question| match at {
                0 => catalog.search(&Query::new(question.text.clone())).to_text(),
                _ => definitions(&catalog, &(engine.1)(&question.text)),
            };
            let answers: Vec<String> = part_of().map(answer).collect();
            let used: usize = tokens::count(&answers).iter().sum();
            println!(
                "| {} | {} {part} | {:.3} | {:.3} | {:.3} | {:.3} | {} |",
                engine.0,
                figures.questions,
                figures.recall_at_1,
                figures.recall_at_3,
                figures.recall_at_5,
                figures.mrr,
                used / answers.len().max(1)
            );
        }
    }
}

/// An answer of the other engines: the definitions of the first tools, as MCP has them.
fn definitions(catalog: &belljar_catalog::Catalog, paths: &[String]) -> String {
    let tools = paths.iter().take(RESULTS).filter_map(|path| catalog.lookup(path));
    let definition = |tool: &belljar_catalog::Tool| {
        let definition = tool.definition();
        serde_json::json!({
            "name": tool.path().to_string(),
            "description": definition.description,
            "inputSchema": definition.input_schema,
        })
    };
    serde_json::Value::from_iter(tools.map(definition)).to_string()
}

fn misses(engine: &Engine<'_>, questions: &[Question]) {
    println!("{:?}", retrieval::figures(engine, questions.iter().filter(|question| !question.held_out)));
    for question in questions.iter().filter(|question| !question.held_out) {
        let found = (engine.1)(&question.text);
        let place = retrieval::place(&found, question);
        if place != Some(1) {
            let first: Vec<&str> = found.iter().take(5).map(String::as_str).collect();
            println!(
                "{place:?} {}\n   right: {}\n   found: {}",
                question.text,
                question.right.join(" "),
                first.join(" ")
            );
        }
    }
}
