//! Globals that a run gets when one of its texts has their name: to define a global costs more than
//! a hundredth of a small script.

use std::cell::Cell;

use boa_engine::{Context, JsObject, JsResult, JsString, property::PropertyDescriptor};

use belljar_guest_bindings::Program;

/// Whether this run may have such a global, and does not have it yet.
pub(super) struct Named {
    name: &'static str,
    is_due: Cell<bool>,
}

impl Named {
    pub(super) const fn new(name: &'static str) -> Self {
        Self { name, is_due: Cell::new(false) }
    }

    /// The run may have it: it gets it now if its texts have the name. A namespace or a function of
    /// that name takes its place.
    pub(super) fn bind(&self, program: &Program, object: Option<JsObject>, context: &mut Context) -> JsResult<()> {
        self.is_due.set(true);
        let prelude = program.prelude.as_deref().unwrap_or_default();
        [&program.source, prelude].into_iter().try_for_each(|text| self.bind_for(text, object.clone(), context))
    }

    /// The same for a text that the run needs later.
    pub(super) fn bind_for(&self, text: &str, object: Option<JsObject>, context: &mut Context) -> JsResult<()> {
        if !self.is_due.get() || !text.contains(self.name) {
            return Ok(());
        }
        self.is_due.set(false);
        let (Some(object), name) = (object, JsString::from(self.name)) else { return Ok(()) };
        let global = context.global_object();
        if global.has_own_property(name.clone(), context)? {
            return Ok(());
        }
        let descriptor =
            PropertyDescriptor::builder().value(object).writable(false).enumerable(false).configurable(true).build();
        global.define_property_or_throw(name, descriptor, context).map(|_| ())
    }
}
