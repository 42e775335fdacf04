//! Loops without any expression.
//!
//! Such a loop has no place in the engine's eyes, and would end without one where a limit ends it:
//! `for (;;) {}` becomes `for (; true;) {}`.

use oxc::{
    allocator::Allocator,
    ast::{
        ast::{Expression, ForStatement, Program, Statement},
        builder::AstBuilder,
    },
    ast_visit::{VisitJsMut, walk_js_mut},
};

/// Gives each loop of `program` an expression.
pub(super) fn place<'a>(allocator: &'a Allocator, program: &mut Program<'a>) {
    Placer { builder: AstBuilder::new(allocator) }.visit_program(program);
}

struct Placer<'a> {
    builder: AstBuilder<'a>,
}

impl<'a> VisitJsMut<'a> for Placer<'a> {
    fn visit_for_statement(&mut self, each: &mut ForStatement<'a>) {
        walk_js_mut::walk_for_statement(self, each);
        if each.test.is_none() && each.update.is_none() && !has_place(&each.body) {
            each.test = Some(Expression::new_boolean_literal(each.span, true, &self.builder));
        }
    }
}

/// Whether the engine finds an expression at the beginning of a body.
fn has_place(body: &Statement<'_>) -> bool {
    match body {
        Statement::BlockStatement(block) => block.body.iter().any(has_place),
        Statement::ReturnStatement(statement) => statement.argument.is_some(),
        Statement::ExpressionStatement(_)
        | Statement::IfStatement(_)
        | Statement::SwitchStatement(_)
        | Statement::WhileStatement(_)
        | Statement::ThrowStatement(_) => true,
        _ => false,
    }
}
