//! Promises on which a script certainly decides, or of which it certainly reads: refused before
//! anything runs, while no tool was called.
//!
//! Certain is what follows from the scopes alone: a call of a tool or of an async function, or a
//! variable that holds one and never anything else.

use std::collections::{BTreeMap, BTreeSet};

use oxc::{
    ast::ast::{
        Argument, ArrowFunctionExpression, AssignmentTarget, BinaryExpression, BindingPattern, CallExpression,
        ChainElement, ConditionalExpression, DoWhileStatement, Expression, ForStatement, Function, IdentifierReference,
        IfStatement, LogicalExpression, MemberExpression, MethodDefinition, ObjectProperty, Program,
        SimpleAssignmentTarget, UnaryExpression, VariableDeclarator, WhileStatement,
    },
    ast_visit::VisitJs as _,
    semantic::{ScopeFlags, Scoping, SymbolId},
    span::{GetSpan, Span},
    syntax::operator::{BinaryOperator, LogicalOperator, UnaryOperator},
};

use super::{
    super::{Globals, SyntaxFault},
    Position, TOOLS, quoted,
};
use crate::visitor::{Visiting, Visitor};

/// Members that promises have, as all objects do.
const OF_PROMISES: [&str; 10] = [
    "then",
    "catch",
    "finally",
    "constructor",
    "toString",
    "toLocaleString",
    "valueOf",
    "hasOwnProperty",
    "isPrototypeOf",
    "__proto__",
];
/// What a namespace has that is no tool.
const OF_NAMESPACES: [&str; 4] = ["toString", "valueOf", "toJSON", "constructor"];
/// Methods of arrays that decide on what their callback gives.
const DECIDING: [&str; 7] = ["filter", "find", "findIndex", "findLast", "findLastIndex", "some", "every"];
/// What was saved by asking first.
const UNCALLED: &str = "nothing was called yet";

/// Refuses the first such promise, if there is one.
pub(crate) fn refuse(
    source: &str,
    program: &Program<'_>,
    scoping: &Scoping,
    globals: &Globals<'_>,
) -> Result<(), SyntaxFault> {
    let mut known = Known::new(source, scoping, globals);
    Visiting(&mut known).visit_program(program);
    let mut uses = Uses { known: &known, found: None };
    Visiting(&mut uses).visit_program(program);
    let Some((span, message, hint)) = uses.found else { return Ok(()) };
    Err(SyntaxFault {
        message,
        position: Some(Position::of_offset(source, span.start as usize)),
        hint: Some(format!("{hint}; {UNCALLED}")),
    })
}

/// What a first reading of the source finds.
struct Known<'k> {
    source: &'k str,
    scoping: &'k Scoping,
    globals: &'k Globals<'k>,
    /// Functions that are async, and never another.
    async_functions: BTreeSet<SymbolId>,
    /// Variables that hold what a call gave: whether it is certainly a tool's, else the function;
    /// and the call.
    held: BTreeMap<SymbolId, (Option<SymbolId>, Span)>,
    /// Variables that are given members.
    extended: BTreeSet<SymbolId>,
    /// Methods of the script's own that go by the names of those of arrays.
    own_methods: BTreeSet<&'static str>,
}

/// A promise that is one for certain: its call.
#[derive(Clone, Copy)]
struct Certain {
    call: Span,
    callee: Span,
    is_held: bool,
}

impl<'k> Known<'k> {
    fn new(source: &'k str, scoping: &'k Scoping, globals: &'k Globals<'k>) -> Self {
        Self {
            source,
            scoping,
            globals,
            async_functions: BTreeSet::new(),
            held: BTreeMap::new(),
            extended: BTreeSet::new(),
            own_methods: BTreeSet::new(),
        }
    }

    fn symbol(&self, name: &IdentifierReference<'_>) -> Option<SymbolId> {
        self.scoping.get_reference(name.reference_id.get()?).symbol_id()
    }

    /// Whether the methods of a global are tools, and nothing else.
    fn is_server(&self, name: &str) -> bool {
        !self.globals.may_differ && (self.globals.is_server)(name)
    }

    /// Whether a call gives a promise: `Ok` of a tool's, `Err` with the function that would have to
    /// be async.
    fn call(&self, call: &CallExpression<'_>) -> Option<Result<(), SymbolId>> {
        if call.optional {
            return None;
        }
        let member = match call.callee.get_inner_expression() {
            Expression::Identifier(name) => {
                let is_tool = |name: &str| !self.globals.may_differ && (self.globals.is_function)(name);
                return match self.symbol(name) {
                    Some(symbol) => Some(Err(symbol)),
                    None => is_tool(&name.name).then_some(Ok(())),
                };
            }
            callee => callee.as_member_expression()?,
        };
        let Expression::Identifier(object) = member.object() else { return None };
        let method = member.static_property_name()?;
        let is_tool = if self.globals.has_tools && object.name == TOOLS {
            matches!(method, "call" | "raw")
        } else {
            self.is_server(&object.name) && !OF_PROMISES.contains(&method) && !OF_NAMESPACES.contains(&method)
        };
        (is_tool && self.symbol(object).is_none()).then_some(Ok(()))
    }

    /// The promise that an expression is for certain.
    fn promise(&self, expression: &Expression<'_>) -> Option<Certain> {
        match expression.get_inner_expression() {
            Expression::CallExpression(call) => {
                let is_certain = match self.call(call)? {
                    Ok(()) => true,
                    Err(function) => self.async_functions.contains(&function),
                };
                is_certain.then(|| Certain { call: call.span, callee: call.callee.span(), is_held: false })
            }
            Expression::Identifier(name) => {
                let symbol = self.symbol(name)?;
                let (function, callee) = self.held.get(&symbol).filter(|_| !self.extended.contains(&symbol))?;
                let is_certain = function.is_none_or(|function| self.async_functions.contains(&function));
                is_certain.then(|| Certain { call: name.span, callee: *callee, is_held: true })
            }
            _ => None,
        }
    }

    /// `demo.get_issue(…)`, as it is said.
    fn named(&self, certain: Certain) -> String {
        format!("{}(…)", quoted(self.source, certain.callee).unwrap_or_else(|| "the call".to_owned()))
    }

    fn line(&self, span: Span) -> u32 {
        Position::of_offset(self.source, span.start as usize).line
    }

    /// What to do about a promise: `inline` is the expression with its `await`.
    fn advice(&self, certain: Certain, inline: &str) -> String {
        let call = self.named(certain);
        if certain.is_held {
            return format!("put `await` before {call} in line {}", self.line(certain.callee));
        }
        format!("write {}", inline.replace("{}", &call))
    }

    fn extend(&mut self, object: &Expression<'_>) {
        if let Expression::Identifier(name) = object.get_inner_expression()
            && let Some(symbol) = self.symbol(name)
        {
            self.extended.insert(symbol);
        }
    }

    fn note_method(&mut self, name: Option<std::borrow::Cow<'_, str>>) {
        if let Some(name) = name.and_then(|name| DECIDING.into_iter().find(|known| *known == name)) {
            self.own_methods.insert(name);
        }
    }
}

impl<'a> Visitor<'a> for Known<'_> {
    fn enter_function(&mut self, function: &Function<'a>, _: ScopeFlags) -> bool {
        if let Some(symbol) = function.id.as_ref().and_then(|name| name.symbol_id.get())
            && function.r#async
            && !function.generator
            && !self.scoping.symbol_is_mutated(symbol)
        {
            self.async_functions.insert(symbol);
        }
        true
    }

    fn enter_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) -> bool {
        if let (BindingPattern::BindingIdentifier(name), Some(value)) = (&declarator.id, &declarator.init)
            && let Some(symbol) = name.symbol_id.get()
            && !self.scoping.symbol_is_mutated(symbol)
        {
            match value.get_inner_expression() {
                Expression::ArrowFunctionExpression(function) if function.r#async => {
                    self.async_functions.insert(symbol);
                }
                Expression::FunctionExpression(function) if function.r#async && !function.generator => {
                    self.async_functions.insert(symbol);
                }
                Expression::CallExpression(call) => {
                    if let Some(found) = self.call(call) {
                        self.held.insert(symbol, (found.err(), call.callee.span()));
                    }
                }
                _ => {}
            }
        }
        true
    }

    fn enter_simple_assignment_target(&mut self, target: &SimpleAssignmentTarget<'a>) -> bool {
        if let Some(member) = target.as_member_expression() {
            self.extend(member.object());
        }
        true
    }

    fn enter_assignment_target(&mut self, target: &AssignmentTarget<'a>) -> bool {
        if let Some(member) = target.as_member_expression() {
            self.extend(member.object());
        }
        true
    }

    fn enter_call_expression(&mut self, call: &CallExpression<'a>) -> bool {
        // What is handed to `Object.assign` and its kin may come to have members.
        if let Some(member) = call.callee.as_member_expression()
            && matches!(member.object(), Expression::Identifier(object) if object.name == "Object" || object.name == "Reflect")
            && let Some(first) = call.arguments.first().and_then(Argument::as_expression)
        {
            self.extend(first);
        }
        true
    }

    fn enter_method_definition(&mut self, method: &MethodDefinition<'a>) -> bool {
        self.note_method(method.key.static_name());
        true
    }

    fn enter_object_property(&mut self, property: &ObjectProperty<'a>) -> bool {
        self.note_method(property.key.static_name());
        true
    }
}

/// The first use of a promise that is wrong for certain.
struct Uses<'u, 'k> {
    known: &'u Known<'k>,
    /// Where, what, and what to do.
    found: Option<(Span, String, String)>,
}

impl Uses<'_, '_> {
    fn find(&mut self, span: Span, message: String, hint: String) {
        self.found.get_or_insert((span, message, hint));
    }

    /// A value that is asked for its truth.
    fn truth(&mut self, value: &Expression<'_>) {
        let Some(certain) = self.known.promise(value) else { return };
        let message = format!(
            "{} gives a promise, and line {} asks whether it is true, which it always is",
            self.known.named(certain),
            self.known.line(certain.call)
        );
        self.find(certain.call, message, self.known.advice(certain, "(await {})"));
    }

    /// A value that is compared or calculated with.
    fn operand(&mut self, value: &Expression<'_>, done: &str) {
        let Some(certain) = self.known.promise(value) else { return };
        let message = format!(
            "{} gives a promise, and line {} {done} the promise",
            self.known.named(certain),
            self.known.line(certain.call)
        );
        self.find(certain.call, message, self.known.advice(certain, "(await {})"));
    }

    fn member(&mut self, member: &MemberExpression<'_>) {
        let name = match member {
            MemberExpression::PrivateFieldExpression(_) => return,
            MemberExpression::ComputedMemberExpression(computed) => match computed.expression.get_inner_expression() {
                Expression::NumericLiteral(number) => format!("[{}]", number.value),
                Expression::StringLiteral(name) if !OF_PROMISES.contains(&name.value.as_str()) => {
                    format!("[{:?}]", name.value.as_str())
                }
                _ => return,
            },
            MemberExpression::StaticMemberExpression(member) => {
                if OF_PROMISES.contains(&member.property.name.as_str()) {
                    return;
                }
                format!(".{}", member.property.name)
            }
        };
        let Some(certain) = self.known.promise(member.object()) else { return };
        let message = format!(
            "{} gives a promise, and line {} reads {name} of the promise",
            self.known.named(certain),
            self.known.line(member.object().span())
        );
        self.find(certain.call, message, self.known.advice(certain, &format!("(await {{}}){name}")));
    }

    /// A callback on whose promise a method of arrays decides.
    fn callback(&mut self, call: &CallExpression<'_>) {
        let Some(member) = call.callee.get_inner_expression().as_member_expression() else { return };
        let Some(method) = member.static_property_name().filter(|name| DECIDING.contains(name)) else { return };
        // A method of a server or of the script's own is another.
        let is_other = matches!(member.object(), Expression::Identifier(object) if self.known.is_server(&object.name));
        if is_other || self.known.own_methods.contains(method) {
            return;
        }
        let gives_promise = match call.arguments.first() {
            Some(Argument::ArrowFunctionExpression(function)) => function.r#async || self.gives_promise(function),
            Some(Argument::FunctionExpression(function)) => function.r#async && !function.generator,
            _ => false,
        };
        if !gives_promise {
            return;
        }
        let list = quoted(self.known.source, member.object().span()).unwrap_or_else(|| "list".to_owned());
        let message = format!(
            "{method} decides on what its callback gives, and in line {} that is a promise, which is always true",
            self.known.line(call.span)
        );
        let all = format!("await Promise.all({list}.map(async (x) => …))");
        let hint = match method {
            "some" | "every" => format!("write ({all}).{method}(Boolean)"),
            method => format!("write const fits = {all}; and then {list}.{method}((x, i) => fits[i])"),
        };
        self.find(member.object().span(), message, hint);
    }

    fn gives_promise(&self, function: &ArrowFunctionExpression<'_>) -> bool {
        function.get_expression().is_some_and(|body| self.known.promise(body).is_some())
    }
}

impl<'a> Visitor<'a> for Uses<'_, '_> {
    fn enter_expression(&mut self, expression: &Expression<'a>) -> bool {
        if self.found.is_some() {
            return false;
        }
        // What is assigned to is no expression of its own.
        if let Some(member) = expression.as_member_expression() {
            self.member(member);
        }
        true
    }

    fn enter_chain_element(&mut self, element: &ChainElement<'a>) -> bool {
        if let Some(member) = element.as_member_expression() {
            self.member(member);
        }
        true
    }

    fn enter_call_expression(&mut self, call: &CallExpression<'a>) -> bool {
        self.callback(call);
        true
    }

    fn enter_if_statement(&mut self, statement: &IfStatement<'a>) -> bool {
        self.truth(&statement.test);
        true
    }

    fn enter_while_statement(&mut self, statement: &WhileStatement<'a>) -> bool {
        self.truth(&statement.test);
        true
    }

    fn enter_do_while_statement(&mut self, statement: &DoWhileStatement<'a>) -> bool {
        self.truth(&statement.test);
        true
    }

    fn enter_for_statement(&mut self, statement: &ForStatement<'a>) -> bool {
        if let Some(test) = &statement.test {
            self.truth(test);
        }
        true
    }

    fn enter_conditional_expression(&mut self, conditional: &ConditionalExpression<'a>) -> bool {
        self.truth(&conditional.test);
        true
    }

    fn enter_logical_expression(&mut self, logical: &LogicalExpression<'a>) -> bool {
        if logical.operator != LogicalOperator::Coalesce {
            self.truth(&logical.left);
        }
        true
    }

    fn enter_unary_expression(&mut self, unary: &UnaryExpression<'a>) -> bool {
        match unary.operator {
            UnaryOperator::LogicalNot => self.truth(&unary.argument),
            UnaryOperator::UnaryPlus | UnaryOperator::UnaryNegation => {
                self.operand(&unary.argument, "calculates with");
            }
            _ => {}
        }
        true
    }

    fn enter_binary_expression(&mut self, binary: &BinaryExpression<'a>) -> bool {
        match binary.operator {
            BinaryOperator::In | BinaryOperator::Instanceof => {}
            // Whether two names hold the same promise is a question of its own, as is whether one
            // holds anything.
            operator if operator.is_equality() => {
                if is_value(&binary.left) || is_value(&binary.right) {
                    self.operand(&binary.left, "compares");
                    self.operand(&binary.right, "compares");
                }
            }
            operator => {
                let done = if operator.is_compare() { "compares" } else { "calculates with" };
                self.operand(&binary.left, done);
                self.operand(&binary.right, done);
            }
        }
        true
    }
}

/// Whether a promise can never be equal to what an expression is.
fn is_value(expression: &Expression<'_>) -> bool {
    let expression = expression.get_inner_expression();
    matches!(
        expression,
        Expression::StringLiteral(_)
            | Expression::NumericLiteral(_)
            | Expression::BooleanLiteral(_)
            | Expression::BigIntLiteral(_)
            | Expression::TemplateLiteral(_)
    )
}
