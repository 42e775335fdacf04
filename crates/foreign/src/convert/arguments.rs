//! Converts what a component passes to JSON.

use belljar_catalog::wit::{Form, Kind, Mapping, Payload, Record};
use belljar_model::{JsonBounds, JsonText};
use serde_json::{Map, Number, Value};
use wasmtime::component::Val;

use super::{Misfit, SAFE, Steps};

/// The JSON of a value. Types do not contain themselves, so the depth is bounded by that of the
/// form.
pub(crate) fn json_of(
    mapping: &Mapping,
    form: &Form,
    value: &Val,
    max_bytes: usize,
    steps: &mut Steps,
) -> Result<Value, Misfit> {
    steps.take()?;
    Ok(match (form, value) {
        (Form::Json, Val::String(text)) => json_of_text(text, max_bytes, steps)?,
        (Form::Bool, Val::Bool(value)) => Value::Bool(*value),
        (Form::Integer, Val::S64(value)) => Value::from(*value),
        (Form::Number, Val::Float64(value)) => number(*value)?,
        (Form::Text, Val::String(text)) => {
            steps.copy(text)?;
            Value::String(text.clone())
        }
        (Form::Option(_), Val::Option(None)) => Value::Null,
        (Form::Option(inner), Val::Option(Some(value))) => json_of(mapping, inner, value, max_bytes, steps)?,
        (Form::List(item), Val::List(values)) => {
            let items = values.iter().map(|value| json_of(mapping, item, value, max_bytes, steps));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        (Form::Map(form), Val::List(pairs)) => {
            let mut members = Map::new();
            for pair in pairs {
                let Val::Tuple(pair) = pair else { return Err(other()) };
                let [Val::String(key), value] = &pair[..] else { return Err(other()) };
                steps.copy(key)?;
                let value = json_of(mapping, form, value, max_bytes, steps)?;
                if members.insert(key.clone(), value).is_some() {
                    return Err(Misfit::new(format!("the key {key:.100} is there twice")));
                }
            }
            Value::Object(members)
        }
        (Form::Tuple(places), Val::Tuple(values)) if places.len() == values.len() => {
            let items = places.iter().zip(values).map(|(form, value)| json_of(mapping, form, value, max_bytes, steps));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        (Form::Named(at), value) => {
            let definition = mapping.definitions().get(*at).ok_or_else(other)?;
            match (&definition.kind, value) {
                (Kind::Record(record), Val::Record(values)) => object(mapping, record, values, max_bytes, steps)?,
                (Kind::Enum(cases), Val::Enum(name)) => {
                    let case = cases.iter().find(|case| case.name == *name).ok_or_else(|| gone(name))?;
                    Value::String(case.value.clone())
                }
                (Kind::Variant(cases), Val::Variant(name, value)) => {
                    let case = cases.iter().find(|case| case.name == *name).ok_or_else(|| gone(name))?;
                    match (&case.value, value) {
                        (Payload::Fixed(json), None) => json.clone(),
                        (Payload::Form(form), Some(value)) => json_of(mapping, form, value, max_bytes, steps)?,
                        _ => return Err(other()),
                    }
                }
                _ => return Err(other()),
            }
        }
        _ => return Err(other()),
    })
}

/// The JSON value in a text.
pub(crate) fn json_of_text(text: &str, max_bytes: usize, steps: &mut Steps) -> Result<Value, Misfit> {
    steps.copy(text)?;
    let text = JsonText::parse(text.to_owned(), &JsonBounds::with_bytes(max_bytes));
    let text = text.map_err(|fault| Misfit::new(format!("the text is not JSON that can be passed: {fault}")))?;
    text.to_value().map_err(|fault| Misfit::new(fault.to_string()))
}

fn object(
    mapping: &Mapping,
    record: &Record,
    values: &[(String, Val)],
    max_bytes: usize,
    steps: &mut Steps,
) -> Result<Value, Misfit> {
    for (key, value) in &record.fixed {
        steps.copy(key)?;
        steps.take()?;
        value.as_str().map_or(Ok(()), |text| steps.copy(text))?;
    }
    let mut members: Map<String, Value> = record.fixed.iter().cloned().collect();
    for (at, (name, value)) in values.iter().enumerate() {
        steps.take()?;
        // Usually the component was built with the same fields.
        let field = match record.fields.get(at).filter(|field| field.name == *name) {
            Some(field) => Some(field),
            None => {
                steps.take_many(record.fields.len())?;
                record.fields.iter().find(|field| field.name == *name)
            }
        };
        let Some(field) = field else {
            match value {
                Val::Option(None) => continue,
                _ => return Err(gone(name)),
            }
        };
        let json = match (field.optional, value) {
            (true, Val::Option(None)) => continue,
            (true, Val::Option(Some(value))) => json_of(mapping, &field.form, value, max_bytes, steps),
            // The member was optional when the component was built.
            (false, Val::Option(None)) if !matches!(field.form, Form::Option(_)) => continue,
            (false, Val::Option(Some(value))) if !matches!(field.form, Form::Option(_)) => {
                json_of(mapping, &field.form, value, max_bytes, steps)
            }
            (_, value) => json_of(mapping, &field.form, value, max_bytes, steps),
        };
        members.insert(field.key.clone(), json.map_err(|misfit| misfit.within(name))?);
    }
    Ok(Value::Object(members))
}

/// A number as JavaScript writes it: whole numbers have no fraction.
#[expect(clippy::cast_possible_truncation, reason = "it is a whole number that fits")]
fn number(value: f64) -> Result<Value, Misfit> {
    if value.fract() == 0.0 && value.abs() < SAFE {
        return Ok(Value::from(value as i64));
    }
    Number::from_f64(value).map(Value::Number).ok_or_else(|| Misfit::new(format!("{value} is not a number in JSON")))
}

fn other() -> Misfit {
    Misfit::new("the tool has another type here than when the component was built")
}

fn gone(name: &str) -> Misfit {
    Misfit::new(format!("the tool does not know {name} any more"))
}
