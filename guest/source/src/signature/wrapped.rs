//! A script as one with a name: what it was a run of becomes the function that is exported.

use oxc::{
    ast::ast::{Expression, Program, Statement},
    span::GetSpan as _,
};

/// What stands before the program.
const OPENING: &str = "/** Saved from a run: say here what it does, and give it the arguments that it needs. */\n";

/// The source without what is not part of a program, such as a line for the system.
pub(super) fn plain(source: &str, program: &Program<'_>) -> String {
    let end_of_hashbang = program.hashbang.as_ref().map_or(0, |hashbang| hashbang.span.end as usize);
    let mut text = source.get(end_of_hashbang..).unwrap_or_default().trim().to_owned();
    text.push('\n');
    text
}

/// The source of a program that exports no function, as one that does: what it returns, or else
/// the value of its last statement, is what the function returns.
pub(super) fn wrapped(source: &str, program: &Program<'_>) -> String {
    let mut changes: Vec<(usize, usize, &str)> = Vec::new();
    let end_of_hashbang = program.hashbang.as_ref().map_or(0, |hashbang| hashbang.span.end as usize);
    if let [only] = program.body.as_slice()
        && is_function(only)
    {
        let start = only.span().start as usize;
        return format!("{OPENING}export default {}\n", source.get(start..).unwrap_or_default().trim());
    }
    for statement in &program.body {
        match statement {
            // Inside of a function nothing is exported.
            Statement::ExportDeclaration(export) => {
                changes.push((export.span.start as usize, export.declaration.span().start as usize, ""));
            }
            Statement::ExportDefaultDeclaration(export) => {
                changes.push((export.span.start as usize, export.declaration.span().start as usize, "return "));
            }
            Statement::ExportNamedDeclaration(export) => {
                changes.push((export.span.start as usize, export.span.end as usize, ""));
            }
            _ => {}
        }
    }
    let declares_only = |statement: &&Statement<'_>| {
        matches!(statement, Statement::FunctionDeclaration(_) | Statement::EmptyStatement(_))
    };
    if let Some(Statement::ExpressionStatement(last)) = program.body.iter().rev().find(|each| !declares_only(each)) {
        let start = last.span.start as usize;
        changes.push((start, start, "return "));
    }
    let mut body = String::with_capacity(source.len());
    let mut at = end_of_hashbang;
    for (from, to, instead) in changes {
        body.push_str(source.get(at..from).unwrap_or_default());
        body.push_str(instead);
        at = to;
    }
    body.push_str(source.get(at..).unwrap_or_default());
    format!("{OPENING}export default async () => {{\n{}\n}};\n", body.trim())
}

/// Whether a program that is nothing else is this function.
fn is_function(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::ExpressionStatement(statement) => matches!(
            statement.expression.without_parentheses(),
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_)
        ),
        Statement::FunctionDeclaration(function) => !function.generator && function.params.items.is_empty(),
        _ => false,
    }
}
