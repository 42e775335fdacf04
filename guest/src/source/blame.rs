//! What in a source is to blame for an error: the engine names neither the function that is none nor the value that is missing.
//!
//! Looked at only when a script has failed. Nothing here is more than a reading of the source, so where it is in doubt it says
//! nothing.

use std::collections::BTreeSet;

use oxc::{
    allocator::Allocator,
    ast::ast::{
        ArrowFunctionExpression, AssignmentExpression, AssignmentTarget, BindingIdentifier, BindingPattern,
        CallExpression, ComputedMemberExpression, Expression, ExpressionStatement, ForOfStatement, Function,
        IdentifierReference, IfStatement, Program, ReturnStatement, StaticMemberExpression, ThrowStatement,
        VariableDeclarator,
    },
    ast_visit::{Visit, walk},
    parser::Parser,
    semantic::ScopeFlags,
    span::{GetSpan, SourceType, Span},
};

use super::{Position, options, positions::with_source};

/// The longest expression that is quoted.
const MAX_QUOTED: usize = 60;
/// What the engine says of a call of what is no function.
const NOT_A_FUNCTION: &str = "not a callable function";
/// What the engine says of a property of `null` or `undefined`.
const NOTHING: &str = "cannot convert 'null' or 'undefined' to object";

/// Methods that return something, whatever they are given.
const NEVER_NOTHING: [&str; 20] = [
    "split",
    "map",
    "filter",
    "slice",
    "concat",
    "trim",
    "toLowerCase",
    "toUpperCase",
    "replace",
    "replaceAll",
    "join",
    "flat",
    "flatMap",
    "sort",
    "reverse",
    "keys",
    "values",
    "entries",
    "matchAll",
    "toString",
];

/// What is said of it where nothing is known to blame.
const USED_NOTHING: &str = "undefined or null was used where an object is needed";

/// A better account of an error.
pub(crate) struct Blame {
    pub(crate) message: Option<String>,
    pub(crate) position: Option<Position>,
}

/// What is to blame for an error of this name and message at this position.
pub(crate) fn blame(name: &str, message: &str, position: Option<Position>) -> Option<Blame> {
    with_program(|source, program| {
        let offset = position.and_then(|position| position.offset(source));
        match (name, message, offset) {
            ("TypeError", NOT_A_FUNCTION, Some(offset)) => not_a_function(source, program, offset),
            ("TypeError", NOTHING, offset) => Some(
                offset
                    .and_then(|offset| property_of_nothing(source, program, offset))
                    .unwrap_or(Blame { message: Some(USED_NOTHING.to_owned()), position: None }),
            ),
            ("ReferenceError", message, offset) => {
                let name = message.strip_suffix(" is not defined")?;
                let span = reference(program, name, offset)?;
                Some(Blame { message: None, position: Some(Position::of_offset(source, span.start as usize)) })
            }
            _ => None,
        }
    })
}

/// The names that a script declares, for the author who misspells one.
pub(crate) fn declared_names() -> BTreeSet<String> {
    with_program(|_, program| Some(names(program))).unwrap_or_default()
}

/// Whether the script reads a result as the protocol has it, of a call that gives the tool's own value.
pub(crate) fn reads_whole_result() -> bool {
    with_source(|source| source.contains(".content[0].text") && !source.contains("tools.raw"))
}

/// Where the script's only `for await` is.
pub(crate) fn awaiting_loop() -> Option<Position> {
    struct Loops(Vec<Span>);
    impl<'a> Visit<'a> for Loops {
        fn visit_for_of_statement(&mut self, each: &ForOfStatement<'a>) {
            if each.r#await {
                self.0.push(each.span);
            }
            walk::walk_for_of_statement(self, each);
        }
    }
    with_program(|source, program| {
        let mut loops = Loops(Vec::new());
        loops.visit_program(program);
        let [only] = loops.0.as_slice() else { return None };
        Some(Position::of_offset(source, only.start as usize))
    })
}

/// Where the script throws something that is no error, if it does so in one place.
pub(crate) fn thrown_value() -> Option<Position> {
    struct Throws(Vec<Span>);
    impl<'a> Visit<'a> for Throws {
        fn visit_throw_statement(&mut self, throw: &ThrowStatement<'a>) {
            let is_value = |value: &Expression<'_>| {
                value.is_literal() || matches!(value, Expression::TemplateLiteral(_) | Expression::ObjectExpression(_))
            };
            if is_value(throw.argument.get_inner_expression()) {
                self.0.push(throw.span);
            }
        }
    }
    with_program(|source, program| {
        let mut throws = Throws(Vec::new());
        throws.visit_program(program);
        let [only] = throws.0.as_slice() else { return None };
        Some(Position::of_offset(source, only.start as usize))
    })
}

/// Where a function of the script calls itself by its name, if there is one such place.
pub(crate) fn self_call() -> Option<Position> {
    #[derive(Default)]
    struct Calls {
        inside: Vec<String>,
        found: Vec<Span>,
    }
    impl<'a> Visit<'a> for Calls {
        fn visit_function(&mut self, function: &Function<'a>, flags: ScopeFlags) {
            self.inside.extend(function.id.iter().map(|name| name.name.to_string()));
            walk::walk_function(self, function, flags);
            if function.id.is_some() {
                self.inside.pop();
            }
        }

        fn visit_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) {
            let is_function = declarator.init.as_ref().is_some_and(Expression::is_function);
            let name = match &declarator.id {
                BindingPattern::BindingIdentifier(name) if is_function => Some(name.name.to_string()),
                _ => None,
            };
            let is_named = name.is_some();
            self.inside.extend(name);
            walk::walk_variable_declarator(self, declarator);
            if is_named {
                self.inside.pop();
            }
        }

        fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
            if let Expression::Identifier(callee) = &call.callee
                && self.inside.iter().any(|name| callee.name == name.as_str())
            {
                self.found.push(call.span);
            }
            walk::walk_call_expression(self, call);
        }
    }
    with_program(|source, program| {
        let mut calls = Calls::default();
        calls.visit_program(program);
        let [only] = calls.found.as_slice() else { return None };
        Some(Position::of_offset(source, only.start as usize))
    })
}

fn names(program: &Program<'_>) -> BTreeSet<String> {
    struct Finder(BTreeSet<String>);
    impl<'a> Visit<'a> for Finder {
        fn visit_binding_identifier(&mut self, identifier: &BindingIdentifier<'a>) {
            self.0.insert(identifier.name.to_string());
        }
    }
    let mut finder = Finder(BTreeSet::new());
    finder.visit_program(program);
    finder.0
}

pub(super) fn with_program<T>(look: impl FnOnce(&str, &Program<'_>) -> Option<T>) -> Option<T> {
    with_source(|source| {
        let allocator = Allocator::default();
        let kind = SourceType::ts().with_module(true);
        let parsed = Parser::new(&allocator, source, kind).with_options(options()).parse();
        look(source, &parsed.program)
    })
}

/// The innermost call whose callee is at `offset`.
fn not_a_function(source: &str, program: &Program<'_>, offset: u32) -> Option<Blame> {
    struct Finder {
        offset: u32,
        found: Option<Span>,
    }
    impl Finder {
        fn see(&mut self, callee: Span) {
            let is_inner = self.found.is_none_or(|found| callee.size() <= found.size());
            if callee.start <= self.offset && self.offset < callee.end && is_inner {
                self.found = Some(callee);
            }
        }
    }
    impl<'a> Visit<'a> for Finder {
        fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
            self.see(call.callee.span());
            walk::walk_call_expression(self, call);
        }
    }
    let mut finder = Finder { offset, found: None };
    finder.visit_program(program);
    let callee = quoted(source, finder.found?)?;
    Some(Blame { message: Some(format!("{callee} is not a function")), position: None })
}

/// The property of nothing that was read or set.
///
/// A property that is merely read has a position of its own. The look-up of a method has that of the call or statement around it;
/// so it is named only if there is no other in there.
fn property_of_nothing(source: &str, program: &Program<'_>, offset: u32) -> Option<Blame> {
    let mut members = Members { offset, names: names(program), exact: None, is_inside: false, candidates: Vec::new() };
    members.visit_program(program);
    let found = match (members.exact, members.candidates.as_slice()) {
        (Some(exact), _) => exact,
        (None, [only]) => *only,
        _ => return None,
    };
    let object = quoted(source, found.object)?;
    let property = quoted(source, found.property)?;
    let position = Some(Position::of_offset(source, found.property.start as usize));
    let verb = found.verb;
    Some(Blame {
        message: Some(format!("cannot {verb} '{property}' of undefined: {object} is undefined or null")),
        position,
    })
}

#[derive(Clone, Copy)]
struct Member {
    object: Span,
    property: Span,
    verb: &'static str,
}

struct Members {
    /// Where the engine saw the error.
    offset: u32,
    /// What the script declares: other names are global objects, and never missing.
    names: BTreeSet<String>,
    exact: Option<Member>,
    /// Inside of the statement or call that is at the offset.
    is_inside: bool,
    candidates: Vec<Member>,
}

impl Members {
    /// Visits what belongs to a place: if that is where the error was seen, the look-ups in there are candidates.
    fn inside(&mut self, place: Option<u32>, visit: impl FnOnce(&mut Self)) {
        let outer = self.is_inside;
        self.is_inside |= place == Some(self.offset);
        visit(self);
        self.is_inside = outer;
    }

    fn candidate(&mut self, member: &Expression<'_>, verb: &'static str) {
        let (object, property) = match member {
            Expression::StaticMemberExpression(member) if !member.optional => (&member.object, member.property.span),
            Expression::ComputedMemberExpression(member) if !member.optional => {
                (&member.object, member.expression.span())
            }
            _ => return,
        };
        self.candidate_of(object, property, verb);
    }

    fn candidate_of(&mut self, object: &Expression<'_>, property: Span, verb: &'static str) {
        let may_be_missing = match object {
            Expression::Identifier(identifier) => self.names.contains(identifier.name.as_str()),
            Expression::ThisExpression(_)
            | Expression::Super(_)
            | Expression::NewExpression(_)
            | Expression::ArrayExpression(_)
            | Expression::TemplateLiteral(_) => false,
            other => !other.is_literal(),
        };
        if self.is_inside && may_be_missing {
            self.candidates.push(Member { object: object.span(), property, verb });
        }
    }

    /// The method's own name has no position: one that is there is that of the call.
    fn visit_expression_of_callee(&mut self, callee: &Expression<'_>) {
        match callee {
            Expression::StaticMemberExpression(member) => self.visit_expression(&member.object),
            Expression::ComputedMemberExpression(member) => {
                self.visit_expression(&member.object);
                self.visit_expression(&member.expression);
            }
            callee => self.visit_expression(callee),
        }
    }

    fn read(&mut self, object: &Expression<'_>, property: Span, is_optional: bool) {
        if property.start != self.offset || is_optional {
            return;
        }
        let (mut object, mut property) = (object.get_inner_expression(), property);
        // What such a method returns is always there: what is not is the object whose method it should be, of which the
        // engine gives the place of what follows.
        while let Expression::CallExpression(call) = object
            && let Expression::StaticMemberExpression(method) = &call.callee
            && NEVER_NOTHING.contains(&method.property.name.as_str())
        {
            object = method.object.get_inner_expression();
            property = method.property.span;
        }
        self.exact = Some(Member { object: object.span(), property, verb: "read" });
    }
}

impl<'a> Visit<'a> for Members {
    fn visit_expression_statement(&mut self, statement: &ExpressionStatement<'a>) {
        let place = Some(statement.expression.span().start);
        self.inside(place, |members| walk::walk_expression_statement(members, statement));
    }

    fn visit_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) {
        let place = declarator.init.as_ref().map(|value| value.span().start);
        self.inside(place, |members| walk::walk_variable_declarator(members, declarator));
    }

    fn visit_return_statement(&mut self, statement: &ReturnStatement<'a>) {
        let place = statement.argument.as_ref().map(|value| value.span().start);
        self.inside(place, |members| walk::walk_return_statement(members, statement));
    }

    fn visit_if_statement(&mut self, statement: &IfStatement<'a>) {
        let place = Some(statement.test.span().start);
        self.inside(place, |members| members.visit_expression(&statement.test));
        self.visit_statement(&statement.consequent);
        if let Some(alternate) = &statement.alternate {
            self.visit_statement(alternate);
        }
    }

    fn visit_arrow_function_expression(&mut self, function: &ArrowFunctionExpression<'a>) {
        // What is in a function fails when it is called. One that is an expression has its position.
        let outer = std::mem::take(&mut self.is_inside);
        let place = function.get_expression().map(|body| match body {
            Expression::CallExpression(call) => place_of_call(call),
            body => body.span().start,
        });
        self.inside(place, |members| walk::walk_arrow_function_expression(members, function));
        self.is_inside = outer;
    }

    fn visit_function(&mut self, function: &Function<'a>, flags: ScopeFlags) {
        let outer = std::mem::take(&mut self.is_inside);
        walk::walk_function(self, function, flags);
        self.is_inside = outer;
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        if !call.optional {
            self.candidate(&call.callee, "read");
        }
        self.visit_expression_of_callee(&call.callee);
        let place = Some(place_of_call(call));
        self.inside(place, |members| members.visit_arguments(&call.arguments));
    }

    fn visit_assignment_expression(&mut self, assignment: &AssignmentExpression<'a>) {
        let place = Some(assignment.span.start);
        self.inside(place, |members| {
            let target = match &assignment.left {
                AssignmentTarget::StaticMemberExpression(member) => Some((&member.object, member.property.span)),
                AssignmentTarget::ComputedMemberExpression(member) => Some((&member.object, member.expression.span())),
                _ => None,
            };
            if let Some((object, property)) = target {
                members.candidate_of(object, property, "set");
            }
            walk::walk_assignment_expression(members, assignment);
        });
    }

    fn visit_static_member_expression(&mut self, member: &StaticMemberExpression<'a>) {
        self.read(&member.object, member.property.span, member.optional);
        walk::walk_static_member_expression(self, member);
    }

    fn visit_computed_member_expression(&mut self, member: &ComputedMemberExpression<'a>) {
        self.read(&member.object, member.expression.span(), member.optional);
        walk::walk_computed_member_expression(self, member);
    }
}

/// Where the engine places a call: at the last name before its arguments.
fn place_of_call(call: &CallExpression<'_>) -> u32 {
    match &call.callee {
        Expression::StaticMemberExpression(member) => member.property.span.start,
        Expression::ComputedMemberExpression(member) => member.expression.span().start,
        callee => callee.span().start,
    }
}

fn reference(program: &Program<'_>, name: &str, offset: Option<u32>) -> Option<Span> {
    struct Finder<'name> {
        name: &'name str,
        from: u32,
        found: Option<Span>,
    }
    impl<'a> Visit<'a> for Finder<'_> {
        fn visit_identifier_reference(&mut self, identifier: &IdentifierReference<'a>) {
            if identifier.name == self.name && identifier.span.start >= self.from {
                self.found.get_or_insert(identifier.span);
            }
        }
    }
    let mut finder = Finder { name, from: offset.unwrap_or(0), found: None };
    finder.visit_program(program);
    finder.found
}

/// The text of an expression, if it is short.
pub(super) fn quoted(source: &str, span: Span) -> Option<String> {
    let text = source.get(span.start as usize..span.end as usize)?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (text.len() <= MAX_QUOTED).then_some(text)
}
