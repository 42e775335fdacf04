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
    ast_visit::{VisitJs as _, walk_js},
    semantic::ScopeFlags,
    span::{GetSpan, Span},
};

use super::{
    Position,
    reading::{quoted, with_program},
    tool_functions,
};
use crate::visitor::{Visiting, Visitor};

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
        Visiting(&mut AsyncFunctions(&mut reading.async_functions)).visit_program(program);
        Visiting(&mut reading).visit_program(program);
        let mut place = Place { offset, found: None };
        Visiting(&mut place).visit_program(program);
        let mut uses = Uses { reading: &reading, awaited: false, found: None };
        match place.found {
            Some(span) => Visiting(&mut Within { span, uses: &mut uses }).visit_program(program),
            None => Visiting(&mut uses).visit_program(program),
        }
        let call = uses.found?;
        let line = Position::of_offset(source, call.start as usize).line;
        Some(format!("{} returns a promise: {} (line {line})", call.text, call.advice))
    })
}

/// The names of functions that are async.
struct AsyncFunctions<'names>(&'names mut BTreeSet<String>);

impl<'a> Visitor<'a> for AsyncFunctions<'_> {
    fn enter_function(&mut self, function: &Function<'a>, _: ScopeFlags) -> bool {
        if let Some(name) = function.id.as_ref().filter(|_| function.r#async && !function.generator) {
            self.0.insert(name.name.to_string());
        }
        true
    }

    fn enter_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) -> bool {
        let is_async = match declarator.init.as_ref().map(Expression::get_inner_expression) {
            Some(Expression::ArrowFunctionExpression(function)) => function.r#async,
            Some(Expression::FunctionExpression(function)) => function.r#async && !function.generator,
            _ => false,
        };
        if let (true, BindingPattern::BindingIdentifier(name)) = (is_async, &declarator.id) {
            self.0.insert(name.name.to_string());
        }
        true
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

impl<'a> Visitor<'a> for Reading<'_> {
    fn enter_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) -> bool {
        walk_js::walk_variable_declarator(&mut Visiting(self), declarator);
        if let Some(call) = declarator.init.as_ref().and_then(|value| self.origin(value)) {
            self.note(&declarator.id, &call);
        }
        false
    }

    fn enter_assignment_expression(&mut self, assignment: &AssignmentExpression<'a>) -> bool {
        walk_js::walk_assignment_expression(&mut Visiting(self), assignment);
        if let (AssignmentTarget::AssignmentTargetIdentifier(name), Some(call)) =
            (&assignment.left, self.origin(&assignment.right))
        {
            self.promises.insert(name.name.to_string(), call);
        }
        false
    }

    fn enter_call_expression(&mut self, call: &CallExpression<'a>) -> bool {
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
        true
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

impl<'a> Visitor<'a> for Place {
    fn enter_statement(&mut self, statement: &Statement<'a>) -> bool {
        let span = statement.span();
        let holds = self.offset.is_some_and(|offset| span.start <= offset && offset < span.end);
        if holds && self.found.is_none_or(|found| span.size() <= found.size()) {
            self.found = Some(span);
        }
        true
    }
}

/// Looks for uses in one statement alone.
struct Within<'u, 'r> {
    span: Span,
    uses: &'u mut Uses<'r>,
}

impl<'a> Visitor<'a> for Within<'_, '_> {
    fn enter_statement(&mut self, statement: &Statement<'a>) -> bool {
        if statement.span() == self.span {
            Visiting(self.uses).visit_statement(statement);
        } else {
            walk_js::walk_statement(&mut Visiting(self), statement);
        }
        false
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

impl<'a> Visitor<'a> for Uses<'_> {
    fn enter_await_expression(&mut self, awaited: &oxc::ast::ast::AwaitExpression<'a>) -> bool {
        let outer = std::mem::replace(&mut self.awaited, true);
        walk_js::walk_await_expression(&mut Visiting(self), awaited);
        self.awaited = outer;
        false
    }

    fn enter_identifier_reference(&mut self, name: &IdentifierReference<'a>) -> bool {
        if !self.awaited && self.found.is_none() {
            self.found = self.reading.promises.get(name.name.as_str()).cloned();
        }
        false
    }

    fn enter_expression(&mut self, expression: &Expression<'a>) -> bool {
        // A promise that is awaited, passed on or kept is no mistake; one that is read is.
        if let Some(member) = expression.as_member_expression()
            && !member.static_property_name().is_some_and(is_of_promises)
        {
            self.see(member.object());
        }
        true
    }

    fn enter_spread_element(&mut self, spread: &SpreadElement<'a>) -> bool {
        self.see(&spread.argument);
        true
    }

    fn enter_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) -> bool {
        if let (BindingPattern::ArrayPattern(_), Some(list)) = (&declarator.id, &declarator.init) {
            self.see(list);
        }
        true
    }

    fn enter_for_of_statement(&mut self, each: &ForOfStatement<'a>) -> bool {
        if !each.r#await {
            self.see(&each.right);
        }
        true
    }
}
