//! Tells the host where the script is, so that a run that is ended from outside has a place:
//! nothing can be asked of the guest then.
//!
//! The engine counts iterations and calls (see `tell_progress` in its patch), and asks here after
//! so many of them. What is told depends on the script and its answers alone, so a replay tells the
//! same.

use std::{
    cell::{Cell, RefCell},
    num::NonZeroU32,
};

use boa_engine::{
    Context,
    vm::{CallFrame, SourcePath},
};

use belljar_guest_bindings::belljar::sandbox::console;
use belljar_guest_source::{self as source, Position, SCRIPT_NAME};

use crate::{inside, stack::NAMED_SCRIPTS};

/// The first time, after so many iterations and calls: most scripts have few, and each of theirs
/// may take long.
const FIRST: NonZeroU32 = NonZeroU32::new(2).expect("it is not zero");
/// In the end, each time after so many: it costs as much as some ten iterations.
const LONGEST: NonZeroU32 = NonZeroU32::new(4_096).expect("it is not zero");
/// How many iterations work of a built-in function counts for that may take long.
const LONG_WORK: u32 = 64;
/// Frames that are looked at: functions of belljar's own call each other only so deep.
const MAX_FRAMES: usize = 32;

thread_local! {
    /// Not while the snapshot is made, and not in tests, where there is no host.
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
    static LAST_TOLD: Cell<Option<Position>> = const { Cell::new(None) };
    /// The same in a script with a name. One of the two is set: what was told last.
    static LAST_NAMED: RefCell<Option<(String, Position)>> = const { RefCell::new(None) };
}

/// The script begins.
pub fn begin(context: &mut Context) {
    IS_RUNNING.set(true);
    context.tell_progress(FIRST, LONGEST);
}

/// Whether there is a host that can be told something.
pub fn has_host() -> bool {
    IS_RUNNING.get()
}

/// Tells the host where the script is, if that is not what it was told last.
pub fn tell(context: &Context) {
    if !has_host() {
        return;
    }
    if inside::has_any()
        && let Some(named) = in_named(context)
    {
        LAST_TOLD.set(None);
        LAST_NAMED.with_borrow_mut(|last| {
            if last.as_ref() != Some(&named) {
                let (file, position) = last.insert(named);
                console::at_named(file, position.line, position.column);
            }
        });
        return;
    }
    if let Some(position) = here(context)
        && LAST_TOLD.replace(Some(position)) != Some(position)
    {
        LAST_NAMED.set(None);
        console::at(position.line, position.column);
    }
}

/// A built-in function is about to do what may take long.
pub fn before_long_work(context: &mut Context) {
    context.count_progress(LONG_WORK);
}

/// The author's place of the innermost function that is the script's.
fn here(context: &Context) -> Option<Position> {
    let frame = context.stack_trace().take(MAX_FRAMES).find(|frame| is_of_script(frame))?;
    let position = frame.nearest_position()?;
    source::nearest(position.line_number(), position.column_number())
}

/// The place in the script with a name whose function is the innermost, where that is one.
fn in_named(context: &Context) -> Option<(String, Position)> {
    for frame in context.stack_trace().take(MAX_FRAMES) {
        let SourcePath::Path(path) = frame.source_path() else { continue };
        let Some(file) = path.to_str().filter(|file| file.starts_with(NAMED_SCRIPTS)) else {
            if is_of_script(frame) {
                return None;
            }
            continue;
        };
        let at = frame.nearest_position()?;
        return Some((file.to_owned(), source::nearest_in(file, at.line_number(), at.column_number())?));
    }
    None
}

fn is_of_script(frame: &CallFrame) -> bool {
    matches!(frame.source_path(), SourcePath::Path(path) if path.as_os_str() == SCRIPT_NAME)
}
