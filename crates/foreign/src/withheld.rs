//! WASI's files and sockets. Standard libraries import them, so they exist here, but with nothing
//! behind them: wasmtime-wasi's code for files and sockets is not linked to a component.

use wasmtime::{
    Engine,
    component::{
        Component, Linker, LinkerInstance, ResourceType, Type, Val,
        types::{ComponentFunc, ComponentItem},
    },
};
use wasmtime_wasi_io::streams;

use crate::{components::put, run::RunState};

/// The interfaces without their versions, and the resources that each of them defines.
const WITHHELD: [(&str, &[&str]); 6] = [
    ("wasi:filesystem/preopens", &[]),
    ("wasi:filesystem/types", &["descriptor", "directory-entry-stream"]),
    ("wasi:sockets/tcp", &["tcp-socket"]),
    ("wasi:sockets/tcp-create-socket", &[]),
    ("wasi:sockets/udp", &["udp-socket", "incoming-datagram-stream", "outgoing-datagram-stream"]),
    ("wasi:sockets/udp-create-socket", &[]),
];

/// The type behind the resources. No value of it is ever created.
struct Nothing;

/// Defines those of them that a component imports.
pub(crate) fn add_to_linker(
    linker: &mut Linker<RunState>,
    engine: &Engine,
    component: &Component,
) -> wasmtime::Result<()> {
    for (import, item) in component.component_type().imports(engine) {
        let name = import.split_once('@').map_or(import, |(name, _)| name);
        let Some((_, resources)) = WITHHELD.into_iter().find(|(withheld, _)| *withheld == name) else { continue };
        let ComponentItem::ComponentInstance(interface) = item.ty else { continue };
        let mut instance = linker.instance(import)?;
        for resource in resources {
            instance.resource(resource, ResourceType::host::<Nothing>(), |_, _| Ok(()))?;
        }
        for (name, export) in interface.exports(engine) {
            if let ComponentItem::ComponentFunc(ty) = export.ty {
                function(&mut instance, name, &ty)?;
            }
        }
    }
    Ok(())
}

/// Defines a function, whose type is the component's. Its parameters must be those that WASI
/// defines: values of any other type would be read from the component's memory before the call.
fn function(instance: &mut LinkerInstance<'_, RunState>, name: &str, ty: &ComponentFunc) -> wasmtime::Result<()> {
    let params: Vec<Type> = ty.params().map(|(_, ty)| ty).collect();
    let answer = match (name, params.as_slice()) {
        // The folders that are open from the start.
        ("get-directories", []) => Val::List(Vec::new()),
        ("create-tcp-socket" | "create-udp-socket", [Type::Enum(_)]) => {
            Val::Result(Err(Some(Box::new(Val::Enum("access-denied".to_owned())))))
        }
        // The file error that is behind a stream error.
        ("filesystem-error-code", [Type::Borrow(_)]) => Val::Option(None),
        // Its first parameter is a handle, which a component can never have: a call fails before it
        // gets here.
        (method, _) if method.starts_with("[method]") => {
            return instance
                .func_new(name, |_, _, _, _| Err(wasmtime::Error::msg("a component has neither files nor sockets")));
        }
        _ => return Err(wasmtime::Error::msg(format!("{name} has another form than in WASI"))),
    };
    instance.func_new(name, move |mut store, _, params, results| {
        // A borrowed handle must be dropped.
        for param in params {
            if let Val::Resource(handle) = param {
                handle.try_into_resource::<streams::Error>(&mut store)?;
            }
        }
        put(results, answer.clone())
    })
}
