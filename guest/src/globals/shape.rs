//! What a value is that a script has taken for another, and which tool gave it: the shape says which field was meant.

use boa_engine::{Context, JsObject, JsString, JsValue, JsVariant, js_string, property::PropertyKey};

use super::{
    advice::{self, OF_ARRAYS, OF_STRINGS},
    enumerable_keys, get_of, hints, namespace, results,
};
use crate::{
    source::{self, Position, Provenance, Step},
    values::{decode, inspect, plain},
};

/// Members of an object that are shown.
const MAX_MEMBERS: usize = 8;
/// Characters of a text that are shown.
const MAX_TEXT: usize = 40;
/// Elements that are looked at for the one that a script failed on.
const MAX_ELEMENTS: u64 = 1_000;
/// Members that are proposed.
const MAX_PROPOSED: usize = 3;

/// What the script needed.
#[derive(Clone, Copy)]
enum Need<'m> {
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

/// A hint for an error of this message, if it is about a value that a tool gave. `operand` is what the engine could not use, as the
/// source has it.
pub(super) fn hint(
    message: &str,
    operand: Option<&str>,
    position: Option<Position>,
    context: &mut Context,
) -> Option<String> {
    let provenance = |expression: &str| source::provenance(expression, position, &namespace::globals());
    if let Some(callee) = message.strip_suffix(" is not a function") {
        let (object, method) = callee.rsplit_once('.').filter(|(_, method)| !advice::is_of_elsewhere(method))?;
        return misused(object, &provenance(object)?, Need::of(method), context);
    }
    if let Some(list) = message.strip_suffix(" is not iterable") {
        let provenance = provenance(list)?;
        return misused(list, &provenance, Need::List, context)
            .or_else(|| missing(list, &provenance, Need::List, context));
    }
    let operand = operand?;
    let read = ["(reading '", "(setting '", "Cannot destructure property '"]
        .iter()
        .find_map(|mark| message.split_once(mark)?.1.split_once('\'').map(|(name, _)| name));
    let is_of_nothing = message.starts_with("Cannot ") || message.starts_with("undefined is not iterable");
    is_of_nothing.then(|| missing(operand, &provenance(operand)?, read.map_or(Need::List, Need::of), context))?
}

/// A value that is there, and of which something was asked that it has not.
fn misused(expression: &str, provenance: &Provenance, need: Need<'_>, context: &mut Context) -> Option<String> {
    let result = results::last(&provenance.server, &provenance.tool, provenance.raw, context)?;
    let lacks = |value: &JsValue, context: &mut Context| match need {
        Need::List => !value.is_null_or_undefined() && !is_list(value),
        Need::Text => !value.is_null_or_undefined() && !value.is_string(),
        Need::Named(name) => {
            let key = PropertyKey::from(JsString::from(name));
            !value.is_null_or_undefined() && get_of(value, key, context).is_ok_and(|member| !member.is_callable())
        }
    };
    let value = walk(result, &provenance.steps, &lacks, context)?;
    let proposal =
        proposal(expression, &value, need, context).map_or_else(String::new, |proposal| format!(": {proposal}"));
    Some(format!("{expression} is {}, from {}{proposal}", shape(&value, context), of(provenance)))
}

/// A value that is not where the script looked for it. `need` is what was asked of it.
fn missing(expression: &str, provenance: &Provenance, need: Need<'_>, context: &mut Context) -> Option<String> {
    let result = results::last(&provenance.server, &provenance.tool, provenance.raw, context)?;
    let is_nothing = |value: &JsValue| value.is_null_or_undefined();
    let Some((last, way)) = provenance.steps.split_last() else {
        return is_nothing(&result)
            .then(|| format!("{expression} is {}: that is what {} gave", result.display(), of(provenance)));
    };
    let lacks = |value: &JsValue, _: &mut Context| {
        !is_nothing(value) && step(value, last).is_none_or(|member| is_nothing(&member))
    };
    let holder = walk(result, way, &lacks, context)?;
    let nothing = step(&holder, last).map_or("undefined", |value| if value.is_null() { "null" } else { "undefined" });
    let shape = shape(&holder, context);
    // A name that was taken out of the result by a pattern has no holder that could be named.
    let is_member = provenance.holder.is_some();
    let whole = provenance.holder.clone().unwrap_or_default();
    let told = if is_member {
        format!("{whole} is {shape}, from {}", of(provenance))
    } else {
        format!("{} gave {shape}", of(provenance))
    };
    let near = match last {
        Step::Name(name) => near(&holder, name, context),
        _ => None,
    };
    let member = |name: &str| format!("{whole}{}", if is_member { inspect::member(name) } else { name.to_owned() });
    let proposal = match (near, last) {
        // It is there, and holds nothing.
        _ if nothing == "null" => None,
        (Some(near), _) => Some(format!("did you mean {}?", member(&near))),
        (None, Step::Name(name)) if is_list(&holder) && is_member => of_elements(&whole, &holder, name),
        (None, Step::Name(_)) if !is_list(&holder) => {
            let fitting = fitting(&holder, need, context);
            (!fitting.is_empty()).then(|| {
                let named: Vec<String> = fitting.iter().map(|name| member(name)).collect();
                format!("did you mean {}?", named.join(" or "))
            })
        }
        _ => None,
    };
    let proposal = proposal.unwrap_or_else(|| "`?.` reads what may be missing".to_owned());
    Some(format!("{expression} is {nothing}: {told}: {proposal}"))
}

fn of(provenance: &Provenance) -> String {
    let Provenance { server, tool, raw, line, .. } = provenance;
    let path = format!("{server}{}", inspect::member(tool));
    if *raw { format!("tools.raw of {path} (line {line})") } else { format!("{path} (line {line})") }
}

/// The value at the end of a way, the first that is asked for.
fn walk(
    value: JsValue,
    steps: &[Step],
    is_wanted: &dyn Fn(&JsValue, &mut Context) -> bool,
    context: &mut Context,
) -> Option<JsValue> {
    let Some((first, rest)) = steps.split_first() else {
        return is_wanted(&value, context).then_some(value);
    };
    if matches!(first, Step::Parsed) {
        let parsed = decode::parse(&value.as_string()?, context).ok()?;
        return walk(parsed.value, rest, is_wanted, context);
    }
    if !matches!(first, Step::Element) {
        return walk(step(&value, first)?, rest, is_wanted, context);
    }
    let list = value.as_object().filter(JsObject::is_array)?;
    let elements = (0..MAX_ELEMENTS).map_while(|index| plain::element(&list, index));
    elements.into_iter().find_map(|element| walk(element, rest, is_wanted, context))
}

/// What is one step inside a value. What tools give is data alone.
fn step(value: &JsValue, step: &Step) -> Option<JsValue> {
    let object = value.as_object()?;
    match step {
        Step::Name(name) if name == "length" && object.is_array() => {
            plain::member(&object, &js_string!("length").into())
        }
        Step::Name(name) => plain::member(&object, &JsString::from(name.as_str()).into()),
        Step::Index(index) => plain::element(&object, u64::from(*index)),
        Step::Element => plain::element(&object, 0),
        Step::Parsed => None,
    }
}

fn is_list(value: &JsValue) -> bool {
    value.as_object().is_some_and(|object| object.is_array())
}

/// What to write in the place of `expression`, which holds `value`.
fn proposal(expression: &str, value: &JsValue, need: Need<'_>, context: &mut Context) -> Option<String> {
    let whole = if advice::is_plain(expression) { expression } else { "it" };
    let object = match value.variant() {
        JsVariant::String(_) => {
            return matches!(need, Need::List).then(|| format!("split a text first, as in {whole}.split('\\n')"));
        }
        JsVariant::Object(object) => object,
        _ => return matches!(need, Need::Text).then(|| format!("String({whole}) is a text")),
    };
    if object.is_array() {
        return match need {
            Need::Named(name) => of_elements(whole, value, name),
            Need::Text => Some(format!("its elements are one by one what {whole}.map((x) => …) gets")),
            Need::List => None,
        };
    }
    let names = match need {
        Need::Named(name) => near(value, name, context).into_iter().collect(),
        need => fitting(value, need, context),
    };
    if names.is_empty() {
        let list = format!("no member of it is a list; Object.entries({whole}) lists all of them");
        return matches!(need, Need::List).then_some(list);
    }
    let named: Vec<String> = names.iter().map(|name| format!("{whole}{}", inspect::member(name))).collect();
    Some(format!("did you mean {}?", named.join(" or ")))
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
    hints::nearest(name, names.iter().map(String::as_str)).map(str::to_owned)
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

fn names(object: &JsObject, context: &mut Context) -> Vec<String> {
    let names = enumerable_keys(object, context).unwrap_or_default();
    names.iter().map(JsString::to_std_string_lossy).collect()
}

/// What a value is, in a line: `{ issues: Array(14), total: number }`.
fn shape(value: &JsValue, context: &mut Context) -> String {
    match value.variant() {
        JsVariant::String(text) => {
            let text = text.to_std_string_lossy();
            let shown: String = text.chars().take(MAX_TEXT).collect();
            let more = if shown.len() < text.len() { "…" } else { "" };
            format!("the text {:?}", format!("{shown}{more}"))
        }
        JsVariant::Object(object) if object.is_array() => match plain::element(&object, 0) {
            Some(first) if first.is_object() && !is_list(&first) => {
                format!("{} of {}", kind(value), shape(&first, context))
            }
            Some(first) => format!("{} of {}", kind(value), kind(&first)),
            None => "an empty array".to_owned(),
        },
        JsVariant::Object(object) => members(&object, context),
        _ => format!("the {} {}", kind(value), value.display()),
    }
}

fn members(object: &JsObject, context: &mut Context) -> String {
    let names = names(object, context);
    if names.is_empty() {
        return "{} without members".to_owned();
    }
    let shown = names.iter().take(MAX_MEMBERS).map(|name| {
        let value = plain::member(object, &JsString::from(name.as_str()).into()).unwrap_or_default();
        let name = inspect::member(name);
        format!("{}: {}", name.strip_prefix('.').unwrap_or(&name), kind(&value))
    });
    let mut shown: Vec<String> = shown.collect();
    if names.len() > MAX_MEMBERS {
        shown.push(format!("… {} more", names.len() - MAX_MEMBERS));
    }
    format!("{{ {} }}", shown.join(", "))
}

fn kind(value: &JsValue) -> String {
    match value.variant() {
        JsVariant::Object(object) if object.is_array() => {
            let length = plain::member(&object, &js_string!("length").into());
            let length = length.and_then(|length| length.as_number()).unwrap_or_default();
            format!("Array({length})")
        }
        JsVariant::Object(_) => "object".to_owned(),
        JsVariant::Null => "null".to_owned(),
        _ => value.type_of().to_owned(),
    }
}
