//! Rules that never decide anything, because another decides all that they match.

use belljar_model::{Position, Verdict};

use crate::{
    error::{Located, ProblemKind},
    rule::Rule,
};

/// A fault for each rule that another one makes useless.
pub(crate) fn find(rules: &[Rule], text: &str) -> Vec<Located> {
    let shadowed = rules.iter().enumerate().filter_map(|(at, rule)| {
        let shadows = |(other_at, other): &(usize, &Rule)| {
            let comes_first = *other_at < at;
            let binds = match (other.verdict, rule.verdict) {
                // A deny binds wherever it stands; of two, the first is the one that is named.
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
