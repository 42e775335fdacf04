//! Whether a source that JavaScript reads as well has types, which it reads as comparisons.

use oxc::{
    ast::ast::{CallExpression, NewExpression, Program, TaggedTemplateExpression},
    ast_visit::VisitJs as _,
};

use crate::visitor::{Visiting, Visitor};

/// Whether there are types in calls, as in `f<T>(x)`. No others are JavaScript.
pub(super) fn are_in(program: &Program<'_>) -> bool {
    let mut types = Types { are_there: false };
    Visiting(&mut types).visit_program(program);
    types.are_there
}

struct Types {
    are_there: bool,
}

impl<'a> Visitor<'a> for Types {
    fn enter_call_expression(&mut self, call: &CallExpression<'a>) -> bool {
        self.are_there |= call.type_arguments.is_some();
        true
    }

    fn enter_new_expression(&mut self, new: &NewExpression<'a>) -> bool {
        self.are_there |= new.type_arguments.is_some();
        true
    }

    fn enter_tagged_template_expression(&mut self, template: &TaggedTemplateExpression<'a>) -> bool {
        self.are_there |= template.type_arguments.is_some();
        true
    }
}
