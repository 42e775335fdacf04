//! Loops over arrays, by index.
//!
//! The engine goes through a list by calling a function for each element, which makes an object for
//! each. Whether anybody could see the difference to a count is known before the first element (see
//! `is_plain` in `iteration.rs` of `builtins`), so a loop
//!
//! ```js
//! for (const word of words) count(word);
//! ```
//!
//! becomes
//!
//! ```js
//! {
//!     const __list__ = words;
//!     if (__plain__(__list__)) for (let __index__ = 0; __index__ < __list__.length; __index__++) {
//!         const word = __list__[__index__];
//!         count(word);
//!     }
//!     else for (const word of __iterable__(__list__, "words")) count(word);
//! }
//! ```
//!
//! Only the innermost loops are worth it: their bodies are there twice. What cannot be looped over
//! has lost its name then, so that the second loop asks `__iterable__`, which knows it. A loop
//! without any expression is given one. Variables that are the first items of a list are its
//! business too (see `take.rs`).

use oxc::{
    allocator::{Allocator, ArenaBox, ArenaVec, CloneIn, TakeIn},
    ast::{
        ast::{
            Argument, BinaryOperator, BindingIdentifier, BindingPattern, Expression, ForOfStatement, ForStatement,
            ForStatementInit, ForStatementLeft, IdentifierName, IdentifierReference, LabeledStatement,
            MemberExpression, NumberBase, Program, SimpleAssignmentTarget, Statement, TaggedTemplateExpression,
            UpdateOperator, VariableDeclaration, VariableDeclarationKind, VariableDeclarator,
        },
        builder::AstBuilder,
    },
    ast_visit::{VisitJs, VisitJsMut, walk_js_mut},
    span::{GetSpan, SPAN, Span},
};

use super::{
    array_patterns::{self, TAKE},
    reading::quoted,
};

/// The names that the translation uses. A source that has one of them is left as it is.
const LIST: &str = "__list__";
const INDEX: &str = "__index__";
/// Gives back what can be looped over, or throws.
pub(super) const ITERABLE: &str = "__iterable__";
/// Says whether the elements of a list may be counted.
pub(super) const PLAIN: &str = "__plain__";
/// What a loop over pairs has in the place of their names, which are taken from it.
const ITEM: &str = "__item__";

/// Longer bodies are not doubled, in bytes of the source.
const MAX_BODY: u32 = 4_000;

/// Lets the innermost loops of `program` count where they can.
pub(super) fn count<'a>(allocator: &'a Allocator, source: &str, program: &mut Program<'a>) {
    if ![LIST, INDEX, ITERABLE, PLAIN, ITEM, TAKE].iter().any(|name| source.contains(name)) {
        Counter { allocator, builder: AstBuilder::new(allocator), source }.visit_program(program);
    }
}

struct Counter<'a, 's> {
    allocator: &'a Allocator,
    builder: AstBuilder<'a>,
    source: &'s str,
}

impl<'a> VisitJsMut<'a> for Counter<'a, '_> {
    fn visit_variable_declarator(&mut self, declarator: &mut VariableDeclarator<'a>) {
        walk_js_mut::walk_variable_declarator(self, declarator);
        let (BindingPattern::ArrayPattern(pattern), Some(value)) = (&declarator.id, &mut declarator.init) else {
            return;
        };
        if array_patterns::is_simple(pattern) && !is_list(value) {
            let text = self.text_of(value);
            *value = array_patterns::taken(pattern, value.take_in(&self.builder), text, &self.builder);
            declarator.id = array_patterns::by_index(pattern, &self.builder);
        }
    }

    /// A label is that of one loop.
    fn visit_labeled_statement(&mut self, labeled: &mut LabeledStatement<'a>) {
        match &mut labeled.body {
            Statement::ForOfStatement(each) => {
                walk_js_mut::walk_for_of_statement(self, each);
                self.take_items(each);
            }
            _ => walk_js_mut::walk_labeled_statement(self, labeled),
        }
    }

    fn visit_statement(&mut self, statement: &mut Statement<'a>) {
        walk_js_mut::walk_statement(self, statement);
        if let Statement::ForOfStatement(each) = statement {
            self.take_items(each);
            if let Some(declaration) = countable(each) {
                *statement = self.counted(each, declaration);
            }
        }
    }

    /// A loop that has no expression at all has no place in the engine's eyes, and would end
    /// without one: `for (;;) {}` becomes `for (; true;) {}`.
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

impl<'a> Counter<'a, '_> {
    /// What the engine would call a value that is looped over.
    fn text_of(&self, value: &Expression<'a>) -> Argument<'a> {
        let value = value.without_parentheses();
        let (named, addition) = match value {
            Expression::CallExpression(call) => (&call.callee, " is not a function or its return value"),
            Expression::NewExpression(call) => (&call.callee, " is not a function or its return value"),
            value => (value, ""),
        };
        let text = match named {
            Expression::AwaitExpression(_) | Expression::YieldExpression(_) => None,
            named => quoted(self.source, named.span()),
        };
        let text = text.unwrap_or_else(|| "(intermediate value)".to_owned()) + addition;
        let text = self.allocator.alloc_str(&text);
        Argument::from(Expression::new_string_literal(SPAN, text, None, &self.builder))
    }

    /// `for (const [a, b] of list) body` becomes
    /// `for (const __item__ of list) { const { 0: a, 1: b } = __take__(__item__, 2, ""); body }`.
    fn take_items(&self, each: &mut ForOfStatement<'a>) {
        let builder = &self.builder;
        let Some(declaration) = declaration_of(each) else { return };
        let Some(BindingPattern::ArrayPattern(pattern)) = declaration.declarations.first().map(|first| &first.id)
        else {
            return;
        };
        if !array_patterns::is_simple(pattern) {
            return;
        }
        let text = Argument::from(Expression::new_string_literal(SPAN, "", None, builder));
        let taken = array_patterns::taken(pattern, self.name(ITEM, pattern.span), text, builder);
        let names = self.declaration(declaration.kind, array_patterns::by_index(pattern, builder), taken);
        let item = BindingPattern::new_binding_identifier(pattern.span, ITEM, builder);
        let item = VariableDeclarator::new(pattern.span, item, None, None, false, builder);
        let item = VariableDeclaration::boxed(
            declaration.span,
            VariableDeclarationKind::Const,
            self.vec([item]),
            false,
            builder,
        );
        each.left = ForStatementLeft::VariableDeclaration(item);
        let body = each.body.clone_in(self.allocator);
        let span = body.span();
        each.body =
            Statement::new_block_statement(span, self.vec([Statement::VariableDeclaration(names), body]), builder);
    }

    fn counted(&self, each: &ForOfStatement<'a>, declaration: &VariableDeclaration<'a>) -> Statement<'a> {
        let (builder, span) = (&self.builder, each.span);
        let list = self.declaration(
            VariableDeclarationKind::Const,
            BindingPattern::new_binding_identifier(SPAN, LIST, builder),
            each.right.clone_in(self.allocator),
        );
        let arguments = self.vec([Argument::from(self.name(LIST, SPAN))]);
        let is_plain = Expression::new_call_expression(SPAN, self.name(PLAIN, SPAN), None, arguments, false, builder);
        let by_index = self.by_index(each, declaration);
        let iterable = Expression::new_call_expression(
            each.right.span(),
            self.name(ITERABLE, each.right.span()),
            None,
            self.vec([Argument::from(self.name(LIST, each.right.span())), self.text_of(&each.right)]),
            false,
            builder,
        );
        let by_protocol = Statement::new_for_of_statement(
            span,
            false,
            each.left.clone_in(self.allocator),
            iterable,
            each.body.clone_in(self.allocator),
            builder,
        );
        let either = Statement::new_if_statement(SPAN, is_plain, by_index, Some(by_protocol), builder);
        Statement::new_block_statement(SPAN, self.vec([Statement::VariableDeclaration(list), either]), builder)
    }

    fn by_index(&self, each: &ForOfStatement<'a>, declaration: &VariableDeclaration<'a>) -> Statement<'a> {
        let builder = &self.builder;
        let zero = Expression::new_numeric_literal(SPAN, 0.0, None, NumberBase::Decimal, builder);
        let index = BindingPattern::new_binding_identifier(SPAN, INDEX, builder);
        let init = ForStatementInit::VariableDeclaration(self.declaration(VariableDeclarationKind::Let, index, zero));
        let length = IdentifierName::new(SPAN, "length", builder);
        let length = Expression::from(MemberExpression::new_static_member_expression(
            SPAN,
            self.name(LIST, SPAN),
            length,
            false,
            builder,
        ));
        let test =
            Expression::new_binary_expression(SPAN, self.name(INDEX, SPAN), BinaryOperator::LessThan, length, builder);
        let target =
            SimpleAssignmentTarget::AssignmentTargetIdentifier(IdentifierReference::boxed(SPAN, INDEX, builder));
        let update = Expression::new_update_expression(SPAN, UpdateOperator::Increment, false, target, builder);

        let element = Expression::from(MemberExpression::new_computed_member_expression(
            declaration.span,
            self.name(LIST, declaration.span),
            self.name(INDEX, SPAN),
            false,
            builder,
        ));
        let pattern = declaration.declarations.first().map(|declarator| declarator.id.clone_in(self.allocator));
        let pattern = pattern.unwrap_or_else(|| BindingPattern::new_binding_identifier(SPAN, INDEX, builder));
        let variable = self.declaration(declaration.kind, pattern, element);
        // A block of its own: what the body declares may have the variable's name.
        let body = self.vec([Statement::VariableDeclaration(variable), each.body.clone_in(self.allocator)]);
        let body = Statement::new_block_statement(SPAN, body, builder);
        Statement::new_for_statement(each.span, Some(init), Some(test), Some(update), body, builder)
    }

    fn declaration(
        &self,
        kind: VariableDeclarationKind,
        pattern: BindingPattern<'a>,
        value: Expression<'a>,
    ) -> ArenaBox<'a, VariableDeclaration<'a>> {
        let declarator = VariableDeclarator::new(pattern.span(), pattern, None, Some(value), false, &self.builder);
        VariableDeclaration::boxed(SPAN, kind, self.vec([declarator]), false, &self.builder)
    }

    fn name(&self, name: &'static str, span: Span) -> Expression<'a> {
        Expression::new_identifier(span, name, &self.builder)
    }

    fn vec<T, const N: usize>(&self, items: [T; N]) -> ArenaVec<'a, T> {
        let mut vec = ArenaVec::new_in(&self.builder);
        vec.extend(items);
        vec
    }
}

/// The declaration of a loop whose head may be put elsewhere.
fn declaration_of<'e, 'a>(each: &'e ForOfStatement<'a>) -> Option<&'e VariableDeclaration<'a>> {
    let ForStatementLeft::VariableDeclaration(declaration) = &each.left else { return None };
    let [declarator] = declaration.declarations.as_slice() else { return None };
    let is_usual = matches!(
        declaration.kind,
        VariableDeclarationKind::Const | VariableDeclarationKind::Let | VariableDeclarationKind::Var
    );
    let mut names = Names { declared: Vec::new(), is_used: false };
    names.visit_binding_pattern(&declarator.id);
    // In the list, the variable is there already, and has no value yet.
    names.visit_expression(&each.right);
    (is_usual && !each.r#await && declarator.init.is_none() && !names.is_used).then_some(declaration)
}

/// The declaration of a loop that may be doubled.
fn countable<'e, 'a>(each: &'e ForOfStatement<'a>) -> Option<&'e VariableDeclaration<'a>> {
    let declaration = declaration_of(each)?;
    if each.body.span().size() > MAX_BODY {
        return None;
    }
    // A few elements as such are not worth it.
    if is_list(&each.right) {
        return None;
    }
    let mut only_once = OnlyOnce(false);
    only_once.visit_statement(&each.body);
    declaration.declarations.iter().for_each(|declarator| only_once.visit_binding_pattern(&declarator.id));
    (!only_once.0).then_some(declaration)
}

/// A list as such can be looped over.
fn is_list(value: &Expression<'_>) -> bool {
    matches!(value.without_parentheses(), Expression::ArrayExpression(_))
}

/// Whether something is inside that must not be there twice.
struct OnlyOnce(bool);

impl<'a> VisitJs<'a> for OnlyOnce {
    fn visit_for_of_statement(&mut self, _: &ForOfStatement<'a>) {
        self.0 = true;
    }

    /// Each place of a template has an array of its own.
    fn visit_tagged_template_expression(&mut self, _: &TaggedTemplateExpression<'a>) {
        self.0 = true;
    }
}

struct Names<'a> {
    declared: Vec<&'a str>,
    is_used: bool,
}

impl<'a> VisitJs<'a> for Names<'a> {
    fn visit_binding_identifier(&mut self, identifier: &BindingIdentifier<'a>) {
        self.declared.push(identifier.name.as_str());
    }

    fn visit_identifier_reference(&mut self, identifier: &IdentifierReference<'a>) {
        self.is_used |= self.declared.contains(&identifier.name.as_str());
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn loops_over_lists_count() {
        for (script, counts) in [
            ("for (const x of list) f(x)", true),
            ("const f = async () => { for (const { a } of await list()) { g(a); } }", true),
            ("for (const x of a) for (const y of x) f(y)", true),
            ("here: for (const x of list) f(x)", false),
            ("for (const x of [1, 2]) f(x)", false),
            ("for await (const x of list) f(x)", false),
            ("for (x of list) f(x)", false),
            ("for (const x of list) f`x`", false),
        ] {
            let translated =
                crate::translate(script, &crate::Globals::NONE).unwrap_or_else(|fault| panic!("{}", fault.message));
            assert_eq!(translated.code.contains("__index__++"), counts, "{script}");
            assert!(translated.code.matches("f(").count() <= 2 * script.matches("f(").count(), "{script}");
        }
    }
}
