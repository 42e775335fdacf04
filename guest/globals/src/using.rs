//! What helps programs with `using` in them.

use std::cell::RefCell;

use boa_engine::JsValue;

thread_local! {
    static HELPERS: RefCell<JsValue> = const { RefCell::new(JsValue::undefined()) };
}

/// Keeps the helpers, which are JavaScript. Part of the snapshot.
pub(super) fn install(helpers: JsValue) {
    HELPERS.set(helpers);
}

/// The helpers, which the translation's function takes where the program has `using` in it.
pub fn using_helpers() -> JsValue {
    HELPERS.with_borrow(JsValue::clone)
}
