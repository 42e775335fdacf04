//! Compared with Node, with the engine as it comes where Node 20 lacks a method, and what neither
//! does right.

use belljar_guest_testing::{evaluate, ours, same_as_node, same_as_stock};

/// What a script sees of a function, an iterator or a collection.
const SHOW: &str = "const show = (list) => [...list].map((x) => Array.isArray(x) ? x.join(':') : String(x)).join(); ";

fn with_show(scripts: &[&str]) -> Vec<String> {
    scripts.iter().map(|script| format!("{{ {SHOW} {script} }}")).collect()
}

#[test]
fn maps_and_sets_do_what_those_of_node_do() {
    same_as_node(&with_show(&[
        "const m = new Map([[1, 'a'], ['1', 'b'], [1, 'c']]); show(m) + m.size",
        "const m = new Map([[NaN, 1], [0, 2], [-0, 3], [null, 4], [undefined, 5], [true, 6], [1n, 7]]); [NaN, -0, 0, null, undefined, true, 1n, 2].map((k) => m.get(k)).join()",
        "Object.is([...new Map([[-0, 1]]).keys()][0], 0) + ' ' + Object.is([...new Set([-0])][0], 0) + ' ' + Object.is([...new Set([-0]).entries()][0][1], 0)",
        "const k = {}; const m = new Map([[k, 1], [{}, 2], [Symbol.iterator, 3]]); [m.get(k), m.get({}), m.get(Symbol.iterator), m.size].join()",
        "const m = new Map(); [m.set('a', 1) === m, m.delete('a'), m.delete('a'), m.has('a'), m.size, m.clear(), m.get('a')].join()",
        "const s = new Set('hello'); show(s) + show(s.entries()) + show(s.keys()) + [s.add('x') === s, s.delete('h'), s.delete('h'), s.has('x'), s.size]",
        "show(new Map(new Map([[1, 2]]))) + show(new Set(new Set([1, 2]))) + show(new Set([3, , 4]))",
        "const seen = []; new Map([[1, 2], [3, 4]]).forEach(function (v, k, m) { seen.push(v, k, m.size, this.x) }, { x: 5 }); seen.join()",
        "const seen = []; new Set([1, 3]).forEach((v, k, s) => seen.push(v, k, s.size)); seen.join()",
        "new Map().forEach()",
        "new Set().forEach({})",
    ]));
}

#[test]
fn what_node_20_has_not_is_done_as_the_engine_does_it() {
    same_as_stock(&with_show(&[
        "show(Map.groupBy([1, 2, 3, 4, -0], (n, i) => n % 2 === 0 ? 'even' + (i > 9) : n))",
        "const m = new Map([[1, 1]]); [m.getOrInsert(1, 2), m.getOrInsert(3, 4), m.getOrInsertComputed(-0, (k) => Object.is(k, 0)), m.getOrInsertComputed(1, () => 9), show(m)].join()",
        "let closed = 0; const it = { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }), return: () => { closed++; throw 5 } }) }; try { Map.groupBy(it, () => { throw new RangeError }) } catch (e) { closed + e.name }",
        "Map.groupBy(null, () => 1)",
        "Map.groupBy([], 1)",
        "new Map().getOrInsertComputed(1, 1)",
    ]));
}

#[test]
fn they_can_be_changed_while_they_are_iterated() {
    same_as_node(&with_show(&[
        "const m = new Map([[1, 1], [2, 2], [3, 3]]); const seen = []; for (const [k] of m) { seen.push(k); if (k < 9) { m.delete(k); m.set(k + 3, 1) } } seen.join() + show(m)",
        "const m = new Map([[1, 1], [2, 2], [3, 3]]); const seen = []; m.forEach((_, k) => { seen.push(k); m.delete(k + 1) }); seen.join()",
        "const s = new Set([1]); const it = s.values(); it.next(); it.next(); s.add(2); JSON.stringify(it.next())",
        "const s = new Set(); const it = s.values(); s.add(1); JSON.stringify(it.next()) + JSON.stringify(it.next())",
        "const s = new Set([1, 2]); const a = s.values(), b = s.values(); a.next(); s.delete(1); s.add(1); show(a) + ';' + show(b)",
        "const m = new Map(); for (let i = 0; i < 500; i++) m.set(i, i); const it = m.keys(); it.next(); for (let i = 0; i < 490; i++) m.delete(i); m.set('x', 1); show(it)",
    ]));
}

#[test]
fn what_is_not_theirs_is_refused_and_what_is_odd_is_followed() {
    same_as_node(&with_show(&[
        "Map()",
        "Set([1])",
        "new Map([1])",
        "new Map(5)",
        "new Set({})",
        "Map.prototype.get.call(new Set(), 1)",
        "Set.prototype.has.call(new Map(), 1)",
        "Set.prototype.add.call({}, 1)",
        "Object.getOwnPropertyDescriptor(Map.prototype, 'size').get.call({})",
        "Map.prototype.entries.call(1)",
        "new Map().entries().next.call(new Set().values())",
        "class M extends Map { constructor(x) { super(x); this.own = 1 } set(k, v) { return super.set(k, v * 2) } } const m = new M([[1, 2]]); [m.get(1), m.own, m instanceof M, m instanceof Map, Object.prototype.toString.call(m)].join()",
        "class S extends Set { add(x) { return super.add(x + 1) } } show(new S([1, 2]))",
        "Reflect.construct(Map, [], Array) instanceof Array",
        "function F() {} F.prototype = null; Object.getPrototypeOf(Reflect.construct(Set, [], F)) === Set.prototype",
        "let closed = 0; const it = { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }), return: () => { closed++; return {} } }) }; try { new Map(it) } catch (e) { closed + e.name }",
        "const add = Set.prototype.add; let calls = 0; Set.prototype.add = function (x) { calls++; return add.call(this, x) }; const s = new Set([1, 2]); Set.prototype.add = add; calls + show(s)",
        "const set = Map.prototype.set; Map.prototype.set = 5; let text; try { new Map([]) } catch (e) { text = e.name } Map.prototype.set = set; text",
        "const values = Array.prototype[Symbol.iterator]; Array.prototype[Symbol.iterator] = function* () { yield 7 }; const s = new Set([1, 2]); Array.prototype[Symbol.iterator] = values; show(s)",
        "const next = Object.getPrototypeOf([].values()); const old = next.next; next.next = function () { const r = old.call(this); if (!r.done) r.value++; return r }; const s = new Set([1, 2]); next.next = old; show(s)",
        "const list = [1, 2]; list[Symbol.iterator] = function* () { yield 8 }; show(new Set(list))",
        "Object.defineProperty(Array.prototype, 1, { get: () => 9, configurable: true }); const s = new Set([1, , 3]); delete Array.prototype[1]; show(s)",
        "const grows = [1]; show(new Set({ *[Symbol.iterator]() { yield* grows } }))",
    ]));
}

#[test]
fn their_properties_are_those_of_node() {
    // The engine has them in another order, and some that Node 20 has not.
    let tell = "const later = ['groupBy', 'getOrInsert', 'getOrInsertComputed', 'union', 'intersection', 'difference', 'symmetricDifference', \
        'isSubsetOf', 'isSupersetOf', 'isDisjointFrom']; \
        const tell = (o) => Reflect.ownKeys(o).filter((key) => !later.includes(key)).sort((a, b) => String(a) < String(b) ? -1 : 1).map((key) => { const d = Object.getOwnPropertyDescriptor(o, key); \
        const f = d.value ?? d.get; return [String(key), d.writable, d.enumerable, d.configurable, typeof f === 'function' ? f.name + f.length + ('prototype' in f) : f].map(String).join() }).join(';'); ";
    let objects = [
        "Map",
        "Map.prototype",
        "Set",
        "Set.prototype",
        "Object.getPrototypeOf(new Map().keys())",
        "Object.getPrototypeOf(new Set().keys())",
        "new Map([[1, 1]]).entries().next()",
    ];
    same_as_node(&objects.map(|object| format!("{{ {tell} tell({object}) }}")));
    same_as_node(&[
        "Map.prototype.entries === Map.prototype[Symbol.iterator] && Set.prototype.values === Set.prototype.keys && Set.prototype.values === Set.prototype[Symbol.iterator]",
        "Map.prototype.constructor === Map && Map[Symbol.species] === Map && Set.prototype.constructor === Set",
    ]);
}

#[test]
fn sets_are_compared_and_combined_as_the_engine_does() {
    let mut scripts = Vec::new();
    for method in
        ["union", "intersection", "difference", "symmetricDifference", "isSubsetOf", "isSupersetOf", "isDisjointFrom"]
    {
        for other in [
            "new Set([2, 3, 4, 5])",
            "new Set([1, 2, 3])",
            "new Set([2])",
            "new Set()",
            "new Set([7, 8, 9, 10, 11])",
            "new Map([[2, 'x'], [-0, 'y']])",
            "{ size: 2, has: (x) => x === 3, keys: () => [3, 3, -0, 1].values() }",
            "{ size: Infinity, has: (x) => x === 3, keys() { throw 1 } }",
            "{ size: 0.5, has() { throw 1 }, keys: () => ({ next: () => ({ done: true }) }) }",
            "{ size: 1, has: () => true, keys: () => 5 }",
            "{ size: NaN, has() {}, keys() {} }",
            "{ size: -1, has() {}, keys() {} }",
            "{ size: 1, has: 1, keys() {} }",
            "{ size: 1, has() {} }",
            "[1, 2]",
            "5",
        ] {
            scripts.push(format!(
                "{{ const result = new Set([1, 2, 3]).{method}({other}); result instanceof Set ? [...result].join() : result }}"
            ));
        }
        scripts.push(format!("Set.prototype.{method}.call(new Map(), new Set())"));
    }
    // Node 20 has none of these methods.
    same_as_stock(&scripts);
}

/// The engine forgets that a set has changed, and where an iteration was when all was removed.
#[test]
fn what_the_specification_says_holds_where_the_engine_is_wrong() {
    let changing = |method: &str, answer: &str| {
        format!(
            "{{ const s = new Set([1, 2, 3]); const seen = []; const r = s.{method}({{ size: 9, has(x) {{ seen.push(x); if (seen.length < 6) {{ s.delete(x); s.add(x + 3) }} return {answer} }}, keys: () => [1, 4].values() }}); seen.join() + '/' + [...s] + '/' + (r instanceof Set ? [...r] : r) }}"
        )
    };
    for (script, expected) in [
        (changing("intersection", "x % 2 > 0"), "1,2,3,4,5,6,7,8/6,7,8/1,3,5,7"),
        (changing("difference", "x % 2 > 0"), "1,2,3/4,5,6/2"),
        (changing("isSubsetOf", "true"), "1,2,3,4,5,6,7,8/6,7,8/true"),
        (changing("isDisjointFrom", "false"), "1,2,3,4,5,6,7,8/6,7,8/true"),
        (
            "{ const s = new Set([1, 2, 3]); const seen = []; for (const k of s) { seen.push(k); if (seen.length < 5) { s.clear(); s.add(k); s.add(k + 1) } } seen.join() }".to_owned(),
            "1,1,1,1,1,2",
        ),
    ] {
        assert_eq!(evaluate(&script, &mut ours()), expected, "{script}");
    }
}

#[test]
fn random_changes_have_the_same_end() {
    let script = "
        let seed = 7; const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
        const m = new Map(), s = new Set(), told = []; let it = m.entries(), values = s.values();
        for (let i = 0; i < 4000; i++) {
            const k = ['a', 'b', 1, '1', 'é', '\\u0394'][random(6)] + random(9);
            switch (random(9)) {
                case 0: case 1: m.set(k, i); s.add(k); break;
                case 2: m.set(k, i); break;
                case 3: case 4: told.push(m.delete(k), s.delete(k)); break;
                case 5: told.push(m.get(k), s.has(k)); break;
                case 6: { const next = it.next(); told.push(next.value); if (next.done) it = m.entries(); break }
                case 7: { const next = values.next(); told.push(next.value); if (next.done) values = s.values(); break }
                default: if (random(60) === 0) { m.clear(); s.clear(); it = m.entries(); values = s.values() }
            }
            told.push(m.size, s.size);
        }
        told.join() + [...m] + [...s]";
    same_as_node(&[script]);
}

#[test]
fn a_text_of_either_width_is_one_key() {
    let script = "const wide = 'é€'.slice(0, 1); const m = new Map([[wide, 1]]); [m.get('é'), m.has(wide), new Set([wide, 'é']).size].join()";
    assert_eq!(evaluate(script, &mut ours()), "1,true,1");
}
