//! Reads what a component imports and exports, before anything of it is compiled.

use belljar_catalog::wit::{Interface, InterfaceError, InterfaceKind};
use wasmtime::wasmparser::{
    Parser, Payload, PrimitiveValType, Validator, WasmFeatures,
    component_types::{ComponentDefinedType, ComponentEntityType, ComponentFuncType, ComponentValType},
    types::Types,
};

use crate::{
    engine::UNUSED,
    imports::{Imports, MAX_COMPONENT_BYTES, RUN, RunExport, ToolInterface, shown},
    refusal::Refusal,
};

/// The most functions that it may import from servers.
const MAX_FUNCTIONS: usize = 10_000;
/// Unknown imports that are named; more are counted.
const MAX_NAMED: usize = 20;
/// What wasmtime-wasi answers. `wasi:http` is not among it.
const WASI: [&str; 6] = ["wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/", "wasi:sockets/"];
/// The version of WASI that is answered.
const WASI_VERSION: &str = "@0.2.";

/// A component from a file: WebAssembly, or its text form.
///
/// # Errors
/// [`Refusal`]: it is too large, or its text has a mistake.
pub fn from_file(file: &[u8]) -> Result<std::borrow::Cow<'_, [u8]>, Refusal> {
    let (used, limit) = (file.len(), MAX_COMPONENT_BYTES);
    if used > limit {
        return Err(Refusal::TooLarge { used, limit });
    }
    wat::parse_bytes(file).map_err(|error| Refusal::Text(error.to_string()))
}

impl Imports {
    /// Validates a component, and reads what it imports and exports. Nothing is compiled.
    ///
    /// # Errors
    /// [`Refusal`]: it is not a component that can be run here.
    pub fn read(component: &[u8]) -> Result<Self, Refusal> {
        let (used, limit) = (component.len(), MAX_COMPONENT_BYTES);
        if used > limit {
            return Err(Refusal::TooLarge { used, limit });
        }
        if Parser::is_core_wasm(component) {
            return Err(Refusal::Module);
        }
        let features = WasmFeatures::default().difference(UNUSED).union(WasmFeatures::CM_ASYNC);
        let invalid = |error: wasmtime::wasmparser::BinaryReaderError| Refusal::Invalid(error.to_string());
        let types = Validator::new_with_features(features).validate_all(component).map_err(invalid)?;
        let names = import_names(component).map_err(invalid)?;
        let (mut interfaces, mut refused, mut count) = (Vec::new(), Vec::new(), 0);
        for name in names {
            match interface(&types, name) {
                Ok(Some(interface)) => {
                    count += interface.functions.len();
                    interfaces.push(interface);
                }
                Ok(None) => {}
                Err(why) => refused.push(format!("{} ({why})", shown(name))),
            }
        }
        if count > MAX_FUNCTIONS {
            return Err(Refusal::TooMany { used: count, limit: MAX_FUNCTIONS });
        }
        if !refused.is_empty() {
            let more = refused.len().saturating_sub(MAX_NAMED);
            refused.truncate(MAX_NAMED);
            return Err(Refusal::Imports { names: refused, more });
        }
        Ok(Self { interfaces, run: run_export(&types)? })
    }
}

/// The names of the component's own imports, not of those inside of it.
fn import_names(component: &[u8]) -> wasmtime::wasmparser::Result<Vec<&str>> {
    let mut names = Vec::new();
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(component) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(imports) if depth == 0 => {
                for import in imports {
                    names.push(import?.name.name);
                }
            }
            _ => {}
        }
    }
    Ok(names)
}

/// The interface of a server that an import names; `None` if it has nothing to call or is WASI's.
fn interface(types: &Types, name: &str) -> Result<Option<ToolInterface>, String> {
    let ty = types.component_item_for_import(name).map(|item| item.ty);
    // Types that a function of the world itself uses.
    if let Some(ComponentEntityType::Type { .. }) = ty {
        return Ok(None);
    }
    if WASI.iter().any(|prefix| name.starts_with(prefix)) {
        return match name.contains(WASI_VERSION) {
            true => Ok(None),
            false => Err("belljar answers WASI 0.2".to_owned()),
        };
    }
    if name.starts_with("wasi:http/") {
        return Err("there is no network".to_owned());
    }
    let known = match Interface::of(name) {
        None => return Err("belljar does not offer it".to_owned()),
        Some(Err(error @ InterfaceError::Version { .. })) => {
            return Err(format!("{error}: build the component anew with what belljar wit prints"));
        }
        Some(known) => known.map_err(|error| error.to_string())?,
    };
    let is_async = match known.kind {
        InterfaceKind::Types => return Ok(None),
        kind => kind == InterfaceKind::ToolsAsync,
    };
    let Some(ComponentEntityType::Instance(id)) = ty else { return Err("it is not an interface".to_owned()) };
    let mut functions = Vec::new();
    for (function, item) in &types[id].exports {
        match item.ty {
            ComponentEntityType::Func(id) if types[id].async_ == is_async => functions.push(function.clone()),
            ComponentEntityType::Func(_) => return Err(format!("{} is not as belljar wit has it", shown(function))),
            ComponentEntityType::Type { .. } => {}
            _ => return Err(format!("{} is not a function", shown(function))),
        }
    }
    Ok(Some(ToolInterface { import: name.to_owned(), package: known.package, is_async, functions }))
}

fn run_export(types: &Types) -> Result<RunExport, Refusal> {
    let item = types.component_item_for_export(RUN).ok_or(Refusal::NoRun)?;
    let ComponentEntityType::Func(id) = item.ty else { return Err(Refusal::NoRun) };
    let ComponentFuncType { params, result, .. } = &types[id];
    let takes_input = match &params[..] {
        [] => false,
        [(_, input)] if is_string(input) => true,
        _ => return Err(Refusal::OtherRun),
    };
    let Some(ComponentValType::Type(result)) = result else { return Err(Refusal::OtherRun) };
    match &types[*result] {
        ComponentDefinedType::Result { ok: Some(ok), err: Some(err), .. } if is_string(ok) && is_string(err) => {
            Ok(RunExport { takes_input })
        }
        _ => Err(Refusal::OtherRun),
    }
}

fn is_string(ty: &ComponentValType) -> bool {
    matches!(ty, ComponentValType::Primitive(PrimitiveValType::String))
}
