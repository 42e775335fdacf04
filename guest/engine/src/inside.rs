//! Inside which scripts with names the code runs that runs now.
//!
//! Such a script may call others, and none that it is called by. What it awaits goes on in a job of
//! its own, so its name is kept with each function that a promise will call (`waits.rs`).

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

/// The innermost script with a name, and those around it.
pub type Inside = Option<Rc<Named>>;

/// A script with a name that is being run.
pub struct Named {
    name: String,
    outer: Inside,
}

thread_local! {
    static NOW: RefCell<Inside> = const { RefCell::new(None) };
    static HAS_ANY: Cell<bool> = const { Cell::new(false) };
}

/// What runs now.
pub fn now() -> Inside {
    if HAS_ANY.get() { NOW.with_borrow(Clone::clone) } else { None }
}

/// Whether this run has called any.
pub fn has_any() -> bool {
    HAS_ANY.get()
}

/// Runs something inside these.
pub fn with<T>(inside: Inside, run: impl FnOnce() -> T) -> T {
    let before = NOW.replace(inside);
    let result = run();
    NOW.set(before);
    result
}

/// Inside a script of this name, which was called inside `outer`.
pub fn of(name: &str, outer: Inside) -> Inside {
    HAS_ANY.set(true);
    Some(Rc::new(Named { name: name.to_owned(), outer }))
}

/// The names from a script to the innermost one, if it is among them.
pub fn since(name: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut inside = now();
    while let Some(named) = inside {
        names.push(named.name.clone());
        if named.name == name {
            names.reverse();
            return Some(names);
        }
        inside = named.outer.clone();
    }
    None
}
