//! Namespaces in several parts.
//!
//! What one part exports is in scope in the others; the translation leaves its name there as it is,
//! which then is nobody's, or that of something else outside. So such a use is refused, and says
//! what to write.

use std::collections::{BTreeMap, BTreeSet};

use oxc::{
    ast::ast::{
        BindingIdentifier, Declaration, IdentifierReference, Program, Statement, TSModuleBlock, TSNamespaceDeclaration,
        TSNamespaceDeclarationBody,
    },
    ast_visit::{VisitJs as _, walk_js},
    semantic::Scoping,
    span::Span,
};

use super::{SyntaxFault, refuse::fault};
use crate::visitor::{Visiting, Visitor};

/// Refuses a name that another part of its namespace exports.
pub(super) fn parts(source: &str, program: &Program<'_>, scoping: &Scoping) -> Result<(), SyntaxFault> {
    if source.matches("namespace").nth(1).is_none() && source.matches("module").nth(1).is_none() {
        return Ok(());
    }
    let mut parts = Parts::default();
    Visiting(&mut parts).visit_program(program);
    let mut uses = Uses { parts: &parts.found, scoping, inside: Vec::new(), found: None };
    Visiting(&mut uses).visit_program(program);
    uses.found.map_or(Ok(()), |(name, namespace, span)| {
        let message = format!("'{name}' is exported by another part of the namespace {namespace}");
        Err(fault(source, &message, span, &format!("write {namespace}.{name}")))
    })
}

/// The parts of each namespace: their places, and what they export.
#[derive(Default)]
struct Parts {
    found: BTreeMap<String, Vec<(Span, BTreeSet<String>)>>,
    inside: Vec<String>,
}

impl<'a> Visitor<'a> for Parts {
    fn enter_ts_namespace_declaration(&mut self, namespace: &TSNamespaceDeclaration<'a>) -> bool {
        self.inside.push(namespace.id.name.to_string());
        let exported = match &namespace.body {
            TSNamespaceDeclarationBody::TSModuleBlock(block) => exports(block),
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => BTreeSet::from([inner.id.name.to_string()]),
        };
        self.found.entry(self.inside.join(".")).or_default().push((namespace.span, exported));
        walk_js::walk_ts_namespace_declaration(&mut Visiting(self), namespace);
        self.inside.pop();
        false
    }
}

/// The names of the values that a block exports.
fn exports(block: &TSModuleBlock<'_>) -> BTreeSet<String> {
    let declarations = block.body.iter().filter_map(|statement| match statement {
        Statement::ExportDeclaration(export) => Some(&export.declaration),
        _ => None,
    });
    let names = declarations.flat_map(|declaration| match declaration {
        Declaration::VariableDeclaration(variables) => {
            variables.declarations.iter().flat_map(|one| one.id.get_binding_identifiers()).collect()
        }
        Declaration::FunctionDeclaration(function) => function.id.iter().collect(),
        Declaration::ClassDeclaration(class) => class.id.iter().collect(),
        Declaration::TSEnumDeclaration(made) => vec![&made.id],
        Declaration::TSNamespaceDeclaration(inner) => vec![&inner.id],
        _ => Vec::<&BindingIdentifier<'_>>::new(),
    });
    names.map(|name| name.name.to_string()).collect()
}

/// Finds the first name that another part exports.
struct Uses<'p> {
    parts: &'p BTreeMap<String, Vec<(Span, BTreeSet<String>)>>,
    scoping: &'p Scoping,
    /// The namespaces around, and their places.
    inside: Vec<(String, Span)>,
    found: Option<(String, String, Span)>,
}

impl<'a> Visitor<'a> for Uses<'_> {
    fn enter_ts_namespace_declaration(&mut self, namespace: &TSNamespaceDeclaration<'a>) -> bool {
        let outer = self.inside.last().map(|(path, _)| format!("{path}.")).unwrap_or_default();
        self.inside.push((format!("{outer}{}", namespace.id.name), namespace.span));
        walk_js::walk_ts_namespace_declaration(&mut Visiting(self), namespace);
        self.inside.pop();
        false
    }

    fn enter_identifier_reference(&mut self, identifier: &IdentifierReference<'a>) -> bool {
        let reference = identifier.reference_id.get().map(|id| self.scoping.get_reference(id));
        if self.found.is_some() || reference.is_none_or(|reference| !reference.is_value()) {
            return false;
        }
        let declared = reference.and_then(|reference| reference.symbol_id()).map(|id| self.scoping.symbol_span(id));
        for (path, here) in self.inside.iter().rev() {
            if declared.is_some_and(|declared| here.contains_inclusive(declared)) {
                return false;
            }
            let others = self.parts.get(path).into_iter().flatten().filter(|(span, _)| span != here);
            if others.into_iter().any(|(_, names)| names.contains(identifier.name.as_str())) {
                self.found = Some((identifier.name.to_string(), path.clone(), identifier.span));
                return false;
            }
        }
        false
    }
}
