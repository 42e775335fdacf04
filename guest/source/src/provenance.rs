//! Which tool gave a value, by a reading of the source: the call, and the way from its result to
//! the value.
//!
//! Looked at only when a script has failed. Names are followed through declarations, patterns,
//! loops and callbacks in their order, not through functions; where that leads nowhere, nothing is
//! said.

use std::collections::{BTreeMap, BTreeSet};

use oxc::{
    allocator::Allocator,
    ast::ast::{
        Argument, AssignmentExpression, AssignmentTarget, BindingPattern, CallExpression, Expression, ForOfStatement,
        ForStatementLeft, FormalParameters, MemberExpression, Program, Statement, VariableDeclarator,
    },
    ast_visit::{VisitJs as _, walk_js},
    parser::Parser,
    span::{GetSpan, SourceType, Span},
};

use super::{
    Position,
    reading::{quoted, with_program},
};
use crate::visitor::{Visiting, Visitor};

/// Methods of arrays that give elements of theirs in an array.
const OF_SAME_ELEMENTS: [&str; 7] = ["filter", "slice", "sort", "reverse", "toSorted", "toReversed", "concat"];
/// Methods of arrays that give one element.
const OF_ONE_ELEMENT: [&str; 5] = ["find", "findLast", "at", "pop", "shift"];
/// Methods of arrays whose callback takes an element first.
const WITH_ELEMENTS: [&str; 10] =
    ["map", "filter", "forEach", "find", "findIndex", "findLast", "some", "every", "flatMap", "sort"];
/// The longest way that is followed.
const MAX_STEPS: usize = 32;

/// Where a value comes from.
#[derive(Clone)]
pub struct Provenance {
    pub server: String,
    pub tool: String,
    /// Whether it is the result as the protocol has it.
    pub raw: bool,
    /// Where the tool was called.
    pub line: u32,
    /// The way from the tool's result to the value.
    pub steps: Vec<Step>,
    /// The expression of the object that the value was read of, where the value is no variable.
    pub holder: Option<String>,
}

/// A step from a value to one inside it.
#[derive(Clone)]
pub enum Step {
    Name(String),
    Index(u32),
    /// Any element.
    Element,
    /// What `JSON.parse` makes of it.
    Parsed,
    /// A list of such values, as `Promise.all(list.map(…))` gives one.
    Gathered,
    /// A list of what `Promise.allSettled` says of each.
    AllSettled,
    /// One of these.
    Settled,
}

/// The origin of what `expression` is at `position`. `servers` are the names of the globals whose
/// methods are tools.
pub fn provenance(expression: &str, position: Option<Position>, servers: &BTreeSet<String>) -> Option<Provenance> {
    with_program(|source, program| {
        let at = position.and_then(|position| position.offset(source)).unwrap_or(u32::MAX);
        let origins = Origins::of_program(source, program, servers);
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, expression, SourceType::ts()).parse_expression().ok()?;
        let mut origin = origins.of(&parsed, at)?;
        origin.holder = parsed.as_member_expression().and_then(|member| quoted(expression, member.object().span()));
        Some(origin)
    })
}

/// A name that a pattern takes out of a value.
pub(super) struct Taken {
    pub(super) span: Span,
    pub(super) name: String,
    pub(super) origin: Provenance,
    /// Whether a pattern takes it apart in turn.
    pub(super) is_nested: bool,
}

/// What names are known to hold, in the order of the source.
pub(super) struct Origins<'r> {
    source: &'r str,
    servers: &'r BTreeSet<String>,
    /// From where in the source each name holds what.
    names: BTreeMap<String, Vec<(u32, Option<Provenance>)>>,
    /// Where the parameters begin of which it is known what they get.
    named: BTreeSet<u32>,
    /// What patterns take out of values whose origin is known.
    pub(super) taken: Vec<Taken>,
}

impl<'r> Origins<'r> {
    pub(super) fn of_program(source: &'r str, program: &Program<'_>, servers: &'r BTreeSet<String>) -> Self {
        let mut origins = Self { source, servers, names: BTreeMap::new(), named: BTreeSet::new(), taken: Vec::new() };
        Visiting(&mut origins).visit_program(program);
        origins
    }

    fn of(&self, expression: &Expression<'_>, at: u32) -> Option<Provenance> {
        match expression.get_inner_expression() {
            Expression::AwaitExpression(awaited) => self.of(&awaited.argument, at),
            Expression::Identifier(name) => self.of_name(&name.name, at),
            Expression::LogicalExpression(logical) => self.of(&logical.left, at),
            Expression::ChainExpression(chain) => self.of_member(chain.expression.as_member_expression()?, at),
            Expression::CallExpression(call) => self.of_call(call, at),
            member => self.of_member(member.as_member_expression()?, at),
        }
    }

    fn of_name(&self, name: &str, at: u32) -> Option<Provenance> {
        let held = self.names.get(name)?;
        let before = held.iter().rev().find(|(from, _)| *from <= at);
        before.or_else(|| held.first())?.1.clone()
    }

    pub(super) fn of_member(&self, member: &MemberExpression<'_>, at: u32) -> Option<Provenance> {
        stepped(self.of(member.object(), at), step_of(member)?)
    }

    fn of_call(&self, call: &CallExpression<'_>, at: u32) -> Option<Provenance> {
        let member = call.callee.as_member_expression()?;
        let method = member.static_property_name()?;
        if let Expression::Identifier(object) = member.object() {
            let found = |server: &str, tool: &str, raw| Provenance {
                server: server.to_owned(),
                tool: tool.to_owned(),
                raw,
                line: Position::of_offset(self.source, call.span.start as usize).line,
                steps: Vec::new(),
                holder: None,
            };
            if self.servers.contains(object.name.as_str()) {
                return Some(found(&object.name, method, false));
            }
            if object.name == "tools" && matches!(method, "call" | "raw") {
                let Some(Argument::StringLiteral(path)) = call.arguments.first() else { return None };
                let (server, tool) = path.value.split_once('.')?;
                return Some(found(server, tool, method == "raw"));
            }
            if object.name == "Promise" {
                let gathered = match method {
                    "all" => Step::Gathered,
                    "allSettled" => Step::AllSettled,
                    _ => return None,
                };
                let Some(Argument::CallExpression(mapped)) = call.arguments.first() else { return None };
                let is_map = mapped.callee.as_member_expression()?.static_property_name() == Some("map");
                let value = mapped.arguments.first().filter(|_| is_map).and_then(given_back)?;
                return stepped(self.of(value, value.span().start), gathered);
            }
        }
        if method == "parse" && matches!(member.object(), Expression::Identifier(object) if object.name == "JSON") {
            let text = call.arguments.first().and_then(Argument::as_expression)?;
            return stepped(self.of(text, at), Step::Parsed);
        }
        if OF_SAME_ELEMENTS.contains(&method) {
            return self.of(member.object(), at);
        }
        OF_ONE_ELEMENT.contains(&method).then(|| stepped(self.of(member.object(), at), Step::Element))?
    }

    /// Notes what the names of a pattern hold.
    fn bind(&mut self, pattern: &BindingPattern<'_>, origin: Option<Provenance>, from: u32) {
        match pattern {
            BindingPattern::BindingIdentifier(name) => self.note(&name.name, origin, from),
            BindingPattern::AssignmentPattern(pattern) => self.bind(&pattern.left, origin, from),
            BindingPattern::ObjectPattern(pattern) => {
                for property in &pattern.properties {
                    let name = property.key.static_name().filter(|_| !property.computed);
                    let origin = name.as_ref().and_then(|name| stepped(origin.clone(), Step::Name(name.to_string())));
                    let is_nested = match &property.value {
                        BindingPattern::AssignmentPattern(pattern) => !pattern.left.is_binding_identifier(),
                        value => !value.is_binding_identifier(),
                    };
                    let has_default = matches!(property.value, BindingPattern::AssignmentPattern(_));
                    if let (Some(name), Some(origin)) = (name, origin.clone())
                        && (is_nested || !has_default)
                    {
                        let (span, name) = (property.value.span(), name.to_string());
                        self.taken.push(Taken { span, name, origin, is_nested });
                    }
                    self.bind(&property.value, origin, from);
                }
            }
            BindingPattern::ArrayPattern(pattern) => {
                for (index, element) in (0_u32..).zip(&pattern.elements) {
                    if let Some(element) = element {
                        self.bind(element, stepped(origin.clone(), Step::Index(index)), from);
                    }
                }
            }
        }
    }

    fn note(&mut self, name: &str, origin: Option<Provenance>, from: u32) {
        self.names.entry(name.to_owned()).or_default().push((from, origin));
    }

    /// Notes what each name of `const [a, b] = await Promise.all([…])` holds, if it is one.
    fn bind_all(&mut self, pattern: &BindingPattern<'_>, value: &Expression<'_>, from: u32) -> bool {
        let BindingPattern::ArrayPattern(pattern) = pattern else { return false };
        let Expression::AwaitExpression(awaited) = value.get_inner_expression() else { return false };
        let Expression::CallExpression(call) = awaited.argument.get_inner_expression() else { return false };
        let is_all = call.callee.as_member_expression().is_some_and(|member| {
            member.static_property_name() == Some("all")
                && matches!(member.object(), Expression::Identifier(object) if object.name == "Promise")
        });
        let Some(Argument::ArrayExpression(list)) = call.arguments.first().filter(|_| is_all) else { return false };
        for (pattern, value) in pattern.elements.iter().zip(&list.elements) {
            if let Some(pattern) = pattern {
                let origin = value.as_expression().and_then(|value| self.of(value, u32::MAX));
                self.bind(pattern, origin, from);
            }
        }
        true
    }
}

/// The step that reads a member.
pub(super) fn step_of(member: &MemberExpression<'_>) -> Option<Step> {
    Some(match member {
        MemberExpression::ComputedMemberExpression(computed) => match computed.expression.get_inner_expression() {
            Expression::StringLiteral(name) => Step::Name(name.value.to_string()),
            Expression::NumericLiteral(number) if number.value >= 0.0 && number.value.fract() == 0.0 => {
                Step::Index(number.value as u32)
            }
            _ => Step::Element,
        },
        member => Step::Name(member.static_property_name()?.to_owned()),
    })
}

fn stepped(origin: Option<Provenance>, step: Step) -> Option<Provenance> {
    let mut origin = origin?;
    let is_into = matches!(step, Step::Element | Step::Index(_));
    match (origin.steps.last(), &step) {
        (Some(Step::Gathered), _) if is_into => drop(origin.steps.pop()),
        (Some(Step::AllSettled), _) if is_into => {
            origin.steps.pop();
            origin.steps.push(Step::Settled);
        }
        (Some(Step::Settled), Step::Name(name)) if name == "value" => drop(origin.steps.pop()),
        _ => origin.steps.push(step),
    }
    (origin.steps.len() <= MAX_STEPS).then_some(origin)
}

impl<'a> Visitor<'a> for Origins<'_> {
    fn enter_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) -> bool {
        walk_js::walk_variable_declarator(&mut Visiting(self), declarator);
        let Some(value) = &declarator.init else { return false };
        if !self.bind_all(&declarator.id, value, declarator.span.end) {
            let origin = self.of(value, u32::MAX);
            self.bind(&declarator.id, origin, declarator.span.end);
        }
        false
    }

    fn enter_assignment_expression(&mut self, assignment: &AssignmentExpression<'a>) -> bool {
        walk_js::walk_assignment_expression(&mut Visiting(self), assignment);
        if let AssignmentTarget::AssignmentTargetIdentifier(name) = &assignment.left {
            let origin = self.of(&assignment.right, u32::MAX);
            self.note(&name.name, origin, assignment.span.end);
        }
        false
    }

    fn enter_for_of_statement(&mut self, each: &ForOfStatement<'a>) -> bool {
        if let ForStatementLeft::VariableDeclaration(declaration) = &each.left
            && let Some(declarator) = declaration.declarations.first()
        {
            let origin = stepped(self.of(&each.right, u32::MAX), Step::Element);
            self.bind(&declarator.id, origin, declarator.span.end);
        }
        true
    }

    fn enter_call_expression(&mut self, call: &CallExpression<'a>) -> bool {
        if let Some(member) = call.callee.as_member_expression()
            && member.static_property_name().is_some_and(|name| WITH_ELEMENTS.contains(&name))
            && let Some(parameters) = call.arguments.first().and_then(parameters)
            && let Some(first) = parameters.items.first()
        {
            let origin = stepped(self.of(member.object(), u32::MAX), Step::Element);
            self.bind(&first.pattern, origin, first.span.start);
            self.named.insert(first.span.start);
        }
        true
    }

    fn enter_formal_parameters(&mut self, parameters: &FormalParameters<'a>) -> bool {
        for parameter in &parameters.items {
            if !self.named.contains(&parameter.span.start) {
                self.bind(&parameter.pattern, None, parameter.span.start);
            }
        }
        true
    }
}

/// What a callback gives back, if it is written down in one place.
fn given_back<'e, 'a>(callback: &'e Argument<'a>) -> Option<&'e Expression<'a>> {
    let last = match callback {
        Argument::ArrowFunctionExpression(function) => match function.get_expression() {
            Some(value) => return Some(value),
            None => function.body.as_function_body()?.statements.last()?,
        },
        Argument::FunctionExpression(function) => function.body.as_ref()?.statements.last()?,
        _ => return None,
    };
    match last {
        Statement::ReturnStatement(statement) => statement.argument.as_ref(),
        _ => None,
    }
}

fn parameters<'e, 'a>(callback: &'e Argument<'a>) -> Option<&'e FormalParameters<'a>> {
    match callback {
        Argument::ArrowFunctionExpression(function) => Some(&function.params),
        Argument::FunctionExpression(function) => Some(&function.params),
        _ => None,
    }
}
