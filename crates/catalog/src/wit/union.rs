//! One of several types.

use serde_json::Value;

use super::{
    form::{Case, Form, Kind, Payload},
    lower::Lowering,
    names::assign,
};
use crate::schema::{Shape, Type};

/// The plain types of a union, which JSON distinguishes by itself.
#[derive(Default)]
struct Plain {
    /// Its texts, if it does not accept all.
    texts: Vec<String>,
    any_text: bool,
    integer: bool,
    number: bool,
    bool: bool,
}

impl Plain {
    /// Adds a type, if it is plain.
    fn takes(&mut self, kind: &Type) -> bool {
        match kind {
            &Type::STRING => self.any_text = true,
            &Type::INTEGER => self.integer = true,
            &Type::NUMBER => self.number = true,
            &Type::BOOLEAN => self.bool = true,
            Type::Literal(text) => match serde_json::from_str(text) {
                Ok(Value::String(text)) => self.texts.push(text),
                Ok(Value::Number(number)) if number.is_i64() => self.integer = true,
                Ok(Value::Number(_)) => self.number = true,
                Ok(Value::Bool(_)) => self.bool = true,
                _ => return false,
            },
            _ => return false,
        }
        true
    }
}

impl Lowering<'_> {
    /// An option if `null` is among them; an enum of texts; a variant of the rest.
    pub(super) fn union(&mut self, kinds: &[Type], hint: &str, depth: usize) -> Payload {
        let mut plain = Plain::default();
        let (mut nullable, mut others) = (false, Vec::new());
        for kind in kinds {
            if *kind == Type::NULL {
                nullable = true;
            } else if !plain.takes(kind) {
                others.push(kind);
            }
        }
        let mut cases = self.plain(plain, hint);
        for kind in others {
            let label = self.label(kind);
            let hint = if matches!(kind, Type::Named(_)) { label.clone() } else { format!("{hint}-{label}") };
            cases.push((label, self.payload(kind, &hint, depth + 1)));
        }
        // A variant with a case for anything would say nothing about the others.
        if cases.iter().any(|(_, payload)| *payload == Payload::JSON) {
            return Payload::JSON;
        }
        let payload = match cases.len() {
            0 => return Payload::Fixed(Value::Null),
            1 => cases.pop().map_or(Payload::JSON, |(_, payload)| payload),
            _ => {
                let labels: Vec<&str> = cases.iter().map(|(label, _)| label.as_str()).collect();
                let named = assign(&labels, &[]).into_iter().zip(&cases);
                let cases = named.map(|(name, (_, payload))| Case { name, value: payload.clone() }).collect();
                Payload::Form(self.define(hint, Kind::Variant(cases)))
            }
        };
        if !nullable {
            return payload;
        }
        Payload::Form(match self.crossing(payload, hint) {
            anything @ (Form::Option(_) | Form::Json) => anything,
            form => Form::Option(Box::new(form)),
        })
    }

    /// The cases of plain types, in a fixed order.
    fn plain(&mut self, plain: Plain, hint: &str) -> Vec<(String, Payload)> {
        let mut cases = Vec::new();
        match plain.texts.as_slice() {
            _ if plain.any_text => cases.push(("text".to_owned(), Payload::Form(Form::Text))),
            [] => {}
            [only] => cases.push((only.clone(), Payload::Fixed(Value::String(only.clone())))),
            texts => {
                let form = self.enumeration(texts, hint);
                let label = if form == Form::Text { "text" } else { "choice" };
                cases.push((label.to_owned(), Payload::Form(form)));
            }
        }
        match (plain.number, plain.integer) {
            (true, _) => cases.push(("number".to_owned(), Payload::Form(Form::Number))),
            (false, true) => cases.push(("integer".to_owned(), Payload::Form(Form::Integer))),
            (false, false) => {}
        }
        if plain.bool {
            cases.push(("flag".to_owned(), Payload::Form(Form::Bool)));
        }
        cases
    }

    /// The name of a case.
    fn label(&self, kind: &Type) -> String {
        let label = match kind {
            Type::Named(at) => return self.name_of(*at),
            Type::Object(shape) => return tag(shape).unwrap_or_else(|| "object".to_owned()),
            Type::Array(_) => "list",
            Type::Tuple(..) => "tuple",
            _ => "object",
        };
        label.to_owned()
    }
}

/// The text that distinguishes an object from others: that of the first required member with only
/// one.
fn tag(shape: &Shape) -> Option<String> {
    let mut required = shape.members.iter().filter(|member| !member.optional);
    required.find_map(|member| match &member.kind {
        Type::Literal(text) => serde_json::from_str::<String>(text).ok(),
        _ => None,
    })
}
