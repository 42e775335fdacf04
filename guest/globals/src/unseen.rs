//! Members that a script read and that were not there, where it has ended without an error: a name
//! that no result has gives undefined, and the answer is quietly wrong.

use boa_engine::{Context, JsString, JsValue, property::PropertyKey};

use belljar_guest_engine::originals::get_of;
use belljar_guest_source::{self as source, Provenance, Read, Step};

use super::{
    call,
    held::{Held, walk},
    misuse::{Need, missing},
    servers,
};

/// A larger value is not looked at.
const MAX_VALUE: usize = 4 * 1024;
/// Members that are looked for.
const MAX_READS: usize = 60;
/// What a wrong name leads to.
const EMPTY: [&str; 7] = ["[]", "{}", "0", "\"\"", "false", "-1", "null"];
/// What each promise becomes by `Promise.allSettled`.
const OF_SETTLED: [&str; 3] = ["status", "value", "reason"];

/// What to say of the first member that was not there, if the value looks as if one was missed.
/// `is_lossy` says whether JSON has lost some of it.
pub fn warning(value: &str, is_lossy: bool, context: &mut Context) -> Option<String> {
    let looks_wrong = is_lossy
        || EMPTY.contains(&value)
        || (value.len() <= MAX_VALUE && (value.contains("undefined") || value.contains("NaN")));
    if !looks_wrong || !call::any_was_called() {
        return None;
    }
    if let Some(slip) = source::for_in_slips().first() {
        return Some(slip.advice());
    }
    let absent: Vec<(u32, String)> = source::reads(&servers::globals())
        .iter()
        .take(MAX_READS)
        .filter_map(|read| absent(read, context).map(|text| (read.line, text)))
        .collect();
    // A name that is near another one is the likelier slip.
    let first = absent.iter().find(|(_, text)| text.contains("did you mean")).or_else(|| absent.first());
    first.map(|(line, text)| format!("line {line} reads what is not there: {text}"))
}

fn absent(read: &Read, context: &mut Context) -> Option<String> {
    let Read { text, provenance, .. } = read;
    let (last, way) = provenance.steps.split_last()?;
    let Step::Name(name) = last else { return None };
    if matches!(way.last(), Some(Step::Settled)) {
        return unsettled(text, name, provenance);
    }
    let held = Held::given(provenance, context)?;
    let key = PropertyKey::from(JsString::from(name.as_str()));
    let has = |value: &JsValue, context: &mut Context| {
        !value.is_null_or_undefined() && get_of(value, key.clone(), context).is_ok_and(|member| !member.is_undefined())
    };
    if walk(held.value.clone(), way, &has, context).is_some() {
        return None;
    }
    missing(text, &held, Need::Named(name), context)
}

/// A member of what `Promise.allSettled` says of a promise.
fn unsettled(text: &str, name: &str, provenance: &Provenance) -> Option<String> {
    let holder = provenance.holder.as_deref().filter(|_| !OF_SETTLED.contains(&name))?;
    Some(format!(
        "{text} is undefined: Promise.allSettled gives {{ status, value }} or {{ status, reason }}: did you mean {holder}.value.{name}?"
    ))
}
