//! What a source reads of values, and where: members in the arguments of a call, names in patterns,
//! or all there are.
//!
//! Looked at only when a script has failed, or has ended in a value that looks like a mistake.

use std::collections::BTreeSet;

use oxc::{
    allocator::Allocator,
    ast::ast::{
        Argument, CallExpression, Expression, LogicalExpression, MemberExpression, NewExpression, Program,
        SimpleAssignmentTarget,
    },
    ast_visit::{VisitJs as _, walk_js},
    parser::Parser,
    span::{GetSpan, SourceType, Span},
};

use super::{
    Position, Provenance, Step,
    provenance::{Origins, step_of},
    reading::{quoted, with_program},
};
use crate::visitor::{Visiting, Visitor};

/// Reads that are looked at.
const MAX_READS: usize = 200;

/// A variable, and the way from what it holds to a value.
pub struct Way {
    pub root: String,
    pub steps: Vec<Step>,
    /// The expression of the object that the value is read of, where the value is no variable.
    pub holder: Option<String>,
}

/// A member that is read of a value whose origin is known.
pub struct Read {
    /// The expression, or the name in a pattern.
    pub text: String,
    pub line: u32,
    pub provenance: Provenance,
}

/// The way that an expression goes, if it is nothing but a variable and its members:
/// `order.lines[0].price`.
pub fn way(expression: &str) -> Option<Way> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, expression, SourceType::ts()).parse_expression().ok()?;
    let holder = parsed.as_member_expression().and_then(|member| quoted(expression, member.object().span()));
    let mut steps = Vec::new();
    let mut rest = parsed.get_inner_expression();
    loop {
        match rest {
            Expression::Identifier(root) => {
                steps.reverse();
                return Some(Way { root: root.name.to_string(), steps, holder });
            }
            other => {
                let member = other.as_member_expression()?;
                match step_of(member)? {
                    Step::Element => return None,
                    step => steps.push(step),
                }
                rest = member.object().get_inner_expression();
            }
        }
    }
}

/// What the pattern at `position` takes apart that is itself taken out of a value. `servers` are
/// the names of the globals whose methods are tools.
pub fn pattern_at(position: Option<Position>, servers: &BTreeSet<String>) -> Option<Read> {
    with_program(|source, program| {
        let at = position?.offset(source)?;
        let origins = Origins::of_program(source, program, servers);
        let around = origins.taken.into_iter().filter(|taken| taken.is_nested && holds(taken.span, at));
        let taken = around.min_by_key(|taken| taken.span.size())?;
        let line = Position::of_offset(source, taken.span.start as usize).line;
        Some(Read { text: taken.name, line, provenance: taken.origin })
    })
}

/// The members that the arguments of the call at `position` are made of.
pub fn arguments_at(position: Option<Position>, servers: &BTreeSet<String>) -> Vec<Read> {
    let reads = with_program(|source, program| {
        let at = position?.offset(source)?;
        let mut calls = Calls { at, found: None };
        Visiting(&mut calls).visit_program(program);
        let (_, span) = calls.found?;
        Some(members(source, program, servers, Some(span)))
    });
    reads.unwrap_or_default()
}

/// All members that are read of values whose origin is known, but for those that are read to see
/// whether they are there.
pub fn reads(servers: &BTreeSet<String>) -> Vec<Read> {
    with_program(|source, program| Some(members(source, program, servers, None))).unwrap_or_default()
}

fn members(source: &str, program: &Program<'_>, servers: &BTreeSet<String>, within: Option<Span>) -> Vec<Read> {
    let mut origins = Origins::of_program(source, program, servers);
    let line = |at: u32| Position::of_offset(source, at as usize).line;
    let taken = std::mem::take(&mut origins.taken).into_iter().filter(|_| within.is_none());
    let taken = taken.map(|taken| Read { text: taken.name, line: line(taken.span.start), provenance: taken.origin });
    let mut members = Members { source, origins, within, found: taken.collect() };
    Visiting(&mut members).visit_program(program);
    members.found
}

fn holds(span: Span, at: u32) -> bool {
    span.start <= at && at < span.end
}

/// The innermost call whose callee is at an offset: the span of that, and of its arguments.
struct Calls {
    at: u32,
    found: Option<(Span, Span)>,
}

impl Calls {
    fn see(&mut self, whole: Span, callee: Span, arguments: &[Argument<'_>]) {
        let is_here = holds(callee, self.at) || whole.start == self.at;
        let (Some(first), Some(last)) = (arguments.first(), arguments.last()) else { return };
        if is_here && self.found.is_none_or(|(found, _)| callee.size() < found.size()) {
            self.found = Some((callee, Span::new(first.span().start, last.span().end)));
        }
    }
}

impl<'a> Visitor<'a> for Calls {
    fn enter_call_expression(&mut self, call: &CallExpression<'a>) -> bool {
        self.see(call.callee.span(), call.callee.span(), &call.arguments);
        true
    }

    fn enter_new_expression(&mut self, call: &NewExpression<'a>) -> bool {
        self.see(call.span, call.callee.span(), &call.arguments);
        true
    }
}

struct Members<'r> {
    source: &'r str,
    origins: Origins<'r>,
    within: Option<Span>,
    found: Vec<Read>,
}

impl<'a> Visitor<'a> for Members<'_> {
    fn enter_member_expression(&mut self, member: &MemberExpression<'a>) -> bool {
        walk_js::walk_member_expression(&mut Visiting(self), member);
        let span = member.span();
        let is_wanted = self.within.is_none_or(|within| within.start <= span.start && span.end <= within.end);
        if is_wanted
            && self.found.len() < MAX_READS
            && let Some(text) = quoted(self.source, span)
            && let Some(mut provenance) = self.origins.of_member(member, span.start)
        {
            provenance.holder = quoted(self.source, member.object().span());
            let line = Position::of_offset(self.source, span.start as usize).line;
            self.found.push(Read { text, line, provenance });
        }
        false
    }

    fn enter_simple_assignment_target(&mut self, target: &SimpleAssignmentTarget<'a>) -> bool {
        match target {
            SimpleAssignmentTarget::StaticMemberExpression(member) => Visiting(self).visit_expression(&member.object),
            SimpleAssignmentTarget::ComputedMemberExpression(member) => {
                Visiting(self).visit_expression(&member.object);
                Visiting(self).visit_expression(&member.expression);
            }
            _ => {}
        }
        false
    }

    fn enter_logical_expression(&mut self, logical: &LogicalExpression<'a>) -> bool {
        if !logical.left.get_inner_expression().is_member_expression() {
            Visiting(self).visit_expression(&logical.left);
        }
        Visiting(self).visit_expression(&logical.right);
        false
    }
}
