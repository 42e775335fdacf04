//! Whether a source that JavaScript reads as well has types, which it reads as comparisons.

use oxc::{
    ast::ast::{CallExpression, NewExpression, Program, TaggedTemplateExpression},
    ast_visit::{VisitJs, walk_js},
};

/// Whether there are types in calls, as in `f<T>(x)`. No others are JavaScript.
pub(super) fn are_in(program: &Program<'_>) -> bool {
    let mut types = Types { are_there: false };
    types.visit_program(program);
    types.are_there
}

struct Types {
    are_there: bool,
}

impl<'a> VisitJs<'a> for Types {
    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        self.are_there |= call.type_arguments.is_some();
        walk_js::walk_call_expression(self, call);
    }

    fn visit_new_expression(&mut self, new: &NewExpression<'a>) {
        self.are_there |= new.type_arguments.is_some();
        walk_js::walk_new_expression(self, new);
    }

    fn visit_tagged_template_expression(&mut self, template: &TaggedTemplateExpression<'a>) {
        self.are_there |= template.type_arguments.is_some();
        walk_js::walk_tagged_template_expression(self, template);
    }
}
