//! What is left of an object, without what was taken apart.
//!
//! In `const { meta: { id }, ...rest } = item` the engine leaves `meta` in `rest`: it takes away the names of a pattern, and forgets the
//! patterns in it. So each of these becomes a name too, which nobody reads: `const { meta: __taken0__, meta: { id }, ...rest } = item`.
//! A getter is asked twice for it. Computed keys are left as they are: they may do something each time.

use oxc::{
    allocator::{Allocator, ArenaVec, CloneIn},
    ast::{
        ast::{
            AssignmentTargetMaybeDefault, AssignmentTargetProperty, BindingPattern, BindingProperty, Expression,
            IdentifierName, ObjectAssignmentTarget, ObjectPattern, Program, PropertyKey, StaticMemberExpression,
        },
        builder::AstBuilder,
    },
    ast_visit::{VisitMut, walk_mut},
    span::SPAN,
};

/// What the names begin with. A source that has it is left as it is.
const NAME: &str = "__taken";

/// Gives each pattern beside a rest a name of its own.
pub(super) fn name_patterns<'a>(allocator: &'a Allocator, source: &str, program: &mut Program<'a>) {
    if source.contains("...") && !source.contains(NAME) {
        Namer { allocator, builder: AstBuilder::new(allocator), count: 0 }.visit_program(program);
    }
}

struct Namer<'a> {
    allocator: &'a Allocator,
    builder: AstBuilder<'a>,
    count: usize,
}

impl<'a> VisitMut<'a> for Namer<'a> {
    fn visit_object_pattern(&mut self, pattern: &mut ObjectPattern<'a>) {
        walk_mut::walk_object_pattern(self, pattern);
        if pattern.rest.is_none() || !pattern.properties.iter().any(is_taken_apart) {
            return;
        }
        let mut properties = ArenaVec::new_in(&self.builder);
        for property in std::mem::replace(&mut pattern.properties, ArenaVec::new_in(&self.builder)) {
            if is_taken_apart(&property) {
                let name = self.allocator.alloc_str(&format!("{NAME}{}__", self.count));
                self.count += 1;
                let name = BindingPattern::new_binding_identifier(SPAN, name, &self.builder);
                let key = property.key.clone_in(self.allocator);
                properties.push(BindingProperty::new(SPAN, key, name, false, false, &self.builder));
            }
            properties.push(property);
        }
        pattern.properties = properties;
    }

    fn visit_object_assignment_target(&mut self, target: &mut ObjectAssignmentTarget<'a>) {
        walk_mut::walk_object_assignment_target(self, target);
        if target.rest.is_none() || !target.properties.iter().any(|property| key_taken_apart(property).is_some()) {
            return;
        }
        let mut properties = ArenaVec::new_in(&self.builder);
        for property in std::mem::replace(&mut target.properties, ArenaVec::new_in(&self.builder)) {
            if let Some(key) = key_taken_apart(&property) {
                let key = key.clone_in(self.allocator);
                properties.push(AssignmentTargetProperty::new_assignment_target_property_property(
                    SPAN,
                    key,
                    self.nowhere(),
                    false,
                    &self.builder,
                ));
            }
            properties.push(property);
        }
        target.properties = properties;
    }
}

impl<'a> Namer<'a> {
    /// `[].taken`, to which anything can be assigned.
    fn nowhere(&self) -> AssignmentTargetMaybeDefault<'a> {
        let builder = &self.builder;
        let list = Expression::new_array_expression(SPAN, ArenaVec::new_in(builder), builder);
        let name = IdentifierName::new(SPAN, "taken", builder);
        AssignmentTargetMaybeDefault::StaticMemberExpression(StaticMemberExpression::boxed(
            SPAN, list, name, false, builder,
        ))
    }
}

fn is_taken_apart(property: &BindingProperty<'_>) -> bool {
    let pattern = match &property.value {
        BindingPattern::AssignmentPattern(with_default) => &with_default.left,
        pattern => pattern,
    };
    !property.computed && matches!(pattern, BindingPattern::ObjectPattern(_) | BindingPattern::ArrayPattern(_))
}

fn key_taken_apart<'p, 'a>(property: &'p AssignmentTargetProperty<'a>) -> Option<&'p PropertyKey<'a>> {
    let AssignmentTargetProperty::AssignmentTargetPropertyProperty(property) = property else { return None };
    let is_pattern = match &property.binding {
        AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(with_default) => {
            with_default.binding.is_assignment_target_pattern()
        }
        target => target.is_assignment_target_pattern(),
    };
    (!property.computed && is_pattern).then_some(&property.name)
}
