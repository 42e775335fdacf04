//! The calls of tools that a script certainly makes, found before it runs: what certainly fails can
//! then be said while nothing was called.
//!
//! A call is certain if the script cannot end well without it: it is awaited, and stands in what is
//! evaluated in any case, at the top level or in a function that is called from there. Whatever a
//! condition, a loop, a `try`, an early `return` or a callback decides is passed over, and so is
//! what a script could catch. Nothing is guessed: where it is in doubt, a call is not certain.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use oxc::{
    ast::ast::{
        Argument, ArrayExpressionElement, ArrowFunctionExpression, AssignmentOperator, BindingPattern, CallExpression,
        Expression, Function, IdentifierReference, ObjectPropertyKind, Program, PropertyKind, ReturnStatement,
        Statement,
    },
    ast_visit::Visit,
    semantic::{ScopeFlags, Scoping, SymbolId},
    span::{GetSpan as _, Span},
    syntax::operator::UnaryOperator,
};

use super::Position;

/// Calls that are looked at.
const MAX_CALLS: usize = 64;
/// Bytes of the arguments of one call.
const MAX_ARGUMENTS: usize = 16 * 1024;
/// Expressions, functions and literals inside each other.
const MAX_DEPTH: usize = 64;
/// What a namespace has, or answers, that is no tool.
const NO_TOOLS: [&str; 17] = [
    "then",
    "catch",
    "finally",
    "toJSON",
    "toString",
    "toLocaleString",
    "valueOf",
    "constructor",
    "prototype",
    "__proto__",
    "length",
    "name",
    "inspect",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "call",
];

/// A call that the script certainly makes, and does not survive if it fails.
#[derive(Debug, PartialEq)]
pub(crate) struct CertainCall {
    /// The global that holds the server's namespace.
    pub(crate) server: String,
    /// The property that is called.
    pub(crate) tool: String,
    /// The arguments as JSON, where all of them stand in the source.
    pub(crate) arguments: Option<String>,
    /// Where the property's name stands.
    pub(crate) position: Position,
}

/// The certain calls of a program, in the order in which they are made. `is_server` knows the
/// globals whose methods are tools.
pub(super) fn certain_calls(
    source: &str,
    program: &Program<'_>,
    scoping: &Scoping,
    is_server: &dyn Fn(&str) -> bool,
) -> Vec<CertainCall> {
    let mut plan = Plan {
        source,
        scoping,
        is_server,
        functions: BTreeMap::new(),
        constants: BTreeMap::new(),
        entered: BTreeSet::new(),
        depth: 0,
        calls: Vec::new(),
    };
    plan.declare(&program.body);
    // The value of the last expression is awaited, and a function that stands alone is called.
    if let Some((Statement::ExpressionStatement(last), before)) = program.body.split_last() {
        if plan.statements(before) {
            match last.expression.get_inner_expression() {
                Expression::ArrowFunctionExpression(function) if before.is_empty() => plan.arrow(function),
                Expression::FunctionExpression(function) if before.is_empty() => plan.function(function),
                value => plan.expression(value, true),
            }
        }
    } else {
        plan.statements(&program.body);
    }
    plan.calls
}

/// A function that is called by its name.
#[derive(Clone, Copy)]
enum Body<'p, 'a> {
    Function(&'p Function<'a>),
    Arrow(&'p ArrowFunctionExpression<'a>),
}

struct Plan<'p, 'a> {
    source: &'p str,
    scoping: &'p Scoping,
    is_server: &'p dyn Fn(&str) -> bool,
    /// Functions of the top level that never are another.
    functions: BTreeMap<SymbolId, Body<'p, 'a>>,
    /// Constants of the top level that are literals.
    constants: BTreeMap<SymbolId, &'p Expression<'a>>,
    /// Functions that were looked into.
    entered: BTreeSet<SymbolId>,
    depth: usize,
    calls: Vec<CertainCall>,
}

impl<'p, 'a> Plan<'p, 'a> {
    fn declare(&mut self, statements: &'p [Statement<'a>]) {
        for statement in statements {
            match statement {
                Statement::FunctionDeclaration(function) => {
                    let symbol = function.id.as_ref().and_then(|name| name.symbol_id.get());
                    self.name(symbol, Body::Function(function));
                }
                Statement::VariableDeclaration(declaration) => {
                    for declarator in &declaration.declarations {
                        let (BindingPattern::BindingIdentifier(name), Some(value)) = (&declarator.id, &declarator.init)
                        else {
                            continue;
                        };
                        let symbol = name.symbol_id.get();
                        match value.get_inner_expression() {
                            Expression::FunctionExpression(function) => self.name(symbol, Body::Function(function)),
                            Expression::ArrowFunctionExpression(function) => self.name(symbol, Body::Arrow(function)),
                            literal @ (Expression::StringLiteral(_)
                            | Expression::NumericLiteral(_)
                            | Expression::BooleanLiteral(_)) => {
                                if let Some(symbol) = symbol.filter(|_| declaration.kind.is_const()) {
                                    self.constants.insert(symbol, literal);
                                }
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn name(&mut self, symbol: Option<SymbolId>, body: Body<'p, 'a>) {
        if let Some(symbol) = symbol.filter(|symbol| !self.scoping.symbol_is_mutated(*symbol)) {
            self.functions.insert(symbol, body);
        }
    }

    fn symbol(&self, name: &IdentifierReference<'_>) -> Option<SymbolId> {
        self.scoping.get_reference(name.reference_id.get()?).symbol_id()
    }

    /// Whether a name is one that the script does not declare.
    fn is_global(&self, name: &IdentifierReference<'_>) -> bool {
        name.reference_id.get().is_some() && self.symbol(name).is_none()
    }

    /// Whether what follows is certain too.
    fn statements(&mut self, statements: &'p [Statement<'a>]) -> bool {
        statements.iter().all(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &'p Statement<'a>) -> bool {
        match statement {
            Statement::ExpressionStatement(statement) => self.expression(&statement.expression, false),
            Statement::VariableDeclaration(declaration) => {
                for value in declaration.declarations.iter().filter_map(|declarator| declarator.init.as_ref()) {
                    self.expression(value, false);
                }
            }
            Statement::ReturnStatement(statement) => {
                if let Some(value) = &statement.argument {
                    self.expression(value, true);
                }
                return false;
            }
            Statement::ThrowStatement(statement) => {
                self.expression(&statement.argument, false);
                return false;
            }
            Statement::BlockStatement(block) => return self.statements(&block.body),
            Statement::IfStatement(branch) => {
                self.expression(&branch.test, false);
                return !leaves(statement);
            }
            Statement::ForOfStatement(each) => {
                self.expression(&each.right, false);
                return !leaves(statement);
            }
            Statement::ForInStatement(each) => {
                self.expression(&each.right, false);
                return !leaves(statement);
            }
            Statement::WhileStatement(repeated) => {
                self.expression(&repeated.test, false);
                return !leaves(statement);
            }
            Statement::SwitchStatement(switch) => {
                self.expression(&switch.discriminant, false);
                return !leaves(statement);
            }
            Statement::ForStatement(_)
            | Statement::DoWhileStatement(_)
            | Statement::TryStatement(_)
            | Statement::LabeledStatement(_) => return !leaves(statement),
            Statement::EmptyStatement(_)
            | Statement::FunctionDeclaration(_)
            | Statement::ClassDeclaration(_)
            | Statement::TSTypeAliasDeclaration(_)
            | Statement::TSInterfaceDeclaration(_) => {}
            _ => return false,
        }
        true
    }

    /// What is evaluated whenever the expression is. `is_awaited`: if it is a promise, the script fails when that does.
    fn expression(&mut self, expression: &'p Expression<'a>, is_awaited: bool) {
        if self.depth >= MAX_DEPTH || self.calls.len() >= MAX_CALLS {
            return;
        }
        self.depth += 1;
        match expression.get_inner_expression() {
            Expression::AwaitExpression(awaited) => self.expression(&awaited.argument, true),
            Expression::CallExpression(call) => self.call(call, is_awaited),
            Expression::StaticMemberExpression(member) => self.expression(&member.object, false),
            Expression::ComputedMemberExpression(member) => {
                self.expression(&member.object, false);
                self.expression(&member.expression, false);
            }
            Expression::BinaryExpression(binary) => {
                self.expression(&binary.left, false);
                self.expression(&binary.right, false);
            }
            Expression::LogicalExpression(logical) => self.expression(&logical.left, false),
            Expression::ConditionalExpression(conditional) => self.expression(&conditional.test, false),
            Expression::AssignmentExpression(assignment) if assignment.operator == AssignmentOperator::Assign => {
                self.expression(&assignment.right, false);
            }
            Expression::SequenceExpression(sequence) => {
                for part in &sequence.expressions {
                    self.expression(part, false);
                }
            }
            Expression::ArrayExpression(array) => {
                for element in &array.elements {
                    self.element(element, false);
                }
            }
            Expression::ObjectExpression(object) => {
                for property in &object.properties {
                    match property {
                        ObjectPropertyKind::ObjectProperty(property) => self.expression(&property.value, false),
                        ObjectPropertyKind::SpreadProperty(spread) => self.expression(&spread.argument, false),
                    }
                }
            }
            Expression::TemplateLiteral(template) => {
                for part in &template.expressions {
                    self.expression(part, false);
                }
            }
            Expression::UnaryExpression(unary) => self.expression(&unary.argument, false),
            Expression::NewExpression(new) => self.arguments(&new.arguments),
            _ => {}
        }
        self.depth -= 1;
    }

    fn element(&mut self, element: &'p ArrayExpressionElement<'a>, is_awaited: bool) {
        match element {
            ArrayExpressionElement::SpreadElement(spread) => self.expression(&spread.argument, false),
            element => {
                if let Some(value) = element.as_expression() {
                    self.expression(value, is_awaited);
                }
            }
        }
    }

    fn arguments(&mut self, arguments: &'p [Argument<'a>]) {
        for argument in arguments {
            match argument {
                Argument::SpreadElement(spread) => self.expression(&spread.argument, false),
                argument => {
                    if let Some(value) = argument.as_expression() {
                        self.expression(value, false);
                    }
                }
            }
        }
    }

    fn call(&mut self, call: &'p CallExpression<'a>, is_awaited: bool) {
        if call.optional {
            return;
        }
        let callee = call.callee.get_inner_expression();
        match callee {
            Expression::Identifier(name) => {
                self.arguments(&call.arguments);
                if let Some(symbol) = self.symbol(name).filter(|_| is_awaited)
                    && let Some(body) = self.functions.get(&symbol).copied()
                    && self.entered.insert(symbol)
                {
                    match body {
                        Body::Function(function) => self.function(function),
                        Body::Arrow(function) => self.arrow(function),
                    }
                }
                return;
            }
            Expression::ArrowFunctionExpression(function) if is_awaited => {
                self.arguments(&call.arguments);
                self.arrow(function);
                return;
            }
            Expression::FunctionExpression(function) if is_awaited => {
                self.arguments(&call.arguments);
                self.function(function);
                return;
            }
            _ => {}
        }
        let (object, method, place): (&'p Expression<'a>, Option<&str>, Span) = match callee {
            Expression::StaticMemberExpression(member) if !member.optional => {
                (&member.object, Some(member.property.name.as_str()), member.property.span)
            }
            Expression::ComputedMemberExpression(member) if !member.optional => {
                self.expression(&member.expression, false);
                let name = match member.expression.get_inner_expression() {
                    Expression::StringLiteral(name) if !name.lone_surrogates => Some(name.value.as_str()),
                    _ => None,
                };
                (&member.object, name, member.expression.span())
            }
            _ => return,
        };
        if let (Expression::Identifier(name), Some(method)) = (object.get_inner_expression(), method)
            && self.is_global(name)
        {
            if name.name == "Promise" && method == "all" && is_awaited {
                if let Some(Expression::ArrayExpression(array)) =
                    call.arguments.first().and_then(Argument::as_expression).map(Expression::get_inner_expression)
                {
                    for element in &array.elements {
                        self.element(element, true);
                    }
                    return;
                }
            } else if (self.is_server)(&name.name) {
                self.arguments(&call.arguments);
                if is_awaited && !NO_TOOLS.contains(&method) && !method.starts_with('$') {
                    self.note(&name.name, method, place, &call.arguments);
                }
                return;
            }
        }
        // What is thrown passes by a `then` with one callback, and is caught by any other.
        let passes = is_awaited && method == Some("then") && call.arguments.len() == 1;
        self.expression(object, passes);
        self.arguments(&call.arguments);
    }

    fn note(&mut self, server: &str, tool: &str, place: Span, arguments: &'p [Argument<'a>]) {
        let mut text = String::new();
        let is_known = match arguments {
            [] => {
                text.push_str("{}");
                true
            }
            [only] => match only.as_expression().map(Expression::get_inner_expression) {
                Some(object @ Expression::ObjectExpression(_)) => self.literal(object, 0, &mut text).is_some(),
                _ => false,
            },
            _ => false,
        };
        self.calls.push(CertainCall {
            server: server.to_owned(),
            tool: tool.to_owned(),
            arguments: is_known.then_some(text),
            position: Position::of_offset(self.source, place.start as usize),
        });
    }

    fn function(&mut self, function: &'p Function<'a>) {
        if let Some(body) = function.body.as_ref().filter(|_| !function.generator) {
            self.body(&body.statements);
        }
    }

    fn arrow(&mut self, function: &'p ArrowFunctionExpression<'a>) {
        match function.get_expression() {
            Some(value) => self.expression(value, true),
            None => {
                if let Some(body) = function.get_function_body() {
                    self.body(&body.statements);
                }
            }
        }
    }

    fn body(&mut self, statements: &'p [Statement<'a>]) {
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            self.statements(statements);
            self.depth -= 1;
        }
    }

    /// Writes a value as JSON, if all of it stands in the source.
    fn literal(&self, value: &'p Expression<'a>, depth: usize, out: &mut String) -> Option<()> {
        if depth > MAX_DEPTH || out.len() > MAX_ARGUMENTS {
            return None;
        }
        match value.get_inner_expression() {
            Expression::StringLiteral(text) if !text.lone_surrogates => write_text(&text.value, out),
            Expression::TemplateLiteral(template) if template.expressions.is_empty() => {
                let part = template.quasis.first().filter(|part| !part.lone_surrogates)?;
                write_text(part.value.cooked.as_ref()?, out);
            }
            Expression::NumericLiteral(number) => write_number(number.value, out)?,
            Expression::UnaryExpression(unary) if unary.operator == UnaryOperator::UnaryNegation => {
                let Expression::NumericLiteral(number) = unary.argument.get_inner_expression() else { return None };
                write_number(-number.value, out)?;
            }
            Expression::BooleanLiteral(boolean) => out.push_str(if boolean.value { "true" } else { "false" }),
            Expression::NullLiteral(_) => out.push_str("null"),
            Expression::Identifier(name) => {
                let constant = self.constants.get(&self.symbol(name)?)?;
                self.literal(constant, depth + 1, out)?;
            }
            Expression::ArrayExpression(array) => {
                out.push('[');
                for (number, element) in array.elements.iter().enumerate() {
                    if number > 0 {
                        out.push(',');
                    }
                    self.literal(element.as_expression()?, depth + 1, out)?;
                }
                out.push(']');
            }
            Expression::ObjectExpression(object) => {
                out.push('{');
                let mut names = BTreeSet::new();
                for (number, property) in object.properties.iter().enumerate() {
                    let ObjectPropertyKind::ObjectProperty(property) = property else { return None };
                    let name = property.key.static_name().filter(|_| !property.computed)?;
                    let is_plain = property.kind == PropertyKind::Init && name != "__proto__" && name != "toJSON";
                    if !is_plain || !names.insert(name.to_string()) {
                        return None;
                    }
                    if number > 0 {
                        out.push(',');
                    }
                    write_text(&name, out);
                    out.push(':');
                    self.literal(&property.value, depth + 1, out)?;
                }
                out.push('}');
            }
            _ => return None,
        }
        (out.len() <= MAX_ARGUMENTS).then_some(())
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // Writing to a String cannot fail.
            control if control < ' ' => drop(write!(out, "\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
}

fn write_number(number: f64, out: &mut String) -> Option<()> {
    if !number.is_finite() || number.abs() >= 1e21 {
        return None;
    }
    let number = if number == 0.0 { 0.0 } else { number };
    write!(out, "{number}").ok()
}

/// Whether a statement may end the function that it stands in, other than by an error.
fn leaves(statement: &Statement<'_>) -> bool {
    struct Returns(bool);
    impl<'a> Visit<'a> for Returns {
        fn visit_return_statement(&mut self, _: &ReturnStatement<'a>) {
            self.0 = true;
        }
        fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}
        fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}
        fn visit_expression(&mut self, _: &Expression<'a>) {}
    }
    let mut returns = Returns(false);
    returns.visit_statement(statement);
    returns.0
}

#[cfg(test)]
mod tests {
    fn calls(source: &str) -> Vec<String> {
        let is_server = |name: &str| name == "fs" || name == "git";
        let Ok(translated) = super::super::translate(source, &is_server) else { panic!("{source} is no program") };
        let shown = |call: &super::CertainCall| {
            let arguments = call.arguments.as_deref().unwrap_or("?");
            format!("{}:{} {}.{} {arguments}", call.position.line, call.position.column, call.server, call.tool)
        };
        translated.calls.iter().map(shown).collect()
    }

    #[test]
    fn what_is_awaited_in_any_case_is_certain() {
        for (source, found) in [
            (
                "await fs.read({ path: 'a', n: -1.5, all: [true, null] })",
                r#"1:10 fs.read {"path":"a","n":-1.5,"all":[true,null]}"#,
            ),
            ("const { a } = await fs['read']({ path: p })", "1:24 fs.read ?"),
            ("const path = 'x';\nreturn fs.read({ path })", r#"2:11 fs.read {"path":"x"}"#),
            ("fs.read()", "1:4 fs.read {}"),
            ("async function main() { if (a) return 1; await git.log({}) }\nawait main()", ""),
            ("async function main() { await git.log({}); }\nmain()", "1:35 git.log {}"),
            ("async () => { const x = await git.log(`a`) }", "1:35 git.log ?"),
            ("const [a] = await Promise.all([fs.read({}), 1])", "1:35 fs.read {}"),
            ("return (await fs.read({})).map((x) => fs.no(x))", "1:18 fs.read {}"),
            ("for (const x of await fs.list({})) { await fs.no(x) }", "1:26 fs.list {}"),
            ("return await fs.read({}).then((x) => x)", "1:17 fs.read {}"),
            ("await fs.read({ a: 1, a: 2 })", "1:10 fs.read ?"),
            ("await fs.read({ a: 'q\"\\n' })", r#"1:10 fs.read {"a":"q\"\u000a"}"#),
        ] {
            assert_eq!(calls(source).join("; "), found, "{source}");
        }
    }

    #[test]
    fn what_is_guarded_or_can_be_caught_is_not_certain() {
        for source in [
            "try { await fs.read({}) } catch {}",
            "if (x) { await fs.read({}) }",
            "if ('read' in fs) await fs.read({})",
            "if (typeof fs.read !== 'function') return 1;\nawait fs.read({})",
            "while (x) { await fs.read({}) }",
            "x && await fs.read({}); x ? await fs.read({}) : 1; x ?? await fs.read({}); 1",
            "await fs.read?.({}); await fs?.read({}); 1",
            "await fs.read({}).catch(() => 1)",
            "await fs.read({}).then((x) => x, () => 1)",
            "await Promise.allSettled([fs.read({})]); await Promise.race([fs.read({})]); 1",
            "const p = fs.read({}); 1",
            "async function main() { await fs.read({}) }\nmain(); 1",
            "async function main() { await fs.read({}) }\nmain().catch(console.log)",
            "let main = async () => { await fs.read({}) }; main = async () => 1; await main()",
            "const fs = { read() {} }; await fs.read({})",
            "function f(fs) { return fs.read({}) }\nawait f({ read() {} })",
            "a: { break a; await fs.read({}) }",
            "await fs.toString(); await fs.$exclusive(); 1",
            "x ||= await fs.read({}); 1",
        ] {
            assert_eq!(calls(source), Vec::<String>::new(), "{source}");
        }
    }
}
