//! What was given to `JSON.parse` that is no JSON.

use std::collections::BTreeSet;

use oxc::{
    ast::ast::{Argument, BindingPattern, CallExpression, Expression, VariableDeclarator},
    ast_visit::VisitJs as _,
    span::GetSpan,
};

use super::{
    Position,
    reading::{quoted, with_program},
};
use crate::visitor::{Visiting, Visitor};

/// A hint for a SyntaxError at `position`, if that is a call of `JSON.parse`. `notation` is what
/// the text is in place of JSON, where that is known; `servers` are the names of the globals whose
/// methods are tools.
pub fn hint(position: Option<Position>, notation: Option<&str>, servers: &BTreeSet<String>) -> Option<String> {
    with_program(|source, program| {
        let offset = position?.offset(source)?;
        let mut parsing = Parsing { source, servers, offset, found: None };
        Visiting(&mut parsing).visit_program(program);
        let Parsed { text, name, mut call } = parsing.found?;
        if let Some(name) = name {
            let mut results = Results { source, servers, name, found: None };
            Visiting(&mut results).visit_program(program);
            call = results.found;
        }
        let shown = text.as_deref().filter(|text| !text.contains("await")).unwrap_or("result");
        Some(match (notation, call) {
            (Some(notation), call) => {
                let of = call.map(|call| format!("what {call}(…) returned")).unwrap_or_else(|| "the text".to_owned());
                format!("{of} is {notation}, which JSON.parse does not read: use tools.parse({shown})")
            }
            (None, Some(call)) => format!(
                "what {call}(…) returns is a value already and needs no parsing: use it as it is; where it is an object that holds a \
                 JSON text, parse that field, as in JSON.parse({shown}.content)"
            ),
            (None, None) => {
                "JSON.parse takes a JSON text, without comments and trailing commas; what is an object already needs no parsing".to_owned()
            }
        })
    })
}

/// The call of a tool, as in `server.tool`, whose awaited result a name holds.
pub fn call_behind(name: &str, servers: &BTreeSet<String>) -> Option<String> {
    with_program(|source, program| {
        let mut results = Results { source, servers, name: name.to_owned(), found: None };
        Visiting(&mut results).visit_program(program);
        results.found
    })
}

/// The argument of a call of `JSON.parse`.
struct Parsed {
    text: Option<String>,
    /// If it is nothing but a name, that.
    name: Option<String>,
    /// If it is an awaited call of a tool, that.
    call: Option<String>,
}

struct Parsing<'p> {
    source: &'p str,
    servers: &'p BTreeSet<String>,
    offset: u32,
    found: Option<Parsed>,
}

impl<'a> Visitor<'a> for Parsing<'_> {
    fn enter_call_expression(&mut self, call: &CallExpression<'a>) -> bool {
        let span = call.callee.span();
        let is_here = span.start <= self.offset && self.offset < span.end;
        let is_parse = call.callee.as_member_expression().is_some_and(|member| {
            member.static_property_name() == Some("parse")
                && matches!(member.object(), Expression::Identifier(object) if object.name == "JSON")
        });
        if is_here
            && is_parse
            && let Some(argument) = call.arguments.first().and_then(Argument::as_expression)
        {
            let argument = argument.get_inner_expression();
            let name = match argument {
                Expression::Identifier(name) => Some(name.name.to_string()),
                _ => None,
            };
            let call = awaited_tool(self.source, argument, self.servers);
            self.found = Some(Parsed { text: quoted(self.source, argument.span()), name, call });
        }
        true
    }
}

/// Finds the call of a tool whose awaited result a name holds.
struct Results<'r> {
    source: &'r str,
    servers: &'r BTreeSet<String>,
    name: String,
    found: Option<String>,
}

impl<'a> Visitor<'a> for Results<'_> {
    fn enter_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) -> bool {
        if let (BindingPattern::BindingIdentifier(name), Some(value)) = (&declarator.id, &declarator.init)
            && name.name == self.name.as_str()
        {
            self.found = awaited_tool(self.source, value, self.servers);
        }
        true
    }
}

/// The tool of `await server.tool(…)`.
fn awaited_tool(source: &str, expression: &Expression<'_>, servers: &BTreeSet<String>) -> Option<String> {
    let Expression::AwaitExpression(awaited) = expression.get_inner_expression() else { return None };
    let Expression::CallExpression(call) = awaited.argument.get_inner_expression() else { return None };
    let is_tool = matches!(call.callee.as_member_expression()?.object(),
        Expression::Identifier(object) if servers.contains(object.name.as_str()));
    is_tool.then(|| quoted(source, call.callee.span()))?
}
