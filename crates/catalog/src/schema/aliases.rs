//! The named types of a tool: which are printed under their name, and which in place of it.
//!
//! Nothing here recurses along references: whatever a hostile schema does with them, they are
//! processed as a list.

use super::types::Type;
use crate::bounds::{INLINE_CHAIN, UNION_PRODUCT};

/// The types of a tool: of its arguments, of its result, and of what both refer to.
#[derive(Debug)]
pub(crate) struct Types {
    /// The possible targets of a reference, including the documents themselves.
    pub(crate) aliases: Vec<Alias>,
}

/// A type with a name.
#[derive(Debug)]
pub(crate) struct Alias {
    /// An identifier without `_`, unique in its [`Types`].
    pub(crate) name: String,
    /// The schema's description, on one line; not yet safe for a comment.
    pub(crate) comment: String,
    /// The type.
    pub(crate) body: Type,
    /// Whether it is printed in place of its name: it is used once, and not inside itself.
    pub(crate) inline: bool,
    /// How many members a compiler may have to distinguish when it expands the type's unions;
    /// counting stops at [`UNION_PRODUCT`].
    pub(crate) members: usize,
}

impl Types {
    /// Prepares the types for printing. `roots` are the types that are printed themselves.
    pub(crate) fn settle(&mut self, roots: &[&Type]) {
        self.break_circles();
        self.choose_inline(roots);
        self.count_members();
    }

    /// Removes references of a type to itself without an object or array in between, which no
    /// compiler accepts.
    fn break_circles(&mut self) {
        for start in 0..self.aliases.len() {
            let mut seen = vec![false; self.aliases.len()];
            let mut waiting = self.aliases.get(start).map(|alias| alias.body.bare_names()).unwrap_or_default();
            let mut circular = false;
            while let Some(name) = waiting.pop() {
                circular |= name == start;
                if let Some(seen @ false) = seen.get_mut(name) {
                    *seen = true;
                    waiting.extend(self.aliases.get(name).map(|alias| alias.body.bare_names()).unwrap_or_default());
                }
            }
            if let Some(alias) = self.aliases.get_mut(start).filter(|_| circular) {
                alias.body = Type::Unknown;
            }
        }
    }

    /// Counts the members of each type, iterating until nothing changes instead of recursing.
    fn count_members(&mut self) {
        for _ in 0..self.aliases.len() {
            let counts: Vec<usize> = self.aliases.iter().map(|alias| self.members(&alias.body)).collect();
            let mut changed = false;
            for (alias, count) in self.aliases.iter_mut().zip(counts) {
                changed |= alias.members != count;
                alias.members = count;
            }
            if !changed {
                break;
            }
        }
    }

    /// The members of a type: the sum for a union, the product for an intersection.
    pub(crate) fn members(&self, kind: &Type) -> usize {
        let counted = match kind {
            Type::Union(kinds) => kinds.iter().map(|kind| self.members(kind)).fold(0, usize::saturating_add),
            Type::Intersection(kinds) => kinds.iter().map(|kind| self.members(kind)).fold(1, usize::saturating_mul),
            Type::Named(name) => self.aliases.get(*name).map_or(1, |alias| alias.members),
            _ => 1,
        };
        counted.min(UNION_PRODUCT + 1)
    }

    /// Chooses the types that are printed in place of their names: plain ones that are used once
    /// and not inside themselves, nested at most [`INLINE_CHAIN`] deep.
    fn choose_inline(&mut self, roots: &[&Type]) {
        let count = self.aliases.len();
        let inside: Vec<Vec<usize>> = self.aliases.iter().map(|alias| alias.body.names()).collect();
        let reach = |from: &[usize]| {
            let mut reached = vec![false; count];
            let mut waiting = from.to_vec();
            while let Some(name) = waiting.pop() {
                if let Some(seen @ false) = reached.get_mut(name) {
                    *seen = true;
                    waiting.extend(inside.get(name).into_iter().flatten());
                }
            }
            reached
        };
        let top: Vec<usize> = roots.iter().flat_map(|root| root.names()).collect();
        let used = reach(&top);
        let mut uses = vec![0_usize; count];
        let live = inside.iter().zip(&used).filter(|(_, used)| **used).flat_map(|(names, _)| names);
        for name in live.chain(&top) {
            if let Some(uses) = uses.get_mut(*name) {
                *uses += 1;
            }
        }
        let mut chain = vec![0_usize; count];
        // A target is found after what refers to it, so going backwards usually settles inner types
        // before outer ones; otherwise, the chain below counts as broken.
        for at in (0..count).rev() {
            let below = inside.get(at).map(Vec::as_slice).unwrap_or_default();
            let recursive = reach(below).get(at).copied().unwrap_or(true);
            let settled =
                below.iter().all(|name| *name > at || !self.aliases.get(*name).is_some_and(|alias| alias.inline));
            let longest = below.iter().filter_map(|name| chain.get(*name)).max().copied().unwrap_or(0) + 1;
            let once = uses.get(at).is_some_and(|uses| *uses <= 1);
            let top_level = top.contains(&at);
            if let Some(alias) = self.aliases.get_mut(at) {
                let plain = below.is_empty() && matches!(alias.body, Type::Plain(_) | Type::Literal(_) | Type::Unknown);
                alias.inline = plain || (!recursive && once && settled && (top_level || longest <= INLINE_CHAIN));
                if let Some(chain) = chain.get_mut(at).filter(|_| alias.inline) {
                    *chain = longest;
                }
            }
        }
    }
}
