//! What to write in the place of what a script has taken for another value: the shape of what is
//! there says which field was meant.

use boa_engine::{Context, JsObject, JsString, JsValue, JsVariant, js_string, property::PropertyKey};

use belljar_guest_algorithms::{
    advice::{self, OF_ARRAYS, OF_STRINGS},
    nearest,
};
use belljar_guest_engine::{
    collections::{Map, Set},
    originals::get_of,
    plain,
};
use belljar_guest_source::{self as source, Position, Read, Step};
use belljar_guest_values::{decode, inspect};

use super::{
    held::{Held, step, walk},
    servers,
    shape::{MAX_MEMBERS, is_list, names, shape},
};

/// Members that are proposed.
const MAX_PROPOSED: usize = 3;
/// A longer text is not parsed for a hint.
const MAX_PARSED: usize = 256 * 1024;
/// What a value is called that has no name.
const UNNAMED: &str = "(…)";

/// Methods of dates.
const OF_DATES: [&str; 12] = [
    "toISOString",
    "getTime",
    "getFullYear",
    "getMonth",
    "getDate",
    "getDay",
    "getHours",
    "getMinutes",
    "toLocaleDateString",
    "toLocaleTimeString",
    "toDateString",
    "toUTCString",
];
/// Methods of numbers.
const OF_NUMBERS: [&str; 2] = ["toFixed", "toPrecision"];

/// What the script needed.
#[derive(Clone, Copy)]
pub(super) enum Need<'m> {
    List,
    Text,
    /// A method or member of this name.
    Named(&'m str),
}

impl<'m> Need<'m> {
    fn of(member: &'m str) -> Self {
        match member {
            member if OF_ARRAYS.contains(&member) || member == "length" => Self::List,
            member if OF_STRINGS.contains(&member) => Self::Text,
            member => Self::Named(member),
        }
    }
}

/// A hint for an error of this message, if it is about a value that is known. `operand` is what the
/// engine could not use, as the source has it.
pub(super) fn hint(
    message: &str,
    operand: Option<&str>,
    position: Option<Position>,
    context: &mut Context,
) -> Option<String> {
    if let Some(callee) = message.strip_suffix(" is not a function") {
        let (object, method) = callee.rsplit_once('.').filter(|(_, method)| !advice::is_of_elsewhere(method))?;
        let need = Need::of(method);
        if object == "(intermediate value)" || object.ends_with("(...)") {
            let held = Held::unnamed(message, context)?;
            return misused(UNNAMED, &held, need, context);
        }
        return of_either(object, message, position, context, |held, context| misused(object, held, need, context));
    }
    if let Some(list) = message.strip_suffix(" is not iterable") {
        return of_either(list, message, position, context, |held, context| {
            let otherwise = || format!("`{list} ?? []` is empty where it is missing");
            misused(list, held, Need::List, context).or_else(|| missing_or(list, held, Need::List, otherwise, context))
        });
    }
    let read = ["(reading '", "(setting '", "Cannot destructure property '"]
        .iter()
        .find_map(|mark| message.split_once(mark)?.1.split_once('\'').map(|(name, _)| name));
    let is_of_nothing = message.starts_with("Cannot ") || message.starts_with("undefined is not iterable");
    let need = read.map_or(Need::List, Need::of);
    let Some(operand) = operand.filter(|_| is_of_nothing) else {
        return of_pattern(position, need, context).filter(|_| is_of_nothing);
    };
    of_either(operand, message, position, context, |held, context| missing(operand, held, need, context))
        .or_else(|| of_pattern(position, need, context))
}

/// What there is to say of a value as it was, or else as a tool gave it.
fn of_either(
    expression: &str,
    message: &str,
    position: Option<Position>,
    context: &mut Context,
    say: impl Fn(&Held, &mut Context) -> Option<String>,
) -> Option<String> {
    let now = Held::now(expression, message, position, context);
    now.and_then(|held| say(&held, context)).or_else(|| say(&Held::given_to(expression, position, context)?, context))
}

/// What a pattern inside of a pattern takes apart, and is not there.
fn of_pattern(position: Option<Position>, need: Need<'_>, context: &mut Context) -> Option<String> {
    let Read { text, provenance, .. } = source::pattern_at(position, &servers::globals())?;
    let held = Held::given(&provenance, context)?;
    missing(&text, &held, need, context)
}

/// What is not there of what a call at this place was given.
pub(super) fn argument_hint(position: Option<Position>, context: &mut Context) -> Option<String> {
    let reads = source::arguments_at(position, &servers::globals());
    reads.iter().find_map(|read| {
        let held = Held::given(&read.provenance, context)?;
        missing(&read.text, &held, Need::Named(""), context)
    })
}

/// A value that is there, and of which something was asked that it has not.
fn misused(expression: &str, held: &Held, need: Need<'_>, context: &mut Context) -> Option<String> {
    let lacks = |value: &JsValue, context: &mut Context| match need {
        Need::List => !value.is_null_or_undefined() && !is_list(value),
        Need::Text => !value.is_null_or_undefined() && !value.is_string(),
        Need::Named(name) => {
            let key = PropertyKey::from(JsString::from(name));
            !value.is_null_or_undefined() && get_of(value, key, context).is_ok_and(|member| !member.is_callable())
        }
    };
    let value = walk(held.value.clone(), &held.steps, &lacks, context)?;
    let proposal =
        proposal(expression, &value, need, context).map_or_else(String::new, |proposal| format!(": {proposal}"));
    let from = held.from.as_ref().map_or_else(String::new, |from| format!(", from {from}"));
    let shape = shape(&value, context);
    if proposal.is_empty() && from.is_empty() && !value.is_object() {
        return None;
    }
    Some(format!("{expression} is {shape}{from}{proposal}"))
}

/// A value that is not where the script looked for it. `need` is what was asked of it.
pub(super) fn missing(expression: &str, held: &Held, need: Need<'_>, context: &mut Context) -> Option<String> {
    missing_or(expression, held, need, || "`?.` reads what may be missing".to_owned(), context)
}

/// The same with what to propose where no other member is near.
fn missing_or(
    expression: &str,
    held: &Held,
    need: Need<'_>,
    otherwise: impl FnOnce() -> String,
    context: &mut Context,
) -> Option<String> {
    let is_nothing = |value: &JsValue| value.is_null_or_undefined();
    let Some((last, way)) = held.steps.split_last() else {
        let from = held.from.as_ref().filter(|_| is_nothing(&held.value))?;
        return Some(format!("{expression} is {}: that is what {from} gave", held.value.display()));
    };
    let lacks = |value: &JsValue, _: &mut Context| {
        !is_nothing(value) && step(value, last).is_none_or(|member| is_nothing(&member))
    };
    let holder = walk(held.value.clone(), way, &lacks, context)?;
    let nothing = step(&holder, last).map_or("undefined", |value| if value.is_null() { "null" } else { "undefined" });
    let shape = shape(&holder, context);
    // A name that was taken out of the result by a pattern has no holder that could be named.
    let told = match (&held.holder, &held.from) {
        (Some(whole), Some(from)) => format!("{whole} is {shape}, from {from}"),
        (Some(whole), None) => format!("{whole} is {shape}"),
        (None, Some(from)) => format!("{from} gave {shape}"),
        (None, None) => return None,
    };
    let proposal = match last {
        // It is there, and holds nothing.
        _ if nothing == "null" => None,
        Step::Name(name) => in_place_of(name, held.holder.as_deref(), &holder, need, context),
        _ => None,
    };
    let proposal = proposal.unwrap_or_else(otherwise);
    Some(format!("{expression} is {nothing}: {told}: {proposal}"))
}

/// What to read in the place of a member that a value has not. `whole` is the value's expression,
/// if it has one.
fn in_place_of(
    name: &str,
    whole: Option<&str>,
    holder: &JsValue,
    need: Need<'_>,
    context: &mut Context,
) -> Option<String> {
    let member = |name: &str| match whole {
        Some(whole) => format!("{whole}{}", inspect::member(name)),
        None => name.to_owned(),
    };
    let meant = |named: &[String]| Some(format!("did you mean {}?", named.join(" or ")));
    let Some(object) = holder.as_object() else {
        let whole = whole?;
        if holder.is_string() {
            if let Some(slip) = source::for_in_slips().into_iter().find(|slip| slip.name == whole) {
                return Some(slip.advice());
            }
            return parsed(whole, holder, context)
                .or_else(|| Some(format!("a text has no {name}: use {whole} itself")));
        }
        return Some(format!("it has no {name}: use {whole} itself"));
    };
    if is_list(holder) {
        return of_elements(whole?, holder, name);
    }
    if object.is::<Map>() {
        return Some(format!("an entry of a Map is {}.get({name:?})", whole?));
    }
    if let Some(near) = near(holder, name, context) {
        return meant(&[member(&near)]);
    }
    if is_rejected(&object) {
        return Some(format!("this promise was rejected, and {} says why", member("reason")));
    }
    let inner = members(holder, context)
        .into_iter()
        .find(|(_, value)| !is_list(value) && value.is_object() && step(value, &Step::Name(name.to_owned())).is_some());
    if let Some((inner, _)) = inner {
        return meant(&[format!("{}{}", member(&inner), inspect::member(name))]);
    }
    let fitting = fitting(holder, need, context);
    if !fitting.is_empty() {
        return meant(&fitting.iter().map(|name| member(name)).collect::<Vec<String>>());
    }
    holding(holder, &member, context)
}

/// Whether an object says of a promise that it was rejected, as `Promise.allSettled` does.
fn is_rejected(object: &JsObject) -> bool {
    let status = plain::member(object, &js_string!("status").into()).and_then(|status| status.as_string());
    status.is_some_and(|status| status == js_string!("rejected"))
}

/// What to write in the place of `expression`, which holds `value`.
fn proposal(expression: &str, value: &JsValue, need: Need<'_>, context: &mut Context) -> Option<String> {
    let whole = if advice::is_plain(expression) || expression == UNNAMED { expression } else { "it" };
    let object = match value.variant() {
        JsVariant::String(_) => {
            return match need {
                Need::Named(name) if OF_DATES.contains(&name) => Some(format!("write new Date({whole}).{name}(…)")),
                Need::Named(name) if OF_NUMBERS.contains(&name) => Some(format!("write Number({whole}).{name}(…)")),
                Need::Text => None,
                Need::Named(_) => parsed(whole, value, context),
                Need::List => parsed(whole, value, context)
                    .or_else(|| Some(format!("split a text first, as in {whole}.split('\\n')"))),
            };
        }
        JsVariant::Object(object) => object,
        _ => {
            return match need {
                Need::Named(name) if OF_DATES.contains(&name) => Some(format!("write new Date({whole}).{name}(…)")),
                Need::Text => Some(format!("String({whole}) is a text")),
                _ => None,
            };
        }
    };
    if object.is_array() {
        return match need {
            Need::Named(name) => of_elements(whole, value, name),
            Need::Text => Some(format!("its elements are one by one what {whole}.map((x) => …) gets")),
            Need::List => None,
        };
    }
    if object.is_callable() {
        return Some(format!("call it, as in {whole}(…)"));
    }
    if object.is::<Map>() {
        return matches!(need, Need::List).then(|| {
            format!("[...{whole}.values()] is a list of its values, and [...{whole}] one of its [key, value] pairs")
        });
    }
    if object.is::<Set>() {
        return matches!(need, Need::List).then(|| format!("[...{whole}] is a list of what it holds"));
    }
    let names = match need {
        Need::Named(name) => near(value, name, context).into_iter().collect(),
        need => fitting(value, need, context),
    };
    if names.is_empty() {
        let member = |name: &str| format!("{whole}{}", inspect::member(name));
        let list = format!("no member of it is a list; Object.entries({whole}) lists all of them");
        return holding(value, &member, context).or_else(|| matches!(need, Need::List).then_some(list));
    }
    let named: Vec<String> = names.iter().map(|name| format!("{whole}{}", inspect::member(name))).collect();
    Some(format!("did you mean {}?", named.join(" or ")))
}

/// The member that is a text with JSON in it.
fn holding(holder: &JsValue, member: &dyn Fn(&str) -> String, context: &mut Context) -> Option<String> {
    let members = members(holder, context);
    members.iter().find_map(|(name, value)| parsed(&member(name), value, context))
}

/// What to do with a text that holds JSON.
fn parsed(whole: &str, text: &JsValue, context: &mut Context) -> Option<String> {
    let text = text.as_string().filter(|text| text.len() <= MAX_PARSED)?;
    let first = text.iter().find(|unit| !matches!(unit, 0x09 | 0x0a | 0x0d | 0x20))?;
    let is_json = [u16::from(b'{'), u16::from(b'[')].contains(&first) && decode::parse(&text, context).is_ok();
    is_json.then(|| format!("{whole} is a text that holds JSON: use JSON.parse({whole})"))
}

/// What to write where a list was taken for one of its elements.
fn of_elements(whole: &str, list: &JsValue, name: &str) -> Option<String> {
    let first = step(list, &Step::Index(0))?;
    step(&first, &Step::Name(name.to_owned()))?;
    let member = inspect::member(name);
    Some(format!("each element has one: {whole}[0]{member}, or {whole}.map((x) => x{member})"))
}

/// The member whose name is nearest to one.
fn near(holder: &JsValue, name: &str, context: &mut Context) -> Option<String> {
    let names = names(&holder.as_object().filter(|object| !object.is_array())?, context);
    nearest::nearest(name, names.iter().map(String::as_str)).map(str::to_owned)
}

/// The first members, with what they hold.
fn members(holder: &JsValue, context: &mut Context) -> Vec<(String, JsValue)> {
    let Some(object) = holder.as_object() else { return Vec::new() };
    let names = names(&object, context).into_iter().take(MAX_MEMBERS);
    let with_value = names.map(|name| {
        let value = step(holder, &Step::Name(name.clone())).unwrap_or_default();
        (name, value)
    });
    with_value.collect()
}

/// The members that are what was needed.
fn fitting(holder: &JsValue, need: Need<'_>, context: &mut Context) -> Vec<String> {
    let Some(object) = holder.as_object() else { return Vec::new() };
    let fits = |name: &String| {
        let value = step(holder, &Step::Name(name.clone())).unwrap_or_default();
        match need {
            Need::List => is_list(&value),
            Need::Text => value.is_string(),
            Need::Named(_) => false,
        }
    };
    names(&object, context).into_iter().filter(fits).take(MAX_PROPOSED).collect()
}
