//! Code that the engine parses. All of it is parsed here: what is generic in the parser would be
//! compiled again into each crate that asks for it.

use boa_engine::{Context, JsResult, JsValue, Script};

/// Parses a script. `name` is what stacks call it.
pub fn parse(code: &str, name: Option<&str>, context: &mut Context) -> JsResult<Script> {
    Script::parse_text(code, name.map(AsRef::as_ref), None, context)
}

/// Parses a script and runs it: its value.
pub fn evaluate(code: &str, name: Option<&str>, context: &mut Context) -> JsResult<JsValue> {
    parse(code, name, context)?.evaluate(context)
}
