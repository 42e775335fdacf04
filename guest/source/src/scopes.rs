//! Where a name is declared that is not known at the place where it is used.

use oxc::{
    ast::ast::{AssignmentTarget, ForStatementLeft, SimpleAssignmentTarget},
    ast_visit::VisitJs as _,
    semantic::{ScopeFlags, SemanticBuilder},
};

use super::{Position, reading::with_program};
use crate::visitor::{Visiting, Visitor};

/// What to do about a name that is declared, but not where it was used at `position`.
pub fn out_of_scope(name: &str, position: Option<Position>) -> Option<String> {
    with_program(|source, program| {
        let used = position.and_then(|position| position.offset(source)).unwrap_or(u32::MAX);
        let scoping = SemanticBuilder::new().build(program).semantic.into_scoping();
        let declared = scoping.symbol_ids().filter(|symbol| scoping.symbol_name(*symbol) == name);
        let inner = declared.filter(|symbol| scoping.symbol_scope_id(*symbol) != scoping.root_scope_id());
        // The last one before the use, or else the first one.
        let symbol = inner.min_by_key(|symbol| {
            let start = scoping.symbol_span(*symbol).start;
            if start < used { (false, used - start) } else { (true, start) }
        })?;
        let line = Position::of_offset(source, scoping.symbol_span(symbol).start as usize).line;
        let flags = scoping.scope_flags(scoping.symbol_scope_id(symbol));
        Some(if flags.intersects(ScopeFlags::Function | ScopeFlags::Arrow) {
            format!(
                "{name} in line {line} belongs to a function, and is known inside of it alone: return it from there, or declare it outside"
            )
        } else {
            format!(
                "{name} in line {line} ended with the block that it is declared in: declare it before the block, as in `let {name};`, and set it there"
            )
        })
    })
}

/// Whether the script assigns to a name somewhere.
pub fn is_assigned(name: &str) -> bool {
    struct Targets<'n> {
        name: &'n str,
        found: bool,
    }
    impl<'a> Visitor<'a> for Targets<'_> {
        fn enter_simple_assignment_target(&mut self, target: &SimpleAssignmentTarget<'a>) -> bool {
            self.found |= target.get_identifier_name() == Some(self.name);
            true
        }

        fn enter_for_statement_left(&mut self, left: &ForStatementLeft<'a>) -> bool {
            self.found |=
                matches!(left, ForStatementLeft::AssignmentTargetIdentifier(target) if target.name == self.name);
            true
        }

        fn enter_assignment_target(&mut self, target: &AssignmentTarget<'a>) -> bool {
            self.found |=
                matches!(target, AssignmentTarget::AssignmentTargetIdentifier(target) if target.name == self.name);
            true
        }
    }
    with_program(|_, program| {
        let mut targets = Targets { name, found: false };
        Visiting(&mut targets).visit_program(program);
        Some(targets.found)
    })
    .unwrap_or_default()
}
