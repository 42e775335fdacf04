//! The calls that a script makes in any case.
//!
//! A call is certain if it stands in what is evaluated in any case, at the top level or in a
//! function that is called from there. It is fatal if the script cannot end well where it fails: it
//! is awaited, and nothing catches it. Whatever a condition, a loop, an early `return` or a
//! callback decides is passed over.

use std::collections::{BTreeMap, BTreeSet};

use oxc::{
    ast::ast::{
        Argument, ArrayExpressionElement, ArrowFunctionExpression, AssignmentOperator, CallExpression, Expression,
        Function, ObjectPropertyKind, Program, ReturnStatement, Statement, ThrowStatement,
    },
    ast_visit::VisitJs as _,
    semantic::{ScopeFlags, SymbolId},
};

use super::{
    Position,
    names::{Body, Meaning, Names},
};
use crate::visitor::{Visiting, Visitor};

/// Names that are told of one script.
const MAX_STRANGERS: usize = 10;
/// Expressions and functions inside each other.
const MAX_DEPTH: usize = 64;

/// A name that a script uses as a server, and that nobody declares.
#[derive(Debug, PartialEq)]
pub struct Stranger {
    pub name: String,
    pub position: Position,
}

/// What is certain.
#[derive(Default)]
pub(super) struct Certain {
    /// Where each call begins that is made in any case, and whether it is fatal.
    pub(super) calls: BTreeMap<u32, bool>,
    pub(super) strangers: Vec<Stranger>,
}

/// The certain calls of a program.
pub(super) fn calls<'a>(source: &str, program: &Program<'a>, names: &Names<'a, '_>) -> Certain {
    let mut walk =
        Walk { source, names, entered: BTreeSet::new(), depth: 0, is_caught: false, certain: Certain::default() };
    // The value of the last expression is awaited, and a function that stands alone is called.
    if let Some((Statement::ExpressionStatement(last), before)) = program.body.split_last() {
        if walk.statements(before) {
            match last.expression.get_inner_expression() {
                Expression::ArrowFunctionExpression(function) if before.is_empty() => walk.arrow(function),
                Expression::FunctionExpression(function) if before.is_empty() => walk.function(function),
                value => walk.expression(value, true),
            }
        }
    } else {
        walk.statements(&program.body);
    }
    walk.certain
}

struct Walk<'n, 'a, 's> {
    source: &'n str,
    names: &'n Names<'a, 's>,
    /// Functions that were looked into.
    entered: BTreeSet<SymbolId>,
    depth: usize,
    /// Whether something catches what is thrown here.
    is_caught: bool,
    certain: Certain,
}

impl<'a> Walk<'_, 'a, '_> {
    /// Whether what follows is certain too.
    fn statements(&mut self, statements: &[Statement<'a>]) -> bool {
        statements.iter().all(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement<'a>) -> bool {
        match statement {
            Statement::ExpressionStatement(statement) => self.expression(&statement.expression, false),
            Statement::VariableDeclaration(declaration) => {
                for value in declaration.declarations.iter().filter_map(|declarator| declarator.init.as_ref()) {
                    self.expression(value, false);
                }
            }
            Statement::ReturnStatement(statement) => {
                if let Some(value) = &statement.argument {
                    self.expression(value, true);
                }
                return false;
            }
            Statement::ThrowStatement(statement) => {
                self.expression(&statement.argument, false);
                return false;
            }
            Statement::BlockStatement(block) => return self.statements(&block.body),
            Statement::IfStatement(branch) => {
                self.expression(&branch.test, false);
                return !self.leaves(statement);
            }
            Statement::ForOfStatement(each) => {
                self.expression(&each.right, false);
                return !self.leaves(statement);
            }
            Statement::ForInStatement(each) => {
                self.expression(&each.right, false);
                return !self.leaves(statement);
            }
            Statement::WhileStatement(repeated) => {
                self.expression(&repeated.test, false);
                return !self.leaves(statement);
            }
            Statement::SwitchStatement(switch) => {
                self.expression(&switch.discriminant, false);
                return !self.leaves(statement);
            }
            Statement::TryStatement(attempt) => {
                // A `finally` that returns keeps what was thrown to itself.
                let is_kept =
                    attempt.handler.is_some() || attempt.finalizer.as_ref().is_some_and(|last| returns(&last.body));
                let goes_on = if is_kept {
                    self.caught(|walk| walk.statements(&attempt.block.body))
                } else {
                    self.statements(&attempt.block.body)
                };
                if let Some(last) = &attempt.finalizer
                    && (goes_on || attempt.handler.is_some())
                {
                    self.statements(&last.body);
                }
                return !self.leaves(statement);
            }
            Statement::ForStatement(_) | Statement::DoWhileStatement(_) | Statement::LabeledStatement(_) => {
                return !self.leaves(statement);
            }
            Statement::EmptyStatement(_)
            | Statement::FunctionDeclaration(_)
            | Statement::ClassDeclaration(_)
            | Statement::TSTypeAliasDeclaration(_)
            | Statement::TSInterfaceDeclaration(_) => {}
            _ => return false,
        }
        true
    }

    /// Whether a statement may end the function that it stands in. What it throws ends the script,
    /// where nothing catches it.
    fn leaves(&self, statement: &Statement<'a>) -> bool {
        let mut ways = Ways::default();
        Visiting(&mut ways).visit_statement(statement);
        ways.returns || (ways.throws && self.is_caught)
    }

    /// Walks what something catches.
    fn caught<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.is_caught, true);
        let walked = walk(self);
        self.is_caught = before;
        walked
    }

    /// What is evaluated whenever the expression is. `is_awaited`: if it is a promise, the script
    /// fails when that does.
    fn expression(&mut self, expression: &Expression<'a>, is_awaited: bool) {
        if self.depth >= MAX_DEPTH {
            return;
        }
        self.depth += 1;
        match expression.get_inner_expression() {
            Expression::AwaitExpression(awaited) => self.expression(&awaited.argument, true),
            Expression::CallExpression(call) => self.call(call, is_awaited),
            Expression::StaticMemberExpression(member) => self.expression(&member.object, false),
            Expression::ComputedMemberExpression(member) => {
                self.expression(&member.object, false);
                self.expression(&member.expression, false);
            }
            Expression::BinaryExpression(binary) => {
                self.expression(&binary.left, false);
                self.expression(&binary.right, false);
            }
            Expression::LogicalExpression(logical) => self.expression(&logical.left, false),
            Expression::ConditionalExpression(conditional) => self.expression(&conditional.test, false),
            Expression::AssignmentExpression(assignment) if assignment.operator == AssignmentOperator::Assign => {
                self.expression(&assignment.right, false);
            }
            Expression::SequenceExpression(sequence) => {
                for part in &sequence.expressions {
                    self.expression(part, false);
                }
            }
            Expression::ArrayExpression(array) => {
                for element in &array.elements {
                    self.element(element, false);
                }
            }
            Expression::ObjectExpression(object) => {
                for property in &object.properties {
                    match property {
                        ObjectPropertyKind::ObjectProperty(property) => self.expression(&property.value, false),
                        ObjectPropertyKind::SpreadProperty(spread) => self.expression(&spread.argument, false),
                    }
                }
            }
            Expression::TemplateLiteral(template) => {
                for part in &template.expressions {
                    self.expression(part, false);
                }
            }
            Expression::UnaryExpression(unary) => self.expression(&unary.argument, false),
            Expression::NewExpression(new) => self.arguments(&new.arguments),
            _ => {}
        }
        self.depth -= 1;
    }

    fn element(&mut self, element: &ArrayExpressionElement<'a>, is_awaited: bool) {
        match element {
            ArrayExpressionElement::SpreadElement(spread) => self.expression(&spread.argument, false),
            element => {
                if let Some(value) = element.as_expression() {
                    self.expression(value, is_awaited);
                }
            }
        }
    }

    fn arguments(&mut self, arguments: &[Argument<'a>]) {
        for argument in arguments {
            match argument {
                Argument::SpreadElement(spread) => self.expression(&spread.argument, false),
                argument => {
                    if let Some(value) = argument.as_expression() {
                        self.expression(value, false);
                    }
                }
            }
        }
    }

    fn call(&mut self, call: &CallExpression<'a>, is_awaited: bool) {
        if call.optional {
            return;
        }
        let callee = call.callee.get_inner_expression();
        if let Some(Meaning::Tool { .. } | Meaning::ByPath) = self.names.meaning(callee) {
            self.arguments(&call.arguments);
            let is_optional = matches!(callee, Expression::StaticMemberExpression(member) if member.optional)
                || matches!(callee, Expression::ComputedMemberExpression(member) if member.optional);
            if !is_optional {
                let is_fatal = is_awaited && !self.is_caught && !self.names.changes_built_ins();
                self.certain.calls.insert(call.span.start, is_fatal);
            }
            return;
        }
        match callee {
            Expression::Identifier(name) => {
                self.arguments(&call.arguments);
                if let Some((symbol, body)) = self.names.function(name)
                    && self.entered.insert(symbol)
                {
                    self.body_of(body, is_awaited);
                }
                return;
            }
            Expression::ArrowFunctionExpression(function) => {
                self.arguments(&call.arguments);
                self.body_of_arrow(function, is_awaited);
                return;
            }
            Expression::FunctionExpression(function) => {
                self.arguments(&call.arguments);
                self.body_of_function(function, is_awaited);
                return;
            }
            _ => {}
        }
        let (object, method) = match callee {
            Expression::StaticMemberExpression(member) if !member.optional => {
                (&member.object, Some(member.property.name.as_str()))
            }
            Expression::ComputedMemberExpression(member) if !member.optional => {
                self.expression(&member.expression, false);
                (&member.object, None)
            }
            _ => return,
        };
        if let (Expression::Identifier(name), Some(method)) = (object.get_inner_expression(), method)
            && self.names.is_global(name)
        {
            if name.name == "Promise" && method == "all" {
                if let Some(Expression::ArrayExpression(array)) =
                    call.arguments.first().and_then(Argument::as_expression).map(Expression::get_inner_expression)
                {
                    for element in &array.elements {
                        self.element(element, is_awaited);
                    }
                    return;
                }
            } else if is_awaited
                && !self.is_caught
                && !self.names.has_back_door()
                && self.certain.strangers.len() < MAX_STRANGERS
                && self.certain.strangers.iter().all(|stranger| stranger.name != name.name.as_str())
            {
                let position = Position::of_offset(self.source, name.span.start as usize);
                self.certain.strangers.push(Stranger { name: name.name.to_string(), position });
            }
        }
        // What is thrown passes by a `then` with one callback, and is caught by any other.
        let is_one = matches!(call.arguments.as_slice(), [only] if only.as_expression().is_some());
        let passes = is_awaited && method == Some("then") && is_one;
        self.expression(object, passes);
        self.arguments(&call.arguments);
    }

    fn body_of(&mut self, body: Body<'a>, is_awaited: bool) {
        match body {
            Body::Function(function) => self.body_of_function(function, is_awaited),
            Body::Arrow(function) => self.body_of_arrow(function, is_awaited),
        }
    }

    /// What a function throws that nobody awaits does not end the script.
    fn body_of_function(&mut self, function: &Function<'a>, is_awaited: bool) {
        if is_awaited {
            self.function(function);
        } else {
            self.caught(|walk| walk.function(function));
        }
    }

    fn body_of_arrow(&mut self, function: &ArrowFunctionExpression<'a>, is_awaited: bool) {
        if is_awaited {
            self.arrow(function);
        } else {
            self.caught(|walk| walk.arrow(function));
        }
    }

    fn function(&mut self, function: &Function<'a>) {
        if let Some(body) = function.body.as_ref().filter(|_| !function.generator) {
            self.body(&body.statements);
        }
    }

    fn arrow(&mut self, function: &ArrowFunctionExpression<'a>) {
        match function.get_expression() {
            Some(value) => self.expression(value, true),
            None => {
                if let Some(body) = function.get_function_body() {
                    self.body(&body.statements);
                }
            }
        }
    }

    fn body(&mut self, statements: &[Statement<'a>]) {
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            self.statements(statements);
            self.depth -= 1;
        }
    }
}

/// How a statement may end the function that it stands in.
#[derive(Default)]
struct Ways {
    returns: bool,
    throws: bool,
}

impl<'a> Visitor<'a> for Ways {
    fn enter_return_statement(&mut self, _: &ReturnStatement<'a>) -> bool {
        self.returns = true;
        false
    }
    fn enter_throw_statement(&mut self, _: &ThrowStatement<'a>) -> bool {
        self.throws = true;
        false
    }
    fn enter_function(&mut self, _: &Function<'a>, _: ScopeFlags) -> bool {
        false
    }

    fn enter_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) -> bool {
        false
    }

    fn enter_expression(&mut self, _: &Expression<'a>) -> bool {
        false
    }
}

fn returns(statements: &[Statement<'_>]) -> bool {
    let mut ways = Ways::default();
    statements.iter().for_each(|statement| Visiting(&mut ways).visit_statement(statement));
    ways.returns
}
