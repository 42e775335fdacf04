//! Promises that a source uses as if they were values: a call whose `await` was forgotten.
//!
//! Looked at only when a script has failed, or has called tools. A name that holds a promise, or
//! what was read of one, is followed through the declarations of the source, in their order; where
//! it is in doubt, nothing is said.

mod certain;
mod compared;

use std::collections::{BTreeMap, BTreeSet};

use oxc::{
    ast::ast::{
        Argument, ArrowFunctionExpression, AssignmentExpression, AssignmentTarget, BindingPattern, CallExpression,
        Expression, ForOfStatement, Function, IdentifierReference, SpreadElement, Statement, VariableDeclarator,
    },
    ast_visit::{VisitJs, walk_js},
    semantic::ScopeFlags,
    span::{GetSpan, Span},
};

use super::{
    Position,
    reading::{quoted, with_program},
    tool_functions,
};

pub(super) use certain::refuse;
pub use compared::warning;

/// Methods of a promise, which are no mistake.
const OF_PROMISES: [&str; 3] = ["then", "catch", "finally"];
/// The object that calls tools by their paths.
const TOOLS: &str = "tools";

/// A call that gives a promise, as it is said in a hint.
#[derive(Clone)]
struct Call {
    text: String,
    advice: String,
    start: u32,
}

/// What to do about the promise that the statement at `position` uses as a value, if there is one.
/// `servers` are the names of the globals whose methods are tools.
pub fn hint(position: Option<Position>, servers: &BTreeSet<String>) -> Option<String> {
    with_program(|source, program| {
        let offset = position.and_then(|position| position.offset(source));
        let mut reading = Reading { source, servers, async_functions: tool_functions(), promises: BTreeMap::new() };
        AsyncFunctions(&mut reading.async_functions).visit_program(program);
        reading.visit_program(program);
        let mut place = Place { offset, found: None };
        place.visit_program(program);
        let mut uses = Uses { reading: &reading, awaited: false, found: None };
        match place.found {
            Some(span) => Within { span, uses: &mut uses }.visit_program(program),
            None => uses.visit_program(program),
        }
        let call = uses.found?;
        let line = Position::of_offset(source, call.start as usize).line;
        Some(format!("{} returns a promise: {} (line {line})", call.text, call.advice))
    })
}

/// The names of functions that are async.
struct AsyncFunctions<'names>(&'names mut BTreeSet<String>);

impl<'a> VisitJs<'a> for AsyncFunctions<'_> {
    fn visit_function(&mut self, function: &Function<'a>, flags: ScopeFlags) {
        if let Some(name) = function.id.as_ref().filter(|_| function.r#async && !function.generator) {
            self.0.insert(name.name.to_string());
        }
        walk_js::walk_function(self, function, flags);
    }

    fn visit_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) {
        let is_async = match declarator.init.as_ref().map(Expression::get_inner_expression) {
            Some(Expression::ArrowFunctionExpression(function)) => function.r#async,
            Some(Expression::FunctionExpression(function)) => function.r#async && !function.generator,
            _ => false,
        };
        if let (true, BindingPattern::BindingIdentifier(name)) = (is_async, &declarator.id) {
            self.0.insert(name.name.to_string());
        }
        walk_js::walk_variable_declarator(self, declarator);
    }
}

/// Which names hold a promise, or what was read of one.
struct Reading<'r> {
    source: &'r str,
    servers: &'r BTreeSet<String>,
    async_functions: BTreeSet<String>,
    promises: BTreeMap<String, Call>,
}

impl Reading<'_> {
    /// The call whose promise an expression is, or is read of.
    fn origin(&self, expression: &Expression<'_>) -> Option<Call> {
        match expression.get_inner_expression() {
            Expression::Identifier(name) => self.promises.get(name.name.as_str()).cloned(),
            Expression::StaticMemberExpression(member) => self.origin(&member.object),
            Expression::ComputedMemberExpression(member) => self.origin(&member.object),
            Expression::CallExpression(call) => self.promise(call).or_else(|| match &call.callee {
                Expression::StaticMemberExpression(member) if !is_of_promises(&member.property.name) => {
                    self.origin(&member.object)
                }
                _ => None,
            }),
            _ => None,
        }
    }

    /// The call, if what it gives is a promise, or a list of promises.
    fn promise(&self, call: &CallExpression<'_>) -> Option<Call> {
        let member = match &call.callee {
            Expression::Identifier(name) if self.async_functions.contains(name.name.as_str()) => {
                return self.single(call);
            }
            callee => callee.as_member_expression()?,
        };
        if let Expression::Identifier(object) = member.object()
            && (self.servers.contains(object.name.as_str())
                || (object.name == TOOLS && matches!(member.static_property_name(), Some("call" | "raw"))))
        {
            return self.single(call);
        }
        if member.static_property_name() == Some("map")
            && let Some(Argument::ArrowFunctionExpression(function)) = call.arguments.first()
            && (function.r#async || self.gives_promise(function))
        {
            let text = quoted(self.source, member.object().span()).unwrap_or_else(|| "it".to_owned());
            let text = format!("{text}.map(…)");
            let advice = format!("its elements are promises: `await Promise.all({text})` gives their values");
            return Some(Call { text: format!("each call in {text}"), advice, start: call.span.start });
        }
        None
    }

    fn single(&self, call: &CallExpression<'_>) -> Option<Call> {
        let callee = quoted(self.source, call.callee.span())?;
        let advice = "put `await` before it".to_owned();
        Some(Call { text: format!("{callee}(…)"), advice, start: call.span.start })
    }

    fn gives_promise(&self, function: &ArrowFunctionExpression<'_>) -> bool {
        let body = function.get_expression().map(Expression::get_inner_expression);
        matches!(body, Some(Expression::CallExpression(call)) if self.promise(call).is_some())
    }

    fn note(&mut self, pattern: &BindingPattern<'_>, call: &Call) {
        for name in pattern.get_binding_identifiers() {
            self.promises.insert(name.name.to_string(), call.clone());
        }
    }
}

impl<'a> VisitJs<'a> for Reading<'_> {
    fn visit_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) {
        walk_js::walk_variable_declarator(self, declarator);
        if let Some(call) = declarator.init.as_ref().and_then(|value| self.origin(value)) {
            self.note(&declarator.id, &call);
        }
    }

    fn visit_assignment_expression(&mut self, assignment: &AssignmentExpression<'a>) {
        walk_js::walk_assignment_expression(self, assignment);
        if let (AssignmentTarget::AssignmentTargetIdentifier(name), Some(call)) =
            (&assignment.left, self.origin(&assignment.right))
        {
            self.promises.insert(name.name.to_string(), call);
        }
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        // What a callback gets of a list of promises are promises.
        if let Some(member) = call.callee.as_member_expression()
            && !member.static_property_name().is_some_and(is_of_promises)
            && let Some(origin) = self.origin(member.object())
            && let Some(Argument::ArrowFunctionExpression(function)) = call.arguments.first()
        {
            for parameter in &function.params.items {
                self.note(&parameter.pattern, &origin);
            }
        }
        walk_js::walk_call_expression(self, call);
    }
}

fn is_of_promises(name: &str) -> bool {
    OF_PROMISES.contains(&name)
}

/// The innermost statement around an offset.
struct Place {
    offset: Option<u32>,
    found: Option<Span>,
}

impl<'a> VisitJs<'a> for Place {
    fn visit_statement(&mut self, statement: &Statement<'a>) {
        let span = statement.span();
        let holds = self.offset.is_some_and(|offset| span.start <= offset && offset < span.end);
        if holds && self.found.is_none_or(|found| span.size() <= found.size()) {
            self.found = Some(span);
        }
        walk_js::walk_statement(self, statement);
    }
}

/// Looks for uses in one statement alone.
struct Within<'u, 'r> {
    span: Span,
    uses: &'u mut Uses<'r>,
}

impl<'a> VisitJs<'a> for Within<'_, '_> {
    fn visit_statement(&mut self, statement: &Statement<'a>) {
        if statement.span() == self.span {
            self.uses.visit_statement(statement);
        } else {
            walk_js::walk_statement(self, statement);
        }
    }
}

/// The first use of a promise as a value.
struct Uses<'r> {
    reading: &'r Reading<'r>,
    awaited: bool,
    found: Option<Call>,
}

impl Uses<'_> {
    fn see(&mut self, used: &Expression<'_>) {
        if self.found.is_none() {
            self.found = self.reading.origin(used);
        }
    }
}

impl<'a> VisitJs<'a> for Uses<'_> {
    fn visit_await_expression(&mut self, awaited: &oxc::ast::ast::AwaitExpression<'a>) {
        let outer = std::mem::replace(&mut self.awaited, true);
        walk_js::walk_await_expression(self, awaited);
        self.awaited = outer;
    }

    fn visit_identifier_reference(&mut self, name: &IdentifierReference<'a>) {
        if !self.awaited && self.found.is_none() {
            self.found = self.reading.promises.get(name.name.as_str()).cloned();
        }
    }

    fn visit_expression(&mut self, expression: &Expression<'a>) {
        // A promise that is awaited, passed on or kept is no mistake; one that is read is.
        if let Some(member) = expression.as_member_expression()
            && !member.static_property_name().is_some_and(is_of_promises)
        {
            self.see(member.object());
        }
        walk_js::walk_expression(self, expression);
    }

    fn visit_spread_element(&mut self, spread: &SpreadElement<'a>) {
        self.see(&spread.argument);
        walk_js::walk_spread_element(self, spread);
    }

    fn visit_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) {
        if let (BindingPattern::ArrayPattern(_), Some(list)) = (&declarator.id, &declarator.init) {
            self.see(list);
        }
        walk_js::walk_variable_declarator(self, declarator);
    }

    fn visit_for_of_statement(&mut self, each: &ForOfStatement<'a>) {
        if !each.r#await {
            self.see(&each.right);
        }
        walk_js::walk_for_of_statement(self, each);
    }
}
