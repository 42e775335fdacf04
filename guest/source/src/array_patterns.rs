//! Variables that are the first items of a list, by index.
//!
//! The engine goes through an iterator even for `const [name, value] = pair`. A guard takes the
//! items instead, which of an array as it comes are its elements:
//! `const { 0: name, 1: value } = __take__(pair, 2, "pair")`.

use oxc::{
    allocator::ArenaVec,
    ast::{
        ast::{Argument, ArrayPattern, BindingPattern, BindingProperty, Expression, NumberBase, PropertyKey},
        builder::AstBuilder,
    },
    span::{GetSpan, SPAN},
};

/// Gives the first items of a list. A source that has this name is left as it is.
pub(super) const TAKE: &str = "__take__";

/// What is seldom longer, and takes a list of its own where it is no array.
const MAX_ITEMS: usize = 16;

/// Whether a pattern is nothing but names and gaps.
pub(super) fn is_simple(pattern: &ArrayPattern<'_>) -> bool {
    pattern.rest.is_none()
        && (1..=MAX_ITEMS).contains(&pattern.elements.len())
        && pattern.elements.iter().flatten().all(|name| matches!(name, BindingPattern::BindingIdentifier(_)))
}

/// The same names, by index.
pub(super) fn by_index<'a>(pattern: &ArrayPattern<'a>, builder: &AstBuilder<'a>) -> BindingPattern<'a> {
    let mut properties = ArenaVec::new_in(builder);
    for (index, name) in pattern.elements.iter().enumerate() {
        let Some(BindingPattern::BindingIdentifier(name)) = name else { continue };
        let key = PropertyKey::from(number(index, builder));
        let name = BindingPattern::new_binding_identifier(name.span, name.name, builder);
        properties.push(BindingProperty::new(name.span(), key, name, false, false, builder));
    }
    BindingPattern::new_object_pattern(pattern.span, properties, None, builder)
}

/// `__take__(value, how many, text)`
pub(super) fn taken<'a>(
    pattern: &ArrayPattern<'a>,
    value: Expression<'a>,
    text: Argument<'a>,
    builder: &AstBuilder<'a>,
) -> Expression<'a> {
    let span = value.span();
    let mut arguments = ArenaVec::new_in(builder);
    arguments.extend([Argument::from(value), Argument::from(number(pattern.elements.len(), builder)), text]);
    let callee = Expression::new_identifier(span, TAKE, builder);
    Expression::new_call_expression(span, callee, None, arguments, false, builder)
}

fn number<'a>(number: usize, builder: &AstBuilder<'a>) -> Expression<'a> {
    Expression::new_numeric_literal(SPAN, number as f64, None, NumberBase::Decimal, builder)
}
