//! Which function of a program is called by belljar, and which one nobody calls.

use oxc::{
    ast::ast::{
        BindingIdentifier, BindingPattern, Declaration, ExportDefaultDeclarationKind, Expression, IdentifierReference,
        Program, Statement, VariableDeclaration,
    },
    ast_visit::VisitJs as _,
    semantic::{Scoping, SymbolId},
    span::{GetSpan, Span},
};

use crate::visitor::{Visiting, Visitor};

/// What a program does with its functions.
#[derive(Default)]
pub(super) struct Entry {
    pub(super) default: DefaultExport,
    /// A function at the top level that nothing refers to.
    pub(super) unused: Option<String>,
}

/// What is made of the default export.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum DefaultExport {
    /// It is the value of the program.
    #[default]
    Value,
    /// It is a function that the program does not use itself.
    Called,
    /// It is a function that the program uses: the value is that of the last statement.
    Used,
}

pub(super) fn of(program: &Program<'_>, scoping: &Scoping) -> Entry {
    let mut entry = Entry::default();
    for statement in &program.body {
        if let Statement::ExportDefaultDeclaration(export) = statement {
            let of_function = |symbol, function| match is_used(program, symbol, [function, export.span], scoping) {
                true => DefaultExport::Used,
                false => DefaultExport::Called,
            };
            entry.default = match &export.declaration {
                ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                    of_function(function.id.as_ref().and_then(symbol), function.span)
                }
                other => match other.as_expression().map(Expression::get_inner_expression) {
                    Some(Expression::Identifier(name)) => {
                        let reference = name.reference_id.get().map(|id| scoping.get_reference(id));
                        let symbol = reference.and_then(|reference| reference.symbol_id());
                        let function = function_of(program, symbol);
                        function.map_or(DefaultExport::Value, |function| of_function(symbol, function))
                    }
                    Some(expression) if expression.is_function() => DefaultExport::Called,
                    _ => DefaultExport::Value,
                },
            };
        }
    }
    let is_unused = |name: &BindingIdentifier<'_>| symbol(name).is_some_and(|symbol| scoping.symbol_is_unused(symbol));
    let unused = functions(program).filter(|(name, _)| is_unused(name));
    for (name, _) in unused {
        if entry.unused.is_none() || name.name == "main" {
            entry.unused = Some(name.name.to_string());
        }
    }
    entry
}

/// Whether a function is referred to from outside of itself and of its export.
fn is_used(program: &Program<'_>, symbol: Option<SymbolId>, inside: [Span; 2], scoping: &Scoping) -> bool {
    struct Uses<'s> {
        symbol: SymbolId,
        inside: [Span; 2],
        scoping: &'s Scoping,
        found: bool,
    }
    impl<'a> Visitor<'a> for Uses<'_> {
        fn enter_identifier_reference(&mut self, identifier: &IdentifierReference<'a>) -> bool {
            let symbol = identifier.reference_id.get().and_then(|id| self.scoping.get_reference(id).symbol_id());
            let is_outside = !self.inside.iter().any(|span| span.contains_inclusive(identifier.span));
            self.found |= symbol == Some(self.symbol) && is_outside;
            false
        }
    }
    let Some(symbol) = symbol.filter(|symbol| !scoping.symbol_is_unused(*symbol)) else { return false };
    let mut uses = Uses { symbol, inside, scoping, found: false };
    Visiting(&mut uses).visit_program(program);
    uses.found
}

fn symbol(name: &BindingIdentifier<'_>) -> Option<SymbolId> {
    name.symbol_id.get()
}

/// The place of the function that a name at the top level stands for.
fn function_of(program: &Program<'_>, wanted: Option<SymbolId>) -> Option<Span> {
    functions(program).find(|(name, _)| wanted.is_some() && symbol(name) == wanted).map(|(_, span)| span)
}

/// The functions that have a name at the top level, but for the one that is the default export, and
/// their places.
fn functions<'p, 'a>(program: &'p Program<'a>) -> impl Iterator<Item = (&'p BindingIdentifier<'a>, Span)> {
    program.body.iter().flat_map(|statement| {
        let (function, variables) = match statement {
            Statement::FunctionDeclaration(function) => (Some(function), None),
            Statement::VariableDeclaration(variables) => (None, Some(variables)),
            Statement::ExportDeclaration(export) => match &export.declaration {
                Declaration::FunctionDeclaration(function) => (Some(function), None),
                Declaration::VariableDeclaration(variables) => (None, Some(variables)),
                _ => (None, None),
            },
            _ => (None, None),
        };
        let declared = function.filter(|function| function.body.is_some());
        let declared = declared.and_then(|function| Some((function.id.as_ref()?, function.span)));
        declared.into_iter().chain(variables.into_iter().flat_map(|variables| held(variables)))
    })
}

/// The functions that variables are declared with.
fn held<'p, 'a>(
    variables: &'p VariableDeclaration<'a>,
) -> impl Iterator<Item = (&'p BindingIdentifier<'a>, Span)> + use<'p, 'a> {
    variables.declarations.iter().filter_map(|declarator| match (&declarator.id, &declarator.init) {
        (BindingPattern::BindingIdentifier(name), Some(value)) if value.get_inner_expression().is_function() => {
            Some((&**name, value.span()))
        }
        _ => None,
    })
}
