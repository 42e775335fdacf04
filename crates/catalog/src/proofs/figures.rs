//! Checks that the figures in the documents are kept. The examples print all of them.

use crate::measures::{
    catalog, lists,
    retrieval::{self, Figures, Question},
};

#[test]
fn an_agents_question_finds_its_tool_and_better_than_plain_searches_do() {
    let catalog = catalog(&lists());
    assert!(catalog.tools().count() >= 150);
    let questions = retrieval::questions();
    assert!(questions.len() >= 120);
    let engines = retrieval::engines(&catalog);
    let all: Vec<Figures> = engines.iter().map(|engine| retrieval::figures(engine, questions.iter())).collect();
    let held_out = retrieval::figures(&engines[0], questions.iter().filter(|question| question.held_out));
    assert!(all[0].recall_at_1 >= 0.79 && all[0].recall_at_5 >= 0.95 && all[0].mrr >= 0.86, "{:?}", all[0]);
    assert!(held_out.recall_at_1 >= 0.75 && held_out.recall_at_5 >= 0.92 && held_out.mrr >= 0.82, "{held_out:?}");
    let wishes = retrieval::figures(&engines[0], retrieval::wishes().iter());
    assert!(wishes.questions >= 60.0 && wishes.recall_at_5 >= 0.95 && wishes.recall_at_1 >= 0.7, "{wishes:?}");
    let unseen = retrieval::figures(&engines[0], retrieval::wishes_held_out().iter());
    assert!(unseen.recall_at_5 >= 0.8, "{unseen:?}");
    for plain in &all[1..] {
        assert!(all[0].recall_at_1 > plain.recall_at_1 && all[0].recall_at_5 > plain.recall_at_5, "{all:?}");
    }
}

#[test]
fn every_question_names_tools_that_there_are() {
    let catalog = catalog(&lists());
    let all = [retrieval::questions(), retrieval::wishes(), retrieval::wishes_held_out()];
    for Question { text, right, .. } in all.into_iter().flatten() {
        for path in right {
            assert!(catalog.lookup(&path).is_some(), "{text}: {path}");
        }
    }
}
