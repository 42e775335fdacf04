//! From the types of TypeScript to JSON Schemas.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use oxc::{
    ast::ast::{
        Declaration, Expression, Program, Statement, TSInterfaceDeclaration, TSLiteral, TSSignature, TSType,
        TSTypeAliasDeclaration, TSTypeName, TSTypeOperatorOperator, TSTypeReference,
    },
    span::GetSpan as _,
    syntax::operator::UnaryOperator,
};

use super::{comments::Comments, start};
use crate::write_text;

/// The schema of a script that takes nothing.
pub(super) const NO_ARGUMENTS: &str = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
/// Types inside each other, those behind names included.
const MAX_DEPTH: usize = 24;
/// Types that are read for one signature.
const MAX_TYPES: usize = 2_000;
/// Bytes of a schema.
const MAX_SCHEMA: usize = 32 * 1024;
/// Characters of a name in an error.
const MAX_SHOWN: usize = 60;

/// A type that has no schema, or one too large.
pub(super) struct Unsupported {
    pub(super) offset: u32,
    pub(super) what: String,
}

/// The types that a file declares.
pub(super) struct Types<'p, 'a> {
    declared: BTreeMap<&'p str, Declared<'p, 'a>>,
    comments: &'p Comments,
    read: Cell<usize>,
}

#[derive(Clone, Copy)]
enum Declared<'p, 'a> {
    Alias(&'p TSTypeAliasDeclaration<'a>),
    Interface(&'p TSInterfaceDeclaration<'a>),
}

impl<'p, 'a> Types<'p, 'a> {
    pub(super) fn of(program: &'p Program<'a>, comments: &'p Comments) -> Self {
        let declared = program.body.iter().filter_map(|statement| match statement {
            Statement::TSTypeAliasDeclaration(alias) => Some(Declared::Alias(alias)),
            Statement::TSInterfaceDeclaration(interface) => Some(Declared::Interface(interface)),
            Statement::ExportDeclaration(export) => match &export.declaration {
                Declaration::TSTypeAliasDeclaration(alias) => Some(Declared::Alias(alias)),
                Declaration::TSInterfaceDeclaration(interface) => Some(Declared::Interface(interface)),
                _ => None,
            },
            _ => None,
        });
        let named = declared.map(|declared| match declared {
            Declared::Alias(alias) => (alias.id.name.as_str(), declared),
            Declared::Interface(interface) => (interface.id.name.as_str(), declared),
        });
        Self { declared: named.collect(), comments, read: Cell::new(0) }
    }

    /// The schema of the one parameter, which is an object.
    pub(super) fn of_arguments(&self, of: &'p TSType<'a>) -> Result<String, Unsupported> {
        let mut out = String::new();
        self.write(of, 0, &mut out)?;
        if out.starts_with(r#"{"type":"object""#) {
            return Ok(out);
        }
        Err(Unsupported { offset: start(of), what: "the parameter is not an object with named members".to_owned() })
    }

    /// The schema of a value, of which a promise may be declared.
    pub(super) fn of_result(&self, of: &'p TSType<'a>) -> Result<String, Unsupported> {
        let awaited = match of {
            TSType::TSTypeReference(reference) if name_of(&reference.type_name) == Some("Promise") => {
                reference.type_arguments.as_ref().and_then(|arguments| arguments.params.first()).unwrap_or(of)
            }
            _ => of,
        };
        let mut out = String::new();
        self.write(awaited, 0, &mut out)?;
        if out.starts_with(r#"{"type":"object""#) {
            return Ok(out);
        }
        Err(Unsupported { offset: start(of), what: "the result is not an object".to_owned() })
    }

    fn write(&self, of: &'p TSType<'a>, depth: usize, out: &mut String) -> Result<(), Unsupported> {
        let unsupported = |what: String| Err(Unsupported { offset: start(of), what });
        self.read.set(self.read.get() + 1);
        if depth > MAX_DEPTH || self.read.get() > MAX_TYPES || out.len() > MAX_SCHEMA {
            return unsupported(format!(
                "the type is too large: at most {MAX_DEPTH} types may be inside each other, and no type may hold itself"
            ));
        }
        match of {
            TSType::TSStringKeyword(_) => out.push_str(r#"{"type":"string"}"#),
            TSType::TSNumberKeyword(_) => out.push_str(r#"{"type":"number"}"#),
            TSType::TSBooleanKeyword(_) => out.push_str(r#"{"type":"boolean"}"#),
            TSType::TSNullKeyword(_) => out.push_str(r#"{"type":"null"}"#),
            TSType::TSLiteralType(literal) => match literal_of(&literal.literal) {
                Some(value) => {
                    // Writing to a String cannot fail.
                    let _ = write!(out, r#"{{"enum":[{value}]}}"#);
                }
                None => return unsupported("this literal has no JSON".to_owned()),
            },
            TSType::TSParenthesizedType(inner) => return self.write(&inner.type_annotation, depth + 1, out),
            TSType::TSTypeOperatorType(operator) if operator.operator == TSTypeOperatorOperator::Readonly => {
                return self.write(&operator.type_annotation, depth + 1, out);
            }
            TSType::TSArrayType(array) => {
                out.push_str(r#"{"type":"array","items":"#);
                self.write(&array.element_type, depth + 1, out)?;
                out.push('}');
            }
            TSType::TSTypeLiteral(literal) => return self.members(&literal.members, depth, out),
            TSType::TSUnionType(union) => return self.union(&union.types, depth, out),
            TSType::TSTypeReference(reference) => return self.reference(reference, depth, out),
            other => return unsupported(format!("{} has no JSON Schema", kind(other))),
        }
        Ok(())
    }

    fn union(&self, types: &'p [TSType<'a>], depth: usize, out: &mut String) -> Result<(), Unsupported> {
        let literals: Vec<Option<String>> = types
            .iter()
            .map(|each| match each {
                TSType::TSLiteralType(literal) => literal_of(&literal.literal),
                _ => None,
            })
            .collect();
        if let Some(values) = literals.into_iter().collect::<Option<Vec<String>>>() {
            // Writing to a String cannot fail.
            let _ = write!(out, r#"{{"enum":[{}]}}"#, values.join(","));
            return Ok(());
        }
        out.push_str(r#"{"anyOf":["#);
        for (at, each) in types.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            self.write(each, depth + 1, out)?;
        }
        out.push_str("]}");
        Ok(())
    }

    fn members(&self, members: &'p [TSSignature<'a>], depth: usize, out: &mut String) -> Result<(), Unsupported> {
        let (mut properties, mut required, mut others) = (String::new(), String::new(), None);
        let mut names = BTreeSet::new();
        for member in members {
            let unsupported = |what: &str| Err(Unsupported { offset: member.span().start, what: what.to_owned() });
            match member {
                TSSignature::TSPropertySignature(property) => {
                    let Some(name) = property.key.static_name().filter(|_| !property.computed) else {
                        return unsupported("the name of this member is computed");
                    };
                    if !names.insert(name.to_string()) {
                        return unsupported("this member stands here twice");
                    }
                    let Some(declared) = &property.type_annotation else {
                        return unsupported("this member has no type");
                    };
                    if !properties.is_empty() {
                        properties.push(',');
                    }
                    write_text(&name, &mut properties);
                    properties.push(':');
                    let begin = properties.len();
                    self.write(&declared.type_annotation, depth + 1, &mut properties)?;
                    if let Some(said) = self.comments.of_member(member.span().start) {
                        let mut description = String::from(r#"{"description":"#);
                        write_text(&said, &mut description);
                        description.push(',');
                        // Every schema here is an object with a member.
                        properties.replace_range(begin..=begin, &description);
                    }
                    if !property.optional {
                        if !required.is_empty() {
                            required.push(',');
                        }
                        write_text(&name, &mut required);
                    }
                }
                TSSignature::TSIndexSignature(index) => {
                    if !matches!(index.parameter.type_annotation.type_annotation, TSType::TSStringKeyword(_)) {
                        return unsupported("an index that is not a string has no JSON Schema");
                    }
                    let mut schema = String::new();
                    self.write(&index.type_annotation.type_annotation, depth + 1, &mut schema)?;
                    others = Some(schema);
                }
                _ => return unsupported("a method has no JSON Schema"),
            }
            if properties.len() > MAX_SCHEMA {
                return unsupported("the type is too large");
            }
        }
        let others = others.as_deref().unwrap_or("false");
        // Writing to a String cannot fail.
        let _ = write!(out, r#"{{"type":"object","properties":{{{properties}}}"#);
        if !required.is_empty() {
            let _ = write!(out, r#","required":[{required}]"#);
        }
        let _ = write!(out, r#","additionalProperties":{others}}}"#);
        Ok(())
    }

    fn reference(&self, reference: &'p TSTypeReference<'a>, depth: usize, out: &mut String) -> Result<(), Unsupported> {
        let unsupported = |what: String| Err(Unsupported { offset: reference.span.start, what });
        let name = name_of(&reference.type_name).unwrap_or("this type");
        let arguments = reference.type_arguments.as_ref().map_or(&[][..], |arguments| arguments.params.as_slice());
        let shown: String = name.chars().take(MAX_SHOWN).collect();
        match (self.declared.get(name).copied(), arguments) {
            (Some(Declared::Alias(alias)), []) if alias.type_parameters.is_none() => {
                self.write(&alias.type_annotation, depth + 1, out)
            }
            (Some(Declared::Interface(interface)), []) if interface.type_parameters.is_none() => {
                if let Some(extended) = interface.extends.first() {
                    let what = format!("the interface {shown} extends another: give it all its members");
                    return Err(Unsupported { offset: extended.span.start, what });
                }
                self.read.set(self.read.get() + 1);
                if depth > MAX_DEPTH || self.read.get() > MAX_TYPES {
                    return unsupported(format!("the type {shown} is too large, or holds itself"));
                }
                self.members(&interface.body.body, depth + 1, out)
            }
            (None, [element]) if matches!(name, "Array" | "ReadonlyArray") => {
                out.push_str(r#"{"type":"array","items":"#);
                self.write(element, depth + 1, out)?;
                out.push('}');
                Ok(())
            }
            (None, [TSType::TSStringKeyword(_), value]) if name == "Record" => {
                out.push_str(r#"{"type":"object","additionalProperties":"#);
                self.write(value, depth + 1, out)?;
                out.push('}');
                Ok(())
            }
            (Some(_), _) => unsupported(format!("the type {shown} has parameters, and no JSON Schema")),
            (None, _) => unsupported(format!("the type {shown} is not declared in this file, and has no JSON Schema")),
        }
    }
}

fn name_of<'n>(name: &'n TSTypeName<'_>) -> Option<&'n str> {
    match name {
        TSTypeName::IdentifierReference(name) => Some(name.name.as_str()),
        _ => None,
    }
}

/// The JSON of a literal.
fn literal_of(literal: &TSLiteral<'_>) -> Option<String> {
    let number = |value: f64| (value.is_finite() && value.abs() < 1e21).then(|| format!("{}", value + 0.0));
    match literal {
        TSLiteral::BooleanLiteral(boolean) => Some(boolean.value.to_string()),
        TSLiteral::NumericLiteral(literal) => number(literal.value),
        TSLiteral::StringLiteral(text) if !text.lone_surrogates => {
            let mut json = String::new();
            write_text(&text.value, &mut json);
            Some(json)
        }
        TSLiteral::UnaryExpression(unary) if unary.operator == UnaryOperator::UnaryNegation => match &unary.argument {
            Expression::NumericLiteral(literal) => number(-literal.value),
            _ => None,
        },
        _ => None,
    }
}

/// What a type that has no schema is called.
fn kind(of: &TSType<'_>) -> &'static str {
    match of {
        TSType::TSAnyKeyword(_) => "the type any",
        TSType::TSUnknownKeyword(_) => "the type unknown",
        TSType::TSObjectKeyword(_) => "the type object",
        TSType::TSBigIntKeyword(_) => "the type bigint",
        TSType::TSSymbolKeyword(_) => "the type symbol",
        TSType::TSNeverKeyword(_) => "the type never",
        TSType::TSUndefinedKeyword(_) => "the type undefined (write name?: in its place)",
        TSType::TSVoidKeyword(_) => "the type void",
        TSType::TSFunctionType(_) => "a function",
        TSType::TSTupleType(_) => "a tuple",
        TSType::TSIntersectionType(_) => "an intersection",
        TSType::TSConditionalType(_) => "a conditional type",
        TSType::TSMappedType(_) => "a mapped type",
        TSType::TSTemplateLiteralType(_) => "a template",
        TSType::TSTypeQuery(_) => "a typeof",
        TSType::TSIndexedAccessType(_) => "an indexed access",
        TSType::TSImportType(_) => "an import",
        _ => "this type",
    }
}
