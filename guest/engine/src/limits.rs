//! How deep calls may go.

use boa_engine::Context;

/// Calls of JavaScript by JavaScript inside each other, about as many as in Node. They take memory,
/// which has its own limit, and no native stack.
const RECURSION_LIMIT: usize = 10_000;
/// Native functions, and JavaScript that they call, inside each other. Below what either native
/// stack holds.
const NATIVE_RECURSION_LIMIT: usize = 400;
/// Values on the interpreter's stack: a hundred for each call, or what a call with very many
/// arguments needs.
const STACK_VALUES: usize = 1_000_000;

/// Sets how deep calls may go.
pub fn limit(context: &mut Context) {
    let limits = context.runtime_limits_mut();
    limits.set_recursion_limit(RECURSION_LIMIT);
    limits.set_native_recursion_limit(NATIVE_RECURSION_LIMIT);
    limits.set_stack_size_limit(STACK_VALUES);
    limits.set_backtrace_limit(20);
}
