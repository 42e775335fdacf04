//! The engine for components, and components that are ready to run.

use std::sync::Arc;

use belljar_catalog::wit::Payload;
use belljar_model::ToolPath;
use belljar_recording::digest;
use belljar_sandbox::common::Ticker;
use wasmtime::{
    AsContext as _, Engine,
    component::{
        Component as Compiled, InstancePre, Linker, Type,
        types::{ComponentFunc, ComponentItem},
    },
};

use crate::{
    any_tool,
    calls::Returns,
    engine,
    imports::Imports,
    reading::from_file,
    refusal::Refusal,
    request::ComponentRun,
    run::RunState,
    server::{Server, Target, targets},
    wasi, withheld,
};

/// Runs components that others built. All runs of a process share it.
pub struct Components {
    pub(crate) engine: Engine,
    pub(crate) ticker: Ticker,
}

/// Why there is no engine for components.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentsError {
    /// It cannot be set up on this machine.
    #[error("the engine for components cannot be set up with {max_live} slots: {reason}")]
    Engine {
        /// The slots asked for.
        max_live: u32,
        /// wasmtime's message.
        reason: String,
    },
    /// The thread that enforces deadlines cannot be started.
    #[error("a thread cannot be started: {0}")]
    Thread(#[from] std::io::Error),
}

/// A compiled component.
#[derive(Clone)]
pub struct Component {
    pub(crate) compiled: Compiled,
    pub(crate) imports: Arc<Imports>,
    pub(crate) bytes: u64,
    /// The SHA-256 of its file.
    pub(crate) digest: [u8; 32],
}

/// A component whose functions are bound to tools.
#[derive(Clone)]
pub struct Linked {
    pub(crate) instance: InstancePre<RunState>,
    pub(crate) functions: Arc<Vec<Bound>>,
    pub(crate) component: Component,
    pub(crate) servers: Vec<Server>,
}

/// An imported function, and the tool behind it.
pub(crate) struct Bound {
    pub(crate) server: Server,
    pub(crate) path: ToolPath,
    pub(crate) function: usize,
    pub(crate) returns: Arc<Returns>,
}

impl Components {
    /// An engine with a pool for this many concurrent runs. Each run reserves some 16 GiB of
    /// addresses, and uses only the memory that it touches.
    ///
    /// # Errors
    /// [`ComponentsError`]: the machine is not suitable.
    pub fn new(max_live: u32) -> Result<Self, ComponentsError> {
        let fault = |error: wasmtime::Error| ComponentsError::Engine { max_live, reason: format!("{error:#}") };
        let engine = engine::engine(max_live).map_err(fault)?;
        Ok(Self { ticker: Ticker::start(engine.clone())?, engine })
    }

    /// Compiles a component, given as WebAssembly or as text, in this process. That can take twenty
    /// seconds and 400 MiB, and the compiler reads code that nobody reviewed: belljar does this in
    /// a separate process that contains nothing else.
    ///
    /// # Errors
    /// [`Refusal`]: it is not a component that can be run here.
    pub fn component(&self, file: &[u8]) -> Result<Component, Refusal> {
        let component = from_file(file)?;
        let imports = Imports::read(&component)?;
        let refused = |error: wasmtime::Error| Refusal::Compile(format!("{error:#}"));
        let compiled = Compiled::new(&self.engine, &component).map_err(refused)?;
        // This happens now, because a confined process could not create the image at the first run.
        compiled.initialize_copy_on_write_image().map_err(refused)?;
        Ok(Component { compiled, imports: Arc::new(imports), bytes: file.len() as u64, digest: digest(file) })
    }

    /// Binds the imports of a component to tools of these servers.
    ///
    /// # Errors
    /// [`Refusal`]: something is missing, or does not fit.
    pub fn link(&self, component: &Component, servers: &[Server]) -> Result<Linked, Refusal> {
        let failed = |error: wasmtime::Error| Refusal::Link(format!("{error:#}"));
        // Each component gets its own linker, so none is cloned.
        let mut linker = Linker::new(&self.engine);
        wasi::add_to_linker(&mut linker).map_err(failed)?;
        withheld::add_to_linker(&mut linker, &self.engine, &component.compiled).map_err(failed)?;
        let mut functions = Vec::new();
        for target in targets(&component.imports, servers)? {
            let ty = self.function_type(component, &target)?;
            let returns = Arc::new(checked(&ty, &target)?);
            bind(&mut linker, &target, functions.len()).map_err(failed)?;
            functions.push(Bound {
                server: target.server.clone(),
                path: target.function.path.clone(),
                function: target.function_at,
                returns,
            });
        }
        for interface in &component.imports.any_tool {
            let returns = any_tool::checked(&self.engine, &component.compiled, interface)?;
            any_tool::bind(&mut linker, interface, returns).map_err(failed)?;
        }
        let instance = linker.instantiate_pre(&component.compiled).map_err(failed)?;
        let (component, servers) = (component.clone(), servers.to_vec());
        Ok(Linked { instance, functions: Arc::new(functions), component, servers })
    }

    /// Prepares a run of a component. The run happens when the returned value is awaited.
    pub fn run<'a>(&'a self, linked: &'a Linked) -> ComponentRun<'a> {
        ComponentRun::new(self, linked)
    }

    fn function_type(&self, component: &Component, target: &Target<'_>) -> Result<ComponentFunc, Refusal> {
        imported_function(&self.engine, &component.compiled, target.import, target.name).ok_or_else(|| other(target))
    }
}

/// The type of an imported function.
pub(crate) fn imported_function(
    engine: &Engine,
    component: &Compiled,
    import: &str,
    name: &str,
) -> Option<ComponentFunc> {
    let ty = component.component_type();
    let import = ty.get_import(engine, import)?;
    let ComponentItem::ComponentInstance(instance) = import.ty else { return None };
    match instance.get_export(engine, name)?.ty {
        ComponentItem::ComponentFunc(function) => Some(function),
        _ => None,
    }
}

impl Component {
    /// The component's imports from servers.
    pub fn imports(&self) -> &Imports {
        &self.imports
    }

    /// The SHA-256 of its file.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }
}

/// The result of a function, if it has a form that can be served. The contents of its types are
/// converted at each call, and may differ.
fn checked(ty: &ComponentFunc, target: &Target<'_>) -> Result<Returns, Refusal> {
    let takes_one = ty.params().len() <= 1;
    let returns = Returns::of(ty).ok_or_else(|| other(target))?;
    let is_empty = matches!(target.function.result, Payload::Fixed(_));
    let has_own = |ty: &Type| matches!(ty, Type::Own(_) | Type::Borrow(_) | Type::Future(_) | Type::Stream(_));
    let is_plain = !ty.params().any(|(_, ty)| has_own(&ty)) && !returns.ok.as_ref().is_some_and(has_own);
    if takes_one && is_plain && is_empty == returns.ok.is_none() { Ok(returns) } else { Err(other(target)) }
}

fn other(target: &Target<'_>) -> Refusal {
    other_form(target.name, target.import)
}

/// The refusal of a function whose form is not the one that `belljar wit` prints.
pub(crate) fn other_form(function: &str, import: &str) -> Refusal {
    Refusal::Link(format!("{function} of {import} has another form than belljar wit prints"))
}

/// Defines a function. A call needs only the function's number to find its tool.
fn bind(linker: &mut Linker<RunState>, target: &Target<'_>, number: usize) -> wasmtime::Result<()> {
    let mut instance = linker.instance(target.import)?;
    let name = target.name;
    if target.is_async {
        return instance.func_new_concurrent(name, move |accessor, _, params, results| {
            Box::pin(async move {
                let (calls, fuel) = accessor.with(|mut access| {
                    let left = access.as_context().get_fuel();
                    (access.get().calls.clone(), left)
                });
                put(results, calls.call_beside(calls.handle(number)?, params, fuel?).await?)
            })
        });
    }
    instance.func_new_async(name, move |store, _, params, results| {
        let (calls, fuel) = (store.data().calls.clone(), store.get_fuel());
        Box::new(async move { put(results, calls.call(calls.handle(number)?, params, fuel?).await?) })
    })
}

/// Returns a value from a host function.
pub(crate) fn put(results: &mut [wasmtime::component::Val], value: wasmtime::component::Val) -> wasmtime::Result<()> {
    let place = results.first_mut().ok_or_else(|| wasmtime::Error::msg("the function returns nothing"))?;
    *place = value;
    Ok(())
}
