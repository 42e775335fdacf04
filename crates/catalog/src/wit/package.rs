//! The packages of several servers as the files of one folder, or as one text.
//!
//! The folder has the layout that every reader of WIT expects: one package in the folder itself,
//! and its dependencies below `deps/`. If there is one server and no world, the main package is
//! that server's. Otherwise it is `belljar:guest`, with worlds.

use std::collections::HashSet;

use belljar_model::ToolPath;
use semver::Version;
use wit_encoder::{
    EnumCase, Field, Interface, NestedPackage, PackageName, Result_, StandaloneFunc, Type, TypeDef, World,
};

use super::{
    any,
    mapping::{Function, JSON, Mapping, TOOL_ERROR},
    print::{TOOLS, TOOLS_ASYNC, interfaces},
};

/// The namespace of all packages.
pub(super) const NAMESPACE: &str = "belljar";
/// The version of all packages. It belongs to the rules by which they are made, not to a server.
pub(super) const VERSION: Version = Version::new(0, 1, 0);
/// What every package depends on.
pub(super) const SHARED: &str = "mcp";
const SHARED_TYPES: &str = "types";
/// The package with the worlds.
const GUEST: &str = "guest";
/// The file of each package, in its folder.
const FILE: &str = "package.wit";
/// The first lines of a file.
const HEAD: &str =
    "// Made by `belljar wit` from what the servers list. docs/COMPONENTS.md has the rules for names and types.\n";

/// Some tools of a server, or all.
#[derive(Debug, Clone, Copy)]
pub struct Selection<'m> {
    mapping: &'m Mapping,
    only: Option<&'m HashSet<ToolPath>>,
}

impl<'m> Selection<'m> {
    /// All tools.
    pub fn all(mapping: &'m Mapping) -> Self {
        Self { mapping, only: None }
    }

    /// These tools, if the server has them.
    pub fn of(mapping: &'m Mapping, only: &'m HashSet<ToolPath>) -> Self {
        Self { mapping, only: Some(only) }
    }

    /// The functions.
    pub fn functions(&self) -> impl Iterator<Item = &'m Function> + use<'m> {
        let only = self.only;
        self.mapping.functions().iter().filter(move |function| only.is_none_or(|only| only.contains(&function.path)))
    }
}

/// Which worlds to generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worlds {
    /// As few as possible: none for one server; for several, one that imports them all.
    Imports,
    /// Those of a guest, which also export `run`.
    Guest,
}

/// A file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct File {
    /// Where it is in the folder, with `/`.
    pub path: String,
    /// What is in it.
    pub text: String,
}

/// A package that WIT's readers accept, with all its dependencies.
#[derive(Debug)]
pub struct Package {
    main: wit_encoder::Package,
    dependencies: Vec<wit_encoder::Package>,
}

impl Package {
    /// The package of some servers' tools. A server without any is left out.
    pub fn new(selections: &[Selection<'_>], worlds: Worlds) -> Self {
        Self::made(selections, worlds, None)
    }

    /// The same with the package that finds any tool by its name.
    pub fn with_any_tool(selections: &[Selection<'_>], worlds: Worlds) -> Self {
        Self::made(selections, worlds, Some(any::package()))
    }

    fn made(selections: &[Selection<'_>], worlds: Worlds, any_tool: Option<wit_encoder::Package>) -> Self {
        let shared = shared_reference();
        let mut servers = Vec::new();
        for selection in selections {
            let functions: Vec<&Function> = selection.functions().collect();
            if functions.is_empty() {
                continue;
            }
            let mut package = wit_encoder::Package::new(named(selection.mapping.package()));
            for interface in interfaces(selection.mapping, &functions, &shared) {
                package.interface(interface);
            }
            servers.push(package);
        }
        servers.extend(any_tool);
        let main = match (worlds, servers.len()) {
            (Worlds::Imports, 1) => servers.pop().unwrap_or_else(|| wit_encoder::Package::new(named(GUEST))),
            _ => guest(&servers, worlds),
        };
        Self { main, dependencies: std::iter::once(shared_types()).chain(servers).collect() }
    }

    /// The files of the folder.
    pub fn files(&self) -> Vec<File> {
        let file = |path: String, package: &wit_encoder::Package| File { path, text: format!("{HEAD}{package}") };
        let below = |package: &wit_encoder::Package| {
            format!("deps/{}-{}/{FILE}", package.name().namespace(), package.name().name().raw_name())
        };
        let dependencies = self.dependencies.iter().map(|package| file(below(package), package));
        std::iter::once(file(FILE.to_owned(), &self.main)).chain(dependencies).collect()
    }

    /// The same as one text, which includes the dependencies.
    pub fn text(&self) -> String {
        let mut text = format!("{HEAD}{}", self.main);
        for package in &self.dependencies {
            let mut nested = NestedPackage::new(package.name().clone());
            package.items().iter().for_each(|item| nested.item(item.clone()));
            text.push_str(&format!("\n{nested}"));
        }
        text
    }
}

fn named(package: &str) -> PackageName {
    PackageName::new(NAMESPACE, package.to_owned(), Some(VERSION))
}

/// The interface with the types of every package, as it is written.
pub(super) fn shared_reference() -> String {
    format!("{NAMESPACE}:{SHARED}/{SHARED_TYPES}@{VERSION}")
}

/// An interface of a package, as it is written.
fn reference(package: &wit_encoder::Package, interface: &str) -> String {
    let name = package.name();
    let version = name.version().map(|version| format!("@{version}")).unwrap_or_default();
    format!("{}:{}/{interface}{version}", name.namespace(), name.name().raw_name())
}

/// The part that is the same for all servers.
fn shared_types() -> wit_encoder::Package {
    let mut types = Interface::new(SHARED_TYPES);
    types.set_docs(Some("What calls of all servers have in common."));
    let mut json = TypeDef::type_(JSON, Type::String);
    json.set_docs(Some("The text of a JSON value: of what WIT has no type for, or a server declares none."));
    types.type_def(json);
    let case = |name: &'static str, docs: &'static str| {
        let mut case = EnumCase::new(name);
        case.set_docs(Some(docs));
        case
    };
    let mut kind = TypeDef::enum_(
        "error-kind",
        [
            case("failed", "The tool ran and says that it failed."),
            case("refused", "The call was never made: the arguments are not what the tool asks for."),
            case("denied", "The call was never made: the rules of belljar's owner do not allow it."),
            case("unanswered", "No answer came, or none of the declared type. The call may have taken effect."),
        ],
    );
    kind.set_docs(Some("Why a call brought no result."));
    types.type_def(kind);
    let field = |name: &'static str, kind: Type, docs: &'static str| {
        let mut field = Field::new(name, kind);
        field.set_docs(Some(docs));
        field
    };
    let mut error = TypeDef::record(
        TOOL_ERROR,
        [
            field("kind", Type::named("error-kind"), "Why."),
            field("message", Type::String, "What happened."),
            field("hint", Type::option(Type::String), "What to try, where belljar knows."),
            field(
                "content",
                Type::option(Type::named(JSON)),
                "What a tool that failed sent: a JSON array of content blocks.",
            ),
        ],
    );
    error.set_docs(Some("A call that brought no result."));
    types.type_def(error);
    let mut package = wit_encoder::Package::new(named(SHARED));
    package.interface(types);
    package
}

/// The package with the worlds.
fn guest(imported: &[wit_encoder::Package], worlds: Worlds) -> wit_encoder::Package {
    let mut package = wit_encoder::Package::new(named(GUEST));
    for (suffix, tools, is_async) in [("", TOOLS, false), ("-async", TOOLS_ASYNC, true)] {
        let mut world = match worlds {
            Worlds::Imports => World::new(format!("imports{suffix}")),
            Worlds::Guest => World::new(format!("{GUEST}{suffix}")),
        };
        for package in imported {
            world.named_interface_import(reference(package, tools));
        }
        if worlds == Worlds::Guest {
            let mut run = StandaloneFunc::new("run", is_async);
            run.set_docs(Some("What the component does. Both texts are for whoever asked for it."));
            run.set_result(Some(Type::result(Result_::both(Type::String, Type::String))));
            world.function_export(run);
        }
        package.world(world);
    }
    package
}
