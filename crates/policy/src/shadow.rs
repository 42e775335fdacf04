//! Finds rules that never decide anything, because another rule decides all calls that they match.

use belljar_model::{Position, Verdict};

use crate::{
    error::{Located, ProblemKind},
    rule::Rule,
};

/// An error for each rule that another one makes useless.
pub(crate) fn find(rules: &[Rule], text: &str) -> Vec<Located> {
    let shadowed = rules.iter().enumerate().filter_map(|(at, rule)| {
        let shadows = |(other_at, other): &(usize, &Rule)| {
            let comes_first = *other_at < at;
            let binds = match (other.verdict, rule.verdict) {
                // A deny always wins; of two that deny, the later one is reported.
                (Verdict::Deny, Verdict::Deny) => comes_first,
                (Verdict::Deny, _) => true,
                (_, Verdict::Deny) => false,
                _ => comes_first,
            };
            binds && other.covers(rule)
        };
        let (_, other) = rules.iter().enumerate().find(shadows)?;
        let line = Position::of(text, other.offset).line;
        Some(ProblemKind::Shadowed { rule: rule.id.to_string(), by: other.id.to_string(), line }.at(rule.offset))
    });
    shadowed.collect()
}
