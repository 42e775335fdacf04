//! Values cross the boundary as a programmer expects: by the rules of JSON, with errors that name
//! the place, and results of tools in the most useful shape.

use std::{sync::Arc, time::Duration};

use belljar_model::{ErrorKind, JsonText, LimitHit, LimitName, Limits};
use belljar_sandbox::{ByteSize, CallError, Directory, Effect, GrantedTool, Namespace, ToolPath, Tools, Unavailable};
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::{Value, json};

use crate::support::{error_of, run, run_with, tools, value};

/// Answers each call with the `result` in its arguments, like a child server might.
struct Answering;

impl Tools for Answering {
    fn namespaces(&self) -> Vec<Namespace> {
        vec![Namespace::new("child", vec!["child".to_owned()])]
    }

    fn directory(&self, _: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
        let tool = GrantedTool { path: ToolPath::new("child", "answer"), effect: Effect::External };
        std::future::ready(Ok(Arc::new(Directory::new([("answer".to_owned(), tool)])))).boxed()
    }

    fn call(
        &self,
        _: &GrantedTool,
        arguments: JsonText,
        _: Duration,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        let result = arguments.to_value().unwrap()["result"].clone();
        std::future::ready(Ok(JsonText::from_value(&result))).boxed()
    }

    fn list(&self, _: Option<String>) -> BoxFuture<'_, Result<JsonText, String>> {
        std::future::ready(Ok(JsonText::from_value(&json!([])))).boxed()
    }

    fn search(&self, _: String, _: usize) -> BoxFuture<'_, JsonText> {
        std::future::ready(JsonText::from_value(&json!([]))).boxed()
    }

    fn describe(&self, path: String) -> BoxFuture<'_, Result<JsonText, String>> {
        std::future::ready(Err(format!("there is no tool '{path}'"))).boxed()
    }
}

/// The value of a script in which `result` is the child tool's answer, and `answered` the promise
/// of its call.
async fn with_result(result: &Value, script: &str) -> Value {
    let source = format!("const result = {result};\n{script}");
    let outcome = run_with(&source, &Limits::default(), Arc::new(Answering)).await;
    outcome.result.unwrap_or_else(|error| panic!("{source}\nfailed: {error:#?}")).to_value().unwrap()
}

/// Expressions and their `JSON.stringify` texts.
fn stringified() -> Vec<(&'static str, Value)> {
    vec![
        ("{ a: undefined, b: null, c: () => 1, d: Symbol('s'), e: 1 }", json!({ "b": null, "e": 1 })),
        ("[undefined, null, () => 1, Symbol('s'), 1]", json!([null, null, null, null, 1])),
        (
            "[NaN, Infinity, -Infinity, -0, 0.1, 1e21, 2 ** 53 - 1]",
            json!([null, null, null, 0, 0.1, 1e21, 9007199254740991_u64]),
        ),
        ("{ d: new Date(0) }", json!({ "d": "1970-01-01T00:00:00.000Z" })),
        ("{ d: new Date(NaN) }", json!({ "d": null })),
        ("{ toJSON() { return { x: 1 } }, y: 2 }", json!({ "x": 1 })),
        ("{ k: { toJSON(key) { return key } }, list: [{ toJSON: key => key }] }", json!({ "k": "k", "list": ["0"] })),
        ("{ gone: { toJSON() { return undefined } }, stays: 1 }", json!({ "stays": 1 })),
        ("[new Number(3), new String('s'), new Boolean(false)]", json!([3, "s", false])),
        ("[, 1, , 2]", json!([null, 1, null, 2])),
        ("{ get a() { return 1 }, ['b c']: 2, 7: 3 }", json!({ "7": 3, "a": 1, "b c": 2 })),
        (
            "Object.create({ inherited: 1 }, { hidden: { value: 1 }, own: { value: 2, enumerable: true } })",
            json!({ "own": 2 }),
        ),
        ("{ [Symbol('s')]: 1 }", json!({})),
        ("new (class P { #secret = 1; shown = 2; method() {} })()", json!({ "shown": 2 })),
        ("/a/g", json!({})),
        ("new Proxy([1, 2], {})", json!([1, 2])),
        ("new Proxy({ a: 1 }, {})", json!({ "a": 1 })),
        ("Object.assign(Object.create(null), { a: 1 })", json!({ "a": 1 })),
        ("{ 'ä\"\\\\\\n\\u2028\\u0001😀': '日本語\\t' }", json!({ "ä\"\\\n\u{2028}\u{1}😀": "日本語\t" })),
    ]
}

#[tokio::test]
pub(crate) async fn a_value_is_what_json_stringify_makes_of_it() {
    for (expression, expected) in stringified() {
        assert_eq!(value(&format!("return ({expression})")).await, json!(expected), "{expression}");
        let same = format!("return JSON.parse(JSON.stringify({expression}))");
        assert_eq!(value(&same).await, json!(expected), "{same}");
    }
}

#[tokio::test]
async fn arguments_are_what_json_stringify_makes_of_them() {
    for (expression, expected) in stringified() {
        let source = format!("return await box.echo({{ value: ({expression}) }})");
        assert_eq!(value(&source).await["value"], expected, "{source}");
    }
    for (source, expected) in [
        ("return await box.echo()", json!({})),
        ("return await box.echo(undefined)", json!({})),
        ("return await box.echo({ toJSON() { return { a: 1 } } })", json!({ "a": 1 })),
        ("return await box.echo(new Map([['a', 1]]))", json!({ "a": 1 })),
        ("return await box.echo(Object.create(null))", json!({})),
    ] {
        assert_eq!(value(source).await, expected, "{source}");
    }
}

#[tokio::test]
pub(crate) async fn what_json_stringify_makes_a_surprise_of_is_settled() {
    for (source, expected) in [
        ("return undefined", json!(null)),
        ("return () => 1", json!(null)),
        ("return Symbol('s')", json!(null)),
        ("return new Map([['a', 1], ['b', new Map([['c', undefined]])]])", json!({ "a": 1, "b": {} })),
        ("return new Map([[1, 'a'], ['b', 2]])", json!([[1, "a"], ["b", 2]])),
        ("return new Map()", json!({})),
        ("return { s: new Set([1, 'a', undefined, { b: 2 }]) }", json!({ "s": [1, "a", null, { "b": 2 }] })),
        (
            "return { e: new Error('lost?'), t: new TypeError('no') }",
            json!({ "e": { "name": "Error", "message": "lost?" }, "t": { "name": "TypeError", "message": "no" } }),
        ),
        ("return new Uint8Array([1, 2, 255])", json!({ "type": "Uint8Array", "length": 3, "base64": "AQL/" })),
        (
            "return [new Uint16Array([1, 2, 3]).subarray(1), new Uint8Array([7]).buffer, new DataView(new ArrayBuffer(2), 1)]",
            json!([
                { "type": "Uint16Array", "length": 4, "base64": "AgADAA==" },
                { "type": "ArrayBuffer", "length": 1, "base64": "Bw==" },
                { "type": "DataView", "length": 1, "base64": "AA==" }
            ]),
        ),
        ("const e = new Error('m'); e.code = 7; return e", json!({ "name": "Error", "message": "m", "code": 7 })),
    ] {
        assert_eq!(value(source).await, expected, "{source}");
    }
}

#[tokio::test]
async fn a_script_may_teach_big_integers_to_be_json() {
    let source = "BigInt.prototype.toJSON = function () { return this.toString() }; return { a: 1n, b: [Object(2n)] }";
    assert_eq!(value(source).await, json!({ "a": "1", "b": ["2"] }));
}

#[tokio::test]
pub(crate) async fn what_cannot_be_json_is_an_error_that_names_the_place() {
    for (expression, place, fault) in [
        ("{ id: 10n }", "$.id", "is a BigInt"),
        ("[[1, 2n]]", "$[0][1]", "is a BigInt"),
        ("{ boxed: Object(1n) }", "$.boxed", "is a BigInt"),
        ("new Map([['m', new Set([1n])]])", "$.m[0]", "is a BigInt"),
        ("{ 'a b': { 'ü': 1n } }", "$[\"a b\"].ü", "is a BigInt"),
        ("(() => { const a = {}; a.self = a; return a })()", "$.self", "is cyclic"),
        (
            "(() => { const items = [{}, {}, {}, {}]; items[3].parent = items; return { items } })()",
            "$.items[3].parent",
            "is cyclic",
        ),
        ("(() => { const m = new Map(); m.set('m', m); return m })()", "$.m", "is cyclic"),
        ("{ later: box.echo({}) }", "$.later", "is a promise"),
        ("[1, 2].map(async x => x)", "$[0]", "is a promise"),
    ] {
        let error = error_of(ErrorKind::Exception, &format!("return ({expression})")).await;
        let expected = format!("TypeError: the value cannot be JSON: {place} {fault}");
        assert!(error.message.starts_with(&expected), "{expression}\n{error:#?}");
        let caught =
            format!("try {{ await box.echo({{ x: {expression} }}) }} catch (e) {{ return [e.name, e.message] }}");
        let caught = value(&caught).await;
        let place = place.replacen('$', "$.x", 1);
        let expected = format!("the arguments of box.echo cannot be JSON: {place} {fault}");
        assert_eq!(caught[0], "TypeError", "{expression}");
        assert!(caught[1].as_str().unwrap().starts_with(&expected), "{expression}\n{caught}");
    }
    // What a script's own code throws meanwhile is the script's error.
    for source in [
        "return { get bad() { throw new RangeError('mine') } }",
        "return { bad: { toJSON() { throw new RangeError('mine') } } }",
    ] {
        assert_eq!(error_of(ErrorKind::Exception, source).await.message, "RangeError: mine", "{source}");
    }
}

#[tokio::test]
async fn an_object_that_is_shared_but_not_cyclic_is_written_each_time() {
    assert_eq!(
        value("const o = { a: 1 }; return [o, o, { o }]").await,
        json!([{ "a": 1 }, { "a": 1 }, { "o": { "a": 1 } }])
    );
}

#[tokio::test]
pub(crate) async fn a_member_that_the_host_s_parser_would_read_as_json_passes_neither_way() {
    const NAME: &str = "$serde_json::private::RawValue";
    let error = error_of(ErrorKind::Output, &format!("return {{ '{NAME}': '[1]' }}")).await;
    assert!(error.message.contains("means something else to the parser"), "{error:#?}");
    assert_eq!(error.hint.as_deref(), Some("give that member another name"));
    let refused =
        format!("try {{ await box.echo({{ v: {{ '{NAME}': '[1]' }} }}) }} catch (error) {{ return error.message }}");
    let message = value(&refused).await;
    assert!(message.as_str().is_some_and(|said| said.contains("means something else to the parser")), "{message}");
    // It may be a text, and part of a name.
    assert_eq!(
        value(&format!("return ['{NAME}', {{ '{NAME}s': 1 }}]")).await.to_string(),
        format!(r#"["{NAME}",{{"{NAME}s":1}}]"#)
    );
}

#[tokio::test]
pub(crate) async fn values_nest_127_levels_deep_and_no_deeper() {
    let nested = |depth: usize| format!("let v = []; for (let i = 1; i < {depth}; i++) v = [v]; return v");
    let outcome = run(&nested(127)).await;
    assert_eq!(outcome.result.unwrap().as_str(), format!("{}{}", "[".repeat(127), "]".repeat(127)));
    let error = error_of(ErrorKind::Exception, &nested(128)).await;
    assert!(error.message.contains("nests deeper than 127 levels"), "{error:#?}");

    // The wrapping object of the arguments and that of the result are levels too.
    let through = |depth: usize| {
        format!("let v = []; for (let i = 1; i < {depth}; i++) v = [v]; return (await box.echo({{ v }})).v.length")
    };
    assert_eq!(value(&through(125)).await, json!(1));
    let error = error_of(ErrorKind::Exception, &through(127)).await;
    assert!(error.message.contains("nests deeper than 127 levels"), "{error:#?}");
    let error = error_of(
        ErrorKind::Exception,
        "const f = () => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a }; return f()",
    )
    .await;
    assert!(error.message.contains("nests deeper than 127 levels"), "{error:#?}");
}

#[tokio::test]
pub(crate) async fn a_lone_surrogate_becomes_the_replacement_character() {
    assert_eq!(
        value("return ['a\\ud800b', '\\udc00', '\\ud83d\\ude00']").await,
        json!(["a\u{fffd}b", "\u{fffd}", "😀"])
    );
    assert_eq!(value("return { 'k\\ud800': 1 }").await, json!({ "k\u{fffd}": 1 }));
    assert_eq!(value("return (await box.echo({ s: '\\udfff!' })).s").await, json!("\u{fffd}!"));
}

#[tokio::test]
pub(crate) async fn special_keys_of_a_result_are_own_properties_and_pollute_nothing() {
    let structured = json!({ "structuredContent": { "__proto__": { "polluted": true }, "constructor": 1, "toString": 2, "then": 3 } });
    let script = "const r = await child.answer({ result });
        return { own: Object.keys(r), plain: Object.getPrototypeOf(r) === Object.prototype, inner: r['__proto__'],
                 polluted: ({}).polluted ?? r.polluted ?? 'no', again: r }";
    // `JSON.parse` keeps the key an own property on the way in.
    let source = format!("const result = JSON.parse({});\n{script}", Value::from(structured.to_string()));
    let outcome = run_with(&source, &Limits::default(), Arc::new(Answering)).await;
    assert_eq!(
        outcome.result.unwrap().to_value().unwrap(),
        json!({
            "own": ["__proto__", "constructor", "toString", "then"],
            "plain": true,
            "inner": { "polluted": true },
            "polluted": "no",
            "again": structured["structuredContent"],
        })
    );
}

#[tokio::test]
async fn numbers_and_texts_come_back_as_they_went() {
    for text in [
        "0",
        "-1",
        "2147483647",
        "2147483648",
        "-2147483649",
        "9007199254740991",
        "0.1",
        "1e-7",
        "1.7976931348623157e308",
        "5e-324",
        "\"\"",
        "\"\\u0000\"",
        "\"e\\u0301\"",
        "\"👩‍👩‍👧‍👦\"",
        "true",
        "null",
        "[]",
        "{}",
    ] {
        let source = format!(
            "const v = (await box.echo({{ v: {text} }})).v; return Object.is(v, {text}) || typeof v === 'object' ? v : 'other'"
        );
        let expected: Value = serde_json::from_str(text).unwrap();
        assert_eq!(value(&source).await, expected, "{text}");
    }
}

#[tokio::test]
async fn a_text_of_a_megabyte_passes_whole() {
    let limits = Limits { max_output: ByteSize::mib(4), max_arguments: ByteSize::mib(4), ..Limits::default() };
    let source = "const s = 'aé😀z'.repeat(2 ** 18); const r = await box.echo({ s }); return r.s === s ? r.s : 'other'";
    let outcome = run_with(source, &limits, Arc::new(tools())).await;
    let returned = outcome.result.unwrap().to_value().unwrap();
    assert!(returned == json!("aé😀z".repeat(1 << 18)), "another text came back");
}

#[tokio::test]
pub(crate) async fn a_value_larger_than_max_output_is_an_error_with_the_size_it_would_have_had() {
    let limits = Limits { max_output: ByteSize::b(100), ..Limits::default() };
    for (source, used) in
        [("return 'x'.repeat(98)", 100), ("return 'x'.repeat(99)", 101), ("return Array(1000).fill(1)", 2001)]
    {
        let result = run_with(source, &limits, Arc::new(tools())).await.result;
        if used <= 100 {
            assert!(result.is_ok(), "{source}");
            continue;
        }
        let error = result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Output, "{source}");
        assert_eq!(error.limit, Some(LimitHit { name: LimitName::MaxOutput, max: 100, used }), "{source}");
        assert!(error.hint.is_some());
    }
}

#[tokio::test]
pub(crate) async fn a_huge_value_is_refused_before_it_fills_the_memory() {
    for source in [
        "return new Array(4294967295)",
        "let v = ['x'.repeat(1000)]; for (let i = 0; i < 60; i++) v = [v, v]; return v",
        "return Array(1000).fill('x'.repeat(1e6))",
    ] {
        // Writing up to the limit of the output takes seconds without optimisation.
        let limits = Limits { compute: Duration::from_secs(100), ..Limits::default() };
        let error = run_with(source, &limits, Arc::new(tools())).await.result.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Output, "{source}\n{error:#?}");
        let limit = error.limit.unwrap();
        assert!(limit.name.as_str() == "max_output" && limit.used > limit.max, "{source}");
    }
    let caught = value(
        "try { await box.echo({ v: Array(1000).fill('x'.repeat(1e6)) }) } catch (e) { return [e.name, e.message] }",
    )
    .await;
    assert_eq!(caught[0], "RangeError");
    assert!(caught[1].as_str().unwrap().contains("the limit is 1048576"), "{caught}");
}

#[tokio::test]
async fn a_result_is_what_a_programmer_wants() {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let image = json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" });
    for (result, expected) in [
        (json!({ "content": [text("ignored")], "structuredContent": { "a": [1] } }), json!({ "a": [1] })),
        (json!({ "content": [], "structuredContent": [] }), json!([])),
        (json!({ "content": [text("{\"a\": 1}")] }), json!({ "a": 1 })),
        (json!({ "content": [text(" [1, 2]\n")] }), json!([1, 2])),
        (json!({ "content": [text("{not json}")] }), json!("{not json}")),
        (json!({ "content": [text("42")] }), json!("42")),
        (json!({ "content": [text("true")] }), json!("true")),
        (json!({ "content": [text("plain\ntext")] }), json!("plain\ntext")),
        (json!({ "content": [text("")] }), json!("")),
        (json!({ "content": [text("one"), text("two")] }), json!("one\ntwo")),
        (json!({ "content": [text("{\"a\":"), text("1}")] }), json!({ "a": 1 })),
        (json!({ "content": [text("see"), image] }), json!([text("see"), image])),
        (json!({ "content": [image] }), json!([image])),
        (json!({ "content": [] }), json!([])),
        (json!({ "content": [text("null is no content")], "structuredContent": null }), json!("null is no content")),
        (json!({ "content": [text("fine")], "isError": false }), json!("fine")),
    ] {
        assert_eq!(with_result(&result, "return await child.answer({ result })").await, expected, "{result}");
        let raw = with_result(&result, "return await tools.raw('child.answer', { result })").await;
        assert_eq!(raw, result, "raw: {result}");
    }
}

#[tokio::test]
async fn a_tool_that_fails_throws_a_tool_error_with_all_there_is_to_know() {
    let content = json!([{ "type": "text", "text": "disk" }, { "type": "text", "text": "full" }]);
    let result = json!({ "content": content, "isError": true });
    let script = "try { await child.answer({ result }); return 'no error' } catch (e) {
        return { is: [e instanceof ToolError, e instanceof Error], name: e.name, server: e.server, tool: e.tool, message: e.message,
                 content: e.content, text: String(e), stack: e.stack.split('\\n')[0], keys: Object.keys(e) } }";
    assert_eq!(
        with_result(&result, script).await,
        json!({ "is": [true, true], "name": "ToolError", "server": "child", "tool": "answer", "message": "disk\nfull",
                "content": content, "text": "ToolError: disk\nfull", "stack": "ToolError: disk", "keys": ["server", "tool"] })
    );
    for (content, message) in [
        (json!([]), "the tool reported an error without a text"),
        (
            json!([{ "type": "image", "data": "", "mimeType": "image/png" }]),
            "the tool reported an error without a text",
        ),
        (json!([{ "type": "text", "text": "why" }, { "type": "image", "data": "", "mimeType": "image/png" }]), "why"),
    ] {
        let result = json!({ "content": content, "isError": true });
        let script = "return await child.answer({ result }).catch(e => e.message)";
        assert_eq!(with_result(&result, script).await, json!(message), "{result}");
    }
    // The whole result is available to scripts that want to decide themselves.
    assert_eq!(with_result(&result, "return await tools.raw('child.answer', { result })").await, result);
}

#[tokio::test]
async fn logs_show_values_as_node_does() {
    // Each text is what Node 20 prints for the same arguments.
    for (arguments, expected) in [
        ("{ a: [1, { b: 2 }] }", "{ a: [ 1, { b: 2 } ] }"),
        (
            "'plain', ['quoted'], 1, true, null, undefined, -0, 5n, Symbol('s')",
            "plain [ 'quoted' ] 1 true null undefined -0 5n Symbol(s)",
        ),
        ("{ l1: { l2: { l3: { l4: 1 } } } }", "{ l1: { l2: { l3: [Object] } } }"),
        ("[[[[1]]]]", "[ [ [ [Array] ] ] ]"),
        (
            "{ s: \"it's\", 'a-b': 1, f() {}, g: () => 1, h: class A {}, i: function () {} }",
            "{\n  s: \"it's\",\n  'a-b': 1,\n  f: [Function: f],\n  g: [Function: g],\n  h: [class A],\n  i: [Function: i]\n}",
        ),
        ("new Map([['a', { b: 1 }]]), new Set([1, 'x'])", "Map(1) { 'a' => { b: 1 } } Set(2) { 1, 'x' }"),
        ("new (class Point { x = 1 })(), new (class Empty {})()", "Point { x: 1 } Empty {}"),
        ("new Date(0), /a+/g, [new Date(0)]", "1970-01-01T00:00:00.000Z /a+/g [ 1970-01-01T00:00:00.000Z ]"),
        ("[1, , , 4], [undefined], Array(3)", "[ 1, <2 empty items>, 4 ] [ undefined ] [ <3 empty items> ]"),
        (
            "Promise.resolve(1), Promise.reject(2).catch(() => 0), new Promise(() => {})",
            "Promise { 1 } Promise { <pending> } Promise { <pending> }",
        ),
        ("{}, [], '', [''], {a:{}}", "{} []  [ '' ] { a: {} }"),
        (
            "Object.create(null), { __proto__: null, a: 1 }",
            "[Object: null prototype] {} [Object: null prototype] { a: 1 }",
        ),
        (
            "{ get a() { return 1 }, set b(x) {}, get c() { return 1 }, set c(x) {} }",
            "{ a: [Getter], b: [Setter], c: [Getter/Setter] }",
        ),
        ("[new Number(1), new String('s'), new Boolean(true)]", "[ [Number: 1], [String: 's'], [Boolean: true] ]"),
        ("{ [Symbol('k')]: 1, a: 2 }", "{ a: 2, [Symbol(k)]: 1 }"),
        ("new Uint8Array([1, 2]), new ArrayBuffer(1).byteLength", "Uint8Array(2) [ 1, 2 ] 1"),
        (
            "'%s is %d years and %i, %f, %j %O %%', 'Bob', 42.5, 42.5, '1.5', { a: 1 }, [1], 'more'",
            "Bob is 42.5 years and 42, 1.5, {\"a\":1} [ 1 ] % more",
        ),
        ("'100%', 1", "100% 1"),
        ("Array.from({ length: 8 }, (_, i) => i)", "[\n  0, 1, 2, 3,\n  4, 5, 6, 7\n]"),
        ("Array(101).fill(0).length, [1.5, 'a\\nb']", "101 [ 1.5, 'a\\nb' ]"),
        ("{ e: 'ä€😀' }", "{ e: 'ä€😀' }"),
        ("(() => { const a = { name: 'a' }; a.self = a; return a })()", "<ref *1> { name: 'a', self: [Circular *1] }"),
        (
            "{ message: 'a rather long text that goes on', other: 'another rather long text that goes on' }",
            "{\n  message: 'a rather long text that goes on',\n  other: 'another rather long text that goes on'\n}",
        ),
        ("[{ id: 1, name: 'one' }, { id: 2, name: 'two' }]", "[ { id: 1, name: 'one' }, { id: 2, name: 'two' } ]"),
    ] {
        let outcome = run(&format!("console.log({arguments})")).await;
        assert!(outcome.is_ok(), "{arguments}\n{outcome:#?}");
        assert_eq!(outcome.logs[0].text, expected, "{arguments}");
    }
}

#[tokio::test]
async fn logs_show_errors_with_what_belongs_to_them() {
    for (arguments, expected) in [
        ("String(new TypeError('no'))", "TypeError: no"),
        ("{ e: new RangeError('inner') }", "{\n  e: RangeError: inner\n      at <main> (script:1:18)\n}"),
    ] {
        let outcome = run(&format!("console.log({arguments})")).await;
        assert_eq!(outcome.logs[0].text, expected, "{arguments}");
    }
    let outcome = run("const e = new Error('outer', { cause: new TypeError('inner') });\nconsole.error(e)").await;
    let text = &outcome.logs[0].text;
    assert!(text.starts_with("Error: outer\n    at ") && text.contains("script:1:11"), "{text}");
    assert!(text.contains("[cause]: TypeError: inner"), "{text}");
}

#[tokio::test]
pub(crate) async fn lists_are_sorted_whatever_the_comparator_answers() {
    for (source, expected) in [
        ("return Array.from({ length: 200 }, (_, i) => i).sort(() => Math.random() - 0.5).length", json!(200)),
        ("return Array.from({ length: 200 }, (_, i) => i).toSorted(() => 1).length", json!(200)),
        ("return new Float64Array(200).map((_, i) => i).sort(() => Math.random() - 0.5).length", json!(200)),
        ("return [5, 1, 10, 2].sort()", json!([1, 10, 2, 5])),
        ("return [5, 1, 10, 2].sort((a, b) => a - b)", json!([1, 2, 5, 10])),
        ("return [3, undefined, 1, , 2].sort()", json!([1, 2, 3, null, null])),
        ("const a = [3, , 1]; a.sort(); return [a, 2 in a]", json!([[1, 3, null], false])),
        ("const a = [2, 1]; return [a.toSorted(), a]", json!([[1, 2], [2, 1]])),
        ("return ['b', 'a', 'ä', 'B'].sort((a, b) => a < b ? -1 : 1)", json!(["B", "a", "b", "ä"])),
        (
            "return [[1, 'a'], [0, 'b'], [1, 'c'], [0, 'd']].sort((a, b) => a[0] - b[0]).map(x => x[1]).join('')",
            json!("bdac"),
        ),
        (
            "return [...new Int8Array([3, -1, 2]).sort()].concat([...new Int8Array([3, -1, 2]).toSorted((a, b) => b - a)])",
            json!([-1, 2, 3, 3, 2, -1]),
        ),
        (
            "return Array.prototype.sort.call({ length: 3, 0: 'c', 1: 'b', 2: 'a' })",
            json!({ "0": "a", "1": "b", "2": "c", "length": 3 }),
        ),
        ("return [2, 1].sort(() => NaN)", json!([2, 1])),
        (
            "const n = Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1009); const s = n.toSorted((a, b) => a - b); return s.every((x, i) => i === 0 || s[i - 1] <= x)",
            json!(true),
        ),
        (
            "return [Array.prototype.sort.name, Array.prototype.sort.length, Object.keys(Array.prototype).length]",
            json!(["sort", 1, 0]),
        ),
    ] {
        assert_eq!(value(source).await, expected, "{source}");
    }
    let error = error_of(ErrorKind::Exception, "[2, 1].sort((a, b) => { throw new RangeError('mine') })").await;
    assert_eq!(error.message, "RangeError: mine");
    assert!(
        error_of(ErrorKind::Exception, "[2, 1].sort('name')")
            .await
            .message
            .starts_with("TypeError: sort takes a function")
    );
}
