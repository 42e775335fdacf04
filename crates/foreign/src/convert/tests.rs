//! Values to and from JSON, with the types of a component that was built from other schemas.

use belljar_catalog::{
    ServerCatalog, namespaces,
    wit::{Mapping, Payload},
};
use belljar_model::{EffectRules, ToolDefinition};
use serde_json::{Value, json};
use wasmtime::{
    Engine,
    component::{Component, Type, Val, types::ComponentItem},
};

use super::{Steps, json_of, val_of};

fn mapping(schema: &Value) -> Mapping {
    let tool = json!({ "name": "t", "inputSchema": schema, "outputSchema": schema });
    let tool = ToolDefinition::from_json(tool).expect("a definition");
    let names = namespaces(&["s"]).remove(0);
    Mapping::new("mcp-s", &ServerCatalog::ready(names, vec![tool], &EffectRules::default()))
}

/// The type of a parameter, as in a component that was built with these fields.
fn ty(engine: &Engine, fields: &str) -> Type {
    ty_beside(engine, "", fields)
}

/// The same, with further types defined.
fn ty_beside(engine: &Engine, others: &str, fields: &str) -> Type {
    let text = format!(
        r#"(component (import "i" (instance {others}
            (type $state (enum "open" "closed")) (export "state" (type $State (eq $state)))
            (type $record (record {fields})) (export "record" (type $Record (eq $record)))
            (export "f" (func (param "args" $Record))))))"#
    );
    let component = Component::new(engine, wat::parse_str(text).expect("a text")).expect("a component");
    let import = component.component_type();
    let import = import.get_import(engine, "i").expect("its import");
    let ComponentItem::ComponentInstance(instance) = import.ty else { panic!("an instance") };
    let export = instance.get_export(engine, "f").expect("its function");
    let ComponentItem::ComponentFunc(function) = export.ty else { panic!("a function") };
    function.params().next().expect("a parameter").1
}

fn converted(mapping: &Mapping, ty: &Type, json: &Value) -> Result<Val, String> {
    let Payload::Form(form) = &mapping.functions()[0].result else { panic!("a form") };
    val_of(mapping, form, ty, json, &mut Steps::new()).map_err(|misfit| misfit.to_string())
}

fn back(mapping: &Mapping, value: &Val) -> Result<Value, String> {
    let Payload::Form(form) = &mapping.functions()[0].arguments else { panic!("a form") };
    json_of(mapping, form, value, 1000, &mut Steps::new()).map_err(|misfit| misfit.to_string())
}

fn engine() -> Engine {
    Engine::default()
}

#[test]
fn what_a_mapping_describes_becomes_values_and_the_same_json_again() {
    let engine = engine();
    let schema = json!({ "type": "object", "required": ["id", "kind"], "properties": {
        "id": { "type": "integer" }, "kind": { "const": "page" }, "state": { "enum": ["open", "closed"] },
        "ratio": { "type": "number" }, "any": {}, "labels": { "type": "array", "items": { "type": "string" } },
        "note": { "type": ["string", "null"] },
        "by": { "type": "object", "additionalProperties": { "type": "boolean" } } } });
    let mapping = mapping(&schema);
    let fields = r#"(field "id" s64) (field "state" (option $State)) (field "ratio" (option f64)) (field "any" (option string))
        (field "labels" (option (list string))) (field "note" (option (option string))) (field "by" (option (list (tuple string bool))))"#;
    let ty = ty(&engine, fields);
    for more in [
        json!({}),
        json!({ "state": "closed", "ratio": 0.5, "any": { "deep": [1, null] } }),
        json!({ "labels": ["a", "ö"], "note": null, "by": { "x y": true } }),
        json!({ "note": "n", "labels": [] }),
    ] {
        let mut json = json!({ "id": 9_007_199_254_740_993_i64, "kind": "page" });
        json.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let value = converted(&mapping, &ty, &json).unwrap_or_else(|misfit| panic!("{json}: {misfit}"));
        assert_eq!(back(&mapping, &value), Ok(json));
    }
    for (wrong, why) in [
        (json!({ "kind": "page" }), "id: it is not there"),
        (json!({ "id": 1.5, "kind": "page" }), "id: 1.5 is not an integer"),
        (json!({ "id": 1, "kind": "other" }), "kind is not what is declared"),
        (json!({ "id": 1, "kind": "page", "state": "lost" }), "state: it is a text, and should be one of the declared"),
        (json!([]), "it is an array, and should be an object"),
    ] {
        let misfit = converted(&mapping, &ty, &wrong).expect_err("it does not fit");
        assert!(misfit.contains(why), "{wrong}: {misfit}");
    }
}

#[test]
fn a_component_that_was_built_with_other_schemas_has_what_fits() {
    let engine = engine();
    let schema = json!({ "type": "object", "required": ["id"], "properties": {
        "id": { "type": "integer" }, "added": { "type": "string" }, "changed": { "type": "boolean" } } });
    let mapping = mapping(&schema);
    // It does not know one member, knows another that no longer exists, and has another type for a
    // third.
    let older = ty(&engine, r#"(field "id" s64) (field "gone" (option string))"#);
    let value = converted(&mapping, &older, &json!({ "id": 1, "added": "new" }));
    let expected = Val::Record(vec![("id".into(), Val::S64(1)), ("gone".into(), Val::Option(None))]);
    assert_eq!(value, Ok(expected.clone()));
    assert_eq!(back(&mapping, &expected), Ok(json!({ "id": 1 })));
    let used = Val::Record(vec![("id".into(), Val::S64(1)), ("gone".into(), some(Val::String("x".into())))]);
    assert!(back(&mapping, &used).is_err_and(|misfit| misfit.contains("does not know gone")));
    let other = ty(&engine, r#"(field "id" s64) (field "changed" (option string))"#);
    let misfit = converted(&mapping, &other, &json!({ "id": 1, "changed": true }));
    assert!(misfit.is_err_and(|misfit| misfit.contains("changed: the tool declares another type")));
    // A required member that is optional for it, and the reverse.
    let loose = ty(&engine, r#"(field "id" (option s64)) (field "changed" (option bool))"#);
    let value = converted(&mapping, &loose, &json!({ "id": 1 })).expect("it fits");
    assert_eq!(back(&mapping, &value), Ok(json!({ "id": 1 })));
}

#[test]
fn numbers_and_texts_that_json_has_not_are_refused() {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "number" }, "any": {} } });
    let mapping = mapping(&schema);
    let of = |name: &str, value: Val| Val::Record(vec![(name.to_owned(), some(value))]);
    for wrong in [f64::NAN, f64::INFINITY] {
        assert!(back(&mapping, &of("n", Val::Float64(wrong))).is_err());
    }
    assert_eq!(back(&mapping, &of("n", Val::Float64(3.0))).map(|json| json.to_string()), Ok(r#"{"n":3}"#.to_owned()));
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    for wrong in ["{", "", &deep, &format!("\"{}\"", "x".repeat(2_000))] {
        assert!(back(&mapping, &of("any", Val::String(wrong.to_owned()))).is_err());
    }
}

#[test]
fn a_member_that_is_null_where_null_is_the_default_is_not_there() {
    let engine = engine();
    let mapping = mapping(&json!({ "type": "object", "required": ["n"], "properties": {
        "note": { "anyOf": [{ "type": "string" }, { "type": "null" }], "default": null }, "n": { "type": "integer" } } }));
    let ty = ty(&engine, r#"(field "note" (option string)) (field "n" s64)"#);
    let value = converted(&mapping, &ty, &json!({ "note": null, "n": 2.0 }));
    let expected = Val::Record(vec![("note".into(), Val::Option(None)), ("n".into(), Val::S64(2))]);
    assert_eq!(value, Ok(expected));
}

#[test]
fn members_that_are_not_there_cost_steps_and_no_key_is_lost() {
    let engine = engine();
    let names: Vec<String> = (0..500).map(|number| format!("m{number}")).collect();
    let members = names.iter().map(|name| (name.clone(), json!({ "type": "string" })));
    let item = json!({ "type": "object", "properties": Value::Object(members.collect()) });
    let mapping = mapping(&json!({ "type": "object", "required": ["all"], "properties": {
        "all": { "type": "array", "items": item }, "by": { "type": "object", "additionalProperties": { "type": "string" } } } }));
    let fields: String = names.iter().map(|name| format!(r#"(field "{name}" (option string)) "#)).collect();
    let item = format!(r#"(type $item (record {fields})) (export "item" (type $Item (eq $item)))"#);
    let ty = ty_beside(&engine, &item, r#"(field "all" (list $Item))"#);
    let of = |count: usize| converted(&mapping, &ty, &json!({ "all": vec![json!({}); count] }));
    assert!(of(100).is_ok());
    let misfit = of(10_000).expect_err("five million members that are not there");
    assert!(misfit.contains("steps"), "{misfit}");
    let pair = |key: &str| Val::Tuple(vec![Val::String(key.into()), Val::String("x".into())]);
    let twice = Val::Record(vec![
        ("all".into(), Val::List(Vec::new())),
        ("by".into(), some(Val::List(vec![pair("a"), pair("a")]))),
    ]);
    assert!(back(&mapping, &twice).is_err_and(|misfit| misfit.contains("is there twice")));
}

fn some(value: Val) -> Val {
    Val::Option(Some(Box::new(value)))
}
