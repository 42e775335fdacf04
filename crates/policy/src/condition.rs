//! Conditions on arguments, which are true, false or unknown.
//!
//! A condition is unknown if its value is missing or has another type. Rules that deny or ask treat
//! unknown as true, rules that allow treat it as false: leaving out a value never allows anything.

use std::{fmt, path::PathBuf, sync::Arc};

use regex::Regex;
use serde_json::{Map, Value};

use crate::{
    Places,
    argument::{ArgumentPath, Found, Segment, member},
    number::Number,
};

/// The result of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    True,
    False,
    Unknown,
}

impl Truth {
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::False, _) | (_, Self::False) => Self::False,
            (Self::True, Self::True) => Self::True,
            _ => Self::Unknown,
        }
    }

    fn or(self, other: Self) -> Self {
        !(!self).and(!other)
    }
}

impl std::ops::Not for Truth {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Unknown => Self::Unknown,
        }
    }
}

impl From<bool> for Truth {
    fn from(is: bool) -> Self {
        if is { Self::True } else { Self::False }
    }
}

/// How many elements of a list must meet a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantifier {
    /// One is enough, as for a rule that denies or asks.
    Any,
    /// All of them, as for a rule that allows.
    All,
}

/// All conditions on one argument.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    /// The position of the argument's name.
    pub(crate) offset: usize,
    pub(crate) path: ArgumentPath,
    /// Cheap ones come first.
    pub(crate) operators: Vec<Operator>,
}

/// One condition. Copies share its large parts.
#[derive(Debug, Clone)]
pub(crate) enum Operator {
    Is(Arc<Values>),
    In(Arc<Values>),
    NotIn(Arc<Values>),
    Min(Number),
    Max(Number),
    Under(Arc<[PathBuf]>),
    NotUnder(Arc<[PathBuf]>),
    Matches(Arc<Pattern>),
    LongerThan(u64),
    Absent,
    Present,
}

/// A regular expression that must match the whole text.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) written: String,
    pub(crate) whole: Regex,
}

/// A set of values, by type: a value of another type cannot be compared with any.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Values {
    /// Sorted.
    pub(crate) texts: Vec<String>,
    pub(crate) numbers: Vec<Number>,
    pub(crate) booleans: Vec<bool>,
}

impl Values {
    fn contain(&self, value: &Value) -> Truth {
        match value {
            Value::String(text) if !self.texts.is_empty() => {
                self.texts.binary_search_by(|known| known.as_str().cmp(text)).is_ok().into()
            }
            Value::Number(number) if !self.numbers.is_empty() => match Number::of(number) {
                Some(number) => self.numbers.iter().any(|known| known.compare(number).is_eq()).into(),
                None => Truth::Unknown,
            },
            Value::Bool(boolean) if !self.booleans.is_empty() => self.booleans.contains(boolean).into(),
            _ => Truth::Unknown,
        }
    }
}

/// The caller, and what is known about files.
#[derive(Clone, Copy)]
pub(crate) struct Context<'c> {
    pub(crate) server: &'c str,
    pub(crate) places: &'c dyn Places,
}

impl Operator {
    /// Whether it needs the file system.
    pub(crate) fn asks_places(&self) -> bool {
        matches!(self, Self::Under(_) | Self::NotUnder(_))
    }

    /// Its name in the file.
    pub(crate) fn key(&self) -> &'static str {
        match self {
            Self::Is(_) => "is",
            Self::In(_) => "in",
            Self::NotIn(_) => "not_in",
            Self::Min(_) => "min",
            Self::Max(_) => "max",
            Self::Under(_) => "under",
            Self::NotUnder(_) => "not_under",
            Self::Matches(_) => "matches",
            Self::LongerThan(_) => "longer_than",
            Self::Absent => "absent",
            Self::Present => "present",
        }
    }

    /// Its result for the value at the end of a path.
    pub(crate) fn judge(&self, found: Found<'_>, context: Context<'_>) -> Truth {
        match found {
            Found::Value(value) => self.judge_value(value, context),
            Found::Unknown => Truth::Unknown,
            Found::Missing => match self {
                Self::Absent => Truth::True,
                Self::Present => Truth::False,
                _ => Truth::Unknown,
            },
        }
    }

    fn judge_value(&self, value: &Value, context: Context<'_>) -> Truth {
        let number = || match value {
            Value::Number(number) => Number::of(number),
            _ => None,
        };
        let under = |folders: &[PathBuf]| match value {
            Value::String(path) => match context.places.is_under(context.server, path, folders) {
                Some(is_under) => is_under.into(),
                None => Truth::Unknown,
            },
            _ => Truth::Unknown,
        };
        match self {
            Self::Is(values) | Self::In(values) => values.contain(value),
            Self::NotIn(values) => !values.contain(value),
            Self::Min(least) => number().map_or(Truth::Unknown, |number| number.compare(*least).is_ge().into()),
            Self::Max(most) => number().map_or(Truth::Unknown, |number| number.compare(*most).is_le().into()),
            Self::Under(folders) => under(folders),
            Self::NotUnder(folders) => !under(folders),
            Self::Matches(pattern) => match value {
                Value::String(text) => pattern.whole.is_match(text).into(),
                _ => Truth::Unknown,
            },
            Self::LongerThan(most) => match value {
                Value::String(text) => has_more(text.chars(), *most).into(),
                Value::Array(elements) => has_more(elements.iter(), *most).into(),
                _ => Truth::Unknown,
            },
            Self::Absent => Truth::False,
            Self::Present => Truth::True,
        }
    }
}

fn has_more(items: impl Iterator, most: u64) -> bool {
    usize::try_from(most).is_ok_and(|most| items.take(most.saturating_add(1)).count() > most)
}

impl Condition {
    /// Its result for these arguments.
    pub(crate) fn judge(&self, arguments: &Map<String, Value>, quantifier: Quantifier, context: Context<'_>) -> Truth {
        if !self.path.has_each() {
            return self.judge_leaf(self.path.find(arguments), context);
        }
        let Some((Segment::Member(name), rest)) = self.path.segments().split_first() else { return Truth::Unknown };
        self.judge_member(member(arguments, name), rest, quantifier, context)
    }

    fn judge_below(&self, value: &Value, rest: &[Segment], quantifier: Quantifier, context: Context<'_>) -> Truth {
        let Some((segment, rest)) = rest.split_first() else {
            return self.judge_leaf(Found::Value(value), context);
        };
        match (segment, value) {
            (Segment::Member(name), Value::Object(members)) => {
                self.judge_member(member(members, name), rest, quantifier, context)
            }
            (Segment::Each, Value::Array(elements)) if !elements.is_empty() => {
                let mut all = elements.iter().map(|element| self.judge_below(element, rest, quantifier, context));
                match quantifier {
                    Quantifier::Any => fold(&mut all, Truth::False, Truth::True, Truth::or),
                    Quantifier::All => fold(&mut all, Truth::True, Truth::False, Truth::and),
                }
            }
            _ => Truth::Unknown,
        }
    }

    fn judge_member(&self, found: Found<'_>, rest: &[Segment], quantifier: Quantifier, context: Context<'_>) -> Truth {
        match found {
            Found::Value(value) => self.judge_below(value, rest, quantifier, context),
            // A missing value has no elements to examine.
            Found::Missing if !rest.contains(&Segment::Each) => self.judge_leaf(Found::Missing, context),
            Found::Missing | Found::Unknown => self.judge_leaf(Found::Unknown, context),
        }
    }

    fn judge_leaf(&self, found: Found<'_>, context: Context<'_>) -> Truth {
        let mut truth = Truth::True;
        for operator in &self.operators {
            truth = truth.and(operator.judge(found, context));
            if truth == Truth::False {
                break;
            }
        }
        truth
    }

    pub(crate) fn asks_places(&self) -> bool {
        self.operators.iter().any(Operator::asks_places)
    }
}

/// Combines results until the answer is certain.
fn fold(
    truths: &mut dyn Iterator<Item = Truth>,
    first: Truth,
    sure: Truth,
    join: impl Fn(Truth, Truth) -> Truth,
) -> Truth {
    let mut all = first;
    for truth in truths {
        all = join(all, truth);
        if all == sure {
            break;
        }
    }
    all
}

impl fmt::Display for Operator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folders = |folders: &[PathBuf]| {
            folders.iter().map(|folder| format!("{:?}", folder.to_string_lossy())).collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Is(values) => write!(formatter, "is {values}"),
            Self::In(values) => write!(formatter, "in [{values}]"),
            Self::NotIn(values) => write!(formatter, "not_in [{values}]"),
            Self::Min(least) => write!(formatter, "min {least}"),
            Self::Max(most) => write!(formatter, "max {most}"),
            Self::Under(under) => write!(formatter, "under [{}]", folders(under)),
            Self::NotUnder(under) => write!(formatter, "not_under [{}]", folders(under)),
            Self::Matches(pattern) => write!(formatter, "matches '{}'", pattern.written),
            Self::LongerThan(most) => write!(formatter, "longer_than {most}"),
            Self::Absent => formatter.write_str("absent"),
            Self::Present => formatter.write_str("present"),
        }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = self.texts.iter().map(|text| format!("{text:?}"));
        let numbers = self.numbers.iter().map(ToString::to_string);
        let booleans = self.booleans.iter().map(ToString::to_string);
        formatter.write_str(&texts.chain(numbers).chain(booleans).collect::<Vec<_>>().join(", "))
    }
}
