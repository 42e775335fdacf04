//! The calls of tools that stand in a source, found before it runs: which tool, what is known of
//! the arguments, and how sure it is that the call is made.
//!
//! - `names.rs`: which names stand for servers and tools, and what other names always hold.
//! - `arguments.rs`: what is known of a call's arguments.
//! - `certain.rs`: the calls that a script makes in any case.
//! - `sites.rs`: every place of a call, in the order of the source.
//!
//! Nothing is guessed: where it is in doubt, a call is not certain, and an argument is not known.

mod arguments;
mod certain;
mod names;
mod sites;

use oxc::{ast::ast::Program, semantic::Scoping};

use super::{Globals, Position};
pub use arguments::{Known, write_text};
pub use certain::Stranger;
use names::Names;

/// How sure it is that a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// In any case.
    Certain,
    /// A condition, a loop or a callback decides.
    Possible,
    /// The source looks first whether the tool is there, or catches what comes of the call.
    Guarded,
}

/// A place in the source where a tool is called.
#[derive(Debug)]
pub struct Site {
    /// The global of the server's namespace, or the server as a path names it. Empty for a global
    /// function.
    pub server: String,
    /// Whether the tool is called by its path, as `tools.call` does.
    pub by_path: bool,
    /// The property that is called, the tool as the path names it, or the global function.
    pub tool: String,
    pub reach: Reach,
    /// Whether the script fails if the call does. Only of a certain one.
    pub is_fatal: bool,
    /// Whether the source knows that it may fail: it looks before, or catches.
    pub is_guarded: bool,
    /// Whether it may be made more than once.
    pub in_loop: bool,
    pub arguments: Option<Known>,
    /// Where the tool's name stands.
    pub position: Position,
}

/// The calls of a source.
#[derive(Debug, Default)]
pub struct Sites {
    /// In the order of the source.
    pub all: Vec<Site>,
    /// How many more there are than are looked at.
    pub more: usize,
    /// Whether the script may call tools that it chooses while it runs.
    pub has_others: bool,
    /// Names that the script certainly uses as servers, and that neither it nor the owner declares.
    pub strangers: Vec<Stranger>,
}

/// The calls of a program.
pub(super) fn sites(source: &str, program: &Program<'_>, scoping: &Scoping, globals: &Globals<'_>) -> Sites {
    let names = Names::of(source, program, scoping, globals);
    let certain = certain::calls(source, program, &names);
    sites::all(source, program, &names, certain)
}

#[cfg(test)]
mod tests;
