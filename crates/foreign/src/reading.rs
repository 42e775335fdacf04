//! Reads what a component imports and exports, before any of it is compiled.

use std::collections::HashMap;

use belljar_catalog::wit::{AnyTool, Interface, InterfaceError, InterfaceKind, is_mark};
use wasmtime::wasmparser::{
    Parser, Payload, PrimitiveValType, Validator, WasmFeatures,
    component_types::{
        ComponentAnyTypeId, ComponentDefinedType, ComponentEntityType, ComponentFuncType, ComponentValType,
    },
    types::Types,
};

use crate::{
    features::UNUSED,
    imports::{
        AnyToolInterface, Imports, MAX_COMPONENT_BYTES, MAX_FUNCTIONS, MAX_NAMED, RUN, RunExport, ToolFunction,
        ToolInterface, shown,
    },
    refusal::Refusal,
    wasi_items,
};

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
        let (mut interfaces, mut any_tool, mut refused, mut count) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for name in names {
            match interface(&types, name) {
                Ok(Imported::Tools(interface)) => {
                    count += interface.functions.len();
                    interfaces.push(interface);
                }
                Ok(Imported::AnyTool(interface)) => any_tool.push(interface),
                Ok(Imported::Nothing) => {}
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
        Ok(Self { interfaces, any_tool, run: run_export(&types)? })
    }
}

/// The names of the component's own imports, without those of components inside it.
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

/// What an import from belljar is.
enum Imported {
    /// Some tools of a server.
    Tools(ToolInterface),
    /// Any tool.
    AnyTool(AnyToolInterface),
    /// Types, or something of WASI.
    Nothing,
}

/// What an import refers to, or why it is not offered.
fn interface(types: &Types, name: &str) -> Result<Imported, String> {
    let ty = types.component_item_for_import(name).map(|item| item.ty);
    // Types that are used by a function of the world itself.
    if let Some(ComponentEntityType::Type { .. }) = ty {
        return Ok(Imported::Nothing);
    }
    if let Some(answered) = wasi_items::answered(name, items(types, ty)) {
        return answered.map(|()| Imported::Nothing);
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
    let (is_any, is_async) = match known.kind {
        InterfaceKind::Tools => (false, false),
        InterfaceKind::ToolsAsync => (false, true),
        InterfaceKind::AnyTool => (true, false),
        InterfaceKind::AnyToolAsync => (true, true),
        _ => return Ok(Imported::Nothing),
    };
    let Some(ComponentEntityType::Instance(id)) = ty else { return Err("it is not an interface".to_owned()) };
    let mut functions = Vec::new();
    for (function, item) in &types[id].exports {
        let is_known = match item.ty {
            ComponentEntityType::Func(id) if !is_any => types[id].async_ == is_async,
            ComponentEntityType::Func(id) => match function.as_str() {
                AnyTool::FIND => !types[id].async_,
                AnyTool::CALL => types[id].async_ == is_async,
                _ => false,
            },
            ComponentEntityType::Type { referenced: ComponentAnyTypeId::Resource(_), .. } => {
                if !is_any || function != AnyTool::TOOL {
                    return Err(format!("{} is not as belljar wit has it", shown(function)));
                }
                continue;
            }
            ComponentEntityType::Type { .. } => continue,
            _ => return Err(format!("{} is not a function", shown(function))),
        };
        if !is_known {
            return Err(format!("{} is not as belljar wit has it", shown(function)));
        }
        functions.push(function.clone());
    }
    let import = name.to_owned();
    if is_any {
        return Ok(Imported::AnyTool(AnyToolInterface { import, is_async, functions }));
    }
    // A function's name may look like another one's name with a mark.
    let is_type = |ty: &ComponentEntityType| matches!(ty, ComponentEntityType::Type { .. });
    let named = types[id].exports.iter().filter(|(_, item)| is_type(&item.ty)).map(|(name, _)| name.as_str());
    let marks = marks(named);
    let marked = |name: String| match marks.get(name.as_str()) {
        Some(Some(mark)) => Ok(ToolFunction { mark: (*mark).to_owned(), name }),
        _ => Err(format!(
            "{} does not say which tool it is of: build the component anew with what belljar wit prints",
            shown(&name)
        )),
    };
    let functions = functions.into_iter().map(marked).collect::<Result<_, _>>()?;
    Ok(Imported::Tools(ToolInterface { import, package: known.package, is_async, functions }))
}

/// The marks among the names of an instance's types, by the names of their functions. If there are
/// two for one function, neither counts.
fn marks<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<&'a str, Option<&'a str>> {
    let mut marks = HashMap::new();
    for (function, mark) in names.filter_map(|name| name.rsplit_once('-')).filter(|(_, mark)| is_mark(mark)) {
        marks.entry(function).and_modify(|mark| *mark = None).or_insert(Some(mark));
    }
    marks
}

/// The functions and resources of an instance.
fn items(types: &Types, ty: Option<ComponentEntityType>) -> impl Iterator<Item = &str> {
    let exports = match ty {
        Some(ComponentEntityType::Instance(id)) => Some(types[id].exports.iter()),
        _ => None,
    };
    let is_item = |ty: &ComponentEntityType| match ty {
        ComponentEntityType::Type { referenced, .. } => matches!(referenced, ComponentAnyTypeId::Resource(_)),
        _ => true,
    };
    exports.into_iter().flatten().filter(move |(_, item)| is_item(&item.ty)).map(|(name, _)| name.as_str())
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
