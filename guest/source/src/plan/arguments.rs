//! What is known of a call's arguments: JSON, with places at which something else may stand.

use std::{collections::BTreeSet, fmt::Write as _};

use oxc::{
    ast::ast::{Argument, ArrayExpressionElement, Expression, ObjectExpression, ObjectPropertyKind, PropertyKind},
    syntax::operator::{BinaryOperator, UnaryOperator},
};

use super::names::Names;

/// Bytes of the arguments of one call.
const MAX_ARGUMENTS: usize = 16 * 1024;
/// Members of one object.
const MAX_MEMBERS: usize = 500;
/// Literals and names inside each other.
const MAX_DEPTH: usize = 48;

/// What is known of the one object that a call is made with.
#[derive(Debug, Default, PartialEq)]
pub struct Known {
    /// The object as JSON. `null` stands for what is not known, and a text that is not known is
    /// empty.
    pub json: String,
    /// Where something stands that is not known, as JSON pointers. It may be `undefined`, and then
    /// is not there.
    pub unknown: Vec<String>,
    /// Where a text stands that is not known.
    pub texts: Vec<String>,
    /// Objects that may have more members.
    pub open: Vec<String>,
}

/// What is known of a call with these arguments; nothing, if that is not one object.
pub(super) fn known<'a>(names: &Names<'a, '_>, arguments: &[Argument<'a>]) -> Option<Known> {
    // What a value makes of itself is known to nobody.
    if names.has_to_json() {
        return None;
    }
    let mut writer = Writer { names, known: Known::default(), place: String::new() };
    match arguments {
        [] => writer.known.json.push_str("{}"),
        [only] => match only.as_expression().map(Expression::get_inner_expression)? {
            Expression::ObjectExpression(object) => writer.object(object, 0)?,
            Expression::Identifier(name) => match names.constant(name)?.get_inner_expression() {
                Expression::ObjectExpression(object) => writer.object(object, 0)?,
                _ => return None,
            },
            _ => return None,
        },
        _ => return None,
    }
    (writer.known.json.len() <= MAX_ARGUMENTS).then_some(writer.known)
}

struct Writer<'n, 'a, 's> {
    names: &'n Names<'a, 's>,
    known: Known,
    /// The pointer to what is being written.
    place: String,
}

/// What stands at a place of the source.
enum Value<'e, 'a> {
    Is(&'e Expression<'a>),
    /// It is left out of an object.
    Undefined,
}

impl<'a> Writer<'_, 'a, '_> {
    /// Writes an object literal. `None`: it is none whose members could be told, or too large.
    fn object(&mut self, object: &ObjectExpression<'a>, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH || self.known.json.len() > MAX_ARGUMENTS || object.properties.len() > MAX_MEMBERS {
            return None;
        }
        self.known.json.push('{');
        let name_of = |property: &ObjectPropertyKind<'a>| match property {
            ObjectPropertyKind::ObjectProperty(property) => property.key.static_name().filter(|_| !property.computed),
            ObjectPropertyKind::SpreadProperty(_) => None,
        };
        // What is spread, or has a name that is computed, may replace what stands before it.
        let last_open = object.properties.iter().rposition(|property| name_of(property).is_none());
        // Deeper, it may bring a `toJSON`, and then the object is something else.
        if last_open.is_some() && depth > 0 {
            return None;
        }
        let (mut names, mut is_first) = (BTreeSet::new(), true);
        for (at, property) in object.properties.iter().enumerate() {
            let (Some(name), ObjectPropertyKind::ObjectProperty(property)) = (name_of(property), property) else {
                continue;
            };
            let is_plain =
                property.kind == PropertyKind::Init && !property.method && name != "__proto__" && name != "toJSON";
            if !is_plain || !names.insert(name.to_string()) {
                return None;
            }
            let Value::Is(value) = self.resolved(&property.value) else { continue };
            if !std::mem::take(&mut is_first) {
                self.known.json.push(',');
            }
            write_text(&name, &mut self.known.json);
            self.known.json.push(':');
            let length = self.place.len();
            self.place = pointer(&self.place, &name);
            let written = if last_open.is_some_and(|last| at < last) {
                self.unknown();
                Some(())
            } else {
                self.value(value, depth + 1)
            };
            self.place.truncate(length);
            written?;
        }
        if last_open.is_some() {
            self.known.open.push(self.place.clone());
        }
        self.known.json.push('}');
        Some(())
    }

    /// Writes a value, or that it is not known. `None`: it is too large.
    fn value(&mut self, value: &Expression<'a>, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH || self.known.json.len() > MAX_ARGUMENTS {
            return None;
        }
        let json = &mut self.known.json;
        match value.get_inner_expression() {
            Expression::StringLiteral(text) if !text.lone_surrogates => write_text(&text.value, json),
            Expression::TemplateLiteral(template) if template.expressions.is_empty() => {
                let part = template.quasis.first().filter(|part| !part.lone_surrogates);
                match part.and_then(|part| part.value.cooked.as_ref()) {
                    Some(text) => write_text(text, json),
                    None => self.unknown(),
                }
            }
            Expression::NumericLiteral(number) => return self.number(number.value),
            Expression::UnaryExpression(unary) if unary.operator == UnaryOperator::UnaryNegation => {
                match unary.argument.get_inner_expression() {
                    Expression::NumericLiteral(number) => return self.number(-number.value),
                    _ => self.unknown(),
                }
            }
            Expression::BooleanLiteral(boolean) => json.push_str(if boolean.value { "true" } else { "false" }),
            Expression::NullLiteral(_) => json.push_str("null"),
            Expression::ArrayExpression(array) => {
                let is_plain = |element: &ArrayExpressionElement<'a>| {
                    element.as_expression().is_some_and(|element| matches!(self.resolved(element), Value::Is(_)))
                };
                if !array.elements.iter().all(is_plain) {
                    self.unknown();
                    return Some(());
                }
                self.known.json.push('[');
                for (number, element) in array.elements.iter().filter_map(|element| element.as_expression()).enumerate()
                {
                    if number > 0 {
                        self.known.json.push(',');
                    }
                    let Value::Is(element) = self.resolved(element) else { return None };
                    let length = self.place.len();
                    self.place = pointer(&self.place, &number.to_string());
                    let written = self.value(element, depth + 1);
                    self.place.truncate(length);
                    written?;
                }
                self.known.json.push(']');
            }
            Expression::ObjectExpression(object) => {
                let (length, holes) = (self.known.json.len(), self.holes());
                if self.object(object, depth).is_none() {
                    self.take_back(length, holes);
                    self.unknown();
                }
            }
            expression if is_text(expression) => {
                self.known.json.push_str("\"\"");
                self.known.texts.push(self.place.clone());
            }
            _ => self.unknown(),
        }
        (self.known.json.len() <= MAX_ARGUMENTS).then_some(())
    }

    /// What a name always holds, in its place.
    fn resolved<'e>(&self, expression: &'e Expression<'a>) -> Value<'e, 'a>
    where
        'a: 'e,
    {
        let mut expression = expression;
        for _ in 0..MAX_DEPTH {
            let Expression::Identifier(name) = expression.get_inner_expression() else { break };
            if name.name == "undefined" && self.names.is_global(name) {
                return Value::Undefined;
            }
            let Some(constant) = self.names.constant(name) else { break };
            expression = constant;
        }
        Value::Is(expression)
    }

    fn number(&mut self, number: f64) -> Option<()> {
        if !number.is_finite() || number.abs() >= 1e21 {
            self.unknown();
            return Some(());
        }
        let number = if number == 0.0 { 0.0 } else { number };
        write!(self.known.json, "{number}").ok()
    }

    fn unknown(&mut self) {
        self.known.json.push_str("null");
        self.known.unknown.push(self.place.clone());
    }

    /// How much was said of places.
    fn holes(&self) -> [usize; 3] {
        [self.known.unknown.len(), self.known.texts.len(), self.known.open.len()]
    }

    fn take_back(&mut self, length: usize, [unknown, texts, open]: [usize; 3]) {
        self.known.json.truncate(length);
        self.known.unknown.truncate(unknown);
        self.known.texts.truncate(texts);
        self.known.open.truncate(open);
    }
}

/// Whether an expression is a text, whatever it is: a template, or one added to something.
fn is_text(expression: &Expression<'_>) -> bool {
    match expression.get_inner_expression() {
        Expression::TemplateLiteral(_) | Expression::StringLiteral(_) => true,
        Expression::BinaryExpression(binary) => {
            binary.operator == BinaryOperator::Addition && (is_plain_text(&binary.left) || is_plain_text(&binary.right))
        }
        _ => false,
    }
}

fn is_plain_text(expression: &Expression<'_>) -> bool {
    matches!(expression.get_inner_expression(), Expression::TemplateLiteral(_) | Expression::StringLiteral(_))
}

/// The JSON pointer to a member.
fn pointer(place: &str, name: &str) -> String {
    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Writes a text as JSON.
pub fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // Writing to a String cannot fail.
            control if control < ' ' => drop(write!(out, "\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
}
