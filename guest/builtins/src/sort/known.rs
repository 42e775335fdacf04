//! The comparators that scripts write most, such as `(a, b) => a - b`, `(a, b) => b[1] - a[1]`,
//! `(a, b) => a.name < b.name ? -1 : 1` and
//! `(a, b) => { if (a < b) return -1; if (a > b) return 1; return 0; }`: where their answers are
//! known from their text, they need not be called.
//!
//! What is computed of two numbers or two texts that are plain data is the same whoever computes
//! it, and nobody can see that it was. Where a comparator is anything else, or one item is, every
//! question is asked. The answers are those that the comparator would give, also where they
//! contradict each other.

use std::cmp::Ordering;

use boa_engine::{
    Context, JsObject, JsString, JsValue, builtins::function::OrdinaryFunction, js_string, property::PropertyKey,
};

use belljar_guest_engine::{originals::source_text, plain};

use super::sign;

/// Longer texts are something else.
const MAX_TEXT: usize = 200;

/// A comparator whose answers are known.
pub(super) struct Known {
    /// The members that lead from an item to what is compared.
    path: Vec<Step>,
    rule: Rule,
}

#[derive(Clone, PartialEq)]
enum Step {
    Member(PropertyKey),
    Element(u64),
}

enum Rule {
    /// The left number without the right one, or the other way round.
    Difference { is_descending: bool },
    /// The answer to the first question that is answered with yes, or else the last.
    Choice(Vec<(Question, f64)>, f64),
}

struct Question {
    /// Whether the second item stands on the left.
    is_swapped: bool,
    operator: Operator,
}

#[derive(Clone, Copy, PartialEq)]
enum Operator {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

/// What an item is compared by.
#[derive(Clone)]
pub(super) enum Key {
    Number(f64),
    Text(JsString),
}

impl Known {
    /// What a comparator computes, if it is one of those.
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
        let tokens = tokens(text)?;
        let (is_function, rest) = match tokens.as_slice() {
            ["function", "(", rest @ ..] => (true, rest),
            ["function", name, "(", rest @ ..] if is_identifier(name) => (true, rest),
            ["(", rest @ ..] => (false, rest),
            _ => return None,
        };
        let [first, ",", second, ")", body @ ..] = rest else { return None };
        if first == second || !is_identifier(first) || !is_identifier(second) {
            return None;
        }
        let (body, is_block) = match (is_function, body) {
            (true, ["{", body @ .., "}"]) | (false, ["=>", "{", body @ .., "}"]) => (body, true),
            (false, ["=>", body @ ..]) => (body, false),
            _ => return None,
        };
        let mut reader = Reader { rest: body, names: [first, second], path: None };
        let rule = if is_block { reader.block()? } else { reader.rule()? };
        matches!(reader.rest, [] | [";"]).then_some(())?;
        Some(Self { path: reader.path?, rule })
    }

    /// What the items are compared by, if that and all that leads to it is plain data, of one kind.
    pub(super) fn keys(&self, items: &[JsValue]) -> Option<Vec<Key>> {
        let keys: Vec<Key> = items.iter().map(|item| self.key(item)).collect::<Option<_>>()?;
        let numbers = keys.iter().filter(|key| matches!(key, Key::Number(_))).count();
        let is_difference = matches!(self.rule, Rule::Difference { .. });
        (numbers == keys.len() || numbers == 0 && !is_difference).then_some(keys)
    }

    fn key(&self, item: &JsValue) -> Option<Key> {
        let mut value = item.clone();
        for step in &self.path {
            value = step.of(&value)?;
        }
        match value.as_number() {
            Some(number) => Some(Key::Number(number)),
            None => value.as_string().map(Key::Text),
        }
    }

    /// What the comparator would say of two items.
    pub(super) fn answer(&self, left: &Key, right: &Key) -> Ordering {
        match (&self.rule, left, right) {
            (Rule::Difference { is_descending: false }, Key::Number(left), Key::Number(right)) => sign(left - right),
            (Rule::Difference { is_descending: true }, Key::Number(left), Key::Number(right)) => sign(right - left),
            (Rule::Difference { .. }, ..) => Ordering::Equal,
            (Rule::Choice(questions, last), ..) => {
                let order = left.compared_with(right);
                let answer = questions.iter().find(|(question, _)| question.is_answered_with_yes(order));
                sign(answer.map_or(*last, |(_, answer)| *answer))
            }
        }
    }
}

impl Step {
    fn of(&self, value: &JsValue) -> Option<JsValue> {
        let length = PropertyKey::from(js_string!("length"));
        match self {
            Self::Element(index) => plain::element(&value.as_object()?, *index),
            Self::Member(key) => match value.as_object() {
                Some(object) if object.is_ordinary() => plain::member(&object, key),
                Some(object) if object.is_array() && *key == length => plain::member(&object, key),
                Some(_) => None,
                None => value.as_string().filter(|_| *key == length).map(|text| text.len().into()),
            },
        }
    }
}

impl Key {
    /// Nothing where one of them is no number.
    fn compared_with(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => left.partial_cmp(right),
            (Self::Text(left), Self::Text(right)) => Some(left.as_str().cmp(&right.as_str())),
            _ => None,
        }
    }
}

impl Question {
    fn is_answered_with_yes(&self, order: Option<Ordering>) -> bool {
        let Some(order) = order else { return self.operator == Operator::NotEqual };
        let order = if self.is_swapped { order.reverse() } else { order };
        match self.operator {
            Operator::Less => order.is_lt(),
            Operator::LessOrEqual => order.is_le(),
            Operator::Greater => order.is_gt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Equal => order.is_eq(),
            Operator::NotEqual => order.is_ne(),
        }
    }
}

struct Reader<'t> {
    rest: &'t [&'t str],
    names: [&'t str; 2],
    /// The one path of all that is compared.
    path: Option<Vec<Step>>,
}

impl<'t> Reader<'t> {
    /// An expression: a difference, or a choice.
    fn rule(&mut self) -> Option<Rule> {
        let (left, operator, right) = (self.access()?, self.token()?, self.access()?);
        if left == right {
            return None;
        }
        if operator == "-" {
            return Some(Rule::Difference { is_descending: left == 1 });
        }
        let mut questions = Vec::new();
        let mut question = Question { is_swapped: left == 1, operator: self::operator(operator)? };
        loop {
            self.expect("?")?;
            let answer = self.number()?;
            self.expect(":")?;
            questions.push((question, answer));
            if let Some(last) = self.number() {
                return Some(Rule::Choice(questions, last));
            }
            question = self.question()?;
        }
    }

    /// Statements: an `if` with a `return` for each question, and a `return` in the end.
    fn block(&mut self) -> Option<Rule> {
        let mut questions = Vec::new();
        loop {
            match self.token()? {
                // A block of its own changes nothing.
                "{" => {}
                "if" => {
                    self.expect("(")?;
                    let question = self.question()?;
                    self.expect(")")?;
                    let is_block = self.skip("{");
                    self.expect("return")?;
                    questions.push((question, self.number()?));
                    self.skip(";");
                    if is_block {
                        self.expect("}")?;
                    }
                    self.skip("else");
                }
                "return" => {
                    let rule = match self.number() {
                        Some(last) => Rule::Choice(questions, last),
                        None => match self.rule()? {
                            Rule::Choice(more, last) => {
                                questions.extend(more);
                                Rule::Choice(questions, last)
                            }
                            difference if questions.is_empty() => difference,
                            Rule::Difference { .. } => return None,
                        },
                    };
                    self.skip(";");
                    while self.skip("}") {}
                    return Some(rule);
                }
                _ => return None,
            }
        }
    }

    fn question(&mut self) -> Option<Question> {
        let (left, operator, right) = (self.access()?, self.token()?, self.access()?);
        (left != right).then_some(())?;
        Some(Question { is_swapped: left == 1, operator: self::operator(operator)? })
    }

    fn skip(&mut self, token: &str) -> bool {
        let is_next = self.rest.first() == Some(&token);
        if is_next {
            self.token();
        }
        is_next
    }

    fn token(&mut self) -> Option<&'t str> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn expect(&mut self, token: &str) -> Option<()> {
        (self.token()? == token).then_some(())
    }

    /// `-1`, `0` or `1`, and the like.
    fn number(&mut self) -> Option<f64> {
        let (digits, rest) = match self.rest {
            ["-", digits, rest @ ..] | [digits, rest @ ..] => (digits, rest),
            [] => return None,
        };
        let number: u32 = digits.parse().ok()?;
        let is_negative = self.rest.first() == Some(&"-");
        self.rest = rest;
        Some(if is_negative { -f64::from(number) } else { f64::from(number) })
    }

    /// `a`, `a.b.c` or `a[0].b`: which of the two it is of. The path is that of all others.
    fn access(&mut self) -> Option<usize> {
        let name = self.token()?;
        let which = self.names.iter().position(|known| *known == name)?;
        let mut path = Vec::new();
        loop {
            match self.rest {
                [".", name, rest @ ..] if is_identifier(name) => {
                    path.push(Step::Member(JsString::from(*name).into()));
                    self.rest = rest;
                }
                ["[", index, "]", rest @ ..] => {
                    path.push(Step::Element(u64::from(index.parse::<u32>().ok()?)));
                    self.rest = rest;
                }
                _ => break,
            }
        }
        match &self.path {
            Some(known) if *known != path => return None,
            Some(_) => {}
            None => self.path = Some(path),
        }
        Some(which)
    }
}

fn operator(token: &str) -> Option<Operator> {
    Some(match token {
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        "==" | "===" => Operator::Equal,
        "!=" | "!==" => Operator::NotEqual,
        _ => return None,
    })
}

/// The words and signs of a text; none if there is anything else in it.
fn tokens(text: &str) -> Option<Vec<&str>> {
    const SIGNS: [&str; 23] = [
        "===", "!==", "==", "!=", "=>", "<=", ">=", "--", "<", ">", "?", ":", "-", ".", ",", "(", ")", "[", "]", ";",
        "{", "}", "=",
    ];
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let word = rest.find(|letter: char| !is_part_of_a_word(letter)).unwrap_or(rest.len());
        let length = if word > 0 { word } else { SIGNS.iter().find(|sign| rest.starts_with(**sign))?.len() };
        let (token, others) = rest.split_at_checked(length)?;
        tokens.push(token);
        rest = others.trim_start();
        // What stands on the next line is not returned.
        let space = others.len() - rest.len();
        if token == "return" && others.get(..space)?.contains(|letter: char| !matches!(letter, ' ' | '\t')) {
            return None;
        }
    }
    Some(tokens)
}

fn is_part_of_a_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '$'
}

fn is_identifier(token: &str) -> bool {
    token.chars().all(is_part_of_a_word) && !token.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{Known, Rule};

    #[test]
    fn comparators_of_the_same_in_both_are_known() {
        for (text, path) in [
            ("(a, b) => a - b", 0),
            ("(a,b)=>b-a", 0),
            ("(left, right) => right.size - left.size", 1),
            ("(x, y) => x.at.line - y.at.line", 2),
            ("(a, b) => b[1] - a[1]", 1),
            ("(a, b) => a[0].size - b[0].size;", 2),
            ("(a, b) => a < b ? -1 : 1", 0),
            ("(a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0", 1),
            ("(a, b) => a === b ? 0 : b >= a ? -1 : 1", 0),
            ("(a, b) => { return a - b }", 0),
            ("function (a, b) { return b.n - a.n; }", 1),
            ("function byName(a, b) { return a.name < b.name ? -1 : 1; }", 1),
            ("(a, b) => { if (a < b) return -1; return a > b ? 1 : 0; }", 0),
            ("(a, b) => { if (a.n < b.n) { return -1; } else if (a.n > b.n) { return 1; } else { return 0; } }", 1),
            ("(a, b) => { if (a[0] > b[0]) return -1\n if (a[0] < b[0]) return 1\n return 0 }", 1),
        ] {
            assert_eq!(Known::parse(text).unwrap().path.len(), path, "{text}");
        }
        let known = Known::parse("(a, b) => b.size - a.size").unwrap();
        assert!(matches!(known.rule, Rule::Difference { is_descending: true }));
    }

    #[test]
    fn what_is_anything_else_is_called() {
        for text in [
            "(a, b) => a + b",
            "(a, b) => a - b - 1",
            "(a, b) => a.x - b.y",
            "(a, b) => a - c",
            "(a, a) => a - a",
            "a => a - a",
            "(a, b) => a() - b()",
            "(a, b) => a[b] - b[a]",
            "(a, b) => a[0] - b[1]",
            "(a, b) => -a - b",
            "(a, b) => a.x - b",
            "async (a, b) => a - b",
            "(a, b) => a -- b",
            "(a, b) => a --b",
            "(a, b = 1) => a - b",
            "(a, b) => { return\na - b }",
            "(a, b) => { a - b }",
            "(a, b) => { return a - b; return 1 - }",
            "(a, b) => { const d = a - b; return d }",
            "(a, b) => { if (a < b) return -1; }",
            "(a, b) => { if (a < b) return -1; return a - b }",
            "(a, b) => { if (a < b) b = 1; return 0 }",
            "(a, b) => { return 0 }",
            "function* (a, b) { return a - b }",
            "async function (a, b) { return a - b }",
            "(a, b) => a - 1",
            "(a, b) => a?.x - b?.x",
            "(...a, b) => a - b",
            "(a, b) => a.#x - b.#x",
            "(a, b) => a < b",
            "(a, b) => a < b ? -1",
            "(a, b) => a < b ? -1 : c",
            "(a, b) => a < b ? a : b",
            "(a, b) => a < b ? -1 : 1 - 1",
            "(a, b) => a < a ? -1 : 1",
            "(a, b) => a < b ? -1.5 : 1",
            "(a, b) => a <= b ? 1e3 : 0x1",
            "(a, b) => a.x < b.y ? -1 : 1",
            "(a, b) => a < b ? -1 : a.x > b.x ? 1 : 0",
            "(a, b) => a << b ? -1 : 1",
        ] {
            assert!(Known::parse(text).is_none(), "{text}");
        }
    }
}
