//! The forms of a program: what is its value, and what has no place in a jar.

use oxc::{
    allocator::{Allocator, ArenaBox, ArenaVec, TakeIn},
    ast::{
        ast::{ExportDefaultDeclarationKind, Expression, FunctionType, Program, Statement},
        builder::AstBuilder,
    },
    span::{GetSpan, SPAN, Span},
};

use super::{Position, SyntaxFault};

/// Refuses static imports and exports, which a script in a jar has no use for. Type-only ones are left to the translation.
pub(super) fn refuse_modules(source: &str, program: &Program<'_>) -> Result<(), SyntaxFault> {
    for statement in &program.body {
        let (what, span): (String, Span) = match statement {
            Statement::ImportDeclaration(import) if !import.import_kind.is_type() => {
                (format!("cannot import '{}': there are no modules in here", import.source.value), import.span)
            }
            Statement::ExportAllDeclaration(export) => {
                ("'export * from' has no meaning in here".to_owned(), export.span)
            }
            Statement::ExportFromDeclaration(export) => {
                ("'export … from' has no meaning in here".to_owned(), export.span)
            }
            _ => continue,
        };
        return Err(SyntaxFault {
            message: format!("SyntaxError: {what}"),
            position: Some(Position::of_offset(source, span.start as usize)),
            hint: Some(
                "the tools are global objects, one per server: remove the import, call `await server.tool({...})`, and see \
                 `tools.list()` for what there is"
                    .to_owned(),
            ),
        });
    }
    Ok(())
}

/// Makes the last statement's value the value of the program.
pub(super) fn return_last_value<'a>(allocator: &'a Allocator, program: &mut Program<'a>) {
    let builder = AstBuilder::new(allocator);
    unwrap_exports(allocator, program);
    let is_only = program.body.len() == 1;
    let Some(last) = program.body.pop() else {
        // A program that is nothing but a string reads as a directive.
        if let Some(directive) = program.directives.pop() {
            let value = Expression::StringLiteral(ArenaBox::new_in(directive.expression, &builder));
            program.body.push(Statement::new_return_statement(directive.span, Some(value), &builder));
        }
        return;
    };
    let last = match last {
        Statement::ExpressionStatement(mut statement) => {
            let expression = statement.expression.take_in(&builder);
            let span = statement.span;
            let value = if is_only && is_function(&expression) {
                let callee = Expression::new_parenthesized_expression(SPAN, expression, &builder);
                Expression::new_call_expression(span, callee, None, ArenaVec::new_in(&builder), false, &builder)
            } else {
                expression
            };
            Statement::new_return_statement(span, Some(value), &builder)
        }
        other => other,
    };
    program.body.push(last);
}

fn is_function(expression: &Expression<'_>) -> bool {
    matches!(
        expression.without_parentheses(),
        Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_)
    )
}

/// `export default X` becomes `X`, and `export const x = …` becomes `const x = …`.
fn unwrap_exports<'a>(allocator: &'a Allocator, program: &mut Program<'a>) {
    let builder = AstBuilder::new(allocator);
    let statements = std::mem::replace(&mut program.body, ArenaVec::new_in(&builder));
    let mut default_value = None;
    for statement in statements {
        match statement {
            Statement::ExportDefaultDeclaration(mut export) => {
                let span = export.declaration.span();
                let expression = match export.declaration.take_in(&builder) {
                    ExportDefaultDeclarationKind::FunctionDeclaration(mut function) => {
                        function.r#type = FunctionType::FunctionExpression;
                        Expression::FunctionExpression(function)
                    }
                    ExportDefaultDeclarationKind::ClassDeclaration(class) => Expression::ClassExpression(class),
                    ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => continue,
                    other => match Expression::try_from(other) {
                        Ok(expression) => expression,
                        Err(()) => continue,
                    },
                };
                // A default export is the program's value wherever it stands; a function is called.
                let value = if is_function(&expression) {
                    let callee = Expression::new_parenthesized_expression(SPAN, expression, &builder);
                    Expression::new_call_expression(span, callee, None, ArenaVec::new_in(&builder), false, &builder)
                } else {
                    expression
                };
                default_value = Some(Statement::new_expression_statement(span, value, &builder));
            }
            Statement::ExportDeclaration(mut export) => {
                program.body.push(Statement::from(export.declaration.take_in(&builder)));
            }
            Statement::ExportNamedDeclaration(_) => {}
            other => program.body.push(other),
        }
    }
    if let Some(value) = default_value {
        program.body.push(value);
    }
}
