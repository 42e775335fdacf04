//! Checks the packages with the reader of WIT that every toolchain uses, and compares what it reads
//! with the mapping.

use std::{collections::HashSet, fs};

use belljar_model::ToolPath;
use serde_json::{Value, json};
use wit_parser::{PackageId, Resolve, Type, TypeDefKind, TypeId};

use super::{AnyTool, Form, Function, Kind, Mapping, Package, Payload, Selection, Worlds, mark, packages};
use crate::{
    Catalog, bounds,
    measures::{
        catalog, lists,
        odd::{self, Numbers},
    },
};

/// Odd tools that are mapped. Each has an input schema, and every other one an output schema.
const ODD_TOOLS: usize = 4_000;
/// The seed of the odd tools.
const SEED: u64 = 27;

fn mappings(catalog: &Catalog) -> Vec<Mapping> {
    let names: Vec<&str> = catalog.servers().iter().map(|server| server.name()).collect();
    packages(&names).iter().zip(catalog.servers()).map(|(package, server)| Mapping::new(package, server)).collect()
}

/// The mapping of one server with these tools.
fn mapping(tools: Value) -> Mapping {
    let Value::Array(tools) = tools else { panic!("a list") };
    mappings(&catalog(&[("s".to_owned(), tools)])).remove(0)
}

fn text(mapping: &Mapping) -> String {
    Package::new(&[Selection::all(mapping)], Worlds::Imports).text()
}

/// Reads a package as one text and as a folder, and encodes it the way a component carries it,
/// validated like a component.
fn read(package: &Package) -> (Resolve, PackageId) {
    let text = package.text();
    let mut resolve = Resolve::default();
    let id = resolve.push_str("package.wit", &text).unwrap_or_else(|error| panic!("{error:#}\n{text}"));
    let folder = tempfile::tempdir().unwrap();
    for file in package.files() {
        let path = folder.path().join(&file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &file.text).unwrap();
    }
    let mut of_folder = Resolve::default();
    let (same, _) = of_folder.push_dir(folder.path()).unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(of_folder.packages[same].name, resolve.packages[id].name);
    let bytes = wit_component::encode(&resolve, id).unwrap_or_else(|error| panic!("{error:#}\n{text}"));
    wit_component::decode(&bytes).unwrap_or_else(|error| panic!("{error:#}\n{text}"));
    (resolve, id)
}

/// Reads a mapping's package, and compares each function and type in it with the mapping.
fn hold(mapping: &Mapping) {
    let (resolve, id) = read(&Package::new(&[Selection::all(mapping)], Worlds::Imports));
    for (name, is_async) in [("tools", false), ("tools-async", true)] {
        let interface = &resolve.interfaces[resolve.packages[id].interfaces[name]];
        assert_eq!(interface.functions.len(), mapping.functions().len());
        for function in mapping.functions() {
            let read = &interface.functions[&function.name];
            assert_eq!(read.kind.is_async(), is_async);
            assert_eq!(mapping.function(&function.name), Some(function));
            let docs = read.docs.contents.as_deref().unwrap();
            assert!(docs.contains(&function.call), "{docs}");
            let parameters: Vec<&Type> = read.params.iter().map(|parameter| &parameter.ty).collect();
            match (&function.arguments, &parameters[..]) {
                (Payload::Fixed(Value::Object(_)), []) => {}
                (Payload::Form(form), [kind]) => agree(mapping, &resolve, form, kind),
                (arguments, parameters) => panic!("{arguments:?} is {parameters:?}"),
            }
            let Some(Type::Id(result)) = read.result else { panic!("no result") };
            let TypeDefKind::Result(result) = &resolve.types[result].kind else { panic!("no result") };
            let error = result.err.unwrap();
            assert_eq!(shape(&resolve, &error), "record tool-error");
            let Type::Id(error) = error else { panic!("a type with a name") };
            assert_eq!(resolve.types[error].name.as_deref(), Some(function.error.as_str()));
            let marked = function.error.strip_prefix(&format!("{}-", function.name)).unwrap();
            assert_eq!(marked, mark(&function.path), "{function:?}");
            match (&function.result, &result.ok) {
                (Payload::Fixed(_), None) => {}
                (Payload::Form(form), Some(kind)) => agree(mapping, &resolve, form, kind),
                (result, read) => panic!("{result:?} is {read:?}"),
            }
        }
    }
}

/// The type behind uses and aliases.
fn resolved(resolve: &Resolve, mut id: TypeId) -> &wit_parser::TypeDef {
    while let TypeDefKind::Type(Type::Id(next)) = resolve.types[id].kind {
        id = next;
    }
    &resolve.types[id]
}

fn shape(resolve: &Resolve, kind: &Type) -> String {
    match kind {
        Type::Id(id) => {
            let found = resolved(resolve, *id);
            format!("{} {}", found.kind.as_str(), found.name.as_deref().unwrap_or_default())
        }
        plain => format!("{plain:?}"),
    }
}

fn agree(mapping: &Mapping, resolve: &Resolve, form: &Form, kind: &Type) {
    let found = if let Type::Id(id) = kind { Some(resolved(resolve, *id)) } else { None };
    let name = found.and_then(|found| found.name.as_deref());
    match (form, kind, found.map(|found| &found.kind)) {
        (Form::Json, _, Some(TypeDefKind::Type(Type::String))) => assert_eq!(name, Some("json")),
        (Form::Bool, Type::Bool, _)
        | (Form::Integer, Type::S64, _)
        | (Form::Number, Type::F64, _)
        | (Form::Text, Type::String, _) => {}
        (Form::Option(inner), _, Some(TypeDefKind::Option(kind)))
        | (Form::List(inner), _, Some(TypeDefKind::List(kind))) => {
            agree(mapping, resolve, inner, kind);
        }
        (Form::Map(value), _, Some(TypeDefKind::List(Type::Id(pair)))) => match &resolved(resolve, *pair).kind {
            TypeDefKind::Tuple(pair) => match &pair.types[..] {
                [Type::String, kind] => agree(mapping, resolve, value, kind),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        },
        (Form::Tuple(places), _, Some(TypeDefKind::Tuple(tuple))) => {
            assert_eq!(places.len(), tuple.types.len());
            places.iter().zip(&tuple.types).for_each(|(form, kind)| agree(mapping, resolve, form, kind));
        }
        (Form::Named(at), _, Some(found)) => {
            let definition = &mapping.definitions()[*at];
            assert_eq!(name, Some(definition.name.as_str()));
            agree_named(mapping, resolve, &definition.kind, found);
        }
        other => panic!("{other:?}"),
    }
}

fn agree_named(mapping: &Mapping, resolve: &Resolve, kind: &Kind, found: &TypeDefKind) {
    match (kind, found) {
        (Kind::Record(record), TypeDefKind::Record(found)) => {
            assert_eq!(record.fields.len(), found.fields.len());
            let keys: HashSet<&str> = record.fields.iter().map(|field| field.key.as_str()).collect();
            let fixed: HashSet<&str> = record.fixed.iter().map(|(key, _)| key.as_str()).collect();
            assert_eq!(keys.len(), record.fields.len(), "a key has two fields");
            assert!(keys.is_disjoint(&fixed), "a key is fixed and has a field");
            for (field, found) in record.fields.iter().zip(&found.fields) {
                assert_eq!(field.name, found.name);
                match (field.optional, &found.ty) {
                    (false, kind) => agree(mapping, resolve, &field.form, kind),
                    (true, Type::Id(id)) => match &resolved(resolve, *id).kind {
                        TypeDefKind::Option(kind) => agree(mapping, resolve, &field.form, kind),
                        other => panic!("{other:?}"),
                    },
                    other => panic!("{other:?}"),
                }
            }
        }
        (Kind::Enum(cases), TypeDefKind::Enum(found)) => {
            assert!(cases.iter().map(|case| &case.name).eq(found.cases.iter().map(|case| &case.name)));
            let values: HashSet<&str> = cases.iter().map(|case| case.value.as_str()).collect();
            assert_eq!(values.len(), cases.len(), "a text has two cases");
        }
        (Kind::Variant(cases), TypeDefKind::Variant(found)) => {
            assert_eq!(cases.len(), found.cases.len());
            for (case, found) in cases.iter().zip(&found.cases) {
                assert_eq!(case.name, found.name);
                match (&case.value, &found.ty) {
                    (Payload::Fixed(_), None) => {}
                    (Payload::Form(form), Some(kind)) => agree(mapping, resolve, form, kind),
                    other => panic!("{other:?}"),
                }
            }
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_packages_of_real_servers_are_valid_and_say_what_their_mapping_says() {
    let mappings = mappings(&catalog(&lists()));
    assert_eq!(mappings.len(), 10);
    mappings.iter().for_each(hold);
    let selections: Vec<Selection<'_>> = mappings.iter().map(Selection::all).collect();
    for worlds in [Worlds::Imports, Worlds::Guest] {
        let (resolve, id) = read(&Package::new(&selections, worlds));
        let found: Vec<&str> = resolve.packages[id].worlds.keys().map(String::as_str).collect();
        let name = if worlds == Worlds::Guest { "guest" } else { "imports" };
        assert_eq!(found, [name.to_owned(), format!("{name}-async")]);
        let world = &resolve.worlds[resolve.packages[id].worlds[name]];
        assert_eq!(world.exports.len(), usize::from(worlds == Worlds::Guest));
    }
}

#[test]
fn nearly_all_tools_of_real_servers_have_typed_arguments_and_the_others_say_so() {
    let mappings = mappings(&catalog(&lists()));
    let functions: Vec<(&Mapping, &Function)> = mappings
        .iter()
        .flat_map(|mapping| mapping.functions().iter().map(move |function| (mapping, function)))
        .collect();
    assert_eq!(functions.len(), 164);
    let largest = lists().into_iter().map(|list| {
        let tools = catalog(&[list]);
        tools.tools().map(|tool| super::lower::lower(tool.definition()).size).sum::<usize>()
    });
    let largest = largest.max().unwrap();
    assert!(largest * 10 <= bounds::WIT_PACKAGE_SIZE, "real lists come near the bound: {largest}");
    let is_typed = |(mapping, function): &&(&Mapping, &Function)| mapping.is_typed(&function.arguments);
    let typed = functions.iter().filter(is_typed).count();
    let others: Vec<String> = functions
        .iter()
        .filter(|function| !is_typed(function))
        .map(|(_, function)| function.path.to_string())
        .collect();
    assert!(typed >= 155, "only {typed}; not {others:?}");
    for (mapping, function) in functions {
        assert_eq!(
            function.docs.contains("arguments"),
            !mapping.is_typed(&function.arguments) || {
                // Its own description may speak of arguments.
                let said = function.docs.split("Calls ").next().unwrap_or_default();
                said.contains("arguments")
            }
        );
        let is_json = |payload: &Payload| *payload == Payload::Form(Form::Json);
        let says = |text: &str| function.docs.lines().any(|line| line.starts_with(text));
        assert_eq!(says("Its arguments cross as the text of a JSON object."), is_json(&function.arguments));
        assert_eq!(says("Its result crosses as JSON text"), is_json(&function.result));
    }
}

#[test]
fn whatever_fuzzing_makes_has_a_valid_package() {
    let mut numbers = Numbers::new(SEED);
    for file in 0..ODD_TOOLS / 500 {
        let tools = (0..500).map(|number| odd::tool(number, &mut numbers)).collect();
        let mappings = mappings(&catalog(&[(format!("odd{file}"), tools)]));
        let left_out = 500 - mappings[0].functions().len();
        assert!((1..50).contains(&left_out), "some have names with a line break: {left_out}");
        hold(&mappings[0]);
    }
}

/// The declarations of a tool called `t` with these properties.
fn declared(properties: Value, required: Value) -> String {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    text(&mapping(json!([{ "name": "t", "inputSchema": schema }])))
}

#[track_caller]
fn says(text: &str, parts: &[&str]) {
    let flat: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect();
    let flat = flat.join(" ");
    for part in parts {
        assert!(flat.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn schemas_become_types_as_the_table_says() {
    let text = declared(
        json!({
            "id": { "type": "integer" }, "score": { "type": "number" }, "on": { "type": "boolean" },
            "name": { "type": "string" }, "tags": { "type": "array", "items": { "type": "string" } },
            "sort": { "enum": ["created-at", "updated"] }, "react": { "enum": ["+1", "-1"] },
            "pair": { "type": "array", "prefixItems": [{ "type": "number" }, { "type": "string" }] },
            "labels": { "type": "object", "additionalProperties": { "type": "integer" } },
            "any": {}, "note": { "type": ["string", "null"] },
            "since": { "type": ["string", "null"], "default": null },
            "from": { "type": "string" }, "map": { "type": "string" },
            "kind": { "const": "page" },
            "to": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
            "parent": { "oneOf": [
                { "type": "object", "properties": { "type": { "const": "page_id" }, "page_id": { "type": "string" } }, "required": ["type", "page_id"] },
                { "type": "object", "properties": { "type": { "const": "workspace" } }, "required": ["type"] },
            ] },
        }),
        json!(["id", "sort", "kind", "any", "parent"]),
    );
    says(
        &text,
        &[
            "record t-args { id: s64, score: option<f64>, on: option<bool>, name: option<string>,",
            "tags: option<list<string>>, sort: t-sort, react: option<string>, pair: option<tuple<f64, string>>,",
            "labels: option<list<tuple<string, s64>>>, any: json, note: option<option<string>>, since: option<string>,",
            "%from: option<string>, %map: option<string>, to: option<t-to>, parent: t-parent, }",
            "enum t-sort { created-at, updated, }",
            "variant t-to { text(string), integer(s64), }",
            "variant t-parent { page-id(t-parent-page-id), workspace, }",
            "record t-parent-page-id { page-id: string, }",
            "t: func(args: t-args) -> result<json, t-t",
            "t: async func(args: t-args) -> result<json, t-t",
        ],
    );
    assert!(text.contains("/// One of '+1', '-1'\n"), "{text}");
}

#[test]
fn what_wit_has_no_type_for_crosses_as_json_and_the_rest_is_typed() {
    let tools = json!([
        { "name": "none", "inputSchema": { "type": "object", "properties": {} } },
        { "name": "closed", "inputSchema": { "type": "object", "additionalProperties": false } },
        { "name": "open", "inputSchema": { "type": "object" } },
        { "name": "tree", "inputSchema": { "type": "object", "properties": {
            "value": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#" } } } } },
        { "name": "mixed", "inputSchema": { "anyOf": [{ "type": "object" }, { "required": ["a"] }] },
          "outputSchema": { "type": "object", "properties": { "ok": { "const": true } }, "required": ["ok"] } },
        { "name": "declared", "inputSchema": { "properties": {} },
          "outputSchema": { "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] } },
    ]);
    let mapping = mapping(tools);
    hold(&mapping);
    says(
        &text(&mapping),
        &[
            "none: func() -> result<json, none-t",
            "closed: func() -> result<json, closed-t",
            "open: func(args: json) -> result<json, open-t",
            "record tree-args { value: option<string>, children: option<list<json>>, }",
            "mixed: func(args: json) -> result<_, mixed-t",
            "declared: func() -> result<declared-result, declared-t",
        ],
    );
}

#[test]
fn no_name_is_lost_and_none_is_given_twice() {
    let tools = json!([
        { "name": "json" }, { "name": "tool-error" }, { "name": "func" }, { "name": "fooBar" }, { "name": "foo_bar" },
        { "name": "日本" }, { "name": "*/" }, { "name": "a-args", "inputSchema": { "properties": { "x": { "type": "string" } } } },
        { "name": "a", "inputSchema": { "properties": { "x-y": { "type": "string" }, "x_y": { "type": "string" } } } },
    ]);
    let mapping = mapping(tools);
    hold(&mapping);
    let names: Vec<(&str, &str)> =
        mapping.functions().iter().map(|function| (function.path.tool(), function.name.as_str())).collect();
    assert_eq!(
        names,
        [
            ("json", "json-h36a1a243"),
            ("tool-error", "tool-error-h945b0708"),
            ("func", "func"),
            ("fooBar", "foo-bar-h24a1fa08"),
            ("foo_bar", "foo-bar-h01efffdd"),
            ("日本", "unnamed-h9f26ee51"),
            ("*/", "unnamed-h22de6956"),
            ("a-args", "a-args"),
            ("a", "a"),
        ]
    );
    says(
        &text(&mapping),
        &["a: func(args: a-args-n2)", "record a-args-n2 { x-y: option<string>, x-y-n2: option<string>, }"],
    );
}

#[test]
fn a_tool_that_no_run_could_find_has_no_function() {
    let names = ["$exclusive", "a", "$release", "a\nb", "a\rb", "b"];
    let mapping = mapping(names.iter().map(|name| json!({ "name": name })).collect());
    hold(&mapping);
    let found: Vec<&str> = mapping.functions().iter().map(|function| function.path.tool()).collect();
    assert_eq!(found, ["a", "a\rb", "b"]);
    for (at, function) in mapping.functions().iter().enumerate() {
        assert_eq!(mapping.position(&mark(&function.path)), Some(at));
    }
}

#[test]
fn a_narrowed_package_has_the_names_of_the_whole_one() {
    let mappings = mappings(&catalog(&lists()));
    let mapping = mappings.iter().find(|mapping| mapping.package() == "mcp-github").unwrap();
    let only: HashSet<ToolPath> =
        [ToolPath::new("github", "create_issue"), ToolPath::new("github", "list_issues")].into_iter().collect();
    let package = Package::new(&[Selection::of(mapping, &only)], Worlds::Guest);
    let (resolve, id) = read(&package);
    let world = &resolve.worlds[resolve.packages[id].worlds["guest"]];
    let imported: Vec<String> = world.imports.keys().map(|key| resolve.name_world_key(key)).collect();
    assert!(imported.contains(&"belljar:mcp-github/tools@0.1.0".to_owned()), "{imported:?}");
    let text = package.text();
    let mark = mark(&ToolPath::new("github", "create_issue"));
    let error = format!("type create-issue-{mark} = tool-error;");
    let function = format!("create-issue: func(args: create-issue-args) -> result<json, create-issue-{mark}>;");
    says(&text, &[error.as_str(), function.as_str(), "list-issues: func("]);
    assert!(!text.contains("merge-pull-request"), "{text}");
    let whole = self::text(mapping);
    let record = |text: &str| {
        let record = text.split_once("record create-issue-args {").unwrap().1.split_once('}').unwrap().0;
        record.lines().map(str::trim).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(record(&text), record(&whole));
}

#[test]
fn a_mark_finds_its_tool_whatever_takes_its_name() {
    let alone = mapping(json!([{ "name": "foo_bar" }]));
    let marks = |mapping: &Mapping| mapping.functions().iter().map(|function| mark(&function.path)).collect::<Vec<_>>();
    let built = marks(&alone).remove(0);
    assert_eq!((alone.functions()[0].name.as_str(), alone.position(&built)), ("foo-bar", Some(0)));
    let taken = mapping(json!([{ "name": "foo-bar" }, { "name": "foo_bar" }]));
    assert_eq!(taken.function("foo-bar").unwrap().path.tool(), "foo-bar");
    assert_eq!(taken.position(&built), Some(1));
    assert_eq!(mapping(json!([{ "name": "fooBar" }])).position(&built), None);
    // A tool whose name is another's error takes neither that name nor the mark.
    let error = format!("foo-bar-{built}");
    let posing = mapping(json!([{ "name": "foo_bar" }, { "name": error }]));
    let (Some(0), [first, second]) = (posing.position(&built), posing.functions()) else { panic!("{posing:?}") };
    assert!(first.error == error && second.name != error, "{posing:?}");
    read(&Package::new(&[Selection::all(&posing)], Worlds::Imports));
}

#[test]
fn the_names_of_errors_alone_end_in_a_mark() {
    let digits = "0123456789abcdef0123";
    let posing = format!("create_issue_t{digits}");
    let real = format!("create-issue-{}", mark(&ToolPath::new("s", "create_issue")));
    let object = json!({ "type": "object", "properties": { format!("t{digits}"): { "type": "object", "properties": { "a": { "type": "string" } } } } });
    let mapping = mapping(json!([
        { "name": "create_issue", "inputSchema": object }, { "name": posing }, { "name": real },
        // A type with this name would be called like the error of `a-b`.
        { "name": "a-b" }, { "name": "a", "inputSchema": { "properties": { format!("b-t{digits}"): { "enum": ["x", "y"] } } } },
    ]));
    hold(&mapping);
    let looks = |name: &str| super::names::ends_in_mark(name);
    assert!(looks(&posing.replace('_', "-")) && looks(&real));
    let functions = mapping.functions();
    assert!(functions.iter().all(|function| !looks(&function.name) && looks(&function.error)), "{functions:?}");
    assert_eq!(functions[0].name, "create-issue");
    for at in [1, 2] {
        assert_eq!(functions[at].name, super::names::own(functions[at].path.tool()));
    }
    let types: Vec<&str> = mapping.definitions().iter().map(|definition| definition.name.as_str()).collect();
    let renamed = |name: String| types.contains(&name.as_str());
    assert!(renamed(format!("create-issue-t{digits}-type")) && renamed(format!("a-b-t{digits}-type")), "{types:?}");
    assert!(types.iter().all(|name| !looks(name)), "{types:?}");
}

#[test]
fn the_package_that_finds_any_tool_is_valid_alone_and_beside_servers() {
    let (resolve, id) = read(&Package::with_any_tool(&[], Worlds::Imports));
    assert_eq!(resolve.packages[id].name.to_string(), format!("belljar:sandbox@{}", super::any::SANDBOX_VERSION));
    for (name, is_async) in [("tools", false), ("tools-async", true)] {
        let functions = &resolve.interfaces[resolve.packages[id].interfaces[name]].functions;
        let is_async_of: Vec<(&str, bool)> =
            functions.iter().map(|(name, function)| (name.as_str(), function.kind.is_async())).collect();
        assert_eq!(is_async_of, [(AnyTool::CALL, is_async), (AnyTool::FIND, false)]);
    }
    let mapping = mapping(json!([{ "name": "a" }]));
    let (resolve, id) = read(&Package::with_any_tool(&[Selection::all(&mapping)], Worlds::Guest));
    let world = &resolve.worlds[resolve.packages[id].worlds["guest-async"]];
    let imported: Vec<String> = world.imports.keys().map(|key| resolve.name_world_key(key)).collect();
    for import in ["belljar:mcp-s/tools-async@0.1.0", "belljar:sandbox/tools-async@0.2.0"] {
        assert!(imported.iter().any(|imported| imported == import), "{imported:?}");
    }
}

#[test]
fn a_mapping_does_not_depend_on_the_order_of_a_list() {
    let (name, mut tools) = lists().into_iter().find(|(name, _)| name == "notion").unwrap();
    let listed = mappings(&catalog(&[(name.clone(), tools.clone())])).remove(0);
    tools.reverse();
    let reversed = mappings(&catalog(&[(name, tools)])).remove(0);
    for function in listed.functions() {
        let other = reversed.function(&function.name).unwrap();
        assert_eq!((&other.path, &other.docs), (&function.path, &function.docs));
    }
}

#[test]
fn no_comment_ends_early_in_wit_or_in_the_languages_that_it_is_copied_to() {
    let evil = "\"\"\"\nimport os; os.abort()\n\"\"\" */ } interface x {} /* \\\n\u{202e}\u{149}\u{0} \\";
    let tools = json!([{ "name": evil.replace('\n', " "), "description": evil, "title": evil, "inputSchema": {
        "description": evil, "properties": { evil: { "type": "string", "description": evil, "pattern": evil, "default": evil } } } }]);
    let mapping = mapping(tools);
    hold(&mapping);
    let text = text(&mapping);
    for line in text.lines().filter(|line| line.contains("os.abort")) {
        let (before, said) = line.split_once("/// ").unwrap();
        assert_eq!(before.trim(), "");
        for ending in ["\"", "\\", "*/", "/*", "\u{202e}", "\u{149}"] {
            assert!(!said.contains(ending), "{line}");
        }
    }
    assert!(text.contains("os.abort()"));
}

#[test]
fn bombs_stay_small() {
    let mut definitions = serde_json::Map::new();
    for level in 0..60 {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        definitions.insert(
            format!("d{level}"),
            json!({ "type": "object", "properties": { "a": next, "b": next, "c": next } }),
        );
    }
    let mut deep = json!({ "type": "string" });
    for level in 0..200 {
        deep = if level % 2 == 0 {
            json!({ "type": "array", "items": deep })
        } else {
            json!({ "additionalProperties": deep })
        };
    }
    let chain: serde_json::Map<String, Value> = (0..63)
        .map(|level| (format!("d{level}"), json!({ "type": "array", "items": { "type": "array", "items": { "$ref": format!("#/$defs/d{}", level + 1) } } })))
        .collect();
    let wide: serde_json::Map<String, Value> =
        (0..5_000).map(|at| (format!("f{at}"), json!({ "type": "integer" }))).collect();
    let long = "x".repeat(100_000);
    let mapping = mapping(json!([
        { "name": "references", "inputSchema": { "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": definitions } },
        { "name": "deep", "inputSchema": { "properties": { "a": deep } } },
        { "name": "chain", "inputSchema": { "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": chain } },
        { "name": "wide", "inputSchema": { "properties": wide } },
        { "name": "long", "description": long, "inputSchema": { "properties": { &long: { "type": "string" }, "a": { "description": long } } } },
    ]));
    hold(&mapping);
    assert!(text(&mapping).len() < 200_000, "{}", text(&mapping).len());
    let many = (0..20_000).map(|at| {
        json!({ "name": format!("tool {at}"), "description": "x".repeat(500), "inputSchema": {
        "properties": { "a": { "type": "object", "properties": { "b": { "enum": ["c", "d"] } } } } } })
    });
    let mapping = self::mapping(many.collect());
    assert_eq!(mapping.functions().len(), 20_000);
    hold(&mapping);
    assert!(text(&mapping).len() < 16_000_000, "{}", text(&mapping).len());
}
