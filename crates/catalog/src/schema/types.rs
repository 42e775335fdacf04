//! The types that a schema can become, and how they combine.

use crate::text::quoted;

/// A TypeScript type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    /// Anything: also a part that a bound cut off, or that could not be resolved.
    Unknown,
    /// Nothing.
    Never,
    /// A name of the language.
    Plain(&'static str),
    /// A literal, ready to print.
    Literal(String),
    /// An array of one type.
    Array(Box<Type>),
    /// An array with a type for each position, and possibly one for the rest.
    Tuple(Vec<Element>, Option<Box<Type>>),
    /// An object.
    Object(Shape),
    /// One of several: at least two, none of them a union.
    Union(Vec<Type>),
    /// All of several: at least two, none of them an intersection.
    Intersection(Vec<Type>),
    /// A `$ref` target, by its place in [`Types::aliases`](super::Types).
    Named(usize),
}

/// One position of a tuple.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Element {
    pub(crate) kind: Type,
    pub(crate) optional: bool,
}

/// An object's members.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Shape {
    pub(crate) members: Vec<Member>,
    /// The type of members that the schema does not name, if it mentions them.
    pub(crate) others: Option<Box<Type>>,
    /// Members that are not shown.
    pub(crate) omitted: usize,
}

/// One member of an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) optional: bool,
    /// The text of the comment, on one line; not yet safe for a comment.
    pub(crate) comment: String,
    pub(crate) kind: Type,
    /// Whether absent means the same as `null`.
    pub(crate) null_by_default: bool,
}

impl Type {
    pub(crate) const STRING: Self = Self::Plain("string");
    pub(crate) const NUMBER: Self = Self::Plain("number");
    /// A whole number. TypeScript has no such type: only a reader with that option distinguishes it
    /// from [`Self::NUMBER`].
    pub(crate) const INTEGER: Self = Self::Plain("integer");
    pub(crate) const BOOLEAN: Self = Self::Plain("boolean");
    pub(crate) const NULL: Self = Self::Plain("null");
    /// An object with unknown members.
    pub(crate) const ANY_OBJECT: Self = Self::Plain("Record<string, unknown>");
    /// An object without members.
    pub(crate) const EMPTY_OBJECT: Self = Self::Plain("Record<string, never>");

    /// A string literal.
    pub(crate) fn string_literal(text: &str) -> Self {
        Self::Literal(quoted(text))
    }

    /// One of `parts`: flat, without duplicates.
    pub(crate) fn union(parts: Vec<Self>) -> Self {
        let mut kinds: Vec<Self> = Vec::new();
        for part in parts {
            let flat = if let Self::Union(inner) = part { inner } else { vec![part] };
            for kind in flat {
                match kind {
                    Self::Unknown => return Self::Unknown,
                    Self::Never => {}
                    kind if kinds.contains(&kind) => {}
                    kind => kinds.push(kind),
                }
            }
        }
        only(kinds, Self::Union).unwrap_or(Self::Never)
    }

    /// All of `parts`: flat, without duplicates, with objects merged, and without parts that add
    /// nothing to the others.
    pub(crate) fn intersection(parts: Vec<Self>) -> Self {
        let mut kinds: Vec<Self> = Vec::new();
        for part in parts {
            let flat = if let Self::Intersection(inner) = part { inner } else { vec![part] };
            for kind in flat {
                match kind {
                    Self::Unknown => {}
                    Self::Never => return Self::Never,
                    Self::Object(shape) => {
                        let mergeable = kinds
                            .iter_mut()
                            .find_map(|kind| if let Self::Object(first) = kind { Some(first) } else { None });
                        match mergeable {
                            Some(first) if first.others.is_none() || shape.others.is_none() => first.merge(shape),
                            _ => kinds.push(Self::Object(shape)),
                        }
                    }
                    kind if kinds.contains(&kind) => {}
                    kind => kinds.push(kind),
                }
            }
        }
        if kinds.iter().any(Self::is_structural) {
            kinds.retain(|kind| *kind != Self::ANY_OBJECT);
        }
        for plain in [Self::STRING, Self::NUMBER, Self::INTEGER] {
            if kinds.iter().any(|kind| kind.is_literals_of(&plain)) {
                kinds.retain(|kind| *kind != plain);
            }
        }
        only(kinds, Self::Intersection).unwrap_or(Self::Unknown)
    }

    /// All names in the type.
    pub(crate) fn names(&self) -> Vec<usize> {
        let mut found = Vec::new();
        let mut waiting = vec![self];
        while let Some(kind) = waiting.pop() {
            match kind {
                Self::Named(name) => found.push(*name),
                Self::Array(kind) => waiting.push(kind),
                Self::Tuple(elements, rest) => {
                    waiting.extend(elements.iter().map(|element| &element.kind));
                    waiting.extend(rest.as_deref());
                }
                Self::Object(shape) => {
                    waiting.extend(shape.members.iter().map(|member| &member.kind));
                    waiting.extend(shape.others.as_deref());
                }
                Self::Union(kinds) | Self::Intersection(kinds) => waiting.extend(kinds),
                Self::Unknown | Self::Never | Self::Plain(_) | Self::Literal(_) => {}
            }
        }
        found
    }

    /// The names in the type outside of any object or array.
    pub(crate) fn bare_names(&self) -> Vec<usize> {
        let mut found = Vec::new();
        let mut waiting = vec![self];
        while let Some(kind) = waiting.pop() {
            match kind {
                Self::Named(name) => found.push(*name),
                Self::Union(kinds) | Self::Intersection(kinds) => waiting.extend(kinds),
                _ => {}
            }
        }
        found
    }

    /// Whether every value of the type is a text.
    pub(crate) fn is_text(&self) -> bool {
        *self == Self::STRING || matches!(self, Self::Literal(text) if text.starts_with('"'))
    }

    /// Whether the type may describe members of an object.
    fn is_structural(&self) -> bool {
        matches!(self, Self::Object(_) | Self::Union(_) | Self::Named(_) | Self::Intersection(_))
    }

    fn is_literals_of(&self, plain: &Self) -> bool {
        match self {
            Self::Literal(text) => (*plain == Self::STRING) == text.starts_with('"'),
            Self::Union(kinds) => {
                kinds.iter().all(|kind| matches!(kind, Self::Literal(_)) && kind.is_literals_of(plain))
            }
            _ => false,
        }
    }
}

fn only(mut kinds: Vec<Type>, several: fn(Vec<Type>) -> Type) -> Option<Type> {
    if kinds.len() > 1 { Some(several(kinds)) } else { kinds.pop() }
}

impl Shape {
    /// Merges the members of another object that the same value must be, too.
    fn merge(&mut self, other: Self) {
        for member in other.members {
            match self.members.iter_mut().find(|mine| mine.name == member.name) {
                Some(mine) => {
                    mine.optional &= member.optional;
                    mine.null_by_default |= member.null_by_default;
                    if mine.comment.is_empty() {
                        mine.comment = member.comment;
                    }
                    let kind = std::mem::replace(&mut mine.kind, Type::Unknown);
                    mine.kind = Type::intersection(vec![kind, member.kind]);
                }
                None => self.members.push(member),
            }
        }
        self.others = self.others.take().or(other.others);
        self.omitted += other.omitted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: &str, optional: bool, kind: Type) -> Type {
        let (name, comment) = (name.to_owned(), String::new());
        let member = Member { name, optional, comment, kind, null_by_default: false };
        Type::Object(Shape { members: vec![member], ..Shape::default() })
    }

    #[test]
    fn unions_are_flat_and_say_nothing_twice() {
        let nested = Type::union(vec![Type::STRING, Type::union(vec![Type::STRING, Type::NULL]), Type::Never]);
        assert_eq!(nested, Type::Union(vec![Type::STRING, Type::NULL]));
        assert_eq!(Type::union(vec![Type::STRING, Type::Unknown]), Type::Unknown);
        assert_eq!(Type::union(vec![]), Type::Never);
    }

    #[test]
    fn objects_that_a_value_must_all_be_are_merged() {
        let both = Type::intersection(vec![
            object("a", true, Type::STRING),
            Type::ANY_OBJECT,
            object("a", false, Type::Unknown),
        ]);
        assert_eq!(both, object("a", false, Type::STRING));
        let literal = Type::string_literal("x");
        assert_eq!(Type::intersection(vec![Type::STRING, literal.clone()]), literal);
    }
}
