//! The package with which a component finds tools by their names while it runs.
//!
//! It is the same for all configurations. The run decides what can be found.

use semver::Version;
use wit_encoder::{Interface, Package, Resource, ResourceFunc, Result_, StandaloneFunc, Type, TypeDef, TypeDefKind};

use super::{
    mapping::{JSON, TOOL_ERROR},
    package::{NAMESPACE, shared_reference},
    print::{TOOLS, TOOLS_ASYNC},
};

/// The package, without its namespace.
pub(super) const SANDBOX: &str = "sandbox";
/// Its version. 0.1.0 is the package between belljar and its own interpreter.
pub(super) const SANDBOX_VERSION: Version = Version::new(0, 2, 0);

/// The names in its interfaces.
#[derive(Debug)]
#[non_exhaustive]
pub struct AnyTool;

impl AnyTool {
    /// The resource: one tool.
    pub const TOOL: &str = "tool";
    /// The function that finds a tool by its path.
    pub const FIND: &str = "find";
    /// The function that calls it, as components import it.
    pub const CALL: &str = "[method]tool.call";
}

/// The package.
pub(super) fn package() -> Package {
    let name = wit_encoder::PackageName::new(NAMESPACE, SANDBOX, Some(SANDBOX_VERSION));
    let mut package = Package::new(name);
    for (name, is_async) in [(TOOLS, false), (TOOLS_ASYNC, true)] {
        package.interface(interface(name, is_async));
    }
    package
}

fn interface(name: &'static str, is_async: bool) -> Interface {
    let mut interface = Interface::new(name);
    interface.set_docs(Some(match is_async {
        false => "Tools that the component chooses while it runs: one call at a time.",
        true => "The same with calls as async functions: several at once, for toolchains that know them.",
    }));
    for shared in [JSON, TOOL_ERROR] {
        interface.use_type(shared_reference(), shared, None);
    }
    let mut call = ResourceFunc::method("call", is_async);
    call.set_docs(Some(
        "Calls the tool with the text of a JSON object. The result is the text of what a script would get.",
    ));
    call.params_mut().push("arguments", Type::named(JSON));
    call.set_result(Some(Type::result(Result_::both(Type::named(JSON), Type::named(TOOL_ERROR)))));
    let mut resource = Resource::empty();
    resource.func(call);
    let mut tool = TypeDef::new(AnyTool::TOOL, TypeDefKind::Resource(resource));
    tool.set_docs(Some("One tool. Whoever has it may ask for a call; the owner's rules judge each."));
    interface.type_def(tool);
    let mut find = StandaloneFunc::new(AnyTool::FIND, false);
    find.set_docs(Some(
        "Finds a tool by its path, as in github.create_issue, and starts its server if its tools are not known.\n\
         The error says why there is none, and which name is near.",
    ));
    find.params_mut().push("path", Type::String);
    find.set_result(Some(Type::result(Result_::both(Type::named(AnyTool::TOOL), Type::String))));
    interface.function(find);
    interface
}
