//! Compared with the engine as it comes: arrays of all kinds, arguments of all kinds, and what a
//! script may have put in the way.

use boa_engine::Source;

use belljar_guest_testing::{ours, same_as_node};

use super::plain::Kept;

const SHOW: &str = "const show = (x) => x === null || typeof x !== 'object' ? Object.is(x, -0) ? '-0' : typeof x + String(x) : \
    (Array.isArray(x) ? 'A' : 'O') + Object.getPrototypeOf(x)?.constructor?.name + x.length + '{' + Reflect.ownKeys(x).map((k) => { \
    const d = Object.getOwnPropertyDescriptor(x, k); return String(k) + '=' + ('value' in d ? show(d.value) : 'accessor') + [+d.writable, +d.enumerable, +d.configurable] }) + '}'; ";

const ARRAYS: [&str; 18] = [
    "[]",
    "[1, 2, 3, 4]",
    "[1.5, NaN, -0, 3]",
    "['a', 'b', 1, null, undefined, {}]",
    "[1, , 3]",
    "[, ,]",
    "new Array(3)",
    "Object.seal(new Array(3))",
    "Object.assign([1, 2, 3], { extra: 1 })",
    "Object.freeze([1, 2, 3])",
    "Object.seal([1, 2, 3])",
    "Object.preventExtensions([1, 2, 3])",
    "Object.defineProperty([1, 2, 3], 'length', { writable: false })",
    "Object.defineProperty([1, 2, 3], 1, { get: () => 7, configurable: true })",
    "new (class Mine extends Array {})(5, 6, 7)",
    "Object.setPrototypeOf([1, 2, 3], null)",
    "new Proxy([1, 2, 3], {})",
    "{ length: 3, 0: 'x', 2: 'z' }",
];

const CALLS: [&str; 59] = [
    "unshift()",
    "unshift('n')",
    "unshift(1, , 2)",
    "unshift(9, 8)",
    "splice()",
    "splice(1)",
    "splice(1, undefined)",
    "splice(undefined)",
    "splice(1, 1)",
    "splice(-2, 1, 'x', 'y')",
    "splice(0, 1, 2.5)",
    "splice(0, -3, 'x')",
    "splice(99, 99, 'x')",
    "splice('1', '1')",
    "splice(NaN, NaN, 1)",
    "splice(-Infinity, Infinity)",
    "splice(1.9, 1.9)",
    "reverse()",
    "toReversed()",
    "fill(0)",
    "fill('x', 1)",
    "fill({}, -2, -1)",
    "fill(1, 2, 1)",
    "fill(1, '1')",
    "fill()",
    "slice()",
    "slice(1)",
    "slice(-2)",
    "slice(1, -1)",
    "slice(3, 1)",
    "slice('1', { valueOf: () => 2 })",
    "slice(NaN, Infinity)",
    "concat()",
    "concat(1, [2, 3], 'x')",
    "concat([1, , 3])",
    "concat({ length: 1, 0: 'a', [Symbol.isConcatSpreadable]: true })",
    "toSpliced(1, 1, 'x')",
    "toSpliced()",
    "map((x) => x)",
    "map((x, i, all) => [x, i, all.length])",
    "map(function (x) { return this + x }, 'this ')",
    "map((x, i) => { list[i + 1] = 'new'; return x })",
    "map((x, i) => { list.length = 1; return i })",
    "map((x, i) => { if (i === 1) throw new RangeError('stop'); return x })",
    "map()",
    "map(1)",
    "filter((x, i) => i % 2)",
    "filter((x) => x)",
    "filter((x, i) => { delete list[i + 1]; list.push('more'); return true })",
    "flatMap((x, i) => [x, [i]])",
    "flatMap((x, i) => i ? [, x] : 'one')",
    "flatMap((x) => new Proxy([x, x], {}))",
    "flatMap((x) => { list.pop(); return Object.assign([x], { own: 1 }) })",
    "indexOf(3)",
    "indexOf(2, -2)",
    "indexOf(NaN)",
    "lastIndexOf(undefined)",
    "lastIndexOf(1, -1)",
    "includes(NaN)",
];

/// What each call gives for an array made anew, and makes of it.
fn script(setup: &str, after: &str, array: &str) -> String {
    let calls: String = CALLS
        .iter()
        .filter_map(|call| call.split_once('('))
        .map(|(name, arguments)| {
            let arguments = arguments.strip_suffix(')').unwrap_or(arguments);
            format!("(list) => Array.prototype.{name}.apply(list, [{arguments}]),")
        })
        .collect();
    format!(
        "{{ {SHOW} let texts = ''; for (const call of [{calls}]) {{ const list = {array}; {setup}; let result; \
         try {{ result = call(list) }} catch (e) {{ result = e.name }} \
         const text = result === list ? 'itself' : show(result); {after}; texts += text + show(list) + '\\n' }} texts }}"
    )
}

#[test]
fn arrays_of_all_kinds_are_handled_as_node_does() {
    same_as_node(&ARRAYS.map(|array| script("", "", array)));
}

#[test]
fn what_a_script_has_put_in_the_way_is_asked() {
    let arrays = ["[1, 2, 3]", "['a', 'b']", "[]"];
    for (setup, after) in [
        (
            "const species = Object.getOwnPropertyDescriptor(Array, Symbol.species); Object.defineProperty(Array, Symbol.species, { get: () => class Other extends Array {}, configurable: true })",
            "Object.defineProperty(Array, Symbol.species, species)",
        ),
        (
            "const old = Array.prototype.constructor; Array.prototype.constructor = undefined",
            "Array.prototype.constructor = old",
        ),
        ("list.constructor = Object", ""),
        ("Array.prototype[1] = 'under'", "delete Array.prototype[1]"),
        (
            "let sets = 0; Object.defineProperty(Array.prototype, 3, { set() { sets++ }, configurable: true })",
            "delete Array.prototype[3]; list.sets = sets",
        ),
        (
            "Object.defineProperty(Object.prototype, 4, { value: 'inherited', writable: false, configurable: true })",
            "delete Object.prototype[4]",
        ),
        ("Array.prototype[Symbol.isConcatSpreadable] = false", "delete Array.prototype[Symbol.isConcatSpreadable]"),
    ] {
        same_as_node(&arrays.map(|array| script(setup, after, array)));
    }
}

#[test]
fn an_array_that_was_changed_in_one_go_is_an_array_like_any_other() {
    same_as_node(&[
        "const a = []; for (let i = 0; i < 300; i++) a.unshift(i % 3 ? i : 'x' + i); a.length + a.join()",
        "const a = [1, 2, 3]; a.splice(1, 1, 'x'); a.push(4); a[6] = 7; a.length = 5; a.own = 1; JSON.stringify(a) + Object.keys(a)",
        "const a = [3, 2, 1]; a.reverse(); Object.freeze(a); try { 'use strict'; a.unshift(1) } catch (e) { e.name + a }",
        "const a = [1, , 3]; a.map((x) => a.push(x)).length + a.join()",
        "const a = new Array(5); a[7] = 1; [a.map((x) => x * 2), a.filter(() => true), a.flatMap((x) => [x, x])].map((x) => x.length + JSON.stringify(x)).join()",
        "[[1, 2], [3]].flatMap((x) => x).concat([1.5, 2].map((x) => x * 2)).join()",
        "const a = [1, 2]; const it = a.values(); it.next(); a.unshift(0); a.unshift(0); [...it].join()",
        "const a = [1, 2, 3]; a.unshift(a); a[0] === a && a.splice(0, 1)[0] === a && a.length",
        "const a = [1, 2, 3, 4]; const seen = []; a.forEach((x) => { seen.push(x); if (x === 2) a.splice(0, 1) }); seen.join() + a",
    ]);
}

#[test]
fn common_arrays_are_plain() {
    let mut context = ours();
    let kept = Kept::keep(&mut context).unwrap();
    for (script, is_plain) in [
        ("[1, 2, 3]", true),
        ("[]", true),
        ("const grown = []; for (let i = 0; i < 9; i++) grown.push(`x${i}`); grown", true),
        ("Array.from({ length: 9 }, (_, i) => i / 2)", true),
        ("[1, 2].map(String).filter(Boolean)", true),
        ("'a b'.split(' ').concat([1]).sort()", true),
        ("JSON.parse('[1, [2]]')", true),
        ("const changed = [1, 2]; changed.splice(0, 1, {}); changed", true),
        ("[1, , 2]", false),
        ("({ length: 0 })", false),
        ("Object.assign([1], { own: 1 })", false),
    ] {
        let value = context.eval(Source::from_bytes(script)).unwrap();
        assert_eq!(kept.changeable(&value, &mut context).is_some(), is_plain, "{script}");
        assert_eq!(kept.plain(&value).is_some(), is_plain, "{script}");
    }
    assert!(kept.makes_arrays() && kept.spreads_arrays());
}
