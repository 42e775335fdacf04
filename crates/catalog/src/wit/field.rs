//! A member of an object as the field of a record, with its comment.

use super::{
    docs::doc_line,
    form::{Field, Form},
};
use crate::{
    bounds::{CONSTRAINT_CHARS, MEMBER_COMMENT_CHARS, WIT_VALUES_SHOWN},
    schema::{Member, Type},
};

/// A field without its name.
pub(super) fn field(member: &Member, form: Form) -> Field {
    let mut docs = doc_line(&member.comment, MEMBER_COMMENT_CHARS);
    if let Some(values) = values(&member.kind).filter(|_| is_text(&form)) {
        let dot = if docs.is_empty() { "" } else { ". " };
        docs = format!("{docs}{dot}One of {values}");
    }
    Field { name: String::new(), key: member.name.clone(), optional: member.optional, form, docs }
}

fn is_text(form: &Form) -> bool {
    match form {
        Form::Text => true,
        Form::Option(inner) => **inner == Form::Text,
        _ => false,
    }
}

/// The texts of an enumeration, for a comment.
fn values(kind: &Type) -> Option<String> {
    let kinds = match kind {
        Type::Union(kinds) => kinds.as_slice(),
        literal => std::slice::from_ref(literal),
    };
    let texts: Vec<&str> = kinds
        .iter()
        .filter_map(|kind| match kind {
            Type::Literal(text) if text.starts_with('"') => Some(text.as_str()),
            _ => None,
        })
        .collect();
    if texts.is_empty() || kinds.contains(&Type::STRING) {
        return None;
    }
    let shown: Vec<String> = texts.iter().take(WIT_VALUES_SHOWN).map(|text| doc_line(text, CONSTRAINT_CHARS)).collect();
    let more = texts.len().saturating_sub(shown.len());
    Some(if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") })
}
