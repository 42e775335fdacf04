//! What `JSON.parse` was given that is not JSON, and what it had to round.

use std::cell::RefCell;

use boa_engine::{Context, JsString};

use belljar_guest_bindings::belljar::sandbox::console;
use belljar_guest_engine::call_site::CallSite;
use belljar_guest_values::decode::LargeIntegers;

thread_local! {
    /// The last text that was no JSON. It is looked at where the run fails of that.
    static NOT_JSON: RefCell<Option<JsString>> = const { RefCell::new(None) };
    static ROUNDED: RefCell<Option<Rounded>> = const { RefCell::new(None) };
}

/// The integers that became other numbers.
struct Rounded {
    count: usize,
    /// `9007199254740993 at $.rows[0].id (line 3)`
    first: String,
}

/// Keeps a text that is no JSON, for the hint of its error.
pub(super) fn not_json(text: &JsString) {
    NOT_JSON.set(Some(text.clone()));
}

/// The last text that was no JSON.
pub fn refused_text() -> Option<JsString> {
    NOT_JSON.with_borrow(Clone::clone)
}

/// Notes the integers of a text that `JSON.parse` rounded.
pub(super) fn rounded(large: &LargeIntegers, context: &mut Context) {
    let is_first = ROUNDED.with_borrow_mut(|rounded| match rounded {
        Some(rounded) => {
            rounded.count += large.count;
            false
        }
        None => true,
    });
    if !is_first {
        return;
    }
    let position = CallSite::here(context).ok().and_then(|site| site.position(context));
    let line = position.map(|position| format!(" (line {})", position.line)).unwrap_or_default();
    let first = format!("{} at {}{line}", large.digits, large.first);
    ROUNDED.set(Some(Rounded { count: large.count, first }));
}

/// Says once, at the end of a run, what was rounded.
pub fn report_rounded() {
    let Some(Rounded { count, first }) = ROUNDED.take() else { return };
    let (what, which) = match count {
        1 => ("an integer".to_owned(), String::new()),
        count => (format!("{count} integers"), "first ".to_owned()),
    };
    console::write(
        console::Level::Warn,
        &format!(
            "JSON.parse rounded {what} beyond 2^53, which a number cannot hold: {which}{first}; tools.parse(text) gives such integers as \
             strings of their digits"
        ),
    );
}
