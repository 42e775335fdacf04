//! There are no modules in the jar: `import()` says so.

use std::{cell::RefCell, rc::Rc};

use boa_engine::{
    Context, JsResult,
    module::{Module, ModuleLoader, ModuleRequest, Referrer},
};

use belljar_guest_engine::objects;

/// Refuses every module.
pub(crate) struct NoModules;

impl ModuleLoader for NoModules {
    async fn load_imported_module(
        self: Rc<Self>,
        _: Referrer,
        request: ModuleRequest,
        context: &RefCell<&mut Context>,
    ) -> JsResult<Module> {
        let name = request.specifier().to_std_string_lossy();
        let message = format!("cannot import '{name}': there are no modules in here");
        let hint = "the tools are global objects, one per server; see tools.list()";
        Err(objects::with_hint(&message, hint, &mut context.borrow_mut()))
    }
}
