//! Loops and patterns do what they did before their translation. Translated scripts run with
//! belljar's built-ins, the others in the engine as its authors released it.

use boa_engine::{Context, JsValue, Source, builtins::promise::PromiseState, object::builtins::JsPromise};

use crate::{stock, whole};

/// What the promise of a script becomes.
fn settled(promise: &JsValue, context: &mut Context) -> String {
    let promise = JsPromise::from_object(promise.as_object().expect("a promise")).expect("a promise");
    context.run_jobs().expect("nothing is thrown later");
    match promise.state() {
        PromiseState::Pending => "is never settled".to_owned(),
        PromiseState::Fulfilled(value) => value.to_string(context).expect("a text").to_std_string_lossy(),
        PromiseState::Rejected(reason) => {
            let reason = reason.as_object().expect("an error").get(boa_engine::js_string!("name"), context);
            format!("throws {}", reason.expect("a name").display())
        }
    }
}

fn translated(script: &str, context: &mut Context) -> String {
    let translated = belljar_guest_source::translate(script, &belljar_guest_source::Globals::NONE)
        .unwrap_or_else(|fault| panic!("{script}: {}", fault.message));
    let function = context.eval(Source::from_bytes(&translated.code)).expect("the translation is a function");
    let function = function.as_callable().expect("the translation is a function");
    let helpers = translated.has_using.then(belljar_guest_globals::using_helpers);
    let promise = function.call(&JsValue::undefined(), helpers.as_slice(), context).expect("a promise");
    settled(&promise, context)
}

fn as_it_is(script: &str, context: &mut Context) -> String {
    let source = format!("(async () => {{ {script}\n }})()");
    let promise = context.eval(Source::from_bytes(&source)).expect("a promise");
    settled(&promise, context)
}

/// Asserts that each of these does the same, translated or not.
fn do_what_they_did(scripts: &[impl AsRef<str>]) {
    let (mut ours, mut stock) = (whole(), stock());
    for script in scripts.iter().map(AsRef::as_ref) {
        assert_eq!(translated(script, &mut ours), as_it_is(script, &mut stock), "{script}");
    }
}

const LISTS: [&str; 18] = [
    "[1, 2, 3].map((x) => x * 2)",
    "[].concat([])",
    "[[1, 2], [3, 4]].slice()",
    "[{ id: 1, name: 'a' }, { id: 2 }].slice()",
    "[1, , 3].concat()",
    "'héllo'",
    "new Set([1, 2, 3])",
    "new Map([[1, 'x'], [2, 'y']])",
    "new Map([[1, 'x']]).keys()",
    "(function* () { yield 1; yield 2; yield 3 })()",
    "(function () { return arguments })(1, 2, 3)",
    "new Uint8Array([1, 2, 3])",
    "new (class Mine extends Array {})(5, 6, 7)",
    "new Proxy([1, 2, 3], {})",
    "Object.assign([1, 2], { [Symbol.iterator]: function* () { yield 'own' } })",
    "Object.defineProperty([1, 2, 3], 1, { get() { return 'read' } })",
    "({})",
    "null",
];

const LOOPS: [&str; 22] = [
    "for (const x of list) seen.push(x);",
    "for (let x of list) { x = [x]; seen.push(x[0]); }",
    "for (var x of list) seen.push(x); seen.push(x);",
    "for (const x of list) { if (seen.length > 1) break; seen.push(x); continue; seen.push('never'); }",
    "outer: for (const x of list) { for (const y of [1, 2, 3].map(String)) { if (y === '2') continue outer; seen.push(x, y); } }",
    "for (const x of list) { inner: for (const y of list) { for (const z of [1, 2].slice()) { if (z === 2) continue inner; seen.push(z); } } break; }",
    "const later = []; for (const x of list) later.push(() => x); for (const f of later) seen.push(f());",
    "for (const x of list) { const x = 'shadow'; seen.push(x); }",
    "for (const x of list) { let y = x; function f() { return y } seen.push(f()); }",
    "for (const x of list) { await null; seen.push(x); }",
    "const f = () => { for (const x of list) return [x]; }; seen.push(f());",
    "try { for (const x of list) { seen.push(x); throw new RangeError('stop'); } } catch (e) { seen.push(e.name); }",
    "const g = function* () { for (const x of list) yield x; }; const it = g(); seen.push(it.next().value, it.return(9).value, ...it);",
    "for (const [a, b] of list) seen.push(a, b);",
    "for (let [a, , b, c] of list) { a = b ?? c; seen.push(a, b); }",
    "for (var [a] of list) seen.push(a); seen.push(a);",
    "here: for (const [a, b] of list) { for (const [c] of [[1], [2]].slice()) { if (c > 1) continue here; seen.push(a, b, c); } }",
    "for (const [a = 1, ...b] of list) seen.push(a, b);",
    "for (const x of list) { const [a, b] = x; let [c] = [x]; seen.push(a, b, c); }",
    "const [a, b, , c] = list; seen.push(a, b, c);",
    "var [a] = list, [b, c] = 'xyz', [d, e] = new Map([[1, 2]]); seen.push(a, b, c, d, e);",
    "for (const { id, name = 'none' } of list) seen.push(id, name);",
];

#[test]
fn every_loop_over_every_list_does_what_it_did() {
    let mut scripts = Vec::new();
    for list in LISTS {
        for each in LOOPS {
            scripts.push(format!(
                "const list = {list}, seen = []; {each}\nreturn seen.map((x) => typeof x + (Array.isArray(x) ? x.join('/') : Object(x) === x ? JSON.stringify(x) : String(x))).join();"
            ));
        }
    }
    do_what_they_did(&scripts);
}

#[test]
fn what_happens_to_a_list_in_the_meantime_is_seen() {
    do_what_they_did(&[
        "const list = [1, 2, 3].slice(), seen = []; for (const x of list) { seen.push(x); if (list.length < 6) list.push(x * 10); } return seen.join();",
        "const list = [1, 2, 3].slice(), seen = []; for (const x of list) { seen.push(x); list.shift(); } return seen.join();",
        "const list = [1, 2, 3].slice(), seen = []; for (const x of list) { seen.push(x); list.length = 0; } return seen.join();",
        "const list = [1, 2, 3].slice(), seen = []; for (const x of list) { seen.push(x); delete list[1]; Object.setPrototypeOf(list, { 1: 'inherited' }); } return seen.join();",
        "let closed = 0; const it = { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }), return: () => (closed++, {}) }) }; const [a, b] = it, [c] = it; return [a, b, c, closed].join();",
        "let closed = 0; const it = { [Symbol.iterator]: () => ({ next: () => ({ done: true }), return: () => (closed++, {}) }) }; const [a, b] = it; return [a, b, closed].join();",
        "let steps = 0; const it = { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: steps++ }) }) }; const [, , a, ,] = it; return [a, steps].join();",
        "const it = { [Symbol.iterator]: () => ({ next: () => ({ done: false }), return: () => 5 }) }; const [a] = it; return 'never';",
        "const it = { [Symbol.iterator]: () => ({ next() { throw new RangeError() }, return() { throw 5 } }) }; const [a] = it; return 'never';",
        "Array.prototype[1] = 'inherited'; const [a, b, c] = [1].concat(); delete Array.prototype[1]; return [a, b, c].join();",
        "Array.prototype[1] = 'inherited'; const [a, b, c] = [1, , 3].concat(); delete Array.prototype[1]; return [a, b, c].join();",
        "const list = Object.defineProperty([1, 2, 3], 0, { get() { list.length = 1; return 'read' } }); const [a, b] = list; return [a, b].join();",
        "let list = [1, 2, 3].slice(); const seen = []; for (const x of list) { seen.push(x); list = []; } return seen.join();",
        "const seen = []; for (const x of ((seen.push('once')), [1, 2].slice())) seen.push(x); return seen.join();",
        "const seen = []; try { for (const x of x) seen.push(x); } catch (e) { seen.push(e.name); } return seen.join();",
        "const seen = []; let y = [1]; for (const x of [y].concat([y])) for (const y of x) seen.push(y); return seen.join();",
        "const sites = new Set(), tag = (site) => sites.add(site); for (const x of [1, 2].slice()) tag`a`; for (const x of 'ab') tag`b`; return sites.size;",
    ]);
}

#[test]
fn what_a_script_has_changed_is_asked() {
    for (before, after) in [
        (
            "const old = Array.prototype[Symbol.iterator]; Array.prototype[Symbol.iterator] = function* () { yield 'changed' };",
            "Array.prototype[Symbol.iterator] = old;",
        ),
        (
            "const proto = Object.getPrototypeOf([].values()), old = proto.next; proto.next = function () { const r = old.call(this); r.value = r.value + '!'; return r };",
            "proto.next = old;",
        ),
        (
            "let closed = 0; const proto = Object.getPrototypeOf([].values()); proto.return = function () { closed++; return {} };",
            "delete proto.return; seen.push(closed);",
        ),
        (
            "let closed = 0; Object.prototype.return = function () { closed++; return {} };",
            "delete Object.prototype.return; seen.push(closed);",
        ),
    ] {
        let script = format!(
            "const list = [1, 2].slice(), seen = []; {before} for (const x of list) {{ seen.push(x); break; }} {after} return seen.join();"
        );
        do_what_they_did(&[script]);
    }
}
