//! Describes what is wrong with arguments: the place, what was expected there, and what was found.

use std::{collections::HashSet, fmt, fmt::Write as _};

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
    paths::{Location, LocationSegment},
};
use serde_json::Value;

use crate::names::{comparisons, meant};

/// How many problems are listed; the rest are counted.
const MAX_TOLD: usize = 3;
/// How many problems are looked at, including those inside alternatives.
const MAX_SEEN: usize = 100;
/// How many comparisons of two characters the search for the intended names may make: some hundred
/// microseconds.
pub(crate) const MAX_COMPARED: usize = 100_000;
/// The most characters of a sentence that comes from the validator and may repeat parts of the
/// schema.
const MAX_SENTENCE: usize = 200;
/// How many characters of a value are shown.
const MAX_SHOWN: usize = 40;
/// How many alternatives are listed.
const MAX_LISTED: usize = 12;
/// How many levels of alternatives inside of alternatives are looked into.
const MAX_NESTING: usize = 8;

/// The problems of one check.
pub(crate) struct Problems {
    told: Vec<String>,
    more: usize,
    is_cut: bool,
}

impl Problems {
    pub(crate) fn is_empty(&self) -> bool {
        self.told.is_empty()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.told.join("; "))?;
        match (self.more, self.is_cut) {
            (0, false) => Ok(()),
            (more, false) => write!(formatter, "; and {more} more"),
            (_, true) => formatter.write_str("; and many more"),
        }
    }
}

/// Puts the problems of `arguments` into words.
pub(crate) fn list<'i>(
    schema: &Value,
    errors: impl Iterator<Item = ValidationError<'i>>,
    arguments: &Value,
) -> Problems {
    let mut words =
        Words { schema, arguments, seen: HashSet::new(), list: Vec::new(), left: MAX_SEEN, comparisons: MAX_COMPARED };
    let mut errors = errors;
    for error in errors.by_ref().take(MAX_SEEN) {
        words.tell(&error, 0);
    }
    let is_cut = words.left == 0 || errors.next().is_some();
    let more = words.list.len().saturating_sub(MAX_TOLD);
    words.list.truncate(MAX_TOLD);
    Problems { told: words.list, more, is_cut }
}

struct Words<'v> {
    schema: &'v Value,
    arguments: &'v Value,
    seen: HashSet<String>,
    list: Vec<String>,
    /// How many problems and comparisons are left in the budget.
    left: usize,
    comparisons: usize,
}

impl Words<'_> {
    fn put(&mut self, problem: String) {
        if self.seen.insert(problem.clone()) {
            self.list.push(problem);
        }
    }

    fn tell(&mut self, error: &ValidationError<'_>, nesting: usize) {
        if !self.may_look() {
            return;
        }
        let place = place(error.instance_path());
        match error.kind() {
            Kind::Required { property } => self.missing(error, property.as_str().unwrap_or_default()),
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                for name in unexpected {
                    if !self.may_look() {
                        return;
                    }
                    self.unknown(error, name);
                }
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } if nesting < MAX_NESTING => {
                self.alternatives(error, context, nesting);
            }
            kind => {
                let found = shown(error.instance());
                let problem = match expected(kind) {
                    Some(expected) => format!("{place}: expected {expected}, found {found}"),
                    None => format!("{place}: {}, found {found}", cut(error.masked_with("it"), MAX_SENTENCE)),
                };
                let near = self.nearest_option(kind, error.instance());
                self.put(problem + &near);
            }
        }
    }

    fn may_look(&mut self) -> bool {
        let may = self.left > 0;
        self.left = self.left.saturating_sub(1);
        may
    }

    /// The name that was probably meant, if it can be found within the budget.
    fn meant<'n>(&mut self, given: &str, known: &[&'n str]) -> Option<&'n str> {
        if self.list.len() >= MAX_TOLD {
            // It would only be counted.
            return None;
        }
        self.comparisons = self.comparisons.checked_sub(comparisons(given, known))?;
        meant(given, known)
    }

    /// "did you mean", if a text is close to one of the allowed ones.
    fn nearest_option(&mut self, kind: &Kind, found: &Value) -> String {
        let (Kind::Enum { options }, Some(found)) = (kind, found.as_str()) else { return String::new() };
        let options: Vec<&str> = options.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let near = self.meant(found, &options);
        near.map(|near| format!(": did you mean {near:?}?")).unwrap_or_default()
    }

    /// Adds a required name that is missing, perhaps because it was given under another name.
    fn missing(&mut self, error: &ValidationError<'_>, name: &str) {
        let schema = properties(self.schema, error).and_then(|properties| properties.get(name));
        // A schema that describes a server's state after it has filled in its defaults requires all
        // names.
        if schema.is_some_and(|schema| schema.get("default").is_some()) {
            return;
        }
        let expected = schema.map_or_else(any, described);
        let mut problem = format!("{}: expected {expected}, found nothing", member(error.instance_path(), name));
        if let Some(given) = self.misnamed(error, name) {
            let _ = write!(problem, " (there is `{given}`: did you mean `{name}`?)");
        }
        self.put(problem);
    }

    /// The unknown name that was probably meant to be `wanted`.
    fn misnamed(&mut self, error: &ValidationError<'_>, wanted: &str) -> Option<String> {
        if self.list.len() >= MAX_TOLD {
            return None;
        }
        let (schema, arguments) = (self.schema, self.arguments);
        let known = properties(schema, error)?;
        let holder = arguments.pointer(error.instance_path().as_str())?.as_object()?;
        let unknown: Vec<&str> = holder.keys().map(String::as_str).filter(|name| !known.contains_key(*name)).collect();
        let missing: Vec<&str> = known.keys().map(String::as_str).filter(|name| !holder.contains_key(*name)).collect();
        let named = unknown.iter().find(|name| self.meant(name, &missing) == Some(wanted)).copied();
        let required = beside(schema, error)?.get("required")?.as_array()?;
        let lacks = required.iter().filter_map(Value::as_str).filter(|name| !holder.contains_key(*name)).count();
        // There is only one unknown name and only one missing one.
        let only = match unknown.as_slice() {
            [only] if lacks == 1 => Some(*only),
            _ => None,
        };
        named.or(only).map(short)
    }

    fn unknown(&mut self, error: &ValidationError<'_>, name: &str) {
        if self.list.len() >= MAX_TOLD {
            // Further ones are only counted, and the place distinguishes them.
            self.put(member(error.instance_path(), name));
            return;
        }
        let (schema, arguments) = (self.schema, self.arguments);
        let holder = arguments.pointer(error.instance_path().as_str()).and_then(Value::as_object);
        let known = properties(schema, error);
        let free: Vec<&str> = known
            .into_iter()
            .flat_map(|known| known.keys())
            .map(String::as_str)
            .filter(|name| holder.is_none_or(|holder| !holder.contains_key(*name)))
            .collect();
        let place = member(error.instance_path(), name);
        let near = self.meant(name, &free).map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
        self.put(format!("{place}: there is no argument of this name{near}"));
    }

    /// None of several alternatives fits: says what they expect, or what is wrong with the one that
    /// fits best.
    fn alternatives(&mut self, error: &ValidationError<'_>, context: &[Vec<ValidationError<'static>>], nesting: usize) {
        let at = error.instance_path();
        let refused: Option<Vec<_>> = context.iter().map(|errors| outright(errors, at)).collect();
        if let Some(refused) = refused.filter(|refused| !refused.is_empty()) {
            let mut all: Vec<String> = Vec::new();
            for expected in refused.iter().take(MAX_SEEN).filter_map(|error| expected(error.kind())) {
                if !all.contains(&expected) {
                    all.push(expected);
                }
                if all.len() == MAX_LISTED {
                    break;
                }
            }
            self.put(format!("{}: expected {}, found {}", place(at), all.join(" or "), shown(error.instance())));
            return;
        }
        // If an alternative names its own kind, as in `type: "text"`, a value with another kind was
        // not meant to be one.
        let distance = |errors: &&Vec<ValidationError<'static>>| {
            let is_other = |error: &ValidationError<'static>| matches!(error.kind(), Kind::Constant { .. });
            (outright(errors, at).is_some(), errors.iter().any(is_other), errors.len())
        };
        match context.iter().filter(|errors| !errors.is_empty()).min_by_key(distance) {
            Some(best) => best.iter().take(MAX_SEEN).for_each(|error| self.tell(error, nesting + 1)),
            None => {
                self.put(format!("{}: fits none of its alternatives, found {}", place(at), shown(error.instance())))
            }
        }
    }
}

/// The schema whose keyword failed.
fn beside<'s>(schema: &'s Value, error: &ValidationError<'_>) -> Option<&'s Value> {
    let (parent, _) = error.schema_path().as_str().rsplit_once('/')?;
    schema.pointer(parent)
}

fn properties<'s>(schema: &'s Value, error: &ValidationError<'_>) -> Option<&'s serde_json::Map<String, Value>> {
    beside(schema, error)?.get("properties")?.as_object()
}

/// What rules out an alternative, whatever else the value at `at` contains.
fn outright<'e>(errors: &'e [ValidationError<'static>], at: &Location) -> Option<&'e ValidationError<'static>> {
    errors.iter().find(|error| {
        error.instance_path() == at
            && matches!(error.kind(), Kind::Type { .. } | Kind::Enum { .. } | Kind::Constant { .. })
    })
}

/// What a keyword expects.
fn expected(kind: &Kind) -> Option<String> {
    Some(match kind {
        Kind::Type { kind: TypeKind::Single(only) } => only.to_string(),
        Kind::Type { kind: TypeKind::Multiple(several) } => {
            several.iter().map(|each| each.to_string()).collect::<Vec<_>>().join(" or ")
        }
        Kind::Enum { options } => one_of(options),
        Kind::Constant { expected_value } => shown_plain(expected_value),
        Kind::Minimum { limit } => format!("a number of at least {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("a number above {limit}"),
        Kind::Maximum { limit } => format!("a number of at most {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("a number below {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("at least {limit} characters"),
        Kind::MaxLength { limit } => format!("at most {limit} characters"),
        Kind::MinItems { limit } => format!("at least {limit} elements"),
        Kind::MaxItems { limit } => format!("at most {limit} elements"),
        Kind::MinProperties { limit } => format!("at least {limit} members"),
        Kind::MaxProperties { limit } => format!("at most {limit} members"),
        Kind::Pattern { pattern } => format!("a string that matches {}", short(pattern)),
        Kind::UniqueItems => "elements that all differ".to_owned(),
        Kind::OneOfMultipleValid { .. } => "what fits one alternative alone".to_owned(),
        _ => return None,
    })
}

/// A word or two for what a schema describes.
fn described(schema: &Value) -> String {
    if let Some(options) = schema.get("enum") {
        return one_of(options);
    }
    match schema.get("type") {
        Some(Value::String(name)) => short(name),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).take(MAX_LISTED).map(short).collect::<Vec<_>>().join(" or ")
        }
        _ => any(),
    }
}

fn any() -> String {
    "a value".to_owned()
}

fn one_of(options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut listed: Vec<String> = options.iter().take(MAX_LISTED).map(shown_plain).collect();
    if options.len() > MAX_LISTED {
        listed.push("…".to_owned());
    }
    match listed.as_slice() {
        [only] => only.clone(),
        _ => format!("one of {}", listed.join(", ")),
    }
}

/// A value as it was found: its kind, and its content if that is short enough.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => format!("boolean {truth}"),
        Value::Number(number) => format!("number {number}"),
        Value::String(text) => format!("string {}", quoted(text)),
        Value::Array(elements) => match elements.len() {
            0 => "an empty array".to_owned(),
            1 => "an array of 1 element".to_owned(),
            length => format!("an array of {length} elements"),
        },
        Value::Object(members) if members.is_empty() => "an empty object".to_owned(),
        Value::Object(members) => {
            let mut keys: Vec<String> = members.keys().take(4).map(short).collect();
            if members.len() > keys.len() {
                keys.push("…".to_owned());
            }
            format!("an object {{ {} }}", keys.join(", "))
        }
    }
}

fn shown_plain(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => cut(other, MAX_SHOWN),
    }
}

fn quoted(text: &str) -> String {
    Value::from(short(text)).to_string()
}

fn short(text: impl AsRef<str>) -> String {
    cut(text.as_ref(), MAX_SHOWN)
}

/// The beginning of a text. Only the shown part is written.
fn cut(text: impl fmt::Display, characters: usize) -> String {
    struct Beginning {
        text: String,
        left: usize,
    }
    impl fmt::Write for Beginning {
        fn write_str(&mut self, more: &str) -> fmt::Result {
            for character in more.chars() {
                self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
                self.text.push(character);
            }
            Ok(())
        }
    }
    let mut beginning = Beginning { text: String::new(), left: characters };
    if write!(beginning, "{text}").is_err() {
        beginning.text.push('…');
    }
    beginning.text
}

/// A place in the arguments, as a script would write it: `arguments.edits[0].oldText`.
fn place(location: &Location) -> String {
    let mut place = String::from("arguments");
    for segment in location {
        match segment {
            LocationSegment::Property(name) => push_member(&mut place, &name),
            LocationSegment::Index(index) => {
                let _ = write!(place, "[{index}]");
            }
        }
    }
    place
}

fn member(location: &Location, name: &str) -> String {
    let mut place = place(location);
    push_member(&mut place, name);
    place
}

pub(crate) fn push_member(place: &mut String, name: &str) {
    let is_name = name.chars().all(|character| character.is_alphanumeric() || matches!(character, '_' | '$'))
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty();
    let _ = if is_name { write!(place, ".{}", short(name)) } else { write!(place, "[{}]", quoted(name)) };
}
