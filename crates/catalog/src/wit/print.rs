//! Prints a mapping as interfaces.
//!
//! Each server has three: `types`, which the other two share, and its tools twice, since some
//! toolchains only support functions that wait for each other (`tools`) and others run several at
//! once (`tools-async`).

use wit_encoder::{
    Docs, Enum, EnumCase, Field, Ident, Interface, Record, Result_, StandaloneFunc, Type, TypeDef, TypeDefKind,
    Variant, VariantCase,
};

use super::{
    form::{Definition, Form, Kind, Payload, named, says_json},
    mapping::{Function, JSON, Mapping, TOOL_ERROR},
};
use crate::bounds::WIT_DOCS_BYTES;

/// A server's own types.
const TYPES: &str = "types";
/// Its tools, one call at a time.
pub(super) const TOOLS: &str = "tools";
/// Its tools, several calls at once.
pub(super) const TOOLS_ASYNC: &str = "tools-async";

/// The interfaces of some functions of a mapping. `shared` is the interface with the types of every
/// package.
pub(super) fn interfaces(mapping: &Mapping, functions: &[&Function], shared: &str) -> Vec<Interface> {
    let forms = || functions.iter().flat_map(|function| crossing(function));
    let reached = mapping.reached(forms());
    let mut interfaces = Vec::new();
    if !reached.is_empty() {
        let mut types = Interface::new(TYPES);
        types.set_docs(Some("What the tools take and return."));
        if reached.iter().any(|at| mapping.holds_json(*at)) {
            types.use_type(shared.to_owned(), JSON, None);
        }
        let mut docs_left = WIT_DOCS_BYTES;
        for definition in reached.iter().filter_map(|at| mapping.definitions().get(*at)) {
            types.type_def(type_def(mapping, definition, &mut docs_left));
        }
        interfaces.push(types);
    }
    let mut used = Vec::new();
    forms().for_each(|form| named(form, &mut used));
    used.sort_unstable();
    used.dedup();
    for (name, is_async) in [(TOOLS, false), (TOOLS_ASYNC, true)] {
        let mut tools = Interface::new(name);
        tools.set_docs(Some(match is_async {
            false => {
                "The tools: one call at a time. The name of an error binds a function to its tool, whatever others there are later."
            }
            true => "The same tools as async functions: several calls at once, for toolchains that know them.",
        }));
        if forms().any(says_json) {
            tools.use_type(shared.to_owned(), JSON, None);
        }
        tools.use_type(shared.to_owned(), TOOL_ERROR, None);
        for definition in used.iter().filter_map(|at| mapping.definitions().get(*at)) {
            tools.use_type(TYPES, ident(&definition.name), None);
        }
        let mut docs_left = WIT_DOCS_BYTES;
        for function in functions {
            tools.type_def(TypeDef::type_(ident(&function.error), Type::named(TOOL_ERROR)));
            tools.function(standalone(mapping, function, is_async, &mut docs_left));
        }
        interfaces.push(tools);
    }
    interfaces
}

/// The values that cross in calls of a function.
fn crossing(function: &Function) -> impl Iterator<Item = &Form> {
    [&function.arguments, &function.result].into_iter().filter_map(Payload::form)
}

fn standalone(mapping: &Mapping, function: &Function, is_async: bool, docs_left: &mut usize) -> StandaloneFunc {
    let mut printed = StandaloneFunc::new(ident(&function.name), is_async);
    if let Payload::Form(form) = &function.arguments {
        printed.params_mut().push("args", kind(mapping, form));
    }
    let error = Type::named(ident(&function.error));
    printed.set_result(Some(Type::result(match &function.result {
        Payload::Form(form) => Result_::both(kind(mapping, form), error),
        Payload::Fixed(_) => Result_::err(error),
    })));
    printed.set_docs(Some(docs(&function.docs, docs_left).unwrap_or_else(|| Docs::new(function.call.clone()))));
    printed
}

fn type_def(mapping: &Mapping, definition: &Definition, docs_left: &mut usize) -> TypeDef {
    let printed = match &definition.kind {
        Kind::Record(record) => TypeDefKind::Record(Record::new(record.fields.iter().map(|field| {
            let value = kind(mapping, &field.form);
            let value = if field.optional { Type::option(value) } else { value };
            let mut printed = Field::new(ident(&field.name), value);
            printed.set_docs(docs(&field.docs, docs_left));
            printed
        }))),
        Kind::Enum(cases) => {
            TypeDefKind::Enum(cases.iter().map(|case| EnumCase::new(ident(&case.name))).collect::<Enum>())
        }
        Kind::Variant(cases) => TypeDefKind::Variant(Variant::from(cases.iter().map(|case| match &case.value {
            Payload::Form(form) => VariantCase::value(ident(&case.name), kind(mapping, form)),
            Payload::Fixed(_) => VariantCase::empty(ident(&case.name)),
        }))),
    };
    let mut printed = TypeDef::new(ident(&definition.name), printed);
    printed.set_docs(docs(&definition.docs, docs_left));
    printed
}

fn kind(mapping: &Mapping, form: &Form) -> Type {
    match form {
        Form::Json => Type::named(JSON),
        Form::Bool => Type::Bool,
        Form::Integer => Type::S64,
        Form::Number => Type::F64,
        Form::Text => Type::String,
        Form::Option(inner) => Type::option(kind(mapping, inner)),
        Form::List(item) => Type::list(kind(mapping, item)),
        Form::Map(value) => Type::list(Type::tuple([Type::String, kind(mapping, value)])),
        Form::Tuple(places) => Type::tuple(places.iter().map(|place| kind(mapping, place))),
        // Every index is valid: a mapping is complete.
        Form::Named(at) => mapping
            .definitions()
            .get(*at)
            .map_or_else(|| Type::named(JSON), |definition| Type::named(ident(&definition.name))),
    }
}

/// A name as written. `map` is a keyword of WIT that the encoder does not know yet.
fn ident(name: &str) -> Ident {
    Ident::new(if name == "map" { "%map".to_owned() } else { name.to_owned() })
}

/// The comment, if there is one and it fits.
fn docs(text: &str, left: &mut usize) -> Option<Docs> {
    if text.is_empty() {
        return None;
    }
    *left = left.checked_sub(text.len())?;
    Some(Docs::new(text.to_owned()))
}
