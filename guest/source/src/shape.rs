//! The forms of a program: what is its value.

use oxc::{
    allocator::{Allocator, ArenaBox, ArenaVec, TakeIn},
    ast::{
        ast::{BindingIdentifier, ExportDefaultDeclarationKind, Expression, FunctionType, Program, Statement},
        builder::AstBuilder,
    },
    span::{GetSpan, SPAN, Span},
};

use super::{Kind, entry::DefaultExport};

/// Whether a function of the program is called to get its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shaped {
    Called,
    AsItIs,
}

/// Makes the last statement's value, or the default export, the value of the program.
pub(super) fn return_last_value<'a>(
    allocator: &'a Allocator,
    program: &mut Program<'a>,
    default: DefaultExport,
    kind: Kind,
) -> Shaped {
    let builder = AstBuilder::new(allocator);
    unwrap_exports(allocator, program, default);
    let is_only = program.body.len() == 1 && kind == Kind::Script;
    let mut shaped = if default == DefaultExport::Called { Shaped::Called } else { Shaped::AsItIs };
    // Functions that are declared last are there before the first statement, so that nothing can
    // come after them.
    let mut after = Vec::new();
    while !is_only && program.body.last().is_some_and(declares_only) {
        after.extend(program.body.pop());
    }
    match program.body.pop() {
        Some(last) => {
            if is_only && is_called(&last) {
                shaped = Shaped::Called;
            }
            program.body.push(value_of(last, is_only, &builder));
        }
        // A program that is nothing but a string reads as a directive.
        None if after.is_empty() => {
            if let Some(directive) = program.directives.pop() {
                let value = Expression::StringLiteral(ArenaBox::new_in(directive.expression, &builder));
                program.body.push(Statement::new_return_statement(directive.span, Some(value), &builder));
            }
        }
        None => {}
    }
    program.body.extend(after.into_iter().rev());
    shaped
}

/// Whether a statement, if it is the only one, is a function to call.
fn is_called(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::ExpressionStatement(statement) => is_function(&statement.expression),
        Statement::FunctionDeclaration(function) => !function.generator && function.params.items.is_empty(),
        _ => false,
    }
}

fn declares_only(statement: &Statement<'_>) -> bool {
    matches!(statement, Statement::FunctionDeclaration(_) | Statement::EmptyStatement(_))
}

/// The last statement, made to return its value.
fn value_of<'a>(last: Statement<'a>, is_only: bool, builder: &AstBuilder<'a>) -> Statement<'a> {
    let is_called = is_only && is_called(&last);
    match last {
        Statement::ExpressionStatement(mut statement) => {
            let expression = statement.expression.take_in(builder);
            let span = statement.span;
            let value = if is_called { called(expression, span, builder) } else { expression };
            Statement::new_return_statement(span, Some(value), builder)
        }
        Statement::FunctionDeclaration(mut function) if is_called => {
            let span = function.span;
            function.r#type = FunctionType::FunctionExpression;
            let value = called(Expression::FunctionExpression(function), span, builder);
            Statement::new_return_statement(span, Some(value), builder)
        }
        // What `using` at the top level becomes: the rest of the program is inside. Nobody has
        // written this statement, so it stands nowhere.
        Statement::TryStatement(mut using) if using.span == SPAN => {
            if let Some(last) = using.block.body.pop() {
                using.block.body.push(value_of(last, false, builder));
            }
            Statement::TryStatement(using)
        }
        other => other,
    }
}

fn called<'a>(function: Expression<'a>, span: Span, builder: &AstBuilder<'a>) -> Expression<'a> {
    let callee = Expression::new_parenthesized_expression(SPAN, function, builder);
    Expression::new_call_expression(span, callee, None, ArenaVec::new_in(builder), false, builder)
}

fn is_function(expression: &Expression<'_>) -> bool {
    matches!(
        expression.without_parentheses(),
        Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_)
    )
}

/// `export default X` becomes `X`, and `export const x = …` becomes `const x = …`. What has a name
/// stays declared where it is.
fn unwrap_exports<'a>(allocator: &'a Allocator, program: &mut Program<'a>, default: DefaultExport) {
    let builder = AstBuilder::new(allocator);
    let statements = std::mem::replace(&mut program.body, ArenaVec::new_in(&builder));
    let mut default_value = None;
    for statement in statements {
        match statement {
            Statement::ExportDefaultDeclaration(mut export) => {
                let span = export.declaration.span();
                let name = |id: &BindingIdentifier<'a>| Expression::new_identifier(span, id.name, &builder);
                let expression = match export.declaration.take_in(&builder) {
                    ExportDefaultDeclarationKind::FunctionDeclaration(mut function) => {
                        match function.id.as_ref().map(name) {
                            Some(name) => {
                                program.body.push(Statement::FunctionDeclaration(function));
                                name
                            }
                            None => {
                                function.r#type = FunctionType::FunctionExpression;
                                Expression::FunctionExpression(function)
                            }
                        }
                    }
                    ExportDefaultDeclarationKind::ClassDeclaration(class) => match class.id.as_ref().map(name) {
                        Some(name) => {
                            program.body.push(Statement::ClassDeclaration(class));
                            name
                        }
                        None => Expression::ClassExpression(class),
                    },
                    ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => continue,
                    other => match Expression::try_from(other) {
                        Ok(expression) => expression,
                        Err(()) => continue,
                    },
                };
                // It is the program's value wherever it stands.
                let value = match default {
                    DefaultExport::Called => called(expression, span, &builder),
                    DefaultExport::Value => expression,
                    DefaultExport::Used => continue,
                };
                default_value = Some(Statement::new_expression_statement(span, value, &builder));
            }
            Statement::ExportDeclaration(mut export) => {
                program.body.push(Statement::from(export.declaration.take_in(&builder)));
            }
            // Of an `export … from`, only one of types alone gets this far.
            Statement::ExportNamedDeclaration(_)
            | Statement::ExportFromDeclaration(_)
            | Statement::ExportAllDeclaration(_) => {}
            other => program.body.push(other),
        }
    }
    if let Some(value) = default_value {
        program.body.push(value);
    }
}
