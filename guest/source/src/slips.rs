//! What a source does in a way that seldom does what its author meant, where nothing fails: a loop
//! over names in the place of elements, a `forEach` that nobody waits for, and where a variable
//! comes from that holds nothing.
//!
//! Looked at only when a script has failed, or has ended in a value that looks like a mistake.

use oxc::{
    ast::ast::{
        Argument, BindingPattern, CallExpression, Expression, ForInStatement, ForStatementLeft, MemberExpression,
        VariableDeclarator,
    },
    ast_visit::VisitJs as _,
    span::GetSpan,
};

use super::{
    Position,
    reading::{quoted, with_program},
};
use crate::visitor::{Visiting, Visitor};

/// What texts have that is read of a name in earnest.
const OF_TEXTS: [&str; 24] = [
    "length",
    "at",
    "charAt",
    "charCodeAt",
    "codePointAt",
    "concat",
    "endsWith",
    "includes",
    "indexOf",
    "lastIndexOf",
    "localeCompare",
    "match",
    "matchAll",
    "normalize",
    "padEnd",
    "padStart",
    "replace",
    "replaceAll",
    "slice",
    "split",
    "startsWith",
    "substring",
    "toString",
    "valueOf",
];

/// A loop over names whose variable is taken for an element.
pub struct ForIn {
    pub name: String,
    pub line: u32,
    list: String,
    read: String,
}

impl ForIn {
    /// What to write in its place.
    pub fn advice(&self) -> String {
        let Self { name, list, read, line } = self;
        format!(
            "for … in (line {line}) gives names, and those of a list are its indices as texts; a text has no {read}: write \
             for (const {name} of {list})"
        )
    }
}

/// The loops over names whose variable is taken for an element.
pub fn for_in_slips() -> Vec<ForIn> {
    struct Loops<'s>(&'s str, Vec<ForIn>);
    impl<'a> Visitor<'a> for Loops<'_> {
        fn enter_for_in_statement(&mut self, each: &ForInStatement<'a>) -> bool {
            if let ForStatementLeft::VariableDeclaration(declaration) = &each.left
                && let Some(declarator) = declaration.declarations.first()
                && let BindingPattern::BindingIdentifier(name) = &declarator.id
            {
                let mut read = Read { name: &name.name, found: None };
                Visiting(&mut read).visit_statement(&each.body);
                if let (Some(read), Some(list)) = (read.found, quoted(self.0, each.right.span())) {
                    let line = Position::of_offset(self.0, each.span.start as usize).line;
                    self.1.push(ForIn { name: name.name.to_string(), line, list, read });
                }
            }
            true
        }
    }
    struct Read<'n> {
        name: &'n str,
        found: Option<String>,
    }
    impl<'a> Visitor<'a> for Read<'_> {
        fn enter_member_expression(&mut self, member: &MemberExpression<'a>) -> bool {
            let is_of_it = matches!(member.object(), Expression::Identifier(object) if object.name == self.name);
            if let Some(read) = member.static_property_name().filter(|read| is_of_it && !OF_TEXTS.contains(read)) {
                self.found.get_or_insert_with(|| read.to_owned());
            }
            true
        }
    }
    let loops = with_program(|source, program| {
        let mut loops = Loops(source, Vec::new());
        Visiting(&mut loops).visit_program(program);
        Some(loops.1)
    });
    loops.unwrap_or_default()
}

/// What to write in the place of the first `forEach` whose function is async, if there is one.
pub fn async_for_each() -> Option<String> {
    struct Calls<'s>(&'s str, Option<String>);
    impl<'a> Visitor<'a> for Calls<'_> {
        fn enter_call_expression(&mut self, call: &CallExpression<'a>) -> bool {
            let is_async = match call.arguments.first() {
                Some(Argument::ArrowFunctionExpression(function)) => function.r#async,
                Some(Argument::FunctionExpression(function)) => function.r#async,
                _ => false,
            };
            if self.1.is_none()
                && is_async
                && let Some(member) = call.callee.as_member_expression()
                && member.static_property_name() == Some("forEach")
                && let Some(list) = quoted(self.0, member.object().span())
            {
                let line = Position::of_offset(self.0, call.span.start as usize).line;
                self.1 = Some(format!(
                    "{list}.forEach(…) (line {line}) does not wait for its function: write for (const x of {list}) {{ … }}, or \
                     await Promise.all({list}.map(async (x) => …))"
                ));
            }
            true
        }
    }
    with_program(|source, program| {
        let mut calls = Calls(source, None);
        Visiting(&mut calls).visit_program(program);
        calls.1
    })
}

/// Why a variable of this name holds nothing, where the source says so: what found nothing, or a
/// callback that returns nothing.
pub fn nothing_in(name: &str, position: Option<Position>) -> Option<String> {
    struct Sources<'s> {
        source: &'s str,
        name: &'s str,
        at: u32,
        found: Option<String>,
    }
    impl<'a> Visitor<'a> for Sources<'_> {
        fn enter_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) -> bool {
            let is_it = matches!(&declarator.id, BindingPattern::BindingIdentifier(name) if name.name == self.name);
            if is_it
                && declarator.span.start <= self.at
                && let Some(Expression::CallExpression(call)) =
                    declarator.init.as_ref().map(Expression::get_inner_expression)
                && let Some(member) = call.callee.as_member_expression()
            {
                let found = match member.static_property_name() {
                    Some("match" | "exec") => Some("has found nothing"),
                    Some("find" | "findLast") => Some("has found none"),
                    Some("get") => Some("knows no such key"),
                    Some("pop" | "shift" | "at") => Some("gives nothing of an empty list, or beyond its end"),
                    _ => None,
                };
                let callee = quoted(self.source, call.callee.span());
                self.found = found.zip(callee).map(|(found, callee)| {
                    let line = Position::of_offset(self.source, call.span.start as usize).line;
                    format!("{callee}(…) (line {line}) {found}: check {} before it is used", self.name)
                });
            }
            true
        }

        fn enter_call_expression(&mut self, call: &CallExpression<'a>) -> bool {
            let is_around = call.span.start <= self.at && self.at < call.span.end;
            let is_reduce = call
                .callee
                .as_member_expression()
                .is_some_and(|member| matches!(member.static_property_name(), Some("reduce" | "reduceRight")));
            let parameters = match call.arguments.first() {
                Some(Argument::ArrowFunctionExpression(function)) => Some(&function.params),
                Some(Argument::FunctionExpression(function)) => Some(&function.params),
                _ => None,
            };
            let first = parameters.and_then(|parameters| parameters.items.first());
            let is_it = first.is_some_and(
                |first| matches!(&first.pattern, BindingPattern::BindingIdentifier(name) if name.name == self.name),
            );
            if is_around && is_reduce && is_it {
                let name = self.name;
                self.found = Some(format!(
                    "what the callback of reduce returns is the next {name}, and it returned nothing: write \
                     reduce(({name}, x) => {{ …; return {name}; }}, {{}}), with a value to begin with"
                ));
            }
            true
        }
    }
    with_program(|source, program| {
        let at = position?.offset(source)?;
        let mut sources = Sources { source, name, at, found: None };
        Visiting(&mut sources).visit_program(program);
        sources.found
    })
}
