//! What the script waits for: tool calls and timers, by the numbers that the host gave them.
//!
//! The script runs until it has nothing left to do; then [`next`] asks the host for one completion,
//! and the script runs on.

use std::{cell::RefCell, collections::BTreeMap};

use boa_engine::builtins::promise::ResolvingFunctions;

use belljar_guest_bindings::belljar::sandbox::{
    completions::{self, Completion, Event},
    timers,
    tools::{CallError, Tool},
};
use belljar_guest_engine::call_site::CallSite;

use crate::servers::ToolRef;

/// A call that has no answer yet.
pub struct Call {
    pub(super) tool: ToolRef,
    pub(super) site: CallSite,
    pub(super) settle: ResolvingFunctions,
    pub(super) raw: bool,
    /// Whether a script with a name is to run when the host allows the call (`skills.rs`).
    pub(super) is_of_skill: bool,
}

/// Something that the script waited for has happened.
pub enum Completed {
    /// A tool has answered a call.
    Call(Call, Result<String, CallError>),
    /// The time of a timer has come.
    Timer(u32),
}

enum Awaited {
    Call(Call),
    Timer(u32),
}

#[derive(Default)]
struct Table {
    awaited: BTreeMap<u32, Awaited>,
    calls: usize,
}

thread_local! {
    static TABLE: RefCell<Table> = RefCell::default();
}

/// Makes a call: it leaves the jar now.
pub fn begin_call(tool: &Tool, arguments: &str, call: Call) {
    let number = tool.begin(arguments);
    TABLE.with_borrow_mut(|table| {
        table.calls += 1;
        table.awaited.insert(number, Awaited::Call(call));
    });
}

/// Starts the host's clock for a timer of this name, and returns the host's number for it.
pub fn begin_timer(timer: u32, milliseconds: u32) -> u32 {
    let number = timers::begin(milliseconds);
    TABLE.with_borrow_mut(|table| table.awaited.insert(number, Awaited::Timer(timer)));
    number
}

/// Forgets a timer by the host's number. One whose time has come is forgotten already.
pub fn cancel_timer(number: u32) {
    if TABLE.with_borrow_mut(|table| table.awaited.remove(&number)).is_some() {
        timers::cancel(number);
    }
}

/// How many tool calls have no answer yet.
pub fn calls() -> usize {
    TABLE.with_borrow(|table| table.calls)
}

/// What `name` says of the calls that have no answer yet, in their order.
pub fn name_calls<T>(name: impl FnMut(&Call) -> T) -> Vec<T> {
    TABLE.with_borrow(|table| {
        let calls = table.awaited.values().filter_map(|awaited| match awaited {
            Awaited::Call(call) => Some(call),
            Awaited::Timer(_) => None,
        });
        calls.map(name).collect()
    })
}

/// Whether nothing at all is on its way.
pub fn is_empty() -> bool {
    TABLE.with_borrow(|table| table.awaited.is_empty())
}

/// The next completion. None, if nothing waits for it.
pub fn next() -> Option<Completed> {
    let Completion { number, event } = completions::next();
    let awaited = TABLE.with_borrow_mut(|table| {
        let awaited = table.awaited.remove(&number);
        if matches!(awaited, Some(Awaited::Call(_))) {
            table.calls -= 1;
        }
        awaited
    });
    match (awaited?, event) {
        (Awaited::Call(call), Event::Answer(text)) => Some(Completed::Call(call, Ok(text))),
        (Awaited::Call(call), Event::Fault(error)) => Some(Completed::Call(call, Err(error))),
        (Awaited::Timer(timer), Event::Elapsed) => Some(Completed::Timer(timer)),
        _ => None,
    }
}
