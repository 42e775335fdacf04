//! What to try, for errors that models run into.

use boa_engine::{Context, property::PropertyKey};

use super::{absent, advice, call, namespace};
use crate::source::{self, Position};

/// What a script that succeeded may have got wrong: a promise of a tool that it took for the result.
pub(crate) fn warning() -> Option<String> {
    // Without a call there is no such promise, and small scripts need not be read again.
    call::any_was_called().then(|| source::warning_of_promise(&namespace::globals())).flatten()
}

/// A hint for an error, where one is known. `operand` is what the engine could not use, as the source has it.
pub(crate) fn hint_for(
    name: &str,
    message: &str,
    operand: Option<&str>,
    position: Option<Position>,
    context: &mut Context,
) -> Option<String> {
    if let Some(rest) = message.strip_prefix("globalThis.")
        && let Some(missing) = rest.strip_suffix(" is not a function")
    {
        return absent::instead_of(missing).map(str::to_owned);
    }
    if name != "ReferenceError" {
        let cause = match name {
            "TypeError" => source::hint_for_promise(position, &namespace::globals()),
            "SyntaxError" => source::hint_for_parsing(position, &namespace::globals()),
            _ => None,
        };
        let reads_whole = || {
            let reads_whole = name == "TypeError" && message.contains("undefined") && source::reads_whole_result();
            reads_whole.then(|| advice::OWN_VALUE.to_owned())
        };
        return cause.or_else(reads_whole).or_else(|| advice::of_message(name, message, operand));
    }
    let name = message.strip_suffix(" is not defined")?;
    if let Some(advice) = advice::of_name(name) {
        return Some(advice.to_owned());
    }
    if let Some(hint) = absent::instead_of(name) {
        return Some(hint.to_owned());
    }
    let mut candidates = source::declared_names();
    if candidates.remove(name)
        && let Some(hint) = source::out_of_scope(name, position)
    {
        return Some(hint);
    }
    let is_assigned = source::is_assigned(name);
    candidates.extend(globals(context));
    match nearest(name, candidates.iter().map(String::as_str)) {
        Some(near) if is_assigned => Some(format!("declare it with `let {name} = …`; or did you mean {near}?")),
        None if is_assigned => Some(format!("a variable is declared before it is set: `let {name} = …`")),
        Some(near) => Some(format!("did you mean {near}?")),
        None => Some(format!("the servers here are: {}", namespace::servers().join(", "))),
    }
}

fn globals(context: &mut Context) -> Vec<String> {
    let keys = context.global_object().own_property_keys(context).unwrap_or_default();
    let names = keys.into_iter().filter_map(|key| match key {
        PropertyKey::String(name) => Some(name.to_std_string_lossy()),
        _ => None,
    });
    names.collect()
}

/// The candidate nearest to `name`, if one is near. Case, `_` and `-` are forgiven, and one error in three letters.
pub(super) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
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
