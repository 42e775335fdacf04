//! Converts the schemas of one tool to forms.
//!
//! WIT has no recursive types, no anonymous records, and no "any" type. What it cannot express
//! crosses as JSON text, but as little of it as possible. However hostile a schema is, no form is
//! deeper or larger than the bounds allow.

use std::collections::HashSet;

use belljar_model::ToolDefinition;
use serde_json::{Map, Value};

use super::{
    docs::doc_line,
    field::field,
    form::{Case, Definition, Form, Kind, Payload, Record, named},
    names::{assign, kebab},
};
use crate::{
    bounds::{MEMBER_COMMENT_CHARS, WIT_HEIGHT, WIT_HINT_CHARS, WIT_TYPE_SIZE},
    schema::{Alias, Element, Reader, Shape, Type, Types},
};

/// What crosses in a call of one tool.
pub(super) struct Lowered {
    /// Its arguments; fixed if it takes none.
    pub(super) arguments: Payload,
    /// Its declared result; `None` if it declares nothing.
    pub(super) result: Option<Payload>,
    /// The named types that those use. Their names are hints that distinguish them within the tool.
    pub(super) definitions: Vec<Definition>,
    /// The sizes of all of these together.
    pub(super) size: usize,
}

/// Reads the schemas of a tool.
pub(super) fn lower(definition: &ToolDefinition) -> Lowered {
    let mut reader = Reader::with_integers();
    let arguments = reader.document("Args", &definition.input_schema);
    let result = definition.output_schema.as_ref().map(|schema| reader.document("Result", schema));
    let roots: Vec<&Type> = std::iter::once(&arguments).chain(&result).collect();
    let types = reader.finish(&roots);
    let mut lowering = Lowering {
        types: &types,
        aliases: types.aliases.iter().map(|_| Progress::New).collect(),
        definitions: Vec::new(),
        measures: Vec::new(),
    };
    let arguments = match takes_nothing(&definition.input_schema) {
        true => Payload::Fixed(Value::Object(Map::new())),
        false => match lowering.payload(&arguments, "args", 0) {
            fixed @ Payload::Fixed(Value::Object(_)) => fixed,
            Payload::Form(form) if lowering.is_object(&form) => Payload::Form(form),
            _ => Payload::JSON,
        },
    };
    let result = result.map(|result| lowering.payload(&result, "result", 0));
    lowering.finish(arguments, result)
}

/// The same if there is no room for types.
pub(super) fn untyped(definition: &ToolDefinition) -> Lowered {
    let result = definition.output_schema.as_ref().map(|_| Payload::JSON);
    Lowered { arguments: Payload::JSON, result, definitions: Vec::new(), size: 0 }
}

/// Whether the schema of arguments excludes all arguments. An empty schema may allow any.
fn takes_nothing(schema: &Map<String, Value>) -> bool {
    let is_empty = |key: &str| schema.get(key).is_none_or(|value| value.as_object().is_some_and(Map::is_empty));
    let nothing_is_required = schema.get("required").is_none_or(|value| value.as_array().is_some_and(Vec::is_empty));
    let nothing_else = match schema.get("additionalProperties") {
        None => schema.contains_key("properties"),
        Some(others) => *others == Value::Bool(false),
    };
    let combined =
        ["$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf"].iter().any(|key| schema.contains_key(*key));
    is_empty("properties") && is_empty("patternProperties") && nothing_is_required && nothing_else && !combined
}

/// The state of reading a `$ref` target.
enum Progress {
    New,
    UnderWay,
    Done(Payload),
}

/// How large a form is.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Measure {
    /// Its types, counting those inside named ones as often as they occur.
    size: usize,
    /// The nesting depth of types.
    height: usize,
}

pub(super) struct Lowering<'t> {
    types: &'t Types,
    aliases: Vec<Progress>,
    definitions: Vec<Definition>,
    /// The measure of each definition.
    measures: Vec<Measure>,
}

impl Lowering<'_> {
    /// Converts a type. `hint` describes its use.
    pub(super) fn payload(&mut self, kind: &Type, hint: &str, depth: usize) -> Payload {
        if depth > WIT_HEIGHT {
            return Payload::JSON;
        }
        let payload = match kind {
            Type::Unknown | Type::Never | Type::Intersection(_) => Payload::JSON,
            Type::Plain(_) => plain(kind),
            Type::Literal(text) => serde_json::from_str(text).map_or(Payload::JSON, Payload::Fixed),
            Type::Array(item) => {
                let item = self.form(item, hint, depth + 1);
                Payload::Form(Form::List(Box::new(item)))
            }
            Type::Tuple(elements, rest) => Payload::Form(self.tuple(elements, rest.as_deref(), hint, depth)),
            Type::Object(shape) => self.object(shape, hint, depth),
            Type::Union(kinds) => self.union(kinds, hint, depth),
            Type::Named(name) => self.alias(*name, depth),
        };
        self.bounded(payload)
    }

    /// The same if a value has to cross.
    pub(super) fn form(&mut self, kind: &Type, hint: &str, depth: usize) -> Form {
        let payload = self.payload(kind, hint, depth);
        self.crossing(payload, hint)
    }

    /// A form for a crossing value, even if it is constant.
    pub(super) fn crossing(&mut self, payload: Payload, hint: &str) -> Form {
        match payload {
            Payload::Form(form) => form,
            Payload::Fixed(Value::String(text)) => self.enumeration(&[text], hint),
            Payload::Fixed(Value::Bool(_)) => Form::Bool,
            Payload::Fixed(Value::Number(number)) if number.is_i64() => Form::Integer,
            Payload::Fixed(Value::Number(_)) => Form::Number,
            Payload::Fixed(_) => Form::Json,
        }
    }

    /// An enum of texts if each has a unique name without a number, or else any text.
    pub(super) fn enumeration(&mut self, texts: &[String], hint: &str) -> Form {
        let case = |text: &String| Case { name: kebab(text), value: text.clone() };
        let cases: Vec<Case<String>> = texts.iter().map(case).collect();
        let names: HashSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        let distinct = names.len() == cases.len() && !names.contains("");
        if distinct { self.define(hint, Kind::Enum(cases)) } else { Form::Text }
    }

    /// A new type with a name.
    pub(super) fn define(&mut self, hint: &str, kind: Kind) -> Form {
        let inner = kind.forms().into_iter().map(|form| self.measure(form));
        let cases = if let Kind::Enum(cases) = &kind { cases.len() } else { 0 };
        self.measures.push(around(inner, 1 + cases));
        let name = kebab(hint).chars().take(WIT_HINT_CHARS).collect::<String>();
        let name = name.trim_end_matches('-').to_owned();
        self.definitions.push(Definition { name, docs: String::new(), kind });
        Form::Named(self.definitions.len() - 1)
    }

    /// The name of a `$ref` target.
    pub(super) fn name_of(&self, at: usize) -> String {
        self.types.aliases.get(at).map(|alias| alias.name.clone()).unwrap_or_default()
    }

    fn alias(&mut self, at: usize, depth: usize) -> Payload {
        let (Some(alias), Some(progress)) = (self.types.aliases.get(at), self.aliases.get_mut(at)) else {
            return Payload::JSON;
        };
        match progress {
            Progress::Done(payload) => return payload.clone(),
            // A recursive type, which WIT does not have.
            Progress::UnderWay => return Payload::JSON,
            Progress::New => *progress = Progress::UnderWay,
        }
        let payload = self.payload(&alias.body, &alias.name, depth + 1);
        self.describe(&payload, alias);
        if let Some(progress) = self.aliases.get_mut(at) {
            *progress = Progress::Done(payload.clone());
        }
        payload
    }

    /// Gives a type the comment of its schema.
    fn describe(&mut self, payload: &Payload, alias: &Alias) {
        if let Payload::Form(Form::Named(at)) = payload
            && let Some(definition) = self.definitions.get_mut(*at).filter(|definition| definition.docs.is_empty())
        {
            definition.docs = doc_line(&alias.comment, MEMBER_COMMENT_CHARS);
        }
    }

    fn tuple(&mut self, elements: &[Element], rest: Option<&Type>, hint: &str, depth: usize) -> Form {
        let mut forms: Vec<Form> = elements.iter().map(|element| self.form(&element.kind, hint, depth + 1)).collect();
        if rest.is_none() && !forms.is_empty() && elements.iter().all(|element| !element.optional) {
            return Form::Tuple(forms);
        }
        // If positions may be missing, or there may be more than are named, this is a list,
        // provided that all are of one type.
        forms.extend(rest.map(|rest| self.form(rest, hint, depth + 1)));
        match forms.pop() {
            Some(last) if forms.iter().all(|form| *form == last) => Form::List(Box::new(last)),
            _ => Form::Json,
        }
    }

    fn object(&mut self, shape: &Shape, hint: &str, depth: usize) -> Payload {
        // A member that the reader left out could not be passed.
        if shape.omitted > 0 {
            return Payload::JSON;
        }
        if shape.members.is_empty() {
            let others = shape.others.as_deref().map(|others| self.form(others, hint, depth + 1));
            return Payload::Form(others.map_or(Form::Json, |others| Form::Map(Box::new(others))));
        }
        let mut record = Record::default();
        for member in &shape.members {
            match self.payload(&member.kind, &member.name, depth + 1) {
                Payload::Fixed(value) if !member.optional => record.fixed.push((member.name.clone(), value)),
                payload => {
                    let form = match self.crossing(payload, &member.name) {
                        Form::Option(inner) if member.optional && member.null_by_default => *inner,
                        form => form,
                    };
                    record.fields.push(field(member, form));
                }
            }
        }
        if record.fields.is_empty() {
            return Payload::Fixed(Value::Object(record.fixed.into_iter().collect()));
        }
        let keys: Vec<&str> = record.fields.iter().map(|field| field.key.as_str()).collect();
        let names = assign(&keys, &[]);
        record.fields.iter_mut().zip(names).for_each(|(field, name)| field.name = name);
        Payload::Form(self.define(hint, Kind::Record(record)))
    }

    /// Whether every value of a form is a JSON object. The cases of a variant are trusted.
    fn is_object(&self, form: &Form) -> bool {
        match form {
            Form::Map(_) => true,
            Form::Named(at) => self.definitions.get(*at).is_some_and(|named| !matches!(named.kind, Kind::Enum(_))),
            _ => false,
        }
    }

    fn bounded(&self, payload: Payload) -> Payload {
        let fits = |form: &Form| {
            let Measure { size, height } = self.measure(form);
            size <= WIT_TYPE_SIZE && height <= WIT_HEIGHT
        };
        if payload.form().is_none_or(fits) { payload } else { Payload::JSON }
    }

    fn measure(&self, form: &Form) -> Measure {
        match form {
            Form::Named(at) => self.measures.get(*at).copied().unwrap_or(Measure { size: 1, height: 1 }),
            // A list of pairs.
            Form::Map(value) => around(std::iter::once(around(std::iter::once(self.measure(value)), 1)), 2),
            form => around(form.inner().iter().map(|inner| self.measure(inner)), 1),
        }
    }

    /// Drops the types that the arguments and the result do not need, and keeps the order of
    /// creation.
    fn finish(self, mut arguments: Payload, mut result: Option<Payload>) -> Lowered {
        let mut needed = vec![false; self.definitions.len()];
        let mut waiting = Vec::new();
        for form in arguments.form().into_iter().chain(result.iter().filter_map(Payload::form)) {
            named(form, &mut waiting);
        }
        while let Some(at) = waiting.pop() {
            if let (Some(needed @ false), Some(definition)) = (needed.get_mut(at), self.definitions.get(at)) {
                *needed = true;
                definition.kind.forms().into_iter().for_each(|form| named(form, &mut waiting));
            }
        }
        let mut places = Vec::with_capacity(needed.len());
        let (mut definitions, mut size) = (Vec::new(), 0_usize);
        for ((definition, measure), needed) in self.definitions.into_iter().zip(self.measures).zip(needed) {
            places.push(definitions.len());
            if needed {
                definitions.push(definition);
                size = size.saturating_add(measure.size);
            }
        }
        let place = |at: usize| places.get(at).copied().unwrap_or_default();
        definitions.iter_mut().for_each(|definition| definition.kind.renumber(&place));
        for payload in std::iter::once(&mut arguments).chain(&mut result) {
            if let Payload::Form(form) = payload {
                form.renumbered(&place);
            }
        }
        Lowered { arguments, result, definitions, size }
    }
}

/// The size of a type that contains others.
fn around(inner: impl Iterator<Item = Measure>, size: usize) -> Measure {
    inner.fold(Measure { size, height: 1 }, |whole, inner| Measure {
        size: whole.size.saturating_add(inner.size),
        height: whole.height.max(inner.height.saturating_add(1)),
    })
}

fn plain(kind: &Type) -> Payload {
    match *kind {
        Type::STRING => Payload::Form(Form::Text),
        Type::NUMBER => Payload::Form(Form::Number),
        Type::INTEGER => Payload::Form(Form::Integer),
        Type::BOOLEAN => Payload::Form(Form::Bool),
        Type::NULL => Payload::Fixed(Value::Null),
        Type::EMPTY_OBJECT => Payload::Fixed(Value::Object(Map::new())),
        _ => Payload::JSON,
    }
}
