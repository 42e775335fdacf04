//! Promises that a source compares, calculates with or asks for their truth: nothing fails, and the
//! answer is wrong.

use std::collections::{BTreeMap, BTreeSet};

use oxc::{
    ast::ast::{BinaryExpression, ConditionalExpression, Expression, IfStatement, UnaryExpression, WhileStatement},
    ast_visit::VisitJs as _,
    span::GetSpan as _,
    syntax::operator::{BinaryOperator, UnaryOperator},
};

use super::{AsyncFunctions, Call, Position, Reading, tool_functions, with_program};
use crate::visitor::{Visiting, Visitor};

/// What to say of the first promise that the source uses so, if there is one. `servers` are the
/// names of the globals whose methods are tools.
pub fn warning(servers: &BTreeSet<String>) -> Option<String> {
    with_program(|source, program| {
        let mut reading = Reading { source, servers, async_functions: tool_functions(), promises: BTreeMap::new() };
        Visiting(&mut AsyncFunctions(&mut reading.async_functions)).visit_program(program);
        Visiting(&mut reading).visit_program(program);
        let mut comparisons = Comparisons { reading: &reading, found: None };
        Visiting(&mut comparisons).visit_program(program);
        let Found { call, place, done } = comparisons.found?;
        let line = Position::of_offset(source, place as usize).line;
        Some(format!("{} returns a promise, and line {line} {done}: {}", call.text, call.advice))
    })
}

struct Comparisons<'r> {
    reading: &'r Reading<'r>,
    found: Option<Found>,
}

/// A promise, where it is used, and what is done with it there.
struct Found {
    call: Call,
    place: u32,
    done: &'static str,
}

impl Comparisons<'_> {
    /// A value that is compared or calculated with, be it a call or a name that holds what one
    /// gave.
    fn see(&mut self, value: &Expression<'_>, done: &'static str) {
        let call = match value.get_inner_expression() {
            Expression::Identifier(name) => self.reading.promises.get(name.name.as_str()).cloned(),
            Expression::CallExpression(call) => self.reading.promise(call),
            _ => None,
        };
        self.note(call, value, done);
    }

    /// A value that is asked for its truth. A name may well be asked whether it holds a promise
    /// already.
    fn see_truth(&mut self, value: &Expression<'_>) {
        if let Expression::CallExpression(call) = value.get_inner_expression() {
            self.note(self.reading.promise(call), value, "asks whether it is true, which it always is");
        }
    }

    fn note(&mut self, call: Option<Call>, value: &Expression<'_>, done: &'static str) {
        if self.found.is_none() {
            self.found = call.map(|call| Found { call, place: value.span().start, done });
        }
    }
}

impl<'a> Visitor<'a> for Comparisons<'_> {
    fn enter_binary_expression(&mut self, binary: &BinaryExpression<'a>) -> bool {
        let to_nothing = is_nothing(&binary.left) || is_nothing(&binary.right);
        match binary.operator {
            BinaryOperator::In | BinaryOperator::Instanceof => {}
            operator if operator.is_equality() && to_nothing => {}
            operator => {
                let done =
                    if operator.is_equality() || operator.is_compare() { "compares it" } else { "calculates with it" };
                self.see(&binary.left, done);
                self.see(&binary.right, done);
            }
        }
        true
    }

    fn enter_unary_expression(&mut self, unary: &UnaryExpression<'a>) -> bool {
        match unary.operator {
            UnaryOperator::LogicalNot => self.see_truth(&unary.argument),
            UnaryOperator::UnaryPlus | UnaryOperator::UnaryNegation => self.see(&unary.argument, "calculates with it"),
            _ => {}
        }
        true
    }

    fn enter_if_statement(&mut self, statement: &IfStatement<'a>) -> bool {
        self.see_truth(&statement.test);
        true
    }

    fn enter_while_statement(&mut self, statement: &WhileStatement<'a>) -> bool {
        self.see_truth(&statement.test);
        true
    }

    fn enter_conditional_expression(&mut self, conditional: &ConditionalExpression<'a>) -> bool {
        self.see_truth(&conditional.test);
        true
    }
}

fn is_nothing(value: &Expression<'_>) -> bool {
    match value.get_inner_expression() {
        Expression::NullLiteral(_) => true,
        Expression::Identifier(name) => name.name == "undefined",
        _ => false,
    }
}
