//! Which names stand for servers and tools, and what other names always hold.

use std::{cell::OnceCell, collections::BTreeMap};

use oxc::{
    ast::{
        AstKind,
        ast::{
            ArrowFunctionExpression, BindingPattern, Expression, Function, IdentifierReference, Program,
            VariableDeclarator,
        },
    },
    ast_visit::VisitJs,
    semantic::{Scoping, SymbolFlags, SymbolId},
    span::GetSpan as _,
};

use super::Globals;

/// The server of a global function.
const NO_SERVER: &str = "";
/// Members and names behind each other that are followed.
const MAX_STEPS: usize = 8;
/// The global through which tools are called by their paths.
const TOOLS: &str = "tools";
/// Its methods that do so.
const BY_PATH: [&str; 2] = ["call", "raw"];
/// Globals through which a script can reach others that nobody sees.
const BACK_DOORS: [&str; 3] = ["self", "window", "global"];
/// Words by which it can too, wherever they stand.
const BACK_WORDS: [&str; 8] =
    ["globalThis", "eval", "Function", "constructor", "Reflect", "defineProp", "__proto__", "rototype"];
/// Words by which it can change what others do.
const CHANGING_WORDS: [&str; 3] = ["rototype", "__proto__", "defineProp"];

/// What an expression stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning<'a> {
    /// The namespace of a server, by its global.
    Server(&'a str),
    /// One of its tools, by the property; or a global function.
    Tool { server: &'a str, tool: &'a str },
    /// The global `tools`.
    Tools,
    /// One of its methods that call a tool by its path.
    ByPath,
}

/// A function that always goes by one name.
#[derive(Clone, Copy)]
pub(super) enum Body<'a> {
    Function(&'a Function<'a>),
    Arrow(&'a ArrowFunctionExpression<'a>),
}

/// The names of a program.
pub(super) struct Names<'a, 's> {
    scoping: &'s Scoping,
    globals: &'s Globals<'s>,
    meanings: BTreeMap<SymbolId, Meaning<'a>>,
    constants: BTreeMap<SymbolId, &'a Expression<'a>>,
    functions: BTreeMap<SymbolId, Body<'a>>,
    /// Where each of these functions begins.
    starts: BTreeMap<u32, SymbolId>,
    source: &'s str,
    uses_back_door: bool,
    sets_promise: bool,
    // Looked for when somebody asks: most sources call nothing.
    has_back_door: OnceCell<bool>,
    has_to_json: OnceCell<bool>,
    changes_built_ins: OnceCell<bool>,
}

impl<'a, 's> Names<'a, 's> {
    pub(super) fn of(source: &'s str, program: &Program<'a>, scoping: &'s Scoping, globals: &'s Globals<'s>) -> Self {
        let names = Self {
            scoping,
            globals,
            meanings: BTreeMap::new(),
            constants: BTreeMap::new(),
            functions: BTreeMap::new(),
            starts: BTreeMap::new(),
            source,
            uses_back_door: false,
            sets_promise: false,
            has_back_door: OnceCell::new(),
            has_to_json: OnceCell::new(),
            changes_built_ins: OnceCell::new(),
        };
        let mut collect = Collect(names);
        collect.visit_program(program);
        let mut names = collect.0;
        // It can set any name.
        if !(names.constants.is_empty() && names.functions.is_empty()) && names.has_any(&["eval"]) {
            names.meanings.clear();
            names.constants.clear();
            names.functions.clear();
        }
        names
    }

    /// What an expression stands for, if it is a server, a tool or what calls one.
    pub(super) fn meaning(&self, expression: &Expression<'a>) -> Option<Meaning<'a>> {
        self.meaning_within(expression, MAX_STEPS)
    }

    fn meaning_within(&self, expression: &Expression<'a>, steps: usize) -> Option<Meaning<'a>> {
        let steps = steps.checked_sub(1)?;
        match expression.get_inner_expression() {
            Expression::Identifier(name) => self.meaning_of_name(name),
            Expression::StaticMemberExpression(member) => {
                member_of(self.meaning_within(&member.object, steps)?, member.property.name.as_str())
            }
            Expression::ComputedMemberExpression(member) => match member.expression.get_inner_expression() {
                Expression::StringLiteral(name) if !name.lone_surrogates => {
                    member_of(self.meaning_within(&member.object, steps)?, name.value.as_str())
                }
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn meaning_of_name(&self, name: &IdentifierReference<'a>) -> Option<Meaning<'a>> {
        match self.symbol(name) {
            Some(symbol) => self.meanings.get(&symbol).copied(),
            None if !self.is_global(name) => None,
            None if (self.globals.is_server)(&name.name) => Some(Meaning::Server(name.name.as_str())),
            None if (self.globals.is_function)(&name.name) => {
                Some(Meaning::Tool { server: NO_SERVER, tool: name.name.as_str() })
            }
            None => (self.globals.has_tools && name.name == TOOLS).then_some(Meaning::Tools),
        }
    }

    /// The names that a declaration gives to a server or a tool; `None` if it is none of that, or
    /// takes more of a server than its pattern says.
    pub(super) fn given(&self, declarator: &VariableDeclarator<'a>) -> Option<Vec<(SymbolId, Meaning<'a>)>> {
        let meaning = self.meaning(declarator.init.as_ref()?)?;
        match &declarator.id {
            BindingPattern::BindingIdentifier(name) => Some(vec![(self.fixed(name.symbol_id.get())?, meaning)]),
            BindingPattern::ObjectPattern(pattern) if pattern.rest.is_none() => {
                let of_property = |property: &oxc::ast::ast::BindingProperty<'a>| {
                    let BindingPattern::BindingIdentifier(name) = &property.value else { return None };
                    let key = match &property.key {
                        oxc::ast::ast::PropertyKey::StaticIdentifier(key) => key.name.as_str(),
                        oxc::ast::ast::PropertyKey::StringLiteral(key) if !key.lone_surrogates => key.value.as_str(),
                        _ => return None,
                    };
                    Some((self.fixed(name.symbol_id.get())?, member_of(meaning, key)?))
                };
                pattern.properties.iter().map(of_property).collect()
            }
            _ => None,
        }
    }

    pub(super) fn symbol(&self, name: &IdentifierReference<'_>) -> Option<SymbolId> {
        self.scoping.get_reference(name.reference_id.get()?).symbol_id()
    }

    /// Whether a name is one that the script does not declare.
    pub(super) fn is_global(&self, name: &IdentifierReference<'_>) -> bool {
        name.reference_id.get().is_some() && self.symbol(name).is_none()
    }

    /// The function that a name always is.
    pub(super) fn function(&self, name: &IdentifierReference<'_>) -> Option<(SymbolId, Body<'a>)> {
        let symbol = self.symbol(name)?;
        Some((symbol, *self.functions.get(&symbol)?))
    }

    /// The name that a function always goes by.
    pub(super) fn name_of(&self, start: u32) -> Option<SymbolId> {
        self.starts.get(&start).copied()
    }

    /// The expression that a name always holds. Of an object or an array only if nothing else uses
    /// the name: it could be changed there.
    pub(super) fn constant(&self, name: &IdentifierReference<'_>) -> Option<&'a Expression<'a>> {
        let symbol = self.symbol(name)?;
        let constant = *self.constants.get(&symbol)?;
        let is_alone = || self.scoping.get_resolved_reference_ids(symbol).len() == 1;
        let is_changeable =
            matches!(constant.get_inner_expression(), Expression::ObjectExpression(_) | Expression::ArrayExpression(_));
        (!is_changeable || is_alone()).then_some(constant)
    }

    /// Whether the script may define globals that no declaration shows.
    pub(super) fn has_back_door(&self) -> bool {
        self.uses_back_door || *self.has_back_door.get_or_init(|| self.has_any(&BACK_WORDS))
    }

    /// Whether something in it may be another value as JSON than it is.
    pub(super) fn has_to_json(&self) -> bool {
        *self.has_to_json.get_or_init(|| self.has_any(&["toJSON"]))
    }

    /// Whether the script may change what promises do.
    pub(super) fn changes_built_ins(&self) -> bool {
        self.sets_promise || *self.changes_built_ins.get_or_init(|| self.has_any(&CHANGING_WORDS))
    }

    fn has_any(&self, words: &[&str]) -> bool {
        let source = self.source.as_bytes();
        words.iter().any(|word| memchr::memmem::find(source, word.as_bytes()).is_some())
    }

    /// A name that never holds anything else. (What is used before its declaration throws.)
    fn fixed(&self, symbol: Option<SymbolId>) -> Option<SymbolId> {
        symbol.filter(|symbol| {
            self.scoping.symbol_flags(*symbol).contains(SymbolFlags::BlockScopedVariable)
                && !self.scoping.symbol_is_mutated(*symbol)
        })
    }
}

fn member_of<'a>(of: Meaning<'a>, name: &'a str) -> Option<Meaning<'a>> {
    match of {
        Meaning::Server(server) if !name.starts_with('$') => Some(Meaning::Tool { server, tool: name }),
        Meaning::Tools if BY_PATH.contains(&name) => Some(Meaning::ByPath),
        _ => None,
    }
}

struct Collect<'a, 's>(Names<'a, 's>);

impl<'a> Collect<'a, '_> {
    fn declared(&mut self, declarator: &'a VariableDeclarator<'a>) {
        if let Some(given) = self.0.given(declarator) {
            self.0.meanings.extend(given);
            return;
        }
        let (BindingPattern::BindingIdentifier(name), Some(value)) = (&declarator.id, &declarator.init) else { return };
        let symbol = self.0.fixed(name.symbol_id.get());
        match value.get_inner_expression() {
            Expression::FunctionExpression(function) => self.function(symbol, Body::Function(function)),
            Expression::ArrowFunctionExpression(function) => self.function(symbol, Body::Arrow(function)),
            _ => {
                if let Some(symbol) = symbol {
                    self.0.constants.insert(symbol, value);
                }
            }
        }
    }

    fn function(&mut self, symbol: Option<SymbolId>, body: Body<'a>) {
        let is_one = |symbol: &SymbolId| {
            !self.0.scoping.symbol_is_mutated(*symbol) && self.0.scoping.symbol_redeclarations(*symbol).is_empty()
        };
        if let Some(symbol) = symbol.filter(is_one) {
            let start = match body {
                Body::Function(function) => function.span.start,
                Body::Arrow(function) => function.span.start,
            };
            self.0.starts.insert(start, symbol);
            self.0.functions.insert(symbol, body);
        }
    }
}

// Not a `Visitor`: it keeps nodes, and only here they live as long as the program.
impl<'a> VisitJs<'a> for Collect<'a, '_> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        match kind {
            AstKind::VariableDeclarator(declarator) => self.declared(declarator),
            AstKind::Function(function) if function.is_declaration() => {
                let symbol = function.id.as_ref().and_then(|name| name.symbol_id.get());
                self.function(symbol, Body::Function(function));
            }
            AstKind::IdentifierReference(name) if BACK_DOORS.contains(&name.name.as_str()) => {
                self.0.uses_back_door |= self.0.is_global(name);
            }
            // Nobody sets it, or a part of it, but to change what it does.
            AstKind::AssignmentExpression(assignment) => {
                let (start, end) = (assignment.left.span().start, assignment.left.span().end);
                let target = self.0.source.get(start as usize..end as usize).unwrap_or_default();
                self.0.sets_promise |= target.contains("Promise");
            }
            _ => {}
        }
    }
}
