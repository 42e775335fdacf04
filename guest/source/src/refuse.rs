//! What has no place in a jar, and is told so before anything runs.

use oxc::{
    allocator::Allocator,
    ast::ast::{
        AccessorProperty, Declaration, Decorator, ExportFromDeclaration, ImportDeclaration, ImportDeclarationSpecifier,
        JSXElement, JSXFragment, Program, Statement, TSModuleBlock, TSModuleReference, VariableDeclarationKind,
    },
    ast_visit::VisitJs as _,
    parser::Parser,
    semantic::Scoping,
    span::{SourceType, Span},
};

use super::{Position, SyntaxFault, options};
use crate::visitor::{Visiting, Visitor};

const USE_TOOLS: &str = "the tools are global objects, one per server: call `await server.tool({...})`, and see `tools.list()` \
                         for what there is";

/// Refuses static imports and exports from elsewhere. Those of types alone are left to the
/// translation.
pub(super) fn modules(source: &str, program: &Program<'_>) -> Result<(), SyntaxFault> {
    for statement in &program.body {
        let (message, span) = match statement {
            Statement::ImportDeclaration(import) if !is_of_types(import) => {
                (no_module(&import.source.value), import.span)
            }
            Statement::TSImportEqualsDeclaration(import) if !import.import_kind.is_type() => {
                match &import.module_reference {
                    TSModuleReference::ExternalModuleReference(module) => {
                        (no_module(&module.expression.value), import.span)
                    }
                    _ => continue,
                }
            }
            Statement::ExportAllDeclaration(export) if !export.export_kind.is_type() => (no_export(), export.span),
            Statement::ExportFromDeclaration(export) if !is_export_of_types(export) => (no_export(), export.span),
            _ => continue,
        };
        return Err(fault(source, &message, span, USE_TOOLS));
    }
    Ok(())
}

fn is_of_types(import: &ImportDeclaration<'_>) -> bool {
    let is_type = |specifier: &ImportDeclarationSpecifier<'_>| matches!(specifier, ImportDeclarationSpecifier::ImportSpecifier(specifier) if specifier.import_kind.is_type());
    import.import_kind.is_type()
        || import.specifiers.as_ref().is_some_and(|specifiers| !specifiers.is_empty() && specifiers.iter().all(is_type))
}

fn is_export_of_types(export: &ExportFromDeclaration<'_>) -> bool {
    export.export_kind.is_type()
        || (!export.specifiers.is_empty() && export.specifiers.iter().all(|specifier| specifier.export_kind.is_type()))
}

fn no_module(name: &str) -> String {
    format!("cannot import '{name}': there are no modules in here")
}

fn no_export() -> String {
    "'export … from' has no meaning in here: there are no modules".to_owned()
}

/// Refuses decorators, which the translation would leave as they are.
pub(super) fn decorators(source: &str, program: &Program<'_>) -> Result<(), SyntaxFault> {
    struct Finder(Option<Span>);
    impl<'a> Visitor<'a> for Finder {
        fn enter_decorator(&mut self, decorator: &Decorator<'a>) -> bool {
            self.0.get_or_insert(decorator.span);
            false
        }
    }
    // Most programs hold no at sign.
    if !source.contains('@') {
        return Ok(());
    }
    let mut finder = Finder(None);
    Visiting(&mut finder).visit_program(program);
    finder.0.map_or(Ok(()), |span| {
        let hint = "call the decorator as a function: `const decorated = decorate(…)`";
        Err(fault(source, "decorators are not understood in here", span, hint))
    })
}

/// Refuses accessor fields, which the engine does not know.
pub(super) fn accessors(source: &str, program: &Program<'_>) -> Result<(), SyntaxFault> {
    struct Finder(Option<Span>);
    impl<'a> Visitor<'a> for Finder {
        fn enter_accessor_property(&mut self, property: &AccessorProperty<'a>) -> bool {
            self.0.get_or_insert(property.span);
            false
        }
    }
    if !source.contains("accessor") {
        return Ok(());
    }
    let mut finder = Finder(None);
    Visiting(&mut finder).visit_program(program);
    finder.0.map_or(Ok(()), |span| {
        let hint = "write the private field and what reads and sets it: `#x = 1; get x() { return this.#x } set x(x) { this.#x = x }`";
        Err(fault(source, "`accessor` is not understood in here", span, hint))
    })
}

/// Refuses an exported variable of a namespace that changes: the translation would leave the
/// namespace with its first value.
pub(super) fn changing_exports(source: &str, program: &Program<'_>, scoping: &Scoping) -> Result<(), SyntaxFault> {
    struct Finder<'s> {
        scoping: &'s Scoping,
        found: Option<Span>,
    }
    impl<'a> Visitor<'a> for Finder<'_> {
        fn enter_ts_module_block(&mut self, block: &TSModuleBlock<'a>) -> bool {
            for statement in &block.body {
                if let Statement::ExportDeclaration(export) = statement
                    && let Declaration::VariableDeclaration(variables) = &export.declaration
                    && variables.kind != VariableDeclarationKind::Const
                {
                    let names = variables.declarations.iter().flat_map(|one| one.id.get_binding_identifiers());
                    let changing = names
                        .into_iter()
                        .find(|name| name.symbol_id.get().is_some_and(|symbol| self.scoping.symbol_is_mutated(symbol)));
                    self.found = self.found.or(changing.map(|name| name.span));
                }
            }
            true
        }
    }
    if !source.contains("namespace") && !source.contains("module") {
        return Ok(());
    }
    let mut finder = Finder { scoping, found: None };
    Visiting(&mut finder).visit_program(program);
    finder.found.map_or(Ok(()), |span| {
        let hint = "keep it in a variable that is not exported, and export a function that returns it; or export an object, and change its fields";
        Err(fault(source, "an exported variable of a namespace cannot change in here", span, hint))
    })
}

/// What is wrong with a source that is no TypeScript because it holds JSX.
pub(super) fn jsx(source: &str) -> Option<SyntaxFault> {
    struct Finder(Option<Span>);
    impl<'a> Visitor<'a> for Finder {
        fn enter_jsx_element(&mut self, element: &JSXElement<'a>) -> bool {
            self.0.get_or_insert(element.span);
            false
        }

        fn enter_jsx_fragment(&mut self, fragment: &JSXFragment<'a>) -> bool {
            self.0.get_or_insert(fragment.span);
            false
        }
    }
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::tsx().with_module(true)).with_options(options()).parse();
    if parsed.diagnostics.errors().next().is_some() {
        return None;
    }
    let mut finder = Finder(None);
    Visiting(&mut finder).visit_program(&parsed.program);
    let hint = "there is nothing to render in here: return data, or build the text with a template, `<p>${x}</p>`";
    finder.0.map(|span| fault(source, "JSX is not understood in here", span, hint))
}

pub(super) fn fault(source: &str, message: &str, span: Span, hint: &str) -> SyntaxFault {
    SyntaxFault {
        message: format!("SyntaxError: {message}"),
        position: Some(Position::of_offset(source, span.start as usize)),
        hint: Some(hint.to_owned()),
    }
}
