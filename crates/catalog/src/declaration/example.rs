//! An example call: the least that a tool needs, with a value of the right type for each argument.
//!
//! It is valid TypeScript together with the tool's declaration. There is no example if no value can
//! be made for a type, or if the call would be long: then the declaration says more.

use super::{Arguments, Function};
use crate::{
    bounds::{EXAMPLE_BYTES, EXAMPLE_DEPTH},
    identifier::is_identifier,
    schema::{Shape, Type, Types},
    text::quoted,
};

/// Stands for any text.
const TEXT: &str = "\"...\"";

/// The line, such as `Example: await fs.read_file({ path: "..." })`.
pub(super) fn example(namespace: &str, tool: &str, function: &Function) -> Option<String> {
    let value = match &function.arguments {
        Arguments::None | Arguments::Optional(_) => String::new(),
        Arguments::Required(kind) => value(&function.types, kind, 0)?,
    };
    let call = format!("Example: await {namespace}.{tool}({value})");
    (call.len() <= EXAMPLE_BYTES).then_some(call)
}

fn value(types: &Types, kind: &Type, depth: usize) -> Option<String> {
    if depth > EXAMPLE_DEPTH {
        return None;
    }
    match kind {
        Type::Unknown => Some("{}".to_owned()),
        Type::Never => None,
        Type::Plain("string") => Some(TEXT.to_owned()),
        Type::Plain("number") => Some("1".to_owned()),
        Type::Plain("boolean") => Some("true".to_owned()),
        Type::Plain("null") => Some("null".to_owned()),
        Type::Plain(_) => Some("{}".to_owned()),
        Type::Literal(text) => Some(text.clone()),
        Type::Array(element) => Some(format!("[{}]", value(types, element, depth + 1)?)),
        Type::Tuple(elements, _) => {
            let needed = elements.iter().filter(|element| !element.optional);
            let values: Option<Vec<String>> = needed.map(|element| value(types, &element.kind, depth + 1)).collect();
            Some(format!("[{}]", values?.join(", ")))
        }
        Type::Object(shape) => object(types, shape, depth),
        // The value is `null` only if nothing else is possible.
        Type::Union(kinds) => {
            let some = kinds.iter().filter(|kind| **kind != Type::NULL).find_map(|kind| value(types, kind, depth));
            some.or_else(|| kinds.contains(&Type::NULL).then(|| "null".to_owned()))
        }
        Type::Intersection(_) => None,
        Type::Named(name) => value(types, &types.aliases.get(*name)?.body, depth + 1),
    }
}

fn object(types: &Types, shape: &Shape, depth: usize) -> Option<String> {
    let needed: Vec<_> = shape.members.iter().filter(|member| !member.optional).collect();
    // Members that the schema does not name would have to be of two types at once.
    if shape.is_split() && !needed.is_empty() {
        return None;
    }
    let members = needed.into_iter().map(|member| {
        let name = if is_identifier(&member.name) { member.name.clone() } else { quoted(&member.name) };
        Some(format!("{name}: {}", value(types, &member.kind, depth + 1)?))
    });
    let members: Vec<String> = members.collect::<Option<_>>()?;
    Some(if members.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", members.join(", ")) })
}
