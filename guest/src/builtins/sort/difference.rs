//! The comparators that scripts write most, `(a, b) => a - b` and `(a, b) => b.size - a.size`: where their answers are known from
//! their text, they need not be called.
//!
//! A difference of two numbers that are plain data is the same whoever computes it, and nobody can see that it was computed. Where
//! a comparator is anything else, or one item is, every question is asked.

use boa_engine::{Context, JsObject, JsString, JsValue, builtins::function::OrdinaryFunction, property::PropertyKey};

use crate::{globals::source_text, values::plain};

/// The difference of a number in one item and the same number in another.
pub(super) struct Difference {
    /// The properties that lead to the number.
    path: Vec<PropertyKey>,
    pub(super) is_descending: bool,
}

/// Longer texts are something else.
const MAX_TEXT: usize = 120;

impl Difference {
    /// What a comparator computes, if it is a difference.
    pub(super) fn of(comparator: &JsObject, context: &mut Context) -> Option<Self> {
        if !comparator.is::<OrdinaryFunction>() {
            return None;
        }
        let text = source_text(comparator, context)?;
        if text.len() > MAX_TEXT {
            return None;
        }
        Self::parse(&text.to_std_string().ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let (parameters, body) = text.split_once("=>")?;
        let parameters = parameters.trim().strip_prefix('(')?.strip_suffix(')')?;
        let (first, second) = parameters.split_once(',')?;
        let (left, right) = body.trim().trim_end_matches(';').split_once('-')?;
        let (first, second) = (identifier(first)?, identifier(second)?);
        let (left, left_path) = access(left)?;
        let (right, right_path) = access(right)?;
        if first == second || left_path != right_path {
            return None;
        }
        let is_descending = match (left == first && right == second, left == second && right == first) {
            (true, _) => false,
            (_, true) => true,
            _ => return None,
        };
        let path = left_path.iter().map(|name| PropertyKey::from(JsString::from(*name))).collect();
        Some(Self { path, is_descending })
    }

    /// The number in an item, if it and all that leads to it is plain data.
    pub(super) fn number(&self, item: &JsValue) -> Option<f64> {
        let mut value = item.clone();
        for key in &self.path {
            let object = value.as_object().filter(JsObject::is_ordinary)?;
            value = plain::member(&object, key)?;
        }
        value.as_number()
    }
}

/// `a`, or `a.b.c` as a root and its path.
fn access(text: &str) -> Option<(&str, Vec<&str>)> {
    let mut names = text.split('.').map(identifier);
    let root = names.next()??;
    Some((root, names.collect::<Option<_>>()?))
}

fn identifier(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_identifier = !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$')
        && !text.starts_with(|first: char| first.is_ascii_digit());
    is_identifier.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::Difference;

    #[test]
    fn only_a_difference_of_the_same_number_in_both_is_one() {
        for (text, path, is_descending) in [
            ("(a, b) => a - b", 0, false),
            ("(a,b)=>b-a", 0, true),
            ("(left, right) => right.size - left.size", 1, true),
            ("(x, y) => x.at.line - y.at.line", 2, false),
        ] {
            let found = Difference::parse(text).unwrap();
            assert_eq!((found.path.len(), found.is_descending), (path, is_descending), "{text}");
        }
        for text in [
            "(a, b) => a + b",
            "(a, b) => a - b - 1",
            "(a, b) => a.x - b.y",
            "(a, b) => a - c",
            "(a, a) => a - a",
            "a => a - a",
            "(a, b) => a() - b()",
            "(a, b) => a[0] - b[0]",
            "(a, b) => -a - b",
            "(a, b) => a.x - b",
            "async (a, b) => a - b",
            "(a, b) => a -- b",
            "(a, b) => { return a - b }",
            "(a, b = 1) => a - b",
            "(a, b) => a - 1",
            "(a, b) => a?.x - b?.x",
            "function (a, b) { return a - b }",
            "(...a, b) => a - b",
            "(a, b) => a.#x - b.#x",
        ] {
            assert!(Difference::parse(text).is_none(), "{text}");
        }
    }
}
