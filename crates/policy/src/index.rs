//! Finds the rules of a tool that may match some arguments, without examining each rule.
//!
//! For each argument there are sets of bits, one bit for each rule: the rules that have no
//! indexable condition on the argument, and those whose condition its value meets. The rules that
//! are in the sets of all arguments are then evaluated normally. So a set may contain a rule that
//! does not match, but must never lack one that does.

use std::{cmp::Ordering, collections::HashMap};

use serde_json::Value;

use crate::{
    argument::Found,
    condition::{Operator, Values},
    number::Number,
};

/// The most indexed arguments: those that most rules mention.
const MAX_ARGUMENTS: usize = 64;

const BITS: usize = u64::BITS as usize;

/// One condition of a rule on a scalar.
pub(crate) struct Entry<'e> {
    /// The rule's position in the order of evaluation.
    pub(crate) rule: usize,
    /// The argument's position among all that are looked up.
    pub(crate) argument: usize,
    pub(crate) operator: &'e Operator,
    /// Whether the rule treats unknown as true.
    pub(crate) takes_unknown: bool,
}

/// The index of a tool's rules.
#[derive(Debug)]
pub(crate) struct Index {
    rules: usize,
    arguments: Vec<(usize, OfArgument)>,
}

impl Index {
    /// An index of this many rules. If a rule has several entries for one argument, the first one
    /// counts.
    pub(crate) fn new<'e>(rules: usize, entries: impl Iterator<Item = Entry<'e>>) -> Self {
        let mut by_argument: HashMap<usize, Vec<(Entry<'e>, Key<'e>)>> = HashMap::new();
        for entry in entries {
            let Some(key) = Key::of(entry.operator) else { continue };
            let of_argument = by_argument.entry(entry.argument).or_default();
            if of_argument.last().is_none_or(|(last, _)| last.rule != entry.rule) {
                of_argument.push((entry, key));
            }
        }
        let mut arguments: Vec<_> = by_argument.into_iter().collect();
        arguments.sort_by_key(|(argument, entries)| (std::cmp::Reverse(entries.len()), *argument));
        arguments.truncate(MAX_ARGUMENTS);
        let arguments = arguments.into_iter().map(|(at, entries)| (at, OfArgument::new(rules, &entries))).collect();
        Self { rules, arguments }
    }

    /// The rules that may match, in order. `found` has the arguments that were looked up.
    pub(crate) fn candidates(&self, found: &[Found<'_>]) -> Candidates {
        let mut all = Set::full(self.rules);
        let mut scratch = Set::empty(self.rules);
        for (argument, index) in &self.arguments {
            let Some(found) = found.get(*argument) else { continue };
            index.admit(*found, &mut scratch);
            all.keep(&scratch);
        }
        Candidates { set: all, word: 0 }
    }
}

/// The key by which an operator is indexed.
enum Key<'e> {
    Texts(&'e [String]),
    Numbers(&'e [Number]),
    Min(Number),
    Max(Number),
}

impl<'e> Key<'e> {
    fn of(operator: &'e Operator) -> Option<Self> {
        match operator {
            Operator::Is(values) | Operator::In(values) => match &**values {
                Values { texts, numbers, booleans } if numbers.is_empty() && booleans.is_empty() => {
                    Some(Self::Texts(texts))
                }
                Values { texts, numbers, booleans } if texts.is_empty() && booleans.is_empty() => {
                    Some(Self::Numbers(numbers))
                }
                _ => None,
            },
            Operator::Min(least) => Some(Self::Min(*least)),
            Operator::Max(most) => Some(Self::Max(*most)),
            _ => None,
        }
    }
}

/// What the rules require of one argument.
#[derive(Debug)]
struct OfArgument {
    /// The rules that have no indexable condition on it.
    silent: Set,
    /// Those that treat a value that is not a text, or not a number, as true.
    unless_text: Set,
    unless_number: Set,
    texts: HashMap<Box<str>, Vec<usize>>,
    /// All entries, sorted by their numbers.
    numbers: Vec<(Number, usize)>,
    least: Vec<(Number, usize)>,
    most: Vec<(Number, usize)>,
}

impl OfArgument {
    fn new(rules: usize, entries: &[(Entry<'_>, Key<'_>)]) -> Self {
        let mut index = Self {
            silent: Set::full(rules),
            unless_text: Set::empty(rules),
            unless_number: Set::empty(rules),
            texts: HashMap::new(),
            numbers: Vec::new(),
            least: Vec::new(),
            most: Vec::new(),
        };
        for (Entry { rule, takes_unknown, .. }, key) in entries {
            let rule = *rule;
            index.silent.remove(rule);
            if *takes_unknown {
                let unless = if let Key::Texts(_) = key { &mut index.unless_text } else { &mut index.unless_number };
                unless.add(rule);
            }
            match key {
                Key::Texts(texts) => {
                    for text in *texts {
                        index.texts.entry(text.as_str().into()).or_default().push(rule);
                    }
                }
                Key::Numbers(numbers) => index.numbers.extend(numbers.iter().map(|number| (*number, rule))),
                Key::Min(least) => index.least.push((*least, rule)),
                Key::Max(most) => index.most.push((*most, rule)),
            }
        }
        for sorted in [&mut index.numbers, &mut index.least, &mut index.most] {
            sorted.sort_by(|(one, _), (other, _)| one.compare(*other));
        }
        index
    }

    /// The rules that can still match with this value.
    fn admit(&self, found: Found<'_>, to: &mut Set) {
        to.copy(&self.silent);
        let number = match found {
            Found::Value(Value::String(text)) => {
                self.texts.get(text.as_str()).into_iter().flatten().for_each(|rule| to.add(*rule));
                to.join(&self.unless_number);
                return;
            }
            Found::Value(Value::Number(number)) => Number::of(number),
            _ => None,
        };
        to.join(&self.unless_text);
        let Some(number) = number else {
            to.join(&self.unless_number);
            return;
        };
        let until = |list: &[(Number, usize)], kept: fn(Ordering) -> bool| {
            list.partition_point(|(known, _)| kept(known.compare(number)))
        };
        let (below, through) = (until(&self.numbers, Ordering::is_lt), until(&self.numbers, Ordering::is_le));
        let equal = self.numbers.get(below..through);
        let least = self.least.get(..until(&self.least, Ordering::is_le));
        let most = self.most.get(until(&self.most, Ordering::is_lt)..);
        for (_, rule) in [equal, least, most].into_iter().flatten().flatten() {
            to.add(*rule);
        }
    }
}

/// Some of the rules.
#[derive(Debug)]
struct Set(Vec<u64>);

impl Set {
    fn empty(rules: usize) -> Self {
        Self(vec![0; rules.div_ceil(BITS)])
    }

    /// All rules; unused bits are set, too.
    fn full(rules: usize) -> Self {
        Self(vec![u64::MAX; rules.div_ceil(BITS)])
    }

    fn add(&mut self, rule: usize) {
        if let Some(word) = self.0.get_mut(rule / BITS) {
            *word |= 1 << (rule % BITS);
        }
    }

    fn remove(&mut self, rule: usize) {
        if let Some(word) = self.0.get_mut(rule / BITS) {
            *word &= !(1 << (rule % BITS));
        }
    }

    fn copy(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(to, from)| *to = *from);
    }

    fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(to, from)| *to |= from);
    }

    fn keep(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(to, from)| *to &= from);
    }
}

/// The rules that may match, one after the other.
pub(crate) struct Candidates {
    set: Set,
    word: usize,
}

impl Iterator for Candidates {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        loop {
            let word = self.set.0.get_mut(self.word)?;
            if *word == 0 {
                self.word += 1;
                continue;
            }
            let bit = word.trailing_zeros() as usize;
            *word &= *word - 1;
            return Some(self.word * BITS + bit);
        }
    }
}
