//! The interface `belljar:sandbox/tools@0.2.0`, with which a component finds tools while it runs.
//!
//! A tool is a resource: a component cannot call a tool without a handle for it. All handles for
//! one tool are equal, so the host stores each tool once, whatever a component does.

use std::sync::Arc;

use belljar_catalog::wit::AnyTool;
use wasmtime::{
    AsContext as _, AsContextMut, Engine,
    component::{Component as Compiled, Linker, Resource, ResourceType, Type, Val, types::ComponentFunc},
};

use crate::{
    calls::Returns,
    components::{imported_function, other_form, put},
    imports::AnyToolInterface,
    refusal::Refusal,
    run::RunState,
};

/// A tool that was found. Its handle contains the number under which the run stores it.
enum Found {}

/// The two arms of the result of its calls, if it has the form that `belljar wit` prints.
pub(crate) fn checked(
    engine: &Engine,
    component: &Compiled,
    interface: &AnyToolInterface,
) -> Result<Option<Arc<Returns>>, Refusal> {
    let mut returns = None;
    for name in &interface.functions {
        let other = || other_form(name, &interface.import);
        let ty = imported_function(engine, component, &interface.import, name).ok_or_else(other)?;
        if name == AnyTool::CALL {
            returns = Some(Arc::new(call_returns(&ty).ok_or_else(other)?));
        } else if !finds(&ty) {
            return Err(other());
        }
    }
    Ok(returns)
}

/// `call: func(self: borrow<tool>, arguments: string) -> result<string, tool-error>`
fn call_returns(ty: &ComponentFunc) -> Option<Returns> {
    let params: Vec<Type> = ty.params().map(|(_, ty)| ty).collect();
    let returns = Returns::of(ty).filter(|returns| returns.ok == Some(Type::String))?;
    matches!(&params[..], [Type::Borrow(_), Type::String]).then_some(returns)
}

/// `find: func(path: string) -> result<tool, string>`
fn finds(ty: &ComponentFunc) -> bool {
    let params: Vec<Type> = ty.params().map(|(_, ty)| ty).collect();
    let results: Vec<Type> = ty.results().collect();
    let ([Type::String], [Type::Result(result)]) = (&params[..], &results[..]) else { return false };
    matches!((result.ok(), result.err()), (Some(Type::Own(_)), Some(Type::String)))
}

/// Defines the interface.
pub(crate) fn bind(
    linker: &mut Linker<RunState>,
    interface: &AnyToolInterface,
    returns: Option<Arc<Returns>>,
) -> wasmtime::Result<()> {
    let mut instance = linker.instance(&interface.import)?;
    // Nothing is dropped: the run keeps a tool that was found, for the next time.
    instance.resource(AnyTool::TOOL, ResourceType::host::<Found>(), |_, _| Ok(()))?;
    instance.func_new_async(AnyTool::FIND, |mut store, _, params, results| {
        Box::new(async move {
            let [Val::String(path)] = params else { return Err(misused()) };
            let calls = store.data().calls.clone();
            let found = match calls.find(path).await? {
                Ok(number) => {
                    let handle = Resource::<Found>::new_own(number).try_into_resource_any(&mut store)?;
                    Ok(Some(Box::new(Val::Resource(handle))))
                }
                Err(why) => Err(Some(Box::new(Val::String(why)))),
            };
            put(results, Val::Result(found))
        })
    })?;
    let Some(returns) = returns else { return Ok(()) };
    if interface.is_async {
        return instance.func_new_concurrent(AnyTool::CALL, move |accessor, _, params, results| {
            let returns = returns.clone();
            Box::pin(async move {
                let (calls, number, fuel) = accessor.with(|mut access| {
                    let number = number(params, &mut access);
                    let left = access.as_context().get_fuel();
                    (access.get().calls.clone(), number, left)
                });
                let handle = calls.found(number?, &returns)?;
                put(results, calls.call_beside(&handle, arguments(params), fuel?).await?)
            })
        });
    }
    instance.func_new_async(AnyTool::CALL, move |mut store, _, params, results| {
        let returns = returns.clone();
        Box::new(async move {
            let number = number(params, &mut store)?;
            let (calls, fuel) = (store.data().calls.clone(), store.get_fuel()?);
            let handle = calls.found(number, &returns)?;
            put(results, calls.call(&handle, arguments(params), fuel).await?)
        })
    })
}

/// The number of the tool whose handle is the first parameter.
fn number(params: &[Val], store: impl AsContextMut) -> wasmtime::Result<u32> {
    let Some(Val::Resource(handle)) = params.first() else { return Err(misused()) };
    Ok(handle.try_into_resource::<Found>(store)?.rep())
}

fn arguments(params: &[Val]) -> &[Val] {
    params.get(1..).unwrap_or_default()
}

fn misused() -> wasmtime::Error {
    wasmtime::Error::msg("the function was given something else than its types say")
}
