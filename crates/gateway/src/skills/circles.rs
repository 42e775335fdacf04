//! Named scripts that call each other in a circle, as far as their sources show it. (The
//! interpreter refuses any other circle when it gets to the call.)

use std::collections::{BTreeMap, BTreeSet};

use super::{SKILLS, Skill};

/// Notes for each script of a circle the path that leads back to it.
pub(super) fn find(skills: &mut BTreeMap<String, Skill>) {
    let names: BTreeSet<String> = skills.keys().cloned().collect();
    let mut calls: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, skill) in &*skills {
        let called = skill.signature().into_iter().flat_map(|signature| &signature.calls);
        // An exact name wins over an alias.
        let meant = |called: &String| names.get(called).or_else(|| names.iter().find(|name| is_called(name, called)));
        let called = called.filter_map(meant);
        calls.insert(name, called.map(String::as_str).collect());
    }
    let ways: Vec<(String, String)> = calls
        .keys()
        .filter_map(|name| {
            let way = way_back(name, &calls)?;
            let way: Vec<String> = way.iter().map(|name| format!("{SKILLS}.{name}")).collect();
            Some(((*name).to_owned(), way.join(" → ")))
        })
        .collect();
    for (name, way) in ways {
        if let Some(skill) = skills.get_mut(&name) {
            skill.broken = Some(format!("{}: it is called by itself: {way}", skill.file));
        }
    }
}

/// Whether a name in a source means this script: its own name, or its alias.
fn is_called(name: &str, written: &str) -> bool {
    name == written || (name.len() == written.len() && name.replace('-', "_") == written)
}

/// The shortest path from a script back to itself.
fn way_back<'n>(start: &'n str, calls: &BTreeMap<&'n str, Vec<&'n str>>) -> Option<Vec<&'n str>> {
    let mut ways = vec![vec![start]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            let last = way.last()?;
            for next in calls.get(last).into_iter().flatten() {
                let further: Vec<&str> = way.iter().copied().chain([*next]).collect();
                if *next == start {
                    return Some(further);
                }
                if seen.insert(*next) {
                    longer.push(further);
                }
            }
        }
        ways = longer;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_way_back_is_found_and_none_where_there_is_none() {
        let calls = BTreeMap::from([("a", vec!["b", "c"]), ("b", vec!["c"]), ("c", vec!["a"]), ("d", vec!["a"])]);
        assert_eq!(way_back("a", &calls), Some(vec!["a", "c", "a"]));
        assert_eq!(way_back("d", &calls), None);
        assert!(is_called("open-issues", "open_issues") && !is_called("open_issues", "open-issues"));
    }
}
