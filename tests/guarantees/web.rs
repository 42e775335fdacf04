//! Everything that web runtimes have besides the language is there, with the host's clock and the
//! run's own randomness.

use std::sync::Arc;

use belljar_model::ErrorKind;
use serde_json::{Value, json};

use crate::support::{error_of, run, sandbox, tools, value};

const RANDOM: &str =
    "const bytes = crypto.getRandomValues(new Uint8Array(16)); return [crypto.randomUUID(), [...bytes], Math.random()]";

#[tokio::test]
pub(crate) async fn randomness_differs_from_run_to_run_and_repeats_with_the_seed() {
    assert_ne!(value(RANDOM).await, value(RANDOM).await);
    let seeded = async |seed: u8| {
        let program = belljar_sandbox::Program::new(RANDOM).with_seed([seed; 32]);
        let outcome = sandbox().run(program).tools(Arc::new(tools())).await;
        outcome.result.unwrap().to_value().unwrap()
    };
    assert_eq!(seeded(7).await, seeded(7).await);
    assert_ne!(seeded(7).await, seeded(8).await);
}

#[tokio::test]
async fn time_is_counted_from_the_start_of_the_run() {
    let times = value("const a = performance.now(); await box.wait({ ms: 30 }); return [a, performance.now()]").await;
    let time = |index: usize| times[index].as_f64().unwrap();
    assert!((0.0..5000.0).contains(&time(0)), "{times}");
    assert!(time(1) - time(0) >= 29.0, "{times}");
}

#[tokio::test]
async fn temporal_reads_the_host_s_clock_in_utc() {
    let script = "return [Math.abs(Temporal.Now.instant().epochMilliseconds - Date.now()) < 1000, Temporal.Now.timeZoneId(), \
                  Temporal.Now.plainDateISO().toString() === new Date().toISOString().slice(0, 10), \
                  Temporal.PlainDate.from('2024-01-31').add({ months: 1 }).toString()]";
    assert_eq!(value(script).await, json!([true, "UTC", true, "2024-02-29"]));
}

#[tokio::test]
async fn a_signal_is_aborted_when_its_time_has_come() {
    let script = "const signal = AbortSignal.timeout(5); const before = signal.aborted; \
                  await new Promise(resolve => signal.addEventListener('abort', resolve)); return [before, signal.aborted, signal.reason.name]";
    assert_eq!(value(script).await, json!([false, true, "TimeoutError"]));
    let outcome = run(
        "const c = new AbortController(); c.signal.onabort = () => { throw new Error('mine') }; c.abort(); return 1",
    )
    .await;
    assert!(outcome.is_ok());
    assert!(outcome.logs[0].text.contains("Error: mine"), "{outcome:#?}");
}

#[tokio::test]
async fn immediates_and_intervals_run_in_their_turn() {
    let script = "const seen = []; setImmediate(x => seen.push(x), 'immediate'); queueMicrotask(() => seen.push('micro')); \
                  clearImmediate(setImmediate(() => seen.push('never'))); seen.push('now'); \
                  await new Promise(done => { let n = 0; const id = setInterval(() => { seen.push(n); if (++n === 2) { clearInterval(id); done() } }, 1) }); return seen";
    assert_eq!(value(script).await, json!(["now", "micro", "immediate", 0, 1]));
}

#[tokio::test]
async fn a_clone_of_any_depth_is_made_and_what_cannot_be_cloned_is_named() {
    let deep = "let deep = {}; let at = deep; for (let i = 0; i < 100000; i++) at = at.a = {}; let copy = structuredClone(deep); \
                let depth = 0; while (copy.a) { copy = copy.a; depth++ } return depth";
    assert_eq!(value(deep).await, json!(100_000));
    for (script, place) in [
        ("structuredClone({ items: [1, { 'on click': () => 1 }] })", "$.items[1]['on click']"),
        ("structuredClone(new Map([['k', { s: Symbol('s') }]]))", "$.<value of the Map>.s"),
        ("structuredClone({ a: box })", "$.a"),
        ("structuredClone(Promise.resolve())", "at $"),
    ] {
        let error = error_of(ErrorKind::Exception, script).await;
        assert!(error.message.starts_with("DataCloneError: structuredClone cannot copy"), "{error:#?}");
        assert!(error.message.ends_with(place), "{error:#?}");
        assert_eq!(error.line, Some(1), "{error:#?}");
    }
}

#[tokio::test]
async fn a_class_of_errors_may_call_capture_stack_trace_as_in_v8() {
    let source = "class Refused extends Error {
    constructor(message) { super(message); this.name = 'Refused'; Error.captureStackTrace(this, Refused); }
}
const plain = { name: 'Plain', message: 'no error' };
Error.captureStackTrace(plain);
const first = (stack) => stack.split('\\n')[0];
return [first(new Refused('why').stack), first(plain.stack), plain.stack.includes('script:5:'), Object.keys(plain)];";
    assert_eq!(value(source).await, json!(["Refused: why", "Plain: no error", true, ["name", "message"]]));
}

#[tokio::test]
async fn mistakes_with_them_say_what_to_do() {
    for (script, wanted) in [
        ("new URL('/path')", "new URL('/path', 'https://example.com')"),
        ("btoa('日本')", "TextEncoder"),
        ("new TextDecoder('shift_jis')", "utf-16le"),
        ("crypto.getRandomValues([1, 2])", "new Uint8Array(16)"),
        ("new AbortSignal()", "new AbortController().signal"),
        ("new URLSearchParams([['a']])", "[['name', 'value']]"),
        ("URL.prototype.toString.call({})", "this is no URL"),
    ] {
        let error = error_of(ErrorKind::Exception, script).await;
        assert!(error.message.contains(wanted), "{error:#?}");
    }
}

#[tokio::test]
async fn no_argument_makes_them_trap() {
    let odd = "[undefined, null, 0, -1, 1e308, NaN, '', 'x', 1n, Symbol('s'), {}, [], () => 1, new Proxy({}, {}), new Uint8Array(3), \
               new ArrayBuffer(2), { length: 2 ** 53 }, { get length() { throw 1 } }, new Date(NaN), Object.create(null), box]";
    let script = format!(
        "const odd = {odd}; const tried = []; \
         const call = (f, ...a) => {{ try {{ f(...a) }} catch (e) {{ tried.push(e?.name) }} }}; \
         for (const a of odd) for (const b of odd) {{ \
           for (const f of [structuredClone, btoa, atob, URL.canParse, URL.parse, AbortSignal.abort, console.table, console.dir]) call(f, a, b); \
           for (const C of [URL, URLSearchParams, TextDecoder, TextEncoder, AbortController, DOMException]) call(() => new C(a, b)); \
           for (const o of [new URL('https://a.b/?c=1'), new URLSearchParams('a=1'), new TextDecoder(), new TextEncoder(), crypto, new AbortController().signal]) \
             for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(o)).concat(Object.getOwnPropertyNames(o)).filter(n => n !== '__proto__')) {{ \
               call(() => o[name] = a); call(() => o[name](a, b)); call(() => Reflect.get(Object.getPrototypeOf(o), name, a)) }} \
           for (const name of Object.getOwnPropertyNames(Intl)) call(() => {{ \
             const made = new Intl[name](a, b); \
             for (const method of ['format', 'formatToParts', 'formatRange', 'select', 'compare', 'segment', 'resolvedOptions']) \
               call(() => made[method](a, b)) }}); \
           for (const value of [1.5, 10n, new Date(0), 'text']) {{ call(() => value.toLocaleString(a, b)); call(() => value.localeCompare(a, b, a)) }} \
         }} \
         return tried.length > 100"
    );
    assert_eq!(value(&script).await, Value::Bool(true));
}
