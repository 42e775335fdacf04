//! What a source says about why its script failed, where the engine cannot know.
//!
//! Looked at only when a script has failed. Nothing here is more than a reading of the source, so
//! where it is in doubt it says nothing.

use std::collections::BTreeSet;

use oxc::{
    allocator::Allocator,
    ast::ast::{BindingIdentifier, Expression, Program, ThrowStatement},
    ast_visit::VisitJs as _,
    parser::Parser,
    span::{SourceType, Span},
};

use super::{Position, options, positions::with_source};
use crate::visitor::{Visiting, Visitor};

/// The longest expression that is quoted.
const MAX_QUOTED: usize = 60;

/// The names that a script declares, for the author who misspells one.
pub fn declared_names() -> BTreeSet<String> {
    with_program(|_, program| Some(names(program))).unwrap_or_default()
}

/// The line of the first declaration of a name.
pub fn declared_at(name: &str) -> Option<u32> {
    struct First<'n>(&'n str, Option<Span>);
    impl<'a> Visitor<'a> for First<'_> {
        fn enter_binding_identifier(&mut self, identifier: &BindingIdentifier<'a>) -> bool {
            if identifier.name == self.0 {
                self.1.get_or_insert(identifier.span);
            }
            false
        }
    }
    with_program(|source, program| {
        let mut first = First(name, None);
        Visiting(&mut first).visit_program(program);
        Some(Position::of_offset(source, first.1?.start as usize).line)
    })
}

/// Whether the script reads a result as the protocol has it, of a call that gives the tool's own
/// value.
pub fn reads_whole_result() -> bool {
    with_source(|source| source.contains(".content[0].text") && !source.contains("tools.raw"))
}

/// Where the script throws something that is not an error, if it does so in one place.
pub fn thrown_value() -> Option<Position> {
    struct Throws(Vec<Span>);
    impl<'a> Visitor<'a> for Throws {
        fn enter_throw_statement(&mut self, throw: &ThrowStatement<'a>) -> bool {
            let is_value = |value: &Expression<'_>| {
                value.is_literal() || matches!(value, Expression::TemplateLiteral(_) | Expression::ObjectExpression(_))
            };
            if is_value(throw.argument.get_inner_expression()) {
                self.0.push(throw.span);
            }
            false
        }
    }
    with_program(|source, program| {
        let mut throws = Throws(Vec::new());
        Visiting(&mut throws).visit_program(program);
        let [only] = throws.0.as_slice() else { return None };
        Some(Position::of_offset(source, only.start as usize))
    })
}

fn names(program: &Program<'_>) -> BTreeSet<String> {
    struct Finder(BTreeSet<String>);
    impl<'a> Visitor<'a> for Finder {
        fn enter_binding_identifier(&mut self, identifier: &BindingIdentifier<'a>) -> bool {
            self.0.insert(identifier.name.to_string());
            false
        }
    }
    let mut finder = Finder(BTreeSet::new());
    Visiting(&mut finder).visit_program(program);
    finder.0
}

pub(super) fn with_program<T>(look: impl FnOnce(&str, &Program<'_>) -> Option<T>) -> Option<T> {
    with_source(|source| {
        let allocator = Allocator::default();
        let kind = SourceType::ts().with_module(true);
        let parsed = Parser::new(&allocator, source, kind).with_options(options()).parse();
        look(source, &parsed.program)
    })
}

/// The text of an expression, if it is short.
pub(super) fn quoted(source: &str, span: Span) -> Option<String> {
    let text = source.get(span.start as usize..span.end as usize)?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (text.len() <= MAX_QUOTED).then_some(text)
}
