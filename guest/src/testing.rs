//! Two contexts to compare: the engine as it comes, and with belljar's built-ins in the place of its own.
//!
//! These tests run natively, where the glass is not linked: nothing that a test does may reach for a tool, the console, a timer
//! or the host's clock.

use boa_engine::{Context, Source};

/// The engine as it comes.
pub(crate) fn stock() -> Context {
    Context::default()
}

/// The engine with belljar's built-ins.
pub(crate) fn ours() -> Context {
    let mut context = Context::default();
    crate::globals::keep_originals(&mut context).expect("the originals are there");
    crate::builtins::install(&mut context).expect("the built-ins are made from constants");
    context
}

/// What a script gives, as text: its value as `String` makes it, or what it throws, of an error its name alone.
pub(crate) fn evaluate(code: &str, context: &mut Context) -> String {
    let value = context.eval(Source::from_bytes(code));
    let text = value.and_then(|value| value.to_string(context));
    let error = match text {
        Ok(text) => return text.to_std_string_escaped(),
        Err(error) => error,
    };
    let thrown = match error.try_native(context) {
        Ok(native) => native.kind().to_string(),
        Err(_) => error.to_string(),
    };
    format!("throws {thrown}")
}

/// Asserts that each of these scripts gives the same with belljar's built-ins as with the engine's own.
#[track_caller]
pub(crate) fn same_as_stock(scripts: &[impl AsRef<str>]) {
    let (mut stock, mut ours) = (stock(), ours());
    for script in scripts.iter().map(AsRef::as_ref) {
        assert_eq!(evaluate(script, &mut ours), evaluate(script, &mut stock), "{script}");
    }
}
