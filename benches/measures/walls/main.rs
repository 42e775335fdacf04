//! The defences against hostile code, in figures: `cargo bench --workspace --bench walls`, or with
//! the names of some of them after `--`.
//!
//! `deadline`: how late a deadline is; `neighbour`: how endless scripts affect an innocent one;
//! `waiting`: what a thousand runs that wait for tools take; `queue`: what ten thousand runs that
//! wait for a slot take; `cancel`: how soon a dropped run's slot is free; `cost`: what fuel, epochs
//! and the memory limiter cost.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a measure prints, and fails where it cannot"
)]

mod cancel;
mod cost;
mod deadline;
mod neighbour;
mod queue;
mod table;
mod waiting;

use tokio::runtime::{Builder, Runtime};

/// A measurement, and its name.
type Measure = (&'static str, fn(&Runtime));

const ALL: [Measure; 6] = [
    ("deadline", deadline::measure),
    ("neighbour", neighbour::measure),
    ("waiting", waiting::measure),
    ("queue", queue::measure),
    ("cancel", cancel::measure),
    ("cost", cost::measure),
];

fn main() {
    // Cargo adds an argument of its own.
    let asked: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let unknown = asked.iter().find(|name| !ALL.iter().any(|(known, _)| known == name));
    assert!(unknown.is_none(), "there is no measure {unknown:?}: {:?}", ALL.map(|(name, _)| name));
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    println!("{} cores\n", cores());
    for (name, measure) in ALL {
        if asked.is_empty() || asked.iter().any(|asked| asked == name) {
            measure(&runtime);
        }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().unwrap().get()
}
