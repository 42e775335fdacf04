//! A value that a script has failed on: as the variable held it then, or as the last answer of the
//! tool has it that gave it.

use boa_engine::{Context, JsObject, JsString, JsValue, js_string};

use belljar_guest_engine::plain;
use belljar_guest_source::{self as source, Position, Provenance, Step, Way};
use belljar_guest_values::{decode, inspect};

use super::{results, servers, shape::is_list};

/// Elements that are looked at for the one that a script failed on.
const MAX_ELEMENTS: u64 = 1_000;

/// A value that holds another one, and the way to that.
pub(super) struct Held {
    pub(super) value: JsValue,
    pub(super) steps: Vec<Step>,
    /// The expression of the object that the value at the end is read of.
    pub(super) holder: Option<String>,
    /// The call that gave it: `demo.list_issues (line 1)`.
    pub(super) from: Option<String>,
}

impl Held {
    /// What an expression was when the script failed with this message: the variable's own value,
    /// where the engine has kept it.
    pub(super) fn now(
        expression: &str,
        message: &str,
        position: Option<Position>,
        context: &mut Context,
    ) -> Option<Self> {
        let (name, value) = context.misused(message)?.variable?;
        let Way { root, steps, holder } = source::way(expression)?;
        let is_there = root == name && !(steps.is_empty() && value.is_null_or_undefined());
        is_there.then(|| {
            let from = source::provenance(expression, position, &servers::globals()).map(|given| origin(&given));
            Self { value, steps, holder, from }
        })
    }

    /// What a method was called on that it has not, where that has no name.
    pub(super) fn unnamed(message: &str, context: &mut Context) -> Option<Self> {
        let value = context.misused(message)?.value.filter(|value| !value.is_null_or_undefined())?;
        Some(Self { value, steps: Vec::new(), holder: None, from: None })
    }

    /// What the tool gave last from which a value is.
    pub(super) fn given(provenance: &Provenance, context: &mut Context) -> Option<Self> {
        let Provenance { server, tool, raw, steps, holder, .. } = provenance;
        let value = results::last(server, tool, *raw, context)?;
        Some(Self { value, steps: steps.clone(), holder: holder.clone(), from: Some(origin(provenance)) })
    }

    /// The same by an expression.
    pub(super) fn given_to(expression: &str, position: Option<Position>, context: &mut Context) -> Option<Self> {
        Self::given(&source::provenance(expression, position, &servers::globals())?, context)
    }
}

/// The call that gave a value.
fn origin(provenance: &Provenance) -> String {
    let Provenance { server, tool, raw, line, .. } = provenance;
    let path = format!("{server}{}", inspect::member(tool));
    if *raw { format!("tools.raw of {path} (line {line})") } else { format!("{path} (line {line})") }
}

/// The value at the end of a way, the first that is asked for.
pub(super) fn walk(
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

/// What is one step inside a value, if that is data.
pub(super) fn step(value: &JsValue, step: &Step) -> Option<JsValue> {
    if let Some(text) = value.as_string() {
        let is_length = matches!(step, Step::Name(name) if name == "length");
        return is_length.then(|| JsValue::from(text.len()));
    }
    let object = value.as_object()?;
    match step {
        Step::Name(name) if name == "length" && is_list(value) => plain::member(&object, &js_string!("length").into()),
        Step::Name(name) => plain::member(&object, &JsString::from(name.as_str()).into()),
        Step::Index(index) => plain::element(&object, u64::from(*index)),
        Step::Element => plain::element(&object, 0),
        Step::Parsed | Step::Gathered | Step::AllSettled | Step::Settled => None,
    }
}
