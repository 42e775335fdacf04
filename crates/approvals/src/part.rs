//! The parts of a binding that can differ, and what they are called.

use std::fmt;

/// A part of a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The run.
    Run,
    /// The call's number.
    Call,
    /// The tool's name.
    Tool,
    /// The arguments.
    Arguments,
    /// The tool's definition.
    Definition,
    /// The rule.
    Rule,
    /// The ways in which the rule lets a decision be made.
    Ways,
    /// Who calls.
    Principal,
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Run => "it is about a call of another run",
            Self::Call => "it is about another call of the run",
            Self::Tool => "it is about another tool",
            Self::Arguments => "the arguments are not those that were shown",
            Self::Definition => "the tool's definition has changed since",
            Self::Rule => "another rule of the owner asks now",
            Self::Ways => "the rule names other ways to ask since",
            Self::Principal => "somebody else calls",
        })
    }
}
