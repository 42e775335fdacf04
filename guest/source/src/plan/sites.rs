//! Every place of a source at which a tool is called.

use std::collections::{BTreeMap, BTreeSet};

use oxc::{
    ast::ast::{
        Argument, ArrowFunctionExpression, BinaryExpression, CallExpression, ComputedMemberExpression,
        DoWhileStatement, Expression, ForInStatement, ForOfStatement, ForStatement, Function, IdentifierReference,
        Program, StaticMemberExpression, TryStatement, UnaryExpression, VariableDeclarator, WhileStatement,
    },
    ast_visit::{VisitJs as _, walk_js},
    semantic::{ScopeFlags, SymbolId},
    span::{GetSpan as _, Span},
    syntax::operator::{BinaryOperator, UnaryOperator},
};

use super::{
    Position, Reach, Site, Sites, arguments,
    certain::Certain,
    names::{Meaning, Names},
};
use crate::visitor::{Visiting, Visitor};

/// Places that are looked at.
const MAX_SITES: usize = 200;
/// Methods that call what they are given for each of several values.
const FOR_EACH: [&str; 15] = [
    "map",
    "flatMap",
    "forEach",
    "filter",
    "find",
    "findIndex",
    "findLast",
    "findLastIndex",
    "some",
    "every",
    "reduce",
    "reduceRight",
    "sort",
    "toSorted",
    "from",
];
/// Methods of `Promise` that keep what fails from whoever waits.
const SETTLING: [&str; 3] = ["allSettled", "any", "race"];

pub(super) fn all<'a>(source: &str, program: &Program<'a>, names: &Names<'a, '_>, certain: Certain) -> Sites {
    let mut places = Places {
        source,
        names,
        certain: &certain,
        loops: 0,
        guards: 0,
        function: None,
        has_tests: false,
        uses: Vec::new(),
        found: Vec::new(),
        sites: Sites::default(),
    };
    Visiting(&mut places).visit_program(program);
    let repeated = places.repeated();
    let Places { has_tests, found, sites: Sites { more, has_others, .. }, .. } = places;
    let site = |Found { mut site, function, is_handed_on }: Found| {
        site.in_loop |= function.is_some_and(|function| repeated.contains(&function));
        site.is_guarded |= has_tests;
        if site.is_guarded && site.reach == Reach::Possible {
            site.reach = Reach::Guarded;
        }
        site.is_guarded |= is_handed_on;
        site
    };
    Sites { all: found.into_iter().map(site).collect(), more, has_others, strangers: certain.strangers }
}

/// A site and the function that it stands in.
struct Found {
    site: Site,
    function: Option<SymbolId>,
    /// It is no call: somebody else makes one, or does not.
    is_handed_on: bool,
}

/// That a function is named: where, and whether it is called more than once there.
struct Use {
    of: SymbolId,
    within: Option<SymbolId>,
    in_loop: bool,
}

struct Places<'n, 'a, 's> {
    source: &'n str,
    names: &'n Names<'a, 's>,
    certain: &'n Certain,
    /// Loops around what is visited.
    loops: usize,
    /// What catches what fails there.
    guards: usize,
    /// The innermost function with a name around it.
    function: Option<SymbolId>,
    /// Whether the source looks somewhere which tools there are.
    has_tests: bool,
    uses: Vec<Use>,
    found: Vec<Found>,
    sites: Sites,
}

impl<'a> Places<'_, 'a, '_> {
    fn put(
        &mut self,
        call: Option<&CallExpression<'a>>,
        tool: (&str, &str, bool),
        place: Span,
        given: &[Argument<'a>],
    ) {
        if self.found.len() >= MAX_SITES {
            self.sites.more += 1;
            return;
        }
        let certain = call.and_then(|call| self.certain.calls.get(&call.span.start).copied());
        let reach = if certain.is_some() { Reach::Certain } else { Reach::Possible };
        let (server, tool, by_path) = tool;
        let site = Site {
            server: server.to_owned(),
            by_path,
            tool: tool.to_owned(),
            reach,
            is_fatal: certain.unwrap_or(false),
            is_guarded: self.guards > 0,
            in_loop: self.loops > 0,
            arguments: call.and_then(|_| arguments::known(self.names, given)),
            position: Position::of_offset(self.source, place.start as usize),
        };
        self.found.push(Found { site, function: self.function, is_handed_on: call.is_none() });
    }

    /// A call of `tools.call` or `tools.raw`.
    fn put_by_path(&mut self, call: &CallExpression<'a>, place: Span) {
        let path = call.arguments.first().and_then(Argument::as_expression).map(Expression::get_inner_expression);
        let path = path.and_then(|path| match path {
            Expression::Identifier(name) => self.names.constant(name).map(Expression::get_inner_expression),
            path => Some(path),
        });
        match path {
            Some(Expression::StringLiteral(path)) if !path.lone_surrogates => {
                if let Some((server, tool)) = path.value.split_once('.') {
                    let given = call.arguments.get(1..).unwrap_or_default();
                    self.put(Some(call), (server, tool, true), place, given);
                }
            }
            _ => self.sites.has_others = true,
        }
    }

    fn arguments_of(&mut self, call: &CallExpression<'a>) {
        for argument in &call.arguments {
            Visiting(self).visit_argument(argument);
        }
    }

    fn looped(&mut self, visit: impl FnOnce(&mut Self)) {
        self.loops += 1;
        visit(self);
        self.loops -= 1;
    }

    fn guarded(&mut self, is_guarded: bool, visit: impl FnOnce(&mut Self)) {
        let more = usize::from(is_guarded);
        self.guards += more;
        visit(self);
        self.guards -= more;
    }

    fn within(&mut self, start: u32, visit: impl FnOnce(&mut Self)) {
        let before = self.function;
        self.function = self.names.name_of(start).or(before);
        visit(self);
        self.function = before;
    }

    /// The functions that may be called more than once.
    fn repeated(&self) -> BTreeSet<SymbolId> {
        let mut named_in: BTreeMap<SymbolId, Vec<SymbolId>> = BTreeMap::new();
        for each in &self.uses {
            if let Some(within) = each.within {
                named_in.entry(within).or_default().push(each.of);
            }
        }
        let mut repeated = BTreeSet::new();
        let mut left: Vec<SymbolId> = self.uses.iter().filter(|each| each.in_loop).map(|each| each.of).collect();
        while let Some(function) = left.pop() {
            if repeated.insert(function) {
                left.extend(named_in.get(&function).into_iter().flatten());
            }
        }
        repeated
    }

    /// Whether the methods of this member hold what fails back, and whether they call for each
    /// value.
    fn kind_of(&self, callee: &Expression<'a>, given: usize) -> Kind {
        let Expression::StaticMemberExpression(member) = callee.get_inner_expression() else { return Kind::default() };
        let method = member.property.name.as_str();
        let is_promise = matches!(member.object.get_inner_expression(),
            Expression::Identifier(name) if name.name == "Promise" && self.names.is_global(name));
        Kind {
            catches_object: method == "catch" || (method == "then" && given > 1),
            catches_arguments: is_promise && SETTLING.contains(&method),
            repeats: FOR_EACH.contains(&method),
        }
    }
}

/// What a method does to what it is called on, and to its arguments.
#[derive(Default)]
struct Kind {
    catches_object: bool,
    catches_arguments: bool,
    repeats: bool,
}

fn name_in(callee: &Expression<'_>) -> Span {
    match callee.get_inner_expression() {
        Expression::StaticMemberExpression(member) => member.property.span,
        Expression::ComputedMemberExpression(member) => member.expression.span(),
        other => other.span(),
    }
}

fn is_optional(callee: &Expression<'_>) -> bool {
    match callee.get_inner_expression() {
        Expression::StaticMemberExpression(member) => member.optional,
        Expression::ComputedMemberExpression(member) => member.optional,
        _ => false,
    }
}

impl<'a> Visitor<'a> for Places<'_, 'a, '_> {
    fn enter_call_expression(&mut self, call: &CallExpression<'a>) -> bool {
        match self.names.meaning(&call.callee) {
            Some(Meaning::Tool { server, tool }) => {
                let is_guarded = call.optional || is_optional(&call.callee);
                self.guarded(is_guarded, |places| {
                    places.put(Some(call), (server, tool, false), name_in(&call.callee), &call.arguments);
                });
                self.arguments_of(call);
            }
            Some(Meaning::ByPath) => {
                self.put_by_path(call, name_in(&call.callee));
                self.arguments_of(call);
            }
            Some(Meaning::Server(_) | Meaning::Tools) | None => {
                let kind = self.kind_of(&call.callee, call.arguments.len());
                self.guarded(kind.catches_object, |places| Visiting(places).visit_expression(&call.callee));
                self.guarded(kind.catches_arguments, |places| {
                    if kind.repeats {
                        places.looped(|places| places.arguments_of(call));
                    } else {
                        places.arguments_of(call);
                    }
                });
            }
        }
        false
    }

    fn enter_static_member_expression(&mut self, member: &StaticMemberExpression<'a>) -> bool {
        let Some(meaning) = self.names.meaning(&member.object) else {
            return true;
        };
        let name = member.property.name.as_str();
        match meaning {
            // Handed on, and called by somebody else.
            Meaning::Server(server) if !name.starts_with('$') => {
                self.put(None, (server, name, false), member.property.span, &[]);
            }
            Meaning::Tools if name == "call" || name == "raw" => self.sites.has_others = true,
            Meaning::Server(_) | Meaning::Tools | Meaning::Tool { .. } | Meaning::ByPath => {}
        }
        false
    }

    fn enter_computed_member_expression(&mut self, member: &ComputedMemberExpression<'a>) -> bool {
        match self.names.meaning(&member.object) {
            None => return true,
            Some(Meaning::Server(server)) => match member.expression.get_inner_expression() {
                Expression::StringLiteral(name) => {
                    self.put(None, (server, name.value.as_str(), false), member.expression.span(), &[]);
                }
                chosen => {
                    self.sites.has_others = true;
                    Visiting(self).visit_expression(chosen);
                }
            },
            Some(_) => Visiting(self).visit_expression(&member.expression),
        }
        false
    }

    fn enter_identifier_reference(&mut self, name: &IdentifierReference<'a>) -> bool {
        match self.names.meaning_of_name(name) {
            Some(Meaning::Tool { server, tool }) => self.put(None, (server, tool, false), name.span, &[]),
            Some(Meaning::Server(_) | Meaning::ByPath | Meaning::Tools) => self.sites.has_others = true,
            None => {
                if let Some((of, _)) = self.names.function(name) {
                    self.uses.push(Use { of, within: self.function, in_loop: self.loops > 0 });
                }
            }
        }
        false
    }

    fn enter_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) -> bool {
        // What is given a name is found where the name is used.
        if self.names.given(declarator).is_none() {
            walk_js::walk_variable_declarator(&mut Visiting(self), declarator);
        }
        false
    }

    fn enter_binary_expression(&mut self, binary: &BinaryExpression<'a>) -> bool {
        if binary.operator == BinaryOperator::In && self.names.meaning(&binary.right).is_some() {
            self.has_tests = true;
            Visiting(self).visit_expression(&binary.left);
            return false;
        }
        true
    }

    fn enter_unary_expression(&mut self, unary: &UnaryExpression<'a>) -> bool {
        if unary.operator == UnaryOperator::Typeof && self.names.meaning(&unary.argument).is_some() {
            self.has_tests = true;
            return false;
        }
        true
    }

    fn enter_try_statement(&mut self, attempt: &TryStatement<'a>) -> bool {
        self.guarded(attempt.handler.is_some(), |places| Visiting(places).visit_block_statement(&attempt.block));
        if let Some(handler) = &attempt.handler {
            Visiting(self).visit_catch_clause(handler);
        }
        if let Some(last) = &attempt.finalizer {
            Visiting(self).visit_block_statement(last);
        }
        false
    }

    fn enter_for_statement(&mut self, repeated: &ForStatement<'a>) -> bool {
        if let Some(first) = &repeated.init {
            Visiting(self).visit_for_statement_init(first);
        }
        self.looped(|places| {
            for expression in repeated.test.iter().chain(&repeated.update) {
                Visiting(places).visit_expression(expression);
            }
            Visiting(places).visit_statement(&repeated.body);
        });
        false
    }

    fn enter_for_of_statement(&mut self, each: &ForOfStatement<'a>) -> bool {
        Visiting(self).visit_expression(&each.right);
        self.looped(|places| {
            Visiting(places).visit_for_statement_left(&each.left);
            Visiting(places).visit_statement(&each.body);
        });
        false
    }

    fn enter_for_in_statement(&mut self, each: &ForInStatement<'a>) -> bool {
        Visiting(self).visit_expression(&each.right);
        self.looped(|places| {
            Visiting(places).visit_for_statement_left(&each.left);
            Visiting(places).visit_statement(&each.body);
        });
        false
    }

    fn enter_while_statement(&mut self, repeated: &WhileStatement<'a>) -> bool {
        self.looped(|places| walk_js::walk_while_statement(&mut Visiting(places), repeated));
        false
    }

    fn enter_do_while_statement(&mut self, repeated: &DoWhileStatement<'a>) -> bool {
        self.looped(|places| walk_js::walk_do_while_statement(&mut Visiting(places), repeated));
        false
    }

    fn enter_function(&mut self, function: &Function<'a>, flags: ScopeFlags) -> bool {
        self.within(function.span.start, |places| walk_js::walk_function(&mut Visiting(places), function, flags));
        false
    }

    fn enter_arrow_function_expression(&mut self, function: &ArrowFunctionExpression<'a>) -> bool {
        self.within(function.span.start, |places| {
            walk_js::walk_arrow_function_expression(&mut Visiting(places), function)
        });
        false
    }
}
