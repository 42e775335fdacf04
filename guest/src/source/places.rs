//! Gives the engine a place for each statement.
//!
//! Boa knows the position of a call or a property access that fails, but not of the look-up of a name or of a method, so that the
//! commonest of all mistakes, `result.items.map(…)` where there are no `items`, would have no place. An assignment has a position
//! that holds for all that is computed in it. So a statement's expression is assigned to a variable that nobody reads; it is a
//! register of its function, and costs one move.
//!
//! Of a loop over what is no list, and of a destructuring of nothing, the engine says neither what failed nor where. So what is
//! looped over or destructured goes through a guard (see `globals/guards.rs`), which knows its text and has its place.

use oxc::{
    allocator::{Allocator, ArenaVec, TakeIn},
    ast::{
        ast::{
            Argument, ArrowFunctionExpression, AssignmentOperator, AssignmentTarget, AwaitExpression, BinaryExpression,
            BindingPattern, BindingProperty, CallExpression, Class, Expression, ExpressionStatement, ForOfStatement,
            Function, FunctionBody, IdentifierReference, IfStatement, LogicalOperator, NewExpression, Program,
            ReturnStatement, Statement, StaticBlock, StaticMemberExpression, SwitchStatement, TaggedTemplateExpression,
            VariableDeclarationKind, VariableDeclarator, YieldExpression,
        },
        builder::AstBuilder,
    },
    ast_visit::{Visit, VisitMut, walk, walk_mut},
    semantic::ScopeFlags,
    span::{GetSpan, SPAN, Span},
};

use super::{
    blame::quoted,
    take::{self, TAKE},
};

/// The variable. A source that names it, or a guard, is left as it is.
pub(crate) const VARIABLE: &str = "__at__";
/// Gives back what can be looped over, or throws.
pub(super) const ITERABLE: &str = "__iterable__";
/// Throws, since there is nothing to destructure.
pub(super) const NOTHING: &str = "__nothing__";

/// Gives each statement of `program` that may fail a place.
pub(super) fn mark<'a>(allocator: &'a Allocator, source: &str, program: &mut Program<'a>) {
    if ![VARIABLE, ITERABLE, NOTHING, TAKE].iter().any(|name| source.contains(name)) {
        Marker { allocator, builder: AstBuilder::new(allocator), source, is_used: false }.visit_program(program);
    }
}

struct Marker<'a, 's> {
    allocator: &'a Allocator,
    builder: AstBuilder<'a>,
    source: &'s str,
    /// Whether the variable is used in the function that is being visited.
    is_used: bool,
}

impl<'a> Marker<'a, '_> {
    /// `value` becomes `__iterable__(value, "its text")`.
    fn guard_list(&self, value: &mut Expression<'a>) {
        if is_list(value) {
            return;
        }
        let (span, text) = (value.span(), self.text_of(value));
        let arguments = [Argument::from(value.take_in(&self.builder)), text];
        *value = self.call_of_guard(ITERABLE, span, arguments);
    }

    /// `value` becomes `(value) ?? __nothing__("its text")`.
    fn guard_object(&self, value: &mut Expression<'a>) {
        if matches!(value.without_parentheses(), Expression::ObjectExpression(_)) {
            return;
        }
        let (span, text, builder) = (value.span(), self.text_of(value), &self.builder);
        let left = Expression::new_parenthesized_expression(span, value.take_in(builder), builder);
        let right = self.call_of_guard(NOTHING, span, [text]);
        *value = Expression::new_logical_expression(span, left, LogicalOperator::Coalesce, right, builder);
    }

    fn call_of_guard<const N: usize>(
        &self,
        guard: &'static str,
        span: Span,
        arguments: [Argument<'a>; N],
    ) -> Expression<'a> {
        let builder = &self.builder;
        let callee = Expression::new_identifier(span, guard, builder);
        let mut list = ArenaVec::new_in(builder);
        list.extend(arguments);
        Expression::new_call_expression(span, callee, None, list, false, builder)
    }

    fn text_of(&self, value: &Expression<'a>) -> Argument<'a> {
        let text = quoted(self.source, value.span()).unwrap_or_default();
        let text = self.allocator.alloc_str(&text);
        Argument::from(Expression::new_string_literal(SPAN, text, None, &self.builder))
    }

    fn mark(&mut self, expression: &mut Expression<'a>) {
        if !may_fail(expression) {
            return;
        }
        self.is_used = true;
        let span = expression.span();
        let builder = &self.builder;
        let target = AssignmentTarget::AssignmentTargetIdentifier(IdentifierReference::boxed(span, VARIABLE, builder));
        let value = expression.take_in(builder);
        *expression = Expression::new_assignment_expression(span, AssignmentOperator::Assign, target, value, builder);
    }

    /// Visits the statements of one function, and declares the variable there if it is used.
    fn function(&mut self, visit: impl FnOnce(&mut Self)) -> Option<Statement<'a>> {
        let outer = std::mem::take(&mut self.is_used);
        visit(self);
        std::mem::replace(&mut self.is_used, outer).then(|| {
            let builder = &self.builder;
            let name = BindingPattern::new_binding_identifier(SPAN, VARIABLE, builder);
            let declarator = VariableDeclarator::new(SPAN, name, None, None, false, builder);
            let mut declarators = ArenaVec::new_in(builder);
            declarators.push(declarator);
            Statement::new_variable_declaration(SPAN, VariableDeclarationKind::Let, declarators, false, builder)
        })
    }
}

impl<'a> VisitMut<'a> for Marker<'a, '_> {
    fn visit_for_of_statement(&mut self, each: &mut ForOfStatement<'a>) {
        walk_mut::walk_for_of_statement(self, each);
        if !each.r#await {
            self.guard_list(&mut each.right);
        }
    }

    fn visit_program(&mut self, program: &mut Program<'a>) {
        if let Some(declaration) = self.function(|marker| walk_mut::walk_program(marker, program)) {
            program.body.insert(0, declaration);
        }
    }

    fn visit_function_body(&mut self, body: &mut FunctionBody<'a>) {
        if let Some(declaration) = self.function(|marker| walk_mut::walk_function_body(marker, body)) {
            body.statements.insert(0, declaration);
        }
    }

    fn visit_static_block(&mut self, block: &mut StaticBlock<'a>) {
        if let Some(declaration) = self.function(|marker| walk_mut::walk_static_block(marker, block)) {
            block.body.insert(0, declaration);
        }
    }

    fn visit_expression_statement(&mut self, statement: &mut ExpressionStatement<'a>) {
        walk_mut::walk_expression_statement(self, statement);
        self.mark(&mut statement.expression);
    }

    /// `{ key: { … } }` becomes `{ key: { … } = __nothing__("key") }`: a pattern in a pattern has no place at all.
    fn visit_binding_property(&mut self, property: &mut BindingProperty<'a>) {
        walk_mut::walk_binding_property(self, property);
        if property.computed || !matches!(property.value, BindingPattern::ObjectPattern(_)) {
            return;
        }
        let (builder, span) = (&self.builder, property.value.span());
        let text = quoted(self.source, property.key.span()).unwrap_or_default();
        let text = Argument::from(Expression::new_string_literal(SPAN, self.allocator.alloc_str(&text), None, builder));
        let missing = self.call_of_guard(NOTHING, span, [text]);
        let empty = BindingPattern::new_object_pattern(span, ArenaVec::new_in(builder), None, builder);
        let pattern = std::mem::replace(&mut property.value, empty);
        property.value = BindingPattern::new_assignment_pattern(span, pattern, missing, builder);
    }

    fn visit_variable_declarator(&mut self, declarator: &mut VariableDeclarator<'a>) {
        walk_mut::walk_variable_declarator(self, declarator);
        let Some(value) = &mut declarator.init else { return };
        let mut by_index = None;
        match &declarator.id {
            BindingPattern::ObjectPattern(_) => self.guard_object(value),
            BindingPattern::ArrayPattern(pattern) if take::is_simple(pattern) && !is_list(value) => {
                let text = self.text_of(value);
                *value = take::taken(pattern, value.take_in(&self.builder), text, &self.builder);
                by_index = Some(take::by_index(pattern, &self.builder));
            }
            BindingPattern::ArrayPattern(_) => self.guard_list(value),
            _ => {}
        }
        self.mark(value);
        if let Some(by_index) = by_index {
            declarator.id = by_index;
        }
    }

    fn visit_return_statement(&mut self, statement: &mut ReturnStatement<'a>) {
        walk_mut::walk_return_statement(self, statement);
        if let Some(value) = &mut statement.argument {
            self.mark(value);
        }
    }

    fn visit_if_statement(&mut self, statement: &mut IfStatement<'a>) {
        walk_mut::walk_if_statement(self, statement);
        self.mark(&mut statement.test);
    }

    fn visit_switch_statement(&mut self, statement: &mut SwitchStatement<'a>) {
        walk_mut::walk_switch_statement(self, statement);
        self.mark(&mut statement.discriminant);
    }
}

/// A list as such can be looped over.
fn is_list(value: &Expression<'_>) -> bool {
    matches!(value.without_parentheses(), Expression::ArrayExpression(_))
}

/// Whether an expression holds what may fail without a position of its own. A function fails when it is called, not here.
fn may_fail(expression: &Expression<'_>) -> bool {
    let mut finder = Finder(false);
    match expression {
        // These have their positions.
        Expression::AssignmentExpression(_) | Expression::UpdateExpression(_) => {}
        other => finder.visit_expression(other),
    }
    finder.0
}

struct Finder(bool);

impl<'a> Visit<'a> for Finder {
    fn visit_expression(&mut self, expression: &Expression<'a>) {
        if !self.0 {
            walk::walk_expression(self, expression);
        }
    }

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}
    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}
    fn visit_class(&mut self, _: &Class<'a>) {}

    fn visit_call_expression(&mut self, _: &CallExpression<'a>) {
        self.0 = true;
    }

    fn visit_new_expression(&mut self, _: &NewExpression<'a>) {
        self.0 = true;
    }

    fn visit_await_expression(&mut self, _: &AwaitExpression<'a>) {
        self.0 = true;
    }

    fn visit_yield_expression(&mut self, _: &YieldExpression<'a>) {
        self.0 = true;
    }

    fn visit_tagged_template_expression(&mut self, _: &TaggedTemplateExpression<'a>) {
        self.0 = true;
    }

    fn visit_static_member_expression(&mut self, _: &StaticMemberExpression<'a>) {
        self.0 = true;
    }

    fn visit_binary_expression(&mut self, binary: &BinaryExpression<'a>) {
        self.0 |= binary.operator.is_relational();
        walk::walk_binary_expression(self, binary);
    }
}
