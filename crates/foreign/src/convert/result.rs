//! Converts the answer of a tool to a value of the component's type.

use belljar_catalog::wit::{Form, Kind, Mapping, Payload, Record};
use serde_json::{Map, Value};
use wasmtime::component::{Type, Val, types};

use super::{Misfit, Steps};

/// A value of `ty` for a JSON value with this form. Types do not contain themselves, so the depth
/// is bounded by that of the type.
pub(crate) fn val_of(
    mapping: &Mapping,
    form: &Form,
    ty: &Type,
    json: &Value,
    steps: &mut Steps,
) -> Result<Val, Misfit> {
    steps.take()?;
    Ok(match (form, ty, json) {
        (Form::Json, Type::String, json) => text_of(json, steps)?,
        (Form::Bool, Type::Bool, Value::Bool(value)) => Val::Bool(*value),
        (Form::Integer, Type::S64, Value::Number(value)) => {
            let whole = value.as_i64().or_else(|| whole(value.as_f64()?));
            Val::S64(whole.ok_or_else(|| Misfit::new(format!("{value} is not an integer of 64 bits")))?)
        }
        (Form::Number, Type::Float64, Value::Number(value)) => {
            Val::Float64(value.as_f64().ok_or_else(|| Misfit::new(format!("{value} is too large")))?)
        }
        (Form::Text, Type::String, Value::String(text)) => {
            steps.copy(text)?;
            Val::String(text.clone())
        }
        (Form::Option(_), Type::Option(_), Value::Null) => Val::Option(None),
        (Form::Option(inner), Type::Option(ty), json) => {
            Val::Option(Some(Box::new(val_of(mapping, inner, &ty.ty(), json, steps)?)))
        }
        (Form::List(item), Type::List(ty), Value::Array(items)) => {
            let ty = ty.ty();
            let values = items.iter().map(|json| val_of(mapping, item, &ty, json, steps));
            Val::List(values.collect::<Result<_, _>>()?)
        }
        (Form::Map(form), Type::List(ty), Value::Object(members)) => pairs(mapping, form, &ty.ty(), members, steps)?,
        (Form::Tuple(places), Type::Tuple(ty), Value::Array(items))
            if places.len() == items.len() && ty.types().len() == items.len() =>
        {
            let places = places.iter().zip(ty.types()).zip(items);
            let values = places.map(|((form, ty), json)| val_of(mapping, form, &ty, json, steps));
            Val::Tuple(values.collect::<Result<_, _>>()?)
        }
        (Form::Named(at), ty, json) => {
            let definition = mapping.definitions().get(*at).ok_or_else(other)?;
            match (&definition.kind, ty) {
                (Kind::Record(record), Type::Record(ty)) => {
                    let members = json.as_object().ok_or_else(|| unlike("an object", json))?;
                    object(mapping, record, ty, members, steps)?
                }
                (Kind::Enum(cases), Type::Enum(ty)) => {
                    let text = json.as_str().ok_or_else(|| unlike("a text", json))?;
                    let case = cases.iter().find(|case| case.value == text);
                    let case = case.filter(|case| ty.names().any(|name| name == case.name));
                    Val::Enum(case.ok_or_else(|| unlike("one of the declared texts", json))?.name.clone())
                }
                (Kind::Variant(cases), Type::Variant(ty)) => variant(mapping, cases, ty, json, steps)?,
                _ => return Err(other()),
            }
        }
        (Form::Bool, Type::Bool, _) => return Err(unlike("true or false", json)),
        (Form::Integer, Type::S64, _) | (Form::Number, Type::Float64, _) => return Err(unlike("a number", json)),
        (Form::Text, Type::String, _) => return Err(unlike("a text", json)),
        (Form::List(_), Type::List(_), _) => return Err(unlike("an array", json)),
        (Form::Map(_), Type::List(_), _) => return Err(unlike("an object", json)),
        (Form::Tuple(_), Type::Tuple(_), _) => return Err(unlike("an array of the declared length", json)),
        _ => return Err(other()),
    })
}

/// A JSON value as text.
pub(crate) fn text_of(json: &Value, steps: &mut Steps) -> Result<Val, Misfit> {
    let text = json.to_string();
    steps.copy(&text)?;
    Ok(Val::String(text))
}

fn pairs(
    mapping: &Mapping,
    form: &Form,
    ty: &Type,
    members: &Map<String, Value>,
    steps: &mut Steps,
) -> Result<Val, Misfit> {
    let Type::Tuple(pair) = ty else { return Err(other()) };
    let mut types = pair.types();
    let (Some(Type::String), Some(ty), None) = (types.next(), types.next(), types.next()) else { return Err(other()) };
    let pair = |(key, json): (&String, &Value)| {
        steps.copy(key)?;
        Ok(Val::Tuple(vec![Val::String(key.clone()), val_of(mapping, form, &ty, json, steps)?]))
    };
    Ok(Val::List(members.iter().map(pair).collect::<Result<_, _>>()?))
}

fn object(
    mapping: &Mapping,
    record: &Record,
    ty: &types::Record,
    members: &Map<String, Value>,
    steps: &mut Steps,
) -> Result<Val, Misfit> {
    if let Some((key, _)) = record.fixed.iter().find(|(key, value)| members.get(key) != Some(value)) {
        return Err(Misfit::new(format!("its member {key:.100} is not what is declared")));
    }
    steps.take_many(record.fixed.len())?;
    let mut fields = Vec::new();
    for (at, types::Field { name, ty }) in ty.fields().enumerate() {
        steps.take()?;
        // Usually the component was built with the same fields.
        let field = match record.fields.get(at).filter(|field| field.name == name) {
            Some(field) => Some(field),
            None => {
                steps.take_many(record.fields.len())?;
                record.fields.iter().find(|field| field.name == name)
            }
        };
        let json = field.and_then(|field| members.get(&field.key));
        let value = match (field, json, &ty) {
            // If the default of a member is null, a null member counts as absent.
            (Some(field), Some(Value::Null), Type::Option(_))
                if field.optional && !matches!(field.form, Form::Option(_) | Form::Json) =>
            {
                Ok(Val::Option(None))
            }
            (Some(field), Some(json), Type::Option(ty)) if field.optional => {
                some(val_of(mapping, &field.form, &ty.ty(), json, steps))
            }
            (Some(field), Some(json), Type::Option(ty)) if !matches!(field.form, Form::Option(_)) => {
                some(val_of(mapping, &field.form, &ty.ty(), json, steps))
            }
            (Some(field), Some(json), ty) => val_of(mapping, &field.form, ty, json, steps),
            (_, None, Type::Option(_)) => Ok(Val::Option(None)),
            _ => Err(Misfit::new("it is not there")),
        };
        fields.push((name.to_owned(), value.map_err(|misfit| misfit.within(name))?));
    }
    Ok(Val::Record(fields))
}

/// The first case whose form the value has.
fn variant(
    mapping: &Mapping,
    cases: &[belljar_catalog::wit::Case<Payload>],
    ty: &types::Variant,
    json: &Value,
    steps: &mut Steps,
) -> Result<Val, Misfit> {
    for case in cases {
        steps.take()?;
        let Some(types::Case { ty, .. }) = ty.cases().find(|known| known.name == case.name) else { continue };
        match (&case.value, ty) {
            (Payload::Fixed(value), None) if value == json => return Ok(Val::Variant(case.name.clone(), None)),
            (Payload::Form(form), Some(ty)) => match val_of(mapping, form, &ty, json, steps) {
                Ok(value) => return Ok(Val::Variant(case.name.clone(), Some(Box::new(value)))),
                Err(misfit) if steps.is_over() => return Err(misfit),
                Err(_) => {}
            },
            _ => {}
        }
    }
    Err(unlike("of one of the declared types", json))
}

/// A whole number that is written with a fraction, such as `1.0`.
#[expect(clippy::cast_possible_truncation, reason = "it is a whole number that fits")]
fn whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < super::SAFE).then_some(value as i64)
}

fn some(value: Result<Val, Misfit>) -> Result<Val, Misfit> {
    value.map(|value| Val::Option(Some(Box::new(value))))
}

fn other() -> Misfit {
    Misfit::new("the tool declares another type here than when the component was built")
}

fn unlike(wanted: &str, json: &Value) -> Misfit {
    let is = match json {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    Misfit::new(format!("it is {is}, and should be {wanted}"))
}
