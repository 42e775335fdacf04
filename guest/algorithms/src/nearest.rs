//! Of several names, the one that was probably meant.

/// The candidate nearest to `name`, if one is near. Case, `_` and `-` are forgiven, and one error
/// in three letters.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 128;
    if name.is_empty() || name.len() > LONGEST {
        return None;
    }
    let folded = |text: &str| text.to_lowercase().replace(['_', '-'], "");
    let wanted = folded(name);
    let allowed = (wanted.chars().count() / 3).max(1);
    candidates
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| (strsim::osa_distance(&wanted, &folded(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
