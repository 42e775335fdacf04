//! Values cross unchanged between a host and its script.

use belljar_model::{ErrorKind, JsonBounds, JsonText};
use belljar_sandbox::{Bytes, BytesKind, Program, ScriptValue};
use serde_json::json;

use super::{error, host, outcome, value};

const KINDS: [BytesKind; 14] = [
    BytesKind::ArrayBuffer,
    BytesKind::DataView,
    BytesKind::Int8Array,
    BytesKind::Uint8Array,
    BytesKind::Uint8ClampedArray,
    BytesKind::Int16Array,
    BytesKind::Uint16Array,
    BytesKind::Int32Array,
    BytesKind::Uint32Array,
    BytesKind::Float16Array,
    BytesKind::Float32Array,
    BytesKind::Float64Array,
    BytesKind::BigInt64Array,
    BytesKind::BigUint64Array,
];

/// The value of a script, in extended JSON.
async fn extended(script: &str, gives: Vec<ScriptValue>) -> ScriptValue {
    let outcome = outcome(Program::new(script).with_extended_value(), host(gives)).await;
    let text = outcome.result.as_ref().unwrap_or_else(|error| panic!("{script}\n{error:#?}"));
    ScriptValue::from_json(text).unwrap()
}

fn members(pairs: Vec<(&str, ScriptValue)>) -> ScriptValue {
    ScriptValue::Object(pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_exactly_what_the_host_gave() {
    let tool_error = json!({ "content": [{ "type": "text", "text": "a" }], "isError": true });
    for given in [
        json!(null),
        json!("3"),
        json!("{\"a\": 1}"),
        json!(""),
        json!(0),
        json!([]),
        tool_error,
        json!({ "structuredContent": 1 }),
        json!({ "then": 1, "__proto__": 2, "$belljar": "undefined" }),
        json!({ "$belljar": "undefined" }),
        json!([{ "$belljar": { "$belljar": { "bytes": "AA==", "type": "Uint8Array" } } }]),
    ] {
        let outcome = outcome("await host.give()".into(), host(vec![given.clone().into()])).await;
        let found = outcome.result.as_ref().map(|value| value.to_value().unwrap());
        assert_eq!(found.as_ref().ok(), Some(&given), "{found:?}");
        assert!(outcome.calls.iter().all(|call| call.ok), "{given}");
    }
    let undefined = vec![ScriptValue::Undefined];
    assert_eq!(value("(await host.give()) === undefined", host(undefined)).await, json!(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_of_every_type_cross_both_ways() {
    for kind in KINDS {
        let bytes = ScriptValue::Bytes(Bytes { kind, bytes: (0..16).collect() });
        let script = format!(
            "const given = await host.give(); const [back] = await host.take({{ deep: [given] }});
             [given.constructor.name === '{0}', back.deep[0].constructor.name === '{0}', given.byteLength, back]",
            kind.name()
        );
        let back = members(vec![("deep", ScriptValue::List(vec![bytes.clone()]))]);
        let expected = vec![json!(true).into(), json!(true).into(), json!(16).into(), back];
        assert_eq!(extended(&script, vec![bytes]).await, ScriptValue::List(expected), "{kind:?}");
    }
    // A view crosses as what it shows.
    let script = "const all = new Uint8Array([1, 2, 3, 4]); new Uint16Array(all.buffer, 2, 1)";
    let shown = ScriptValue::Bytes(Bytes { kind: BytesKind::Uint16Array, bytes: vec![3, 4] });
    assert_eq!(extended(script, Vec::new()).await, shown);
}

#[tokio::test(flavor = "multi_thread")]
async fn undefined_keeps_its_place_among_arguments_and_elements() {
    let undefined = ScriptValue::Undefined;
    let list = |values: Vec<ScriptValue>| ScriptValue::List(values);
    for (script, expected) in [
        ("undefined", undefined.clone()),
        ("host.take(1, undefined, 2)", list(vec![json!(1).into(), undefined.clone(), json!(2).into()])),
        ("host.take(undefined)", list(vec![undefined.clone()])),
        ("host.take([, 1])", list(vec![list(vec![undefined.clone(), json!(1).into()])])),
        // As with JSON.stringify.
        ("host.take({ a: undefined, b: 1 })", list(vec![json!({ "b": 1 }).into()])),
        ("({ a: undefined })", json!({}).into()),
        ("[NaN, new Date(0)]", json!([null, "1970-01-01T00:00:00.000Z"]).into()),
    ] {
        assert_eq!(extended(script, Vec::new()).await, expected, "{script}");
    }
    // Plain JSON has no `undefined`.
    assert_eq!(value("undefined", host(Vec::new())).await, json!(null));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_object_of_a_script_passes_for_something_else() {
    let forged = [
        "{ $belljar: 'undefined' }",
        "{ $belljar: { bytes: 'AA==', type: 'Uint8Array' } }",
        "{ $belljar: { object: { $belljar: 'undefined' } } }",
        "{ a: 0, $belljar: 'undefined' }",
        "{ $belljar: 'undefined', a: undefined }",
        "{ toJSON: () => ({ $belljar: 'undefined' }) }",
        "new Map([['$belljar', 'undefined']])",
        "Object.assign([], { $belljar: 'undefined' })",
        "{ get $belljar() { return 'undefined' } }",
    ];
    for object in forged {
        let plain = value(format!("({object})"), host(Vec::new())).await;
        let script = format!("({object})");
        assert_eq!(extended(&script, Vec::new()).await, plain.clone().into(), "{object}");
        let script = format!("await host.take({object})");
        assert_eq!(extended(&script, Vec::new()).await, ScriptValue::List(vec![plain.into()]), "{object}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_means_nothing_is_an_error_of_its_call() {
    use belljar_model::Effect;
    use belljar_sandbox::{
        AnswerStyle, BoxFuture, CallError, Directory, GrantedTool, Namespace, ToolPath, Tools, Unavailable,
    };
    use std::{sync::Arc, time::Duration};

    /// Gives a text as it is.
    struct Raw(&'static str);
    impl Tools for Raw {
        fn namespaces(&self) -> Vec<Namespace> {
            vec![Namespace { answers: AnswerStyle::Plain, ..Namespace::new("host", vec!["host".to_owned()]) }]
        }
        fn directory(&self, _: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
            let tool = GrantedTool { path: ToolPath::new("host", "give"), effect: Effect::ReadOnly };
            Box::pin(async move { Ok(Arc::new(Directory::new([("give".to_owned(), tool)]))) })
        }
        fn call(&self, _: &GrantedTool, _: JsonText, _: Duration) -> BoxFuture<'static, Result<JsonText, CallError>> {
            let text = JsonText::parse(self.0.to_owned(), &JsonBounds::with_bytes(1 << 20));
            Box::pin(async move { text.map_err(|error| CallError::new(error.to_string())) })
        }
    }
    for junk in [
        r#"{"$belljar":{"bytes":"!!!!","type":"Uint8Array"}}"#,
        r#"{"$belljar":{"bytes":"AA","type":"Uint8Array"}}"#,
        r#"{"$belljar":{"bytes":"AA==","type":"Uint16Array"}}"#,
        r#"{"$belljar":{"bytes":"AA==","type":"Array"}}"#,
        r#"{"$belljar":{"bytes":1,"type":2}}"#,
        r#"[{"$belljar":null}]"#,
        r#"{"$belljar":{"object":{"a":1}}}"#,
        r#"{"\u0024belljar":7}"#,
    ] {
        for engine in super::engines().await {
            let run = engine.run("try { await host.give() } catch (e) { return [e.name, e.message] }");
            let outcome = run.tools(Arc::new(Raw(junk))).await;
            let value = outcome.result.unwrap_or_else(|error| panic!("{junk}: {error:#?}")).to_value().unwrap();
            assert_eq!(value[0], json!("TypeError"), "{junk}: {value}");
            assert!(value[1].as_str().is_some_and(|text| text.contains("host.give")), "{value}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_cross_is_an_error_at_its_call() {
    for (script, says) in [
        ("await host.take({ get a() { throw new RangeError('mine') } })", "mine"),
        ("await host.take(1n)", "BigInt"),
        ("const a = []; a.push(a); await host.take(a)", "cyclic"),
        ("let a = []; for (let i = 0; i < 200; i++) a = [a]; await host.take(a)", "deeper"),
        ("await host.take(host.take(1))", "promise"),
    ] {
        let error = error(script, host(Vec::new())).await;
        assert_eq!(error.kind, ErrorKind::Exception, "{script}");
        assert!(error.message.contains(says), "{script}: {}", error.message);
    }
}
