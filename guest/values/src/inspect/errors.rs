//! Errors as they are shown: their stack, named by their class, and what else they hold.

use boa_engine::{JsObject, JsString, js_string, property::PropertyKey};

use belljar_guest_engine::{
    errors,
    originals::{self, own_data_property},
};

use super::Inspector;

impl Inspector<'_> {
    /// The stack, or what was put in its place.
    pub(super) fn error(&mut self, error: &JsObject) -> String {
        let own = own_data_property(error, js_string!("stack"), self.context).and_then(|stack| stack.as_string());
        let stack = match own {
            Some(stack) => stack.to_std_string_lossy(),
            None => errors::stack_text(error, self.context),
        };
        let (name, _) = errors::name_and_message(error, self.context);
        let stack = match self.class(error) {
            Some(class) => with_class(stack, &name, &class),
            None => stack,
        };
        let stack = if stack.contains("\n    at ") { stack } else { format!("[{stack}]") };
        stack.replace('\n', &format!("\n{}", " ".repeat(self.indentation)))
    }

    /// Whether a property of an error is shown beside its stack: its causes are, and what the stack
    /// does not say.
    pub(super) fn is_shown_of_error(&mut self, error: &JsObject, key: &PropertyKey, stack: &str) -> bool {
        let is = |name: JsString| *key == PropertyKey::from(name);
        if is(js_string!("cause")) || is(js_string!("errors")) {
            return true;
        }
        if is(js_string!("stack")) || !originals::is_enumerable(error, key.clone(), self.context) {
            return false;
        }
        let is_said = is(js_string!("name")) || is(js_string!("message"));
        let value = own_data_property(error, key.clone(), self.context).and_then(|value| value.as_string());
        !is_said || value.is_none_or(|value| !stack.contains(&value.to_std_string_lossy()))
    }
}

/// A stack that names the class of its error as well, if that is another than its name.
fn with_class(stack: String, name: &str, class: &str) -> String {
    let Some(rest) = stack.strip_prefix(name) else { return stack };
    let ends_there = rest.is_empty() || rest.starts_with([':', '\n']);
    if !name.ends_with("Error") || !ends_there || class == name {
        return stack;
    }
    if class.contains(name) { format!("{class}{rest}") } else { format!("{class} [{name}]{rest}") }
}
