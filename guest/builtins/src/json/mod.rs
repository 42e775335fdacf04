//! `JSON.parse` without a compiler, and `JSON.stringify` without a look at what shapes tell.

use boa_engine::{
    Context, JsArgs as _, JsError, JsNativeError, JsObject, JsResult, JsString, JsValue, JsVariant, NativeFunction,
    js_string, object::builtins::JsFunction,
};
use boa_gc::{Finalize, Trace};

use belljar_guest_engine::{
    originals::{enumerable_keys, is_array_or_revoked},
    place,
};
use belljar_guest_values::{
    decode::{self, Record},
    encode,
};

use super::replace;

mod noted;

pub use noted::{refused_text, report_rounded};

/// The longest indentation.
const MAX_GAP: usize = 10;
/// How deep a value may nest that a reviver goes through: the code for that calls itself.
const MAX_DEPTH_TO_REVIVE: usize = 200;

/// The engine's own `Reflect.deleteProperty`, which is no error where a property stays.
#[derive(Trace, Finalize)]
struct Delete(JsFunction);

/// Puts the functions in the places of the engine's.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let json = context.global_object().get(js_string!("JSON"), context)?;
    let missing = || JsNativeError::typ().with_message("a built-in is missing");
    let json = json.as_object().ok_or_else(missing)?;
    let reflect = context.global_object().get(js_string!("Reflect"), context)?;
    let reflect = reflect.as_object().ok_or_else(missing)?;
    let delete = reflect.get(js_string!("deleteProperty"), context)?.as_function().ok_or_else(missing)?;
    let native = NativeFunction::from_copy_closure_with_captures(parse, Delete(delete));
    replace(&json, "parse", 2, native, context)?;
    replace(&json, "stringify", 3, NativeFunction::from_fn_ptr(stringify), context)
}

fn parse(_: &JsValue, arguments: &[JsValue], delete: &Delete, context: &mut Context) -> JsResult<JsValue> {
    let text = arguments.get_or_undefined(0).to_string(context)?;
    place::before_long_work(context);
    let Some(reviver) = arguments.get_or_undefined(1).as_callable() else {
        let decoded = decode::parse(&text, context).inspect_err(|_| noted::not_json(&text))?;
        if decoded.large.count > 0 {
            noted::rounded(&decoded.large, context);
        }
        return Ok(decoded.value);
    };
    let parsed = decode::parse_with_record(&text, MAX_DEPTH_TO_REVIVE, context).inspect_err(|_| noted::not_json(&text));
    let (value, record) = match parsed? {
        Ok(parsed) => parsed,
        Err(depth) => return Err(too_deep(&format!("the JSON text nests {depth} levels deep"))),
    };
    let holder = JsObject::with_object_proto(context.intrinsics());
    holder.create_data_property_or_throw(js_string!(""), value, context)?;
    Revival { reviver, delete }.revive(&holder, js_string!(""), Some(&record), 0, context)
}

struct Revival<'a> {
    reviver: JsObject,
    delete: &'a Delete,
}

impl Revival<'_> {
    /// Gives a value to the reviver, what it holds first. Of what is still as the text had it, the
    /// reviver learns the source.
    fn revive(
        &self,
        holder: &JsObject,
        key: JsString,
        record: Option<&Record>,
        depth: usize,
        context: &mut Context,
    ) -> JsResult<JsValue> {
        let value = holder.get(key.clone(), context)?;
        let record = record.filter(|record| record.is_of(&value));
        let told = JsObject::with_object_proto(context.intrinsics());
        if let Some(object) = value.as_object() {
            // A reviver can put more into what it is given than the text held.
            if depth > MAX_DEPTH_TO_REVIVE {
                return Err(too_deep("what the reviver makes nests deeper still"));
            }
            if is_array_or_revoked(&object, context)? {
                let length = object.get(js_string!("length"), context)?.to_length(context)?;
                for index in 0..length {
                    let record = record.and_then(|record| record.element(index));
                    self.revive_member(&object, JsString::from(index.to_string()), record, depth, context)?;
                }
            } else {
                for key in enumerable_keys(&object, context)? {
                    let record = record.and_then(|record| record.member(&key.clone().into()));
                    self.revive_member(&object, key, record, depth, context)?;
                }
            }
        } else if let Some(source) = record.and_then(Record::source) {
            told.create_data_property_or_throw(js_string!("source"), source.clone(), context)?;
        }
        self.reviver.call(&holder.clone().into(), &[key.into(), value, told.into()], context)
    }

    fn revive_member(
        &self,
        object: &JsObject,
        key: JsString,
        record: Option<&Record>,
        depth: usize,
        context: &mut Context,
    ) -> JsResult<()> {
        let revived = self.revive(object, key.clone(), record, depth + 1, context)?;
        if revived.is_undefined() {
            self.delete.0.call(&JsValue::undefined(), &[object.clone().into(), key.into()], context)?;
        } else {
            object.create_data_property(key, revived, context)?;
        }
        Ok(())
    }
}

fn too_deep(what: &str) -> JsError {
    let message = format!("{what}; with a reviver it may be {MAX_DEPTH_TO_REVIVE} levels: parse it without one");
    JsNativeError::range().with_message(message).into()
}

fn stringify(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let replacer = replacer(arguments.get_or_undefined(1), context)?;
    let gap = gap(arguments.get_or_undefined(2), context)?;
    place::before_long_work(context);
    let text = encode::text(arguments.get_or_undefined(0), replacer, gap, context)?;
    Ok(text.map_or_else(JsValue::undefined, JsValue::from))
}

fn replacer(value: &JsValue, context: &mut Context) -> JsResult<encode::Replacer> {
    let Some(object) = value.as_object() else { return Ok(encode::Replacer::None) };
    if object.is_callable() {
        return Ok(encode::Replacer::Function(object));
    }
    if !is_array_or_revoked(&object, context)? {
        return Ok(encode::Replacer::None);
    }
    let length = object.get(js_string!("length"), context)?.to_length(context)?;
    let mut keys: Vec<JsString> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for index in 0..length {
        let element = object.get(index, context)?;
        let key = match element.variant() {
            JsVariant::String(text) => text.clone(),
            JsVariant::Integer32(_) | JsVariant::Float64(_) => element.to_string(context)?,
            JsVariant::Object(object) if object.is::<f64>() || object.is::<JsString>() => element.to_string(context)?,
            _ => continue,
        };
        if known.insert(key.clone()) {
            keys.push(key);
        }
    }
    Ok(encode::Replacer::Keys(keys.into()))
}

fn gap(value: &JsValue, context: &mut Context) -> JsResult<String> {
    let boxed = value.as_object();
    let value = match &boxed {
        Some(object) if object.is::<f64>() => JsValue::from(value.to_number(context)?),
        Some(object) if object.is::<JsString>() => value.to_string(context)?.into(),
        _ => value.clone(),
    };
    if let Some(text) = value.as_string() {
        let end = text.len().min(MAX_GAP);
        return Ok(text.slice(0, end).to_std_string_lossy());
    }
    match value.as_number() {
        Some(number) => {
            let width = if number >= MAX_GAP as f64 {
                MAX_GAP
            } else {
                (0..MAX_GAP).rfind(|&width| width as f64 <= number).unwrap_or(0)
            };
            Ok(" ".repeat(width))
        }
        None => Ok(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use belljar_guest_testing::{evaluate, ours, same_as_node, same_as_stock};

    #[test]
    fn parses_as_node_does() {
        let texts = [
            "1",
            "-0",
            "0.5",
            "-1.25e3",
            "1E+2",
            "123456789",
            "1234567890",
            "2147483648",
            "-2147483648",
            "9007199254740993",
            "123456789012345678901234567890",
            "0.1",
            "5e-324",
            "true",
            "false",
            "null",
            "[]",
            "{}",
            " [ 1 , 2 ] ",
            r#"{"a":{"b":[1,{"c":null}]},"d":[]}"#,
            r#"{"a":1,"b":2,"a":3}"#,
            r#"{"1":1,"0":0,"b":2,"a":3}"#,
            r#""\u00e9\n\t\"\\\/\b\f\r""#,
            "\"h\u{e9}llo \u{20ac} \u{1f600}\"",
            r#"{"__proto__":1}"#,
            r#"{"":{"":0}}"#,
            r#"{"4294967295":1,"4294967294":2}"#,
            "",
            " ",
            "01",
            "-",
            "+1",
            ".5",
            "1.",
            "1e",
            "tru",
            "nulll",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[,]",
            "{",
            "{a:1}",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,}",
            "\"",
            "\"\n\"",
            r#""\x""#,
            r#""\u12""#,
            r#""\u12G4""#,
            "1 2",
            "[1]]",
            "{}}",
            "'a'",
            "\u{a0}1",
            "\u{feff}1",
            "[1 2]",
            "{\"a\" 1}",
            "undefined",
            "NaN",
            "Infinity",
        ];
        let scripts: Vec<String> = texts
            .iter()
            .map(|text| {
                let literal = literal_of(text);
                format!("const show = (v) => Object.is(v, -0) ? '-0' : typeof v + JSON.stringify(v) + (v && Object.keys(v)); show(JSON.parse({literal}))")
            })
            .map(|script| format!("{{ {script} }}"))
            .collect();
        same_as_node(&scripts.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// A text as a literal of JavaScript.
    fn literal_of(text: &str) -> String {
        let units: Vec<String> = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        format!("'{}'", units.concat())
    }

    #[test]
    fn writes_as_node_does() {
        same_as_node(&[
            "JSON.stringify({ a: [1, 'x', null, undefined, () => 1, Symbol()], b: undefined, c: { d: -0, e: NaN, f: 1e21, g: 0.1 } })",
            "JSON.stringify({ a: { b: [1, {}], c: [] } }, null, 2)",
            "JSON.stringify([[], {}, [[]]], null, '--')",
            "JSON.stringify({ b: 1, a: { b: 2, c: 3 }, c: [{ a: 1, d: 2 }] }, ['a', 'b', 'a', 1])",
            "JSON.stringify({ a: 1, b: [1, 2] }, function (k, v) { return k === 'a' ? this.b.length : v })",
            "JSON.stringify({ a: 1, toJSON() { return { seen: arguments[0] } } })",
            "JSON.stringify({ x: { toJSON(k) { return k + '!' } }, y: [{ toJSON(k) { return k } }] })",
            "Object.defineProperty(BigInt.prototype, 'toJSON', { get() { 'use strict'; return (key) => typeof this + key }, configurable: true }); const big = JSON.stringify([1n, { x: 2n }]); delete BigInt.prototype.toJSON; big",
            "JSON.stringify(new Date(0))",
            "JSON.stringify([new Number(1), new String('s'), new Boolean(false), Object(Symbol())])",
            "JSON.stringify('\\ud800 \\ud83d\\ude00 \\u2028 \\x7f \\x01 é € \\b\\f\\n\\r\\t\\\\\"')",
            "JSON.stringify({ get a() { return 1 }, [Symbol()]: 1, 2: 'two', 1: 'one' })",
            "JSON.stringify(Object.defineProperty({ b: 1 }, 'a', { value: 1, enumerable: false }))",
            "JSON.stringify([1, , 3])",
            "JSON.stringify(new Proxy([1, 2], {})) + JSON.stringify(new Proxy({ a: 1 }, {}))",
            "JSON.stringify(new Map([[1, 2]])) + JSON.stringify(new Set([1])) + JSON.stringify(new Error('x')) + JSON.stringify(/x/)",
            "JSON.stringify(undefined) + String(JSON.stringify(() => 1))",
            "JSON.parse('0', () => { throw 1 })",
            "JSON.stringify({ a: 1n })",
            "const o = {}; o.o = o; JSON.stringify(o)",
            "const twice = { a: 1 }; JSON.stringify([twice, twice])",
            "JSON.stringify({ a: 1 }, null, 20) + JSON.stringify({ a: 1 }, null, -1) + JSON.stringify({ a: 1 }, null, 2.9) + JSON.stringify({ a: 1 }, null, new String('abcdefghijklmn'))",
            "Object.prototype.toJSON = function () { return 'all' }; const all = JSON.stringify([{ a: 1 }, [2]]); delete Object.prototype.toJSON; all",
            "Array.prototype.toJSON = function () { return 'list' }; const list = JSON.stringify({ a: [2] }); delete Array.prototype.toJSON; list",
            "const o2 = { get a() { Object.prototype.toJSON = () => 'late'; return 1 }, b: {} }; const late = JSON.stringify(o2); delete Object.prototype.toJSON; late",
            "const o3 = { get a() { delete this.b; return 1 }, b: 2, c: 3 }; JSON.stringify(o3)",
            "class P { constructor() { this.x = 1 } get y() { return 2 } } JSON.stringify([new P(), new P()])",
            "JSON.stringify(Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }))",
            "JSON.stringify(Object.assign([1, 2], { extra: 1 }))",
            "JSON.stringify(function () {}, null, 1)",
            "JSON.stringify(new Uint8Array([1, 2]))",
            "(function () { return JSON.stringify(arguments) })(1, 'b')",
            "JSON.stringify(Object('abc').toString().split(''))",
            "JSON.stringify({ __proto__: null, a: 1 })",
            "JSON.stringify({ ['__proto__']: 1 })",
        ]);
    }

    #[test]
    fn what_node_20_has_not_is_done_as_the_engine_does_it() {
        same_as_stock(&[
            "const seen = []; JSON.parse('{\"a\": 1.50, \"b\": [true, \"\\u0041é\", {\"a\": null}], \"b2\": {}, \"a\": -0}', function (k, v, c) { seen.push([k, Object.keys(c), c.source]); if (k === 'b') this.b2 = 7; return v }); JSON.stringify(seen)",
            "let whole; JSON.parse(' 12.50 ', (k, v, { source }) => { whole = source; return v }) + whole",
            "const twice = []; JSON.parse('{\"a\":[1,{\"b\":2}],\"a\":3,\"c\":{\"d\":1},\"c\":\"x\",\"e\":5,\"e\":[6]}', (k, v, { source }) => { twice.push(k, source); return v }); String(twice)",
            "const large = []; JSON.parse('[12345678901234567890, \"€\", 1]', function (k, v, { source }) { large.push(source); if (k === '0') this[2] = 2; return v }); String(large)",
            "JSON.stringify([JSON.rawJSON('1e1000'), { a: JSON.rawJSON('\"x\"') }])",
        ]);
    }

    #[test]
    fn a_lone_surrogate_an_infinite_number_and_a_deep_text_are_parsed() {
        let mut context = ours();
        assert_eq!(evaluate(r#"JSON.parse('"\\ud800"').charCodeAt(0)"#, &mut context), "55296");
        assert_eq!(evaluate("JSON.parse('\"\\ud800\"').charCodeAt(0)", &mut context), "55296");
        assert_eq!(evaluate("JSON.parse('1e400')", &mut context), "Infinity");
        let deep = "let v = JSON.parse('['.repeat(100000) + ']'.repeat(100000)), n = 0; while (v) { v = v[0]; n++ } n";
        assert_eq!(evaluate(deep, &mut context), "100000");
        assert_eq!(
            evaluate("JSON.stringify(JSON.parse('['.repeat(4000) + ']'.repeat(4000))).length", &mut context),
            "8000"
        );
        let cycle = "try { const a = { b: [0] }; a.b.push({ c: a }); JSON.stringify(a) } catch (e) { e.message }";
        assert_eq!(
            evaluate(cycle, &mut context),
            "the value cannot be JSON: $.b[1].c is cyclic: it refers back to an object that holds it"
        );
    }
}
