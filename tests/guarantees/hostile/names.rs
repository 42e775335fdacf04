//! Children with arbitrary names for themselves and their tools: lines 91 to 95 of the catalogue.

use serde_json::{Value, json};

use crate::stub_server::{Stub, gateway, run, value};

/// Names that are not identifiers, are already in use, or are alike.
fn names() -> Vec<String> {
    let mut names: Vec<String> = [
        "class",
        "await",
        "__proto__",
        "constructor",
        "then",
        "toString",
        "a-b",
        "a.b",
        "a_b",
        "a b",
        "日本語",
        "😀",
        "",
        " ",
        "\u{1b}[2J",
        "x\ny",
        "*/ alert()",
        "`${1}`",
        "\"",
        "'",
        "\\",
        "0",
        "1e9",
        "\u{202e}abc",
        "-",
        "--",
        "..",
        "/",
        "a/b",
    ]
    .map(str::to_owned)
    .to_vec();
    names.push("n".repeat(1024));
    names
}

fn tools(description: &str) -> Value {
    let tool = |name: &String| json!({ "name": name, "description": description, "inputSchema": { "type": "object" } });
    names().iter().map(tool).collect()
}

fn echo(name: &str, arguments: &Value) -> Value {
    json!({ "content": [], "structuredContent": { "name": name, "arguments": arguments } })
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_tool_of_any_name_is_called_by_it_or_is_not_there_and_disturbs_no_other() {
    let stub = Stub::new(tools("a tool"), echo);
    let gateway = gateway(&[("odd", stub)], Vec::new());
    let source = "
        const out = { called: [], wrong: [] };
        for (const key of Object.keys(odd)) {
            const { name } = await odd[key]({});
            (typeof name === 'string' ? out.called : out.wrong).push(name);
        }
        return { ...out, proto: Object.getPrototypeOf(odd), then: await odd === odd, plain: ({}).called ?? 'no' };";
    let value = value(&gateway, source).await;
    assert_eq!(value["wrong"], json!([]));
    assert_eq!((&value["proto"], &value["then"], &value["plain"]), (&json!(null), &json!(true), &json!("no")));
    let called: Vec<&str> = value["called"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for name in [
        "class",
        "await",
        "__proto__",
        "constructor",
        "toString",
        "a-b",
        "a.b",
        "a_b",
        "a b",
        "日本語",
        "*/ alert()",
        "`${1}`",
    ] {
        assert!(called.contains(&name), "{name} cannot be called: {called:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_server_of_any_name_takes_nothing_of_the_language_or_of_another_server() {
    let one = || Stub::new(json!([{ "name": "run", "inputSchema": { "type": "object" } }]), echo);
    let servers =
        ["console", "tools", "JSON", "globalThis", "undefined", "a-b", "a_b", "class", "box", "__proto__", "then"];
    let stubs: Vec<(&str, Stub)> = servers.iter().map(|name| (*name, one())).collect();
    let gateway = gateway(&stubs, Vec::new());
    let source = "
        console.log('the console'); const names = JSON.parse('[1]');
        const paths = tools.list().map(tool => tool.path);
        const answers = [];
        for (const path of paths) answers.push((await tools.call(path, { path })).arguments.path === path);
        return { names, count: paths.length, all: answers.every(Boolean), undefined: undefined === void 0, box: (await box.run({})).name };";
    let outcome = run(&gateway, source).await;
    assert_eq!(outcome.logs.len(), 1, "{outcome:#?}");
    let value = outcome.result.unwrap().to_value().unwrap();
    assert_eq!(value, json!({ "names": [1], "count": servers.len(), "all": true, "undefined": true, "box": "run" }));
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_description_ends_no_comment_and_acts_on_nothing() {
    let description = "*/ export const evil = 1; /* `${evil}` \r\n */ \u{1b}[2J \u{202e} \u{2028} // @ts-ignore";
    let gateway = gateway(&[("odd", Stub::new(tools(description), echo))], Vec::new());
    let declared = value(&gateway, "return tools.list('odd').map(tool => tools.describe(tool.path).declaration)").await;
    let declared = declared.as_array().unwrap();
    assert!(!declared.is_empty());
    for declaration in declared {
        let text = declaration.as_str().unwrap();
        let is_raw = |character: char| {
            (character.is_control() && character != '\n') || matches!(character, '\u{202e}' | '\u{2028}')
        };
        assert!(!text.contains(is_raw), "{text:?}");
        // The rest outside of comments contains none of the words.
        let mut outside = String::new();
        let mut rest = text;
        while let Some((code, comment)) = rest.split_once("/*") {
            outside.push_str(code);
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        }
        outside.push_str(rest);
        let code: String = outside.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
        assert!(!code.contains("evil"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_schema_that_refers_to_itself_or_multiplies_costs_neither_time_nor_room() {
    let recursive = json!({ "type": "object", "properties": { "child": { "$ref": "#" } } });
    let mut bomb = json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/d30" } }, "$defs": {} });
    for level in 0..=30 {
        let below = format!("#/$defs/d{}", level - 1);
        let of_level = if level == 0 {
            json!({ "type": "string" })
        } else {
            json!({ "type": "object", "properties": { "a": { "$ref": below }, "b": { "$ref": below } } })
        };
        bomb["$defs"][format!("d{level}")] = of_level;
    }
    let loops = json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/a" } }, "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } });
    let listed = json!([
        { "name": "recursive", "inputSchema": recursive },
        { "name": "bomb", "inputSchema": bomb },
        { "name": "loops", "inputSchema": loops },
    ]);
    let gateway = gateway(&[("odd", Stub::new(listed, echo))], Vec::new());
    let source = "
        const sizes = ['recursive', 'bomb', 'loops'].map(name => tools.describe('odd.' + name).declaration.length);
        let deep = {}; for (let i = 0; i < 60; i++) deep = { child: deep };
        return { sizes, called: [(await odd.recursive(deep)).name, (await odd.bomb({ x: {} })).name, (await odd.loops({ x: 1 })).name] };";
    let value = value(&gateway, source).await;
    assert_eq!(value["called"], json!(["recursive", "bomb", "loops"]));
    assert!(value["sizes"].as_array().unwrap().iter().all(|size| size.as_u64().unwrap() < 20_000), "{value}");
}
