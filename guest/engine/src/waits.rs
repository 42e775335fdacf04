//! What each async function of the script waits for: where its `await` is.
//!
//! The engine asks its host for a record of each function that a promise will call. For an `await`
//! these are two built-in functions, made while the function that waits is still the running one:
//! so its place is known here, and costs nothing but a note.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use boa_engine::{
    Context, JsData, JsString, builtins::function::OrdinaryFunction, job::JobCallback, object::builtins::JsFunction,
    vm::SourcePath,
};
use boa_gc::{Finalize, Trace};

use belljar_guest_source::{self as source, MAIN, Position, SCRIPT_NAME};

use crate::inside::{self, Inside};

/// Notes that are kept before those of what has gone on are thrown away.
const MIN_NOTES: usize = 64;

/// The functions of `prelude.js` of `globals` that await. They stand nowhere in the script; what
/// waits for them does.
const HELPERS: [&str; 4] = ["__collect__", "__dispose__", "__hold__", "__spread__"];

/// One place where a function waits.
struct Wait {
    function: JsString,
    line: u32,
    column: u32,
    has_gone_on: Cell<bool>,
}

impl Wait {
    fn is_of_main(&self) -> bool {
        self.function.iter().eq(MAIN.encode_utf16())
    }
}

/// Both functions of one `await` hold the same.
#[derive(Trace, Finalize, JsData)]
struct Note(#[unsafe_ignore_trace] Rc<Wait>);

/// Inside which scripts with names a function was made that a promise will call. It has no note.
#[derive(Trace, Finalize, JsData)]
struct Made(#[unsafe_ignore_trace] Inside);

#[derive(Default)]
struct Notes {
    waits: Vec<Rc<Wait>>,
    /// That of the first of two functions, until the second is made.
    first: Option<Rc<Wait>>,
    prune_at: usize,
}

thread_local! {
    static NOTES: RefCell<Notes> = RefCell::default();
}

/// Forgets all notes: what ran before is no part of this run.
pub fn begin() {
    NOTES.take();
}

/// The record of a function that a promise will call.
pub fn record(callback: JsFunction, context: &Context) -> JobCallback {
    if inside::has_any() {
        let inside = inside::now();
        if inside.is_some() {
            return JobCallback::new(callback, Made(inside));
        }
    }
    // A function of the script's own is the handler of a `then`, and nothing waits there.
    if callback.is::<OrdinaryFunction>() {
        return JobCallback::new(callback, ());
    }
    let Some(frame) = context.stack_trace().next() else { return JobCallback::new(callback, ()) };
    let location = frame.position();
    // The top level of a script with a name, which is not a place of the script either.
    if inside::has_any() && !matches!(&location.path, SourcePath::Path(path) if path.as_os_str() == SCRIPT_NAME) {
        return JobCallback::new(callback, ());
    }
    if HELPERS.iter().any(|helper| location.function_name.iter().eq(helper.encode_utf16())) {
        return JobCallback::new(callback, ());
    }
    // A loop over what is awaited has no position of its own.
    let (line, column) =
        location.position.map_or((0, 0), |position| (position.line_number(), position.column_number()));
    let wait = NOTES.with_borrow_mut(|notes| {
        if let Some(first) = notes.first.take()
            && (first.line, first.column) == (line, column)
        {
            return first;
        }
        let wait = Rc::new(Wait { function: location.function_name, line, column, has_gone_on: Cell::new(false) });
        if notes.waits.len() >= notes.prune_at.max(MIN_NOTES) {
            notes.waits.retain(|wait| !wait.has_gone_on.get());
            notes.prune_at = notes.waits.len() * 2;
        }
        notes.waits.push(wait.clone());
        notes.first = Some(wait.clone());
        wait
    });
    JobCallback::new(callback, Note(wait))
}

/// Calls the function of a record: what waited goes on.
pub fn go_on<T>(job: &JobCallback, call: impl FnOnce() -> T) -> T {
    if let Some(Note(wait)) = job.host_defined().downcast_ref::<Note>() {
        wait.has_gone_on.set(true);
    } else if inside::has_any()
        && let Some(Made(inside)) = job.host_defined().downcast_ref::<Made>()
    {
        return inside::with(inside.clone(), call);
    }
    call()
}

/// A function that waits, and the author's position of its `await`.
pub struct Waiting {
    pub function: String,
    pub position: Position,
}

/// All that waits, in the order in which it began to; the program itself, which most probably waits
/// for the others, comes last.
pub fn all() -> Vec<Waiting> {
    NOTES.with_borrow(|notes| {
        let open = notes.waits.iter().filter(|wait| !wait.has_gone_on.get());
        let waiting = |wait: &Rc<Wait>| {
            let position = source::original(wait.line, wait.column)?;
            Some(Waiting { function: wait.function.to_std_string_lossy(), position })
        };
        let (main, mut waits): (Vec<_>, Vec<_>) = open.filter_map(waiting).partition(|wait| wait.function == MAIN);
        waits.extend(main);
        waits
    })
}

/// The functions that still wait when the program has its value.
///
/// `Promise.race` and its kin wait for each of their promises at the place of the call; where the
/// function has gone on from that place since, they are not what it waits for. Where notes were
/// thrown away, nobody can tell, and nothing is said.
pub fn given_up() -> Vec<Waiting> {
    NOTES.with_borrow(|notes| {
        if notes.prune_at > 0 {
            return Vec::new();
        }
        let waits = notes.waits.iter().enumerate().filter(|(_, wait)| !wait.has_gone_on.get() && !wait.is_of_main());
        let still = waits.filter(|(index, wait)| {
            let mut later = notes.waits.iter().skip(index + 1);
            !later.any(|later| later.has_gone_on.get() && later.line == wait.line && later.function == wait.function)
        });
        let waiting = still.filter_map(|(_, wait)| {
            let position = source::original(wait.line, wait.column)?;
            Some(Waiting { function: wait.function.to_std_string_lossy(), position })
        });
        waiting.collect()
    })
}
