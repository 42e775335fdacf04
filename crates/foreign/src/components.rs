//! The engine for components, and components that are ready to run.

use std::sync::Arc;

use belljar_catalog::wit::Payload;
use belljar_model::ToolPath;
use belljar_sandbox::common::Ticker;
use wasmtime::{
    Engine,
    component::{
        Component as Compiled, InstancePre, Linker, Type,
        types::{ComponentFunc, ComponentItem},
    },
};

use crate::{
    calls::result_type,
    engine,
    imports::Imports,
    reading::from_file,
    refusal::Refusal,
    request::ComponentRun,
    run::RunState,
    server::{Server, Target, targets},
};

/// Runs components that others built. Shared by all runs of a process.
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
        /// What wasmtime says.
        reason: String,
    },
    /// The thread that enforces deadlines cannot be started.
    #[error("a thread cannot be started: {0}")]
    Thread(#[from] std::io::Error),
}

/// A component that is compiled.
#[derive(Clone)]
pub struct Component {
    pub(crate) compiled: Compiled,
    pub(crate) imports: Arc<Imports>,
    pub(crate) bytes: u64,
}

/// A component whose functions are bound to tools.
#[derive(Clone)]
pub struct Linked {
    pub(crate) instance: InstancePre<RunState>,
    pub(crate) functions: Arc<Vec<Bound>>,
    pub(crate) component: Component,
}

/// An imported function, and the tool behind it.
pub(crate) struct Bound {
    pub(crate) server: Server,
    pub(crate) path: ToolPath,
    pub(crate) function: usize,
}

impl Components {
    /// An engine with a pool for so many runs at once. Each reserves some 16 GiB of addresses, and
    /// uses the memory that it touches.
    ///
    /// # Errors
    /// [`ComponentsError`]: the machine is not suitable.
    pub fn new(max_live: u32) -> Result<Self, ComponentsError> {
        let fault = |error: wasmtime::Error| ComponentsError::Engine { max_live, reason: format!("{error:#}") };
        let engine = engine::engine(max_live).map_err(fault)?;
        Ok(Self { ticker: Ticker::start(engine.clone())?, engine })
    }

    /// Compiles a component, given as WebAssembly or as text, in this process. That can take twenty
    /// seconds and 400 MiB, and the compiler reads what nobody reviewed: belljar does it in a
    /// process that has nothing else.
    ///
    /// # Errors
    /// [`Refusal`]: it is not a component that can be run here.
    pub fn component(&self, file: &[u8]) -> Result<Component, Refusal> {
        let component = from_file(file)?;
        let imports = Imports::read(&component)?;
        let refused = |error: wasmtime::Error| Refusal::Compile(format!("{error:#}"));
        let compiled = Compiled::new(&self.engine, &component).map_err(refused)?;
        // Now, since a confined process could not make it at its first run.
        compiled.initialize_copy_on_write_image().map_err(refused)?;
        Ok(Component { compiled, imports: Arc::new(imports), bytes: file.len() as u64 })
    }

    /// Binds what a component imports to tools of these servers.
    ///
    /// # Errors
    /// [`Refusal`]: something is missing, or does not fit.
    pub fn link(&self, component: &Component, servers: &[Server]) -> Result<Linked, Refusal> {
        let failed = |error: wasmtime::Error| Refusal::Link(format!("{error:#}"));
        // One of its own for each component: none is cloned.
        let mut linker = Linker::new(&self.engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(failed)?;
        let mut functions = Vec::new();
        for target in targets(&component.imports, servers)? {
            let ty = self.function_type(component, &target)?;
            check(&ty, &target)?;
            bind(&mut linker, &target, functions.len()).map_err(failed)?;
            functions.push(Bound {
                server: target.server.clone(),
                path: target.function.path.clone(),
                function: target.function_at,
            });
        }
        let instance = linker.instantiate_pre(&component.compiled).map_err(failed)?;
        Ok(Linked { instance, functions: Arc::new(functions), component: component.clone() })
    }

    /// Runs a component to its outcome, when the result is awaited.
    pub fn run<'a>(&'a self, linked: &'a Linked) -> ComponentRun<'a> {
        ComponentRun::new(self, linked)
    }

    fn function_type(&self, component: &Component, target: &Target<'_>) -> Result<ComponentFunc, Refusal> {
        let ty = component.compiled.component_type();
        let instance = ty.get_import(&self.engine, target.import).map(|import| import.ty);
        if let Some(ComponentItem::ComponentInstance(instance)) = instance
            && let Some(export) = instance.get_export(&self.engine, &target.function.name)
            && let ComponentItem::ComponentFunc(function) = export.ty
        {
            return Ok(function);
        }
        Err(other(target))
    }
}

impl Component {
    /// What it imports of servers.
    pub fn imports(&self) -> &Imports {
        &self.imports
    }
}

/// Whether a function has a form that can be served. What is inside of its types is converted at
/// each call, and may differ.
fn check(ty: &ComponentFunc, target: &Target<'_>) -> Result<(), Refusal> {
    let takes_one = ty.params().len() <= 1;
    let returns = result_type(ty).map_err(|_| other(target))?;
    let is_empty = matches!(target.function.result, Payload::Fixed(_));
    let has_own = |ty: &Type| matches!(ty, Type::Own(_) | Type::Borrow(_) | Type::Future(_) | Type::Stream(_));
    let is_plain = !ty.params().any(|(_, ty)| has_own(&ty)) && !returns.0.as_ref().is_some_and(has_own);
    if takes_one && is_plain && is_empty == returns.0.is_none() { Ok(()) } else { Err(other(target)) }
}

fn other(target: &Target<'_>) -> Refusal {
    let (function, import) = (&target.function.name, target.import);
    Refusal::Link(format!("{function} of {import} has another form than belljar wit prints"))
}

/// Defines a function. Its number is all that a call needs to find its tool.
fn bind(linker: &mut Linker<RunState>, target: &Target<'_>, number: usize) -> wasmtime::Result<()> {
    let mut instance = linker.instance(target.import)?;
    let name = target.function.name.as_str();
    if target.is_async {
        return instance.func_new_concurrent(name, move |accessor, ty, params, results| {
            Box::pin(async move {
                let calls = accessor.with(|mut access| access.get().calls.clone());
                put(results, calls.call(number, &ty, params).await?)
            })
        });
    }
    instance.func_new_async(name, move |store, ty, params, results| {
        let calls = store.data().calls.clone();
        Box::new(async move { put(results, calls.call(number, &ty, params).await?) })
    })
}

fn put(results: &mut [wasmtime::component::Val], value: wasmtime::component::Val) -> wasmtime::Result<()> {
    let place = results.first_mut().ok_or_else(|| wasmtime::Error::msg("the function returns nothing"))?;
    *place = value;
    Ok(())
}
