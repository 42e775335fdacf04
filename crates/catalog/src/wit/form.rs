//! The types that cross between a component and the host, and their JSON form.

use serde_json::Value;

/// The type of a value that crosses.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Form {
    /// `json`: any JSON, as its text.
    Json,
    /// `bool`.
    Bool,
    /// `s64`: a number without a fraction.
    Integer,
    /// `f64`.
    Number,
    /// `string`.
    Text,
    /// `option<T>`: `none` is `null`. For a member that may be absent, see [`Field::optional`].
    Option(Box<Form>),
    /// `list<T>`: an array.
    List(Box<Form>),
    /// `list<tuple<string, T>>`: an object whose keys the schema does not name.
    Map(Box<Form>),
    /// `tuple<…>`: an array with a type for each place.
    Tuple(Vec<Form>),
    /// A type with a name, by its place in [`Mapping::definitions`](super::Mapping::definitions).
    Named(usize),
}

/// A value, or nothing to pass.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Payload {
    /// Nothing crosses: the JSON is always this.
    Fixed(Value),
    /// A value crosses.
    Form(Form),
}

/// A type with a name.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Definition {
    /// Its name in WIT, without the `%` of keywords.
    pub name: String,
    /// The schema's description, ready for a comment.
    pub docs: String,
    /// What it is.
    pub kind: Kind,
}

/// The kinds of named types.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// `record`: an object.
    Record(Record),
    /// `enum`: one of several texts.
    Enum(Vec<Case<String>>),
    /// `variant`: a value of one of several types. A JSON value becomes the first case whose form
    /// it fits.
    Variant(Vec<Case<Payload>>),
}

/// An object as a record.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Record {
    /// The members that cross; at least one.
    pub fields: Vec<Field>,
    /// The members that do not cross, since they are constant.
    pub fixed: Vec<(String, Value)>,
}

/// One member of an object.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// Its name in WIT, without the `%` of keywords.
    pub name: String,
    /// Its key in JSON.
    pub key: String,
    /// Whether it may be absent: then it is `option<T>`, and `none` means absent. A `T` that is an
    /// option itself may also be `null`.
    pub optional: bool,
    /// The type of its value if present.
    pub form: Form,
    /// The schema's description, ready for a comment.
    pub docs: String,
}

/// One case of an enum or a variant.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Case<T> {
    /// Its name in WIT, without the `%` of keywords.
    pub name: String,
    /// The text that it represents, or the type of its value.
    pub value: T,
}

impl Form {
    /// The forms directly inside of this one.
    pub(super) fn inner(&self) -> &[Self] {
        match self {
            Self::Option(inner) | Self::List(inner) | Self::Map(inner) => std::slice::from_ref(inner),
            Self::Tuple(inner) => inner,
            Self::Json | Self::Bool | Self::Integer | Self::Number | Self::Text | Self::Named(_) => &[],
        }
    }

    /// The same with other indices of named types.
    pub(super) fn renumbered(&mut self, places: &dyn Fn(usize) -> usize) {
        match self {
            Self::Option(inner) | Self::List(inner) | Self::Map(inner) => inner.renumbered(places),
            Self::Tuple(inner) => inner.iter_mut().for_each(|form| form.renumbered(places)),
            Self::Named(at) => *at = places(*at),
            Self::Json | Self::Bool | Self::Integer | Self::Number | Self::Text => {}
        }
    }
}

impl Payload {
    /// Any JSON.
    pub(super) const JSON: Self = Self::Form(Form::Json);

    /// The form of the value, if one crosses.
    pub fn form(&self) -> Option<&Form> {
        match self {
            Self::Fixed(_) => None,
            Self::Form(form) => Some(form),
        }
    }
}

impl Kind {
    /// The forms in it.
    pub(super) fn forms(&self) -> Vec<&Form> {
        match self {
            Self::Record(record) => record.fields.iter().map(|field| &field.form).collect(),
            Self::Enum(_) => Vec::new(),
            Self::Variant(cases) => cases.iter().filter_map(|case| case.value.form()).collect(),
        }
    }

    pub(super) fn renumber(&mut self, places: &dyn Fn(usize) -> usize) {
        match self {
            Self::Record(record) => record.fields.iter_mut().for_each(|field| field.form.renumbered(places)),
            Self::Enum(_) => {}
            Self::Variant(cases) => {
                for case in cases {
                    if let Payload::Form(form) = &mut case.value {
                        form.renumbered(places);
                    }
                }
            }
        }
    }
}

/// The named types that a form uses directly, not inside other named types.
pub(super) fn named(form: &Form, found: &mut Vec<usize>) {
    if let Form::Named(at) = form {
        found.push(*at);
    }
    form.inner().iter().for_each(|inner| named(inner, found));
}

/// Whether a form itself has JSON text, apart from its named types.
pub(super) fn says_json(form: &Form) -> bool {
    *form == Form::Json || form.inner().iter().any(says_json)
}
