//! What is fuzzed here, with what must hold: `fuzz/` feeds it, and the tests below replay what was
//! found.
//!
//! The references are serde_json for what crosses the glass, and the engine's own built-ins for
//! ours.

use std::{cell::RefCell, mem::ManuallyDrop};

use boa_engine::{Context, JsString, Script, Source};
use oxc::{allocator::Allocator, parser::Parser, span::SourceType};
use serde_json::Value;

use belljar_guest_source::{self as source, Position};
use belljar_guest_values::{decode, encode};

use crate::{evaluate, stock, whole};

/// What ends a part of a target's input.
const PART: &str = "\n----\n";
/// Runs after which a context is made anew: what it interns it keeps.
const RUNS_OF_A_CONTEXT: u32 = 20_000;

/// Two contexts to compare, and how often they were used.
struct Pair {
    ours: Context,
    stock: Context,
    uses: u32,
}

thread_local! {
    /// Never dropped with its thread: the engine's collector may be gone before it.
    static PAIR: RefCell<Option<ManuallyDrop<Pair>>> = const { RefCell::new(None) };
}

fn with_contexts<T>(use_them: impl FnOnce(&mut Context, &mut Context) -> T) -> T {
    PAIR.with_borrow_mut(|pair| {
        if let Some(worn) = pair.take_if(|pair| pair.uses >= RUNS_OF_A_CONTEXT) {
            drop(ManuallyDrop::into_inner(worn));
        }
        let pair = pair.get_or_insert_with(|| ManuallyDrop::new(Pair { ours: whole(), stock: stock(), uses: 0 }));
        pair.uses += 1;
        let Pair { ours, stock, .. } = &mut **pair;
        use_them(ours, stock)
    })
}

/// Any bytes as a script: translated, parsed, and asked for hints about an error, at any place.
pub fn script_source(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let ends = text.replace("\r\n", "\n").matches(['\n', '\r']).count();
    let lines = u32::try_from(ends + 1).unwrap_or(u32::MAX);
    let within = |position: Position| {
        assert!((1..=lines).contains(&position.line) && position.column >= 1, "{position:?} of {lines} lines");
    };
    let translated = match source::translate(text, &source::Globals::NONE) {
        Ok(translated) => translated,
        Err(fault) => {
            assert!(!fault.message.is_empty());
            return fault.position.into_iter().for_each(within);
        }
    };
    translated.origin.keep();
    let parsed = with_contexts(|ours, _| {
        let parsed = Script::parse(Source::from_bytes(&translated.code), None, ours);
        parsed.map(|_| ()).map_err(|error| error.to_string())
    });
    if let Err(message) = parsed {
        source::fault_of_engine(&message).position.into_iter().for_each(within);
    }
    let (mut line, mut column) = (0, 0);
    for byte in translated.code.bytes().take(400) {
        (line, column) = if byte == b'\n' { (line + 1, 0) } else { (line, column + 1) };
        source::original(line, column).into_iter().for_each(within);
    }
    for place in [None, source::original(2, 1), source::original(3, 5), source::original(lines, 9)] {
        let servers = source::declared_names();
        let _ = (source::hint_for_parsing(place, None, &servers), source::hint_for_promise(place, &servers));
    }
    source::thrown_value().into_iter().for_each(within);
}

/// Any text as JSON from the host, and as the argument of `JSON.parse`: what serde_json takes is
/// taken, with the same values.
pub fn json_decode(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let reference = serde_json::from_str::<Value>(text);
    with_contexts(|ours, _| {
        let parsed = decode::parse(&JsString::from(text), ours);
        let decoded = decode::decode(text, ours);
        assert_eq!(parsed.is_ok(), decoded.is_ok(), "JSON.parse and the glass differ");
        let (parsed, decoded) = match (parsed, decoded, &reference) {
            (Ok(parsed), Ok(decoded), _) => (parsed, decoded),
            (_, _, Err(_)) => return,
            (_, _, Ok(_)) => panic!("serde_json takes it, and we do not"),
        };
        let written = match encode::output(&decoded.value, u32::MAX, false, ours) {
            Ok((written, _)) => written,
            Err(_) => return,
        };
        let again = serde_json::from_str::<Value>(&written).expect("what leaves the jar is JSON");
        let Err(fault) = &reference else {
            assert!(reference.as_ref().is_ok_and(|read| agrees(&again, read)), "{written}");
            let written = encode::text(&parsed.value, encode::Replacer::None, String::new(), ours);
            let written = written.expect("it was parsed").expect("a value").to_std_string_escaped();
            let again = serde_json::from_str::<Value>(&written);
            assert!(again.is_ok(), "{written}");
            return;
        };
        // Of what is JSON, serde_json refuses half a surrogate pair, a number that is no double,
        // and depth.
        let fault = fault.to_string();
        let is_known = ["surrogate", "number out of range", "recursion limit", "hex escape"];
        assert!(is_known.iter().any(|known| fault.contains(known)), "serde_json refuses it: {fault}");
    });
}

/// Whether the jar says what serde_json read: large integers as strings of their digits, and other
/// numbers as doubles.
fn agrees(jar: &Value, read: &Value) -> bool {
    const LARGEST_SAFE: f64 = 9_007_199_254_740_991.0;
    match (jar, read) {
        (Value::String(digits), Value::Number(number)) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            number.abs() > LARGEST_SAFE && digits.parse() == Ok(number)
        }
        (Value::Number(jar), Value::Number(read)) => jar.as_f64() == read.as_f64(),
        (Value::Array(jar), Value::Array(read)) => {
            jar.len() == read.len() && jar.iter().zip(read).all(|(jar, read)| agrees(jar, read))
        }
        (Value::Object(jar), Value::Object(read)) => {
            jar.len() == read.len() && jar.iter().all(|(key, jar)| read.get(key).is_some_and(|read| agrees(jar, read)))
        }
        (jar, read) => jar == read,
    }
}

/// Any value as JSON: as the engine's own `JSON.stringify` has it, and, where it leaves the jar, as
/// JSON at all.
pub fn json_encode(data: &[u8]) {
    let mut seeds = Seeds(data);
    let value = seeds.value(0);
    // Half a surrogate pair is left out: the engine writes its name in the place of it.
    let indentation = ["undefined", "2", "'--'", "'\\t'"][usize::from(seeds.next()) % 4];
    let replacer = ["undefined", "['a', 'b', 1]", "(k, v) => v === 1 ? undefined : v", "null"];
    let replacer = replacer[usize::from(seeds.next()) % 4];
    let script = format!("JSON.stringify({value}, {replacer}, {indentation})");
    // An array of two thousand million elements takes its time in any engine.
    if script.contains("length") && script.contains("2147483648") {
        return;
    }
    with_contexts(|ours, stock| {
        assert_eq!(evaluate(&script, ours), evaluate(&script, stock), "{script}");
        let Ok(value) = ours.eval(Source::from_bytes(&format!("({value})"))) else { return };
        if let Ok((written, _)) = encode::output(&value, 100_000, false, ours) {
            assert!(serde_json::from_str::<Value>(&written).is_ok(), "{written}");
        }
        let _ = belljar_guest_values::inspect::format(&[value], ours);
    });
}

/// Methods of strings and arrays that are ours, over any subject, pattern and replacement: as the
/// engine's own.
pub fn builtins(data: &[u8]) {
    const MAX_CHARACTERS: usize = 24;
    const MAX_PATTERN: usize = 12;
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut parts = text.split(PART);
    let mut part = |longest: usize| parts.next().unwrap_or_default().chars().take(longest).collect::<String>();
    let (subject, pattern, replacement) = (part(MAX_CHARACTERS), part(MAX_PATTERN), part(MAX_CHARACTERS));
    let (flags, choice) = (part(8), part(3));
    // The engine takes all that follows an unclosed `$<` as it is; see the tests of `regexp` of
    // `builtins`.
    if replacement.rsplit_once("$<").is_some_and(|(_, rest)| !rest.contains('>')) {
        return;
    }
    let quoted = |text: &str| Value::from(text).to_string();
    let (s, p, r, f) = (quoted(&subject), quoted(&pattern), quoted(&replacement), quoted(&flags));
    let number: i32 = choice.parse().unwrap_or(1);
    let script = format!(
        "(() => {{ const s = {s}, p = {p}, r = {r}; const out = []; \
         const of = (f) => {{ try {{ const v = f(); out.push(v instanceof RegExp ? v.source : v); }} catch (e) {{ out.push(e.name); }} }}; \
         of(() => s.split(p)); of(() => s.split(p, {number})); of(() => s.replace(p, r)); of(() => s.replaceAll(p, r)); \
         of(() => [s.indexOf(p), s.lastIndexOf(p), s.includes(p, {number}), s.startsWith(p, {number}), s.endsWith(p, {number})]); \
         of(() => [s.slice({number}), s.substring({number}, 3), s.at({number}), s.padStart({number}, p), s.trim()]); \
         of(() => [s.toUpperCase(), s.toLowerCase(), s.codePointAt({number}), s.charCodeAt({number}), s.concat(p, r)]); \
         of(() => s.repeat({number} & 7)); of(() => [...s].sort()); of(() => s.split('').sort((a, b) => a < b ? {number} : 1).length); \
         of(() => {{ const e = new RegExp(p, {f}); of(() => s.replace(e, r)); of(() => s.split(e)); of(() => s.match(e)); of(() => s.search(e)); \
         of(() => s.replace(e, (...a) => JSON.stringify(a))); of(() => e.exec(s)); of(() => e.lastIndex); of(() => e.test(s)); \
         of(() => [...s.matchAll(e)].map(m => [...m, m.index, m.groups])); e.lastIndex = {number}; of(() => e.exec(s)); \
         of(() => s.replaceAll(e, r)); of(() => e.lastIndex); return e; }}); \
         return JSON.stringify(out); }})()"
    );
    with_contexts(|ours, stock| assert_eq!(evaluate(&script, ours), evaluate(&script, stock), "{script}"));
}

/// A text is TypeScript that a compiler can read.
pub fn is_typescript(text: &str) {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::ts().with_module(true)).parse();
    let fault = parsed.diagnostics.errors().next().map(|error| error.to_string());
    assert_eq!(fault, None, "{text}");
}

/// Bytes as decisions.
struct Seeds<'data>(&'data [u8]);

impl Seeds<'_> {
    /// The next byte; zero where there are no more.
    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// An expression, of no more than some levels.
    fn value(&mut self, depth: usize) -> String {
        const LEAVES: [&str; 34] = [
            "null",
            "undefined",
            "true",
            "0",
            "-0",
            "1",
            "-1.5",
            "1e21",
            "1e-7",
            "NaN",
            "-Infinity",
            "2147483648",
            "'a'",
            "''",
            "'\\n\\u0007\\u2028\"\\\\'",
            "'\\ud83d\\ude00'",
            "'x\\ud800'",
            "'\\udc00y'",
            "'\\xe9'",
            "Symbol('s')",
            "1n",
            "new Date(0)",
            "new Date(NaN)",
            "/x/g",
            "() => 1",
            "new Map([['a', 1]])",
            "new Set([1, 'b'])",
            "Object('s')",
            "Object(2)",
            "Object(false)",
            "new Error('m')",
            "new Uint8Array([1, 2])",
            "Object(1n)",
            "[,1]",
        ];
        const KEYS: [&str; 10] = ["a", "b", "1", "0", "'é'", "'\\ud800'", "['__proto__']", "'x y'", "length", "'\"'"];
        let kind = self.next();
        if depth > 4 || kind < 128 {
            return LEAVES[usize::from(kind) % LEAVES.len()].to_owned();
        }
        let count = usize::from(self.next() % 5);
        let members = |seeds: &mut Self| -> String {
            let member = |seeds: &mut Self| {
                let key = KEYS[usize::from(seeds.next()) % KEYS.len()];
                let value = seeds.value(depth + 1);
                match seeds.next() % 8 {
                    0 => format!("get {key}() {{ return {value}; }}"),
                    1 => format!("[Symbol.iterator]: {value}"),
                    _ => format!("{key}: {value}"),
                }
            };
            (0..count).map(|_| member(seeds)).collect::<Vec<_>>().join(", ")
        };
        match kind % 8 {
            0..=2 => format!("{{ {} }}", members(self)).replacen('{', "({", 1) + ")",
            3 => {
                let elements: Vec<_> = (0..count).map(|_| self.value(depth + 1)).collect();
                format!("[{}]", elements.join(", "))
            }
            4 => format!("({{ {}, toJSON(k) {{ return {}; }} }})", members(self), self.value(depth + 1))
                .replace("{ , ", "{ "),
            5 => format!("Object.create({{ {} }})", members(self)),
            6 => format!("new Proxy({{ {} }}, {{}})", members(self)),
            _ => format!("Object.assign([{}], {{ {} }})", self.value(depth + 1), members(self)),
        }
    }
}

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::*;

    /// What nests deeply wants the stack that the guest has, and more of it where nothing is
    /// optimised.
    fn replay(name: &'static str, target: fn(&[u8])) {
        const STACK_BYTES: usize = 512 << 20;
        let run = move || replay::replay(name, target);
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run).expect("a thread");
        thread.join().expect("the replay says what is wrong");
    }

    #[test]
    fn what_was_fuzzed_of_script_source_holds_still() {
        replay("script_source", script_source);
    }

    #[test]
    fn what_was_fuzzed_of_json_decode_holds_still() {
        replay("json_decode", json_decode);
    }

    #[test]
    fn what_was_fuzzed_of_json_encode_holds_still() {
        replay("json_encode", json_encode);
    }

    #[test]
    fn what_was_fuzzed_of_builtins_holds_still() {
        replay("builtins", builtins);
    }
}
