// What the generator knows, area by area: each function makes one program.

const q = JSON.stringify;
const words = (random, from = 1, to = 8) => random.list(from, to, () => random.word());
const integers = (random, from = 0, to = 10) => random.list(from, to, () => random.integer(-99, 99));

export const areas = {
  strings(random) {
    const [s, t] = [random.word() + random.word(), random.word()];
    const n = random.integer(-6, 12);
    return `const s = ${q(s)}, t = ${q(t)}, n = ${n};
return [s.length, s.slice(n), s.substring(n, 3), s.substr(n, 4), s.at(n) ?? null, s.charAt(n), s.codePointAt(n) ?? null, s.indexOf(t), s.lastIndexOf(t, n),
  s.includes(t), s.startsWith(t, 1), s.endsWith(t), s.split(t, 5), s.split(""), [...s].reverse().join(""), s.replaceAll(t || "x", "<$&>"), s.replace(t, (m, i) => m + i),
  s.padStart(${random.integer(0, 30)}, t), s.padEnd(20, ${q(random.word())}), s.trim(), s.trimStart(), s.trimEnd(), s.toUpperCase(), s.toLowerCase(), s.normalize("NFD").length,
  s.repeat(${random.integer(0, 3)}), s.concat(t, n), s < t, s.isWellFormed(), encodeURIComponent(s), s.localeCompare(s)];`;
  },

  numbers(random) {
    const [x, y, d] = [random.number(), random.number(), random.integer(0, 10)];
    return `const x = ${x}, y = ${y};
const show = (v) => Object.is(v, -0) ? "-0" : String(v);
return [x + y, x - y, x * y, x / y, x % y, -x, x ** 2, x | 0, x >>> 1, x << 3, ~y, Math.round(x), Math.trunc(y), Math.floor(x), Math.ceil(x), Math.sign(x), Math.fround(x),
  Math.clz32(x), Math.imul(x, y), Math.hypot(3, 4), Math.max(x, y), Math.min(x, y), Math.cbrt(27), Math.sqrt(x), Math.abs(x)].map(show).concat(
  [x.toFixed(${d}), x.toString(${random.integer(2, 36)}).slice(0, 40), x.toPrecision(${random.integer(1, 15)}), x.toExponential(${d}), String(x), Number.isSafeInteger(x), Object.is(x, y), x == y, x < y,
  parseInt(${q(random.word())}), parseFloat(${q(random.word())}), Number(${q(random.word())}), parseInt("${random.integer(1, 99999)}", ${random.integer(2, 36)})].map(String));`;
  },

  arrays(random) {
    const [list, n, m] = [q(integers(random, 0, 9)), random.integer(-5, 9), random.integer(0, 4)];
    return `const list = ${list}, n = ${n}, m = ${m}; const copy = [...list];
const removed = copy.splice(n, m, "x", "y");
return [removed, copy, list.slice(n), list.at(n) ?? null, list.indexOf(${random.integer(-9, 9)}), list.concat([n], [[m]]).flat(), list.fill.call([...list], 7, n), list.copyWithin.call([...list], m, n),
  list.toSorted((a, b) => a - b), list.toReversed(), list.with?.call([1, 2, 3], -1, n), list.toSpliced(n, 1), list.findLastIndex((v) => v > 0), list.map((v, i) => v * i), list.filter((v) => v % 2), list.every((v) => v < 90),
  list.reduce((s, v) => s + v, 0), list.reduceRight((s, v) => s + String(v), ""), list.join("|"), Array.from({ length: m }, (_, i) => i * n), Array.of(n, m), [...list.entries()].length, [...list.keys()],
  list.flatMap((v) => v > 0 ? [v, [v]] : []), Array.isArray(list), list.lastIndexOf(list[0]), [, 1, , 2].map(() => 0), Object.keys([, 1, , 2]), [3, undefined, 1, , "b", null].sort()];`;
  },

  sparse_and_odd_arrays(random) {
    const n = random.integer(0, 12);
    return `const list = [1, 2, 3]; list[${n}] = "z"; list.extra = ${random.value(0)}; list.length = ${random.integer(0, 14)};
const like = { length: ${random.integer(-2, 5)}, 0: "a", 1: "b", 3: "d" }; const seen = [];
list.forEach((v, i) => seen.push(i)); for (const i in list) seen.push(i); for (const v of list) seen.push(v ?? "hole");
const tried = []; for (const f of [() => (list.length = -1), () => new Array(-1), () => new Array(1.5), () => Array(3).length, () => [].reduce((a) => a), () => Array.prototype.push.call(like, "q")]) try { tried.push(f()); } catch (e) { tried.push(e.name); }
return [seen.map(String), tried, Array.prototype.map.call(like, (v) => v + "!"), Array.from(like), Array.prototype.slice.call(like, 1), ${n} in list, list.includes(undefined), list.indexOf(undefined), JSON.stringify(list), list.toString()];`;
  },

  sorting(random) {
    const rows = random.list(2, 12, () => ({ n: random.integer(0, 4), s: random.word(), f: random.integer(-3, 3) / 2 }));
    const by = random.of(["a.n - b.n", "b.f - a.f", "a.s < b.s ? -1 : a.s > b.s ? 1 : 0", "a.n - b.n || a.s.length - b.s.length", "(a.s > b.s) - (a.s < b.s) || b.n - a.n", "0", "b.s.length - a.s.length"]);
    return `const rows = ${q(rows)}; let calls = 0;
const sorted = rows.toSorted((a, b) => { calls++; return ${by}; });
return [sorted.map((row) => [row.n, row.s, row.f]), calls > 0, rows.map((row) => row.s).sort(), rows.map((row) => row.f).sort(), rows.map((row) => row.n).sort((a, b) => b - a), rows.sort((a, b) => ${by}) === rows,
  Object.entries(Object.groupBy?.(rows, (row) => row.n) ?? rows.reduce((o, row) => ((o[row.n] ??= []).push(row), o), {})).map(([k, v]) => [k, v.length]), ["b", , "a", undefined].sort().length];`;
  },

  objects(random) {
    const value = random.value(2), other = random.value(2);
    return `const o = { z: 1, ...(${value}), 2: "two", 1: "one", [Symbol.for("s")]: 1, get g() { return this.z; }, set g(v) { this.z = v; }, ["c" + 1]: ${other} };
o.g = ${random.number()}; const frozen = Object.freeze({ ...o }); const tried = [];
for (const f of [() => { "use strict"; frozen.z = 9; }, () => { "use strict"; delete frozen.z; }, () => Object.defineProperty(frozen, "n", { value: 1 }), () => Object.setPrototypeOf(frozen, {}), () => Object.fromEntries([1])]) try { f(); tried.push("ok"); } catch (e) { tried.push(e.name); }
const proto = Object.create({ inherited: 1 }, { own: { value: 2, enumerable: ${random.of(["true", "false"])} } }); const keys = []; for (const k in proto) keys.push(k);
return [Object.keys(o), Object.values(o).length, Object.entries(o).map(([k]) => k), tried, keys, "inherited" in proto, Object.hasOwn(proto, "inherited"), Object.getOwnPropertyNames(o), Object.getOwnPropertyDescriptor(o, "g").set.length, Object.isFrozen(frozen), Object.isSealed(o),
  Object.assign({}, null, "ab", ${value}), structuredClone({ o: [o.z] }), Object.getOwnPropertySymbols(o).length, typeof Object.prototype.toString.call(o), delete o.z, o.z, Object.fromEntries(Object.entries({ a: 1, b: 2 }).map(([k, v]) => [v, k]))];`;
  },

  classes(random) {
    const [n, m] = [random.integer(1, 9), random.integer(1, 9)];
    return `class Shape { static made = 0; static #secret = ${n}; #id; sides = ${m}; static { this.ready = this.#secret * 2; }
  constructor(name) { this.name = name; this.#id = ++Shape.made; } get id() { return this.#id; } set id(v) { if (v < 0) throw new RangeError("negative"); this.#id = v; }
  #double() { return this.#id * 2; } area() { return ${n}; } describe() { return \`\${this.name}#\${this.#double()}:\${this.area()}\`; } static is(o) { return #id in o; } toString() { return "Shape " + this.name; } [Symbol.toPrimitive](hint) { return hint === "number" ? this.sides : hint; } }
class Square extends Shape { constructor(side) { super("square"); this.side = side; } area() { return super.area() + this.side ** 2; } static make(...sides) { return sides.map((s) => new this(s)); } get [Symbol.toStringTag]() { return "Sq"; } }
const Mixed = ((Base) => class extends Base { mixed() { return super.describe() + "!"; } })(Square);
const [a, b] = Mixed.make(${n}, ${m}); const tried = []; for (const f of [() => Shape(), () => (a.id = -1), () => Shape.is({}), () => Shape.is(b), () => new (class extends null {})(), () => { class A extends A {} }]) try { tried.push(f()); } catch (e) { tried.push(e.name); }
b.id = ${m}; return [a.describe(), b.mixed(), a instanceof Shape, Mixed.name, Square.name, Shape.made, Shape.ready, tried, +a, \`\${b}\`, a + "", String(Object.prototype.toString.call(a)), a.id, b.id, Object.keys(a), Object.getOwnPropertyNames(Square.prototype), Square.length, a.constructor === Mixed];`;
  },

  closures(random) {
    return `const counter = (start, step = ${random.integer(1, 4)}) => { let n = start; return { next: () => (n += step), reset() { n = start; return this; }, get value() { return n; } }; };
const compose = (...fs) => (x) => fs.reduceRight((v, f) => f(v), x); const curry = (f) => function curried(...a) { return a.length >= f.length ? f.apply(this, a) : (...b) => curried(...a, ...b); };
const memo = (f, cache = new Map()) => (k) => cache.get(k) ?? (cache.set(k, f(k)), cache.get(k)); let calls = 0; const fib = memo((n) => (calls++, n < 2 ? n : fib(n - 1) + fib(n - 2)));
const c = counter(${random.integer(-5, 5)}), fs = []; for (var i = 0; i < 3; i++) fs.push(() => i); for (let j = 0; j < 3; j++) fs.push(() => j);
c.next(); c.next(); const seen = c.value; function outer() { return typeof inner + inner(); function inner() { return ${random.integer(0, 9)}; } }
const later = (() => { try { return early; } catch (e) { return e.name; } let early = 1; })(); (function () { c.arguments = arguments.length; })(1, 2, 3);
return [seen, c.reset().value, compose((x) => x * ${random.integer(2, 5)}, (x) => x + 1)(${random.integer(0, 20)}), curry((a, b, d) => a + b * d)(${random.integer(1, 5)})(2)(3), fib(${random.integer(10, 40)}), calls, fs.map((f) => f()), outer(), later, c.arguments, ((a, b = a, ...r) => [a, b, r])(1, undefined, 3), (function f(n) { return n ? n * f(n - 1) : 1; })(${random.integer(1, 12)}), ((a, b = 1) => 0).length];`;
  },

  generators(random) {
    const [n, m] = [random.integer(1, 8), random.integer(1, 5)];
    return `const log = []; function* count(to) { try { for (let i = 0; i < to; i++) { const got = yield i; if (got) log.push(got); } return "done"; } catch (e) { log.push("caught " + e); yield -1; } finally { log.push("finally"); } }
function* tree([v, l, r]) { if (l) yield* tree(l); yield v; if (r) yield* tree(r); } function* take(it, k) { for (const v of it) { if (k-- <= 0) return; yield v; } } function* nat(i = 0) { for (;;) yield i++; }
const it = count(${n}); const steps = [it.next("ignored"), it.next("sent"), it.${random.of(["throw('x')", "return('r')", "next(1)"])}, it.next(), it.next()];
const r = (function* () { const v = yield* count(${m}); return v + "!"; })(); const all = []; for (let s = r.next(); ; s = r.next()) { all.push(s.value); if (s.done) break; }
class Range { constructor(a, b) { this.a = a; this.b = b; } *[Symbol.iterator]() { for (let i = this.a; i <= this.b; i++) yield i; } }
const [first, , third = "none", ...rest] = new Range(${n}, ${n + m}); for (const v of count(5)) { if (v === 2) break; }
return [steps, all, log, [...take(nat(${n}), ${m})], [...tree([4, [2, [1], [3]], [6, [5]]])], first, third, rest, Math.max(...new Range(1, ${m})), Array.from(new Range(0, 3), (x) => x * x), Object.fromEntries(new Map([["k", ${n}]])), it[Symbol.iterator]() === it, String(it)];`;
  },

  async_order(random) {
    const tasks = random.shuffled(["a", "b", "c", "d"]);
    return `const log = []; const sleep = (ms, v) => new Promise((r) => setTimeout(r, ms, v)); const tick = () => Promise.resolve();
${tasks.map((t) => random.of([
      `tick().then(() => log.push("${t}1")).then(() => log.push("${t}2"));`, `queueMicrotask(() => log.push("${t}q"));`, `(async () => { log.push("${t}s"); await null; log.push("${t}e"); })();`,
      `Promise.reject(new Error("${t}")).catch((e) => log.push(e.message)).finally(() => log.push("${t}f"));`, `(async () => { try { await Promise.reject("${t}"); } catch (e) { log.push("c" + e); } finally { log.push("${t}x"); } })();`,
      `new Promise((resolve) => { log.push("${t}n"); resolve({ then(f) { log.push("${t}t"); f(1); } }); }).then(() => log.push("${t}d"));`])).join("\n")}
log.push("sync"); await tick(); log.push("one"); await tick(); await tick(); log.push("three"); await sleep(1);
const settled = await Promise.allSettled([${random.integer(0, 9)}, Promise.reject(new TypeError("no")), sleep(2, "late")]); const any = await Promise.any([Promise.reject(1), sleep(1, "any")]).catch((e) => e.name);
const failed = await Promise.any([Promise.reject(1), Promise.reject(2)]).catch((e) => [e.name, e.errors]); const raced = await Promise.race([sleep(30, "slow"), sleep(1, "fast")]);
async function* pages() { for (let i = 0; i < ${random.integer(1, 4)}; i++) { await tick(); yield i; } } const got = []; for await (const p of pages()) got.push(p); for await (const p of [1, tick(), sleep(1, 3)]) got.push(p ?? null);
return [log, settled.map((s) => s.status + (s.value ?? s.reason.name)), any, failed, raced, got, await (async () => { try { return await Promise.all([1, Promise.reject(new RangeError())]); } catch (e) { return e.name; } })()];`;
  },

  regular_expressions(random) {
    const [pattern, flags] = random.of([["(\\w+)@(\\w+)\\.com", "g"], ["^\\s*(\\d{1,3})(?:,(\\d{3}))*$", "m"], ["(?<year>\\d{4})-(?<month>\\d\\d)", "gu"], ["\\b[A-Z]\\w*", "g"], ["(a+)(b*)?", "gy"], ["(?<=\\$)\\d+(\\.\\d\\d)?", "g"], ["[^\\x00-\\x7f]", "gu"], ["(?:x|(y))+", "gi"], ["\\p{L}+", "gu"], [".", "gs"], ["(['\"])(.*?)\\1", "g"], ["(?!foo)\\w{3}", "g"], ["", "g"], ["\\d+|[a-z]", "gi"], ["(z)?(y)?", ""], ["[\\]\\-\\\\]", "g"]]);
    const text = random.of(["me@site.com, you@other.com", "1,234,567\n 89", "on 2024-05 and 1999-12!", "Hello World foo Bar", "aabab b aaa", "cost $15.50 or $7", "naïve café 😀", "xyXYyx", "'a' \"b'c\" ''", "", "foobar bazfoo", "a-b\\c]d"]);
    return `const r = /${pattern.replace("/", "\\/")}${pattern === "" ? "(?:)" : ""}/${flags}, s = ${q(text)}; const seen = []; let m, guard = 0; r.lastIndex = ${random.integer(0, 2)};
while (guard++ < 12 && (m = r.exec(s))) { seen.push([m[0], m.index, r.lastIndex, m.slice(1).map(String), m.groups ? { ...m.groups } : 0]); if (!r.global && !r.sticky) break; if (m[0] === "") r.lastIndex++; }
r.lastIndex = 0; return [seen, s.replace(r, "[$1|$&|$\`|$'|$$|$2]"), s.split(r), s.search(r), s.match(r), r.test(s), s.replace(r, (...a) => a.filter((x) => typeof x !== "object").join("~")), r.flags, r.source, String(r), r.global ? [...s.matchAll(r)].map((x) => x.index) : s.replaceAll("o", "0"), r.lastIndex, new RegExp(r, "i").flags];`;
  },

  json(random) {
    const value = random.value(3), text = random.of(['{"a":[1,2,{"b":null}]}', "[1,]", '{"a":1,"a":2,"__proto__":3}', " [ 1e3 , -0 , 0.10 ] ", '"\\u00e9\\ud83d\\ude00"', "01", "nul", '{"b":1,"2":2,"1":1}', "", "[[[[]]]]", "'a'", '"\\x"', "-", "1e999", '"\t"', "\u00a01"]);
    return `const v = ${value}; const tried = []; const cyc = {}; cyc.self = [cyc];
for (const f of [() => JSON.parse(${q(text)}), () => JSON.stringify(cyc), () => JSON.stringify(1n), () => JSON.parse(${q(text)}, (k, x) => typeof x === "number" ? x + 1 : x), () => JSON.parse(JSON.stringify(v) ?? "null")]) try { tried.push(f()); } catch (e) { tried.push(e.name); }
return [JSON.stringify(v) ?? "left out", JSON.stringify([v], null, ${random.of(["2", "'\\t'", "11", "'--'"])}), JSON.stringify({ v, d: new Date(0), u: undefined, f() {}, n: NaN, s: Symbol("x"), nested: [undefined, () => 1] }), JSON.stringify({ a: 1, b: { a: 2, c: 3 } }, ["a", "b"]), JSON.stringify(v, (k, x) => x === null ? "nil" : x) ?? "none", tried, JSON.stringify({ toJSON: (k) => "own " + k }), JSON.stringify("\\u2028\\ud800\\u0007"), JSON.stringify(new Map([[1, 2]])), JSON.stringify(Object("boxed"))];`;
  },

  maps_and_sets(random) {
    const entries = random.list(1, 7, () => `[${random.value(0)}, ${random.integer(0, 9)}]`).join(", ");
    return `const m = new Map([${entries}]), s = new Set([${random.list(0, 8, () => random.value(0)).join(", ")}]); const order = [];
m.set(NaN, "nan").set(-0, "zero"); for (const [k, v] of m) { order.push(String(k) + "=" + v); if (order.length === 2) m.delete(k); if (order.length === 3) m.set("late", 1); if (order.length > 12) break; }
const t = new Set([1, "1", 2]); const tried = []; for (const f of [() => Map(), () => new Map([1]), () => new WeakMap([[1, 2]]), () => new Set(5), () => new Set("aab").size]) try { tried.push(f()); } catch (e) { tried.push(e.name); }
const key = {}; const weak = new WeakMap([[key, "w"]]); const groups = new Map(); for (const w of ${q(words(random))}) groups.set(w.length, [...(groups.get(w.length) ?? []), w]);
return [order, m.size, m.get(NaN), m.has(0), [...s].map(String), s.size, s.has(NaN), tried, weak.get(key), weak.has({}), [...groups].sort((a, b) => a[0] - b[0]), [...t].map((x) => typeof x), [...new Set([...s].filter((x) => t.has(x)))].map(String), [...m.keys()].length, [...s.entries()].length, Object.prototype.toString.call(m), m.forEach((v, k, o) => { if (o !== m) throw 1; }) ?? "void", s.delete("x"), new Map(m).size];`;
  },

  dates_in_utc(random) {
    const [y, mo, d, h] = [random.integer(-50, 2400), random.integer(-3, 15), random.integer(-10, 40), random.integer(-30, 30)];
    const text = random.of(["2024-02-29", "2024-02-29T12:30:00Z", "2024-02-29T12:30:00+05:30", "2024-13-01", "1970-01-01T00:00:00.5Z", "2000-01-01T24:00:00Z", "+012345-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT", "2024-1-1T", "nonsense", "2024-06", "2024"]);
    return `const d = new Date(Date.UTC(${y}, ${mo}, ${d}, ${h}, 5, 6, 7)), e = new Date(${q(text)}); const iso = (x) => { try { return x.toISOString(); } catch (err) { return err.name; } };
const f = new Date(d); f.setUTCMonth(f.getUTCMonth() + ${random.integer(-14, 14)}); const g = new Date(d); g.setUTCDate(0); g.setUTCHours(25, -1);
return [iso(d), iso(e), iso(f), iso(g), d.getTime(), d.getUTCDay(), d.getUTCFullYear(), d.getDate(), d.getTimezoneOffset(), d.toJSON(), e.getTime(), JSON.stringify({ e }), d.toUTCString(), d.toDateString(), isNaN(e), Date.UTC(${y}, ${mo}), new Date(8.64e15 + 1).getTime(), new Date(${random.integer(-2e9, 2e9)} * 1000).toISOString(), d - f, typeof (d + 1), Math.floor((Date.UTC(2024, ${random.integer(0, 11)}, ${random.integer(1, 28)}) - Date.UTC(2024, 0, 0)) / 864e5), new Date(2024, ${random.integer(0, 11)}, 1, 2).toISOString()];`;
  },

  big_integers(random) {
    const big = () => `${random.of(["", "-"])}${random.below(1e9)}${random.chance(60) ? `${random.below(1e9)}${random.below(1e9)}` : ""}n`.replace(/^(-?)0+(?=\d)/, "$1");
    const [x, y] = [big(), big()];
    return `const x = ${x}, y = ${y}; const out = []; for (const f of [() => x + y, () => x - y, () => x * y, () => x / y, () => x % y, () => (-x) ** 3n, () => x & y, () => x | y, () => x ^ y, () => ~x, () => x << ${random.integer(0, 70)}n, () => x >> ${random.integer(0, 40)}n, () => x ** -1n, () => x + 1, () => +x, () => Math.max(x), () => BigInt(1.5), () => BigInt("0x1f"), () => BigInt(" 12 "), () => x / 0n, () => BigInt.asIntN(${random.integer(1, 70)}, x), () => BigInt.asUintN(${random.integer(1, 70)}, y), () => x > y, () => x == Number(x), () => x < 1.5, () => 1n === 1, () => typeof x, () => x.toString(${random.integer(2, 36)}), () => Number(x * y), () => [3n, 1, 2n].sort().join(), () => x ? 1 : 0, () => BigInt(Number.MAX_SAFE_INTEGER) + 2n, () => x >>> 1n]) try { out.push(String(f())); } catch (e) { out.push(e.name); }
let f = 1n; for (let i = 1n; i <= ${random.integer(5, 40)}n; i++) f *= i; return [out, String(f), f.toString(16).length];`;
  },

  destructuring(random) {
    return `const source = { a: ${random.value(1)}, b: { c: [${random.value(0)}, { d: ${random.value(0)} }] }, list: [1, [2, 3], ${random.value(0)}], n: null }; const log = []; const d = (v) => (log.push(v), v);
const { b: { c: [x = d("x"), { d: y = d("y") } = {}] } } = source, { a = d("a"), missing = d("m"), ...others } = source; const [one, [two, , three = d("3")], four = d("4"), ...five] = source.list; let p = 1, r = 2, o = {}; [p, r] = [r, p]; [o.k, o["m" + 1]] = "hi"; ({ a: o.a, ...o.rest } = { a: 1, z: 2 });
const tried = []; for (const f of [() => { const { q } = null; }, () => { const [q] = {}; }, () => { const { n: { q } } = source; }, () => { const [q] = 5; }, () => (({ a: { b } }) => b)({}), () => { const { length } = "abc"; return length; }, () => { const [...q] = "añ😀"; return q; }, () => { const { [\`\${"li"}st\`]: q } = source; return q.length; }]) try { tried.push(f() ?? "void"); } catch (e) { tried.push(e.name); }
const f = ({ k = ${random.integer(0, 9)}, ...r } = {}, [h = 1] = [], ...t) => [k, Object.keys(r), h, t.length]; const pairs = []; for (const [k, { v = "d" } = {}] of Object.entries({ x: { v: 1 }, y: undefined })) pairs.push(k + v);
return [String(a), String(x), String(y), missing, Object.keys(others), one, two, three, String(four), five.length, p, r, o, log, tried, f(), f({ k: 1, z: 2 }, [5], 6, 7), pairs];`;
  },

  errors(random) {
    return `const log = []; class Own extends Error { constructor(m, o) { super(m, o); this.name = "Own"; this.code = ${random.integer(1, 99)}; } } const f = (n) => { try { if (n === 0) throw new Own("zero", { cause: new TypeError("why") }); if (n === 1) return "returned"; if (n === 2) null.x; if (n === 3) undefined(); if (n === 4) throw ${random.value(0)}; if (n === 5) undeclared; if (n === 6) "x".repeat(-1); if (n === 7) decodeURIComponent("%"); if (n === 8) new Array(-5); if (n === 9) (1).toFixed(101); if (n === 10) Symbol() + ""; if (n === 11) ({}).x.y; return n; } catch (e) { log.push(e?.name ?? String(e)); if (n === ${random.integer(0, 4)}) throw e; return "caught"; } finally { log.push("f" + n); if (n === ${random.integer(5, 9)}) return "overridden"; } };
const results = []; for (let n = 0; n < 13; n++) try { results.push(f(n)); } catch (e) { results.push("escaped " + (e?.name ?? String(e))); }
const e = new Own("m", { cause: 1 }); const agg = new AggregateError([new Error("a"), 2], "many"); const outer = () => { label: try { return "try"; } finally { break label; } return "after"; };
const nested = () => { try { try { throw new Error("in"); } finally { log.push("inner"); } } catch (x) { throw new RangeError("out", { cause: x }); } }; let chain = []; try { nested(); } catch (x) { for (let c = x; c; c = c.cause) chain.push(c.message); }
return [results, log, e instanceof Error, e.code, e.cause, String(e), Object.keys(e), agg.errors.length, agg.message, outer(), chain, Object.prototype.toString.call(e), typeof e.stack, "cause" in new Error("x"), new Error(undefined).message, String(new TypeError("t")), Error("no new") instanceof Error, (() => { try { throw null; } catch { return "no binding"; } })()];`;
  },

  labels_and_loops(random) {
    const [n, m] = [random.integer(2, 5), random.integer(2, 5)];
    return `const out = []; outer: for (let i = 0; i < ${n}; i++) { inner: for (let j = 0; ; j++) { if (j === ${m}) continue outer; if (i * j === ${random.integer(2, 9)}) ${random.of(["break outer", "break inner", "continue inner", "continue outer"])}; out.push(i * 10 + j); switch (j % 3) { case 0: continue inner; case 1: if (i === 2) break inner; break; default: out.push("d"); } } }
block: { out.push("in"); if (out.length > ${random.integer(3, 12)}) break block; out.push("rest"); } let k = ${n}; while (true) { if (--k < 0) break; if (k % 2) continue; out.push(k); } do { k++; } while (k < ${m}); for (var v = 0, w = 9; v < w; v += 2, w--); for (const key in { b: 1, a: 2, 1: 0, 0: 0 }) out.push(key); for (const c of "aé😀") out.push(c);
const fs = []; for (let i = 0; i < 3; fs.push(() => i), i++); for (const x of [1, 2, 3]) { if (x === 2) continue; fs.push(() => x * 100); } let t = 0; for (const x of [5, 6, 7]) { try { if (x === ${random.integer(5, 7)}) continue; t += x; } finally { t += 1000; } }
const list = [1, 2, 3]; for (const x of list) if (list.length < 8) list.push(x * 2); const o = { a: 1, b: 2, c: 3 }, ks = []; for (const key in o) { ks.push(key); delete o.b; } return [out, k, v, w, fs.map((f) => f()), t, list, ks, (() => { for (;;) { try { return 1; } finally { break; } } return 2; })()];`;
  },

  templates(random) {
    const [a, b] = [random.value(1), random.value(0)];
    return `const tag = (strings, ...values) => strings.map((s, i) => s + (i < values.length ? "<" + String(values[i]) + ">" : "")).join("") + strings.raw.length; const same = () => ((s) => s)\`x\`; const raw = String.raw\`a\\n\${${b}}\\u{zz}\`;
const html = (s, ...v) => s.reduce((o, p, i) => o + p + (i < v.length ? String(v[i]).replace(/[&<>"]/g, (c) => "&#" + c.charCodeAt(0) + ";") : ""), ""); const o = { toString: () => "str", valueOf: () => ${random.integer(0, 9)} }; const nest = (n) => n ? \`[\${nest(n - 1)}]\` : "*"; const curry = (s) => (t) => s[0] + t[0];
return [\`\${${a}} and \${${b}}\`, tag\`one \${${b}} two \${[1, [2]]}\`, raw, html\`<b>\${"<i>&\\""}</b>\`, \`\${o}\` + o, nest(${random.integer(0, 5)}), \`line
two \\\` \\\${x}\`, same() === same(), curry\`a\`\`b\`, \`\${\`\${1 + 1}\`}\`, tag\`\`, ((s) => s.length)\`\${1}\${2}\`, ((s) => [s[0] === undefined, s.raw[0]])\`\\u{110000000}\`, Object.isFrozen(((s) => s)\`f\`), \`\${null} \${undefined} \${NaN} \${-0}\`];`;
  },

  conversions(random) {
    const [x, y] = [random.value(1), random.value(1)];
    return `const x = ${x}, y = ${y}; const order = []; const obj = { valueOf() { order.push("v"); return ${random.integer(0, 5)}; }, toString() { order.push("s"); return "o"; } }; const out = [];
for (const f of [() => x + y, () => x == y, () => x === y, () => x < y, () => +x, () => -y, () => !x, () => x && y, () => x || y, () => x ?? y, () => String(x), () => Number(y), () => Boolean(x), () => [x] + [y], () => \`\${x}\`, () => x == null, () => x * 1, () => obj + x, () => obj * 2, () => obj + "", () => \`\${obj}\`, () => [10, 9, 1].sort().join(), () => isNaN(x), () => [] + {}, () => [] == false, () => null >= 0, () => undefined == 0, () => "b" + "a" + +"a" + "a", () => [2] * [3], () => typeof x + typeof y, () => x instanceof Object, () => x in { a: 1, 1: 2 }, () => Object(x) === x, () => new Boolean(false) ? 1 : 2, () => "10" < "9", () => "10" < 9, () => ({}) < ({}), () => Symbol.iterator in Object(x), () => void 0 ?? "n", () => [,].toString(), () => [null, undefined, 1].join("-")]) try { const v = f(); out.push(typeof v === "object" ? JSON.stringify(v) : Object.is(v, -0) ? "-0" : String(v)); } catch (e) { out.push(e.name); }
return [out, order];`;
  },

  typed_arrays(random) {
    const kind = random.of(["Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array", "Float32Array", "Float64Array"]);
    return `const buffer = new ArrayBuffer(32), view = new DataView(buffer), list = ${kind}.from([${random.list(1, 6, () => random.number()).join(", ")}]); view.setInt16(0, ${random.integer(-40000, 40000)}); view.setFloat32(4, ${random.number()}, true); view.setBigInt64(8, ${random.integer(-999, 999)}n); view.setUint8(16, 300);
const over = new ${kind}(buffer, 8, 2); const tried = []; for (const f of [() => new ${kind}(buffer, 1, 100), () => view.getInt32(30), () => new Uint16Array(buffer, 1), () => list.set([1], 99), () => new ${kind}(-1), () => ${kind}.of("7", null, true).join()]) try { tried.push(String(f())); } catch (e) { tried.push(e.name); }
list[0] += 1; list[99] = 5; list.foo = 1; return [[...list].map(String), list.length, list.byteLength, list[99] ?? "none", [...over].map(String), [...new Uint8Array(buffer)], view.getInt16(0, true), String(view.getFloat32(4)), String(view.getBigInt64(8, true)), tried, [...list.slice(-2)].map(String), [...list.subarray(1, 3)].map(String), list.indexOf(list[0]), list.join("/"), [...list.map((v) => v * 2)].map(String), JSON.stringify(new Uint8Array([1, 2])), [...list.toSorted()].map(String), Object.prototype.toString.call(list), ${kind}.BYTES_PER_ELEMENT, buffer.slice(1, 5).byteLength, new TextDecoder().decode(new Uint8Array([104, 105, 226, 130, 172])), Object.keys(list).join(), [...list.fill(7, 1)].map(String), list.at(-1), [...list].reverse().length];`;
  },

  proxies_and_reflection(random) {
    return `const log = []; const target = { a: ${random.value(0)}, b: 2 }; const p = new Proxy(target, { get(t, k, r) { if (typeof k === "string") log.push("get " + k); return k === "magic" ? ${random.integer(1, 99)} : Reflect.get(t, k, r); }, set(t, k, v) { log.push("set " + k); if (k === "no") return false; t[k] = v; return true; }, has(t, k) { log.push("has " + String(k)); return k in t; }, deleteProperty(t, k) { log.push("del " + k); return delete t[k]; }, ownKeys(t) { log.push("keys"); return Reflect.ownKeys(t); }, getOwnPropertyDescriptor(t, k) { return Reflect.getOwnPropertyDescriptor(t, k); } });
const tried = []; for (const f of [() => p.magic, () => { "use strict"; p.no = 1; return "set"; }, () => (p.c = 3), () => "a" in p, () => delete p.b, () => Object.keys(p), () => ({ ...p }), () => Reflect.set(p, "no", 1), () => Reflect.apply(Math.max, null, [1, ${random.integer(2, 9)}]), () => Reflect.construct(Date, [0]).getTime(), () => Reflect.has({ x: 1 }, "x"), () => Reflect.ownKeys({ b: 1, a: 2, 1: 3, [Symbol("q")]: 4 }).length, () => Reflect.getPrototypeOf([]) === Array.prototype, () => Reflect.defineProperty(Object.freeze({}), "x", { value: 1 }), () => { const r = Proxy.revocable({}, {}); r.revoke(); return r.proxy.x; }, () => new Proxy(function (a) { return a * 2; }, { apply: (t, s, args) => t(...args) + 1 })(${random.integer(1, 9)}), () => new (new Proxy(class { constructor(v) { this.v = v; } }, { construct: (t, a) => new t(a[0] + 1) }))(1).v, () => JSON.stringify(new Proxy([1, 2, 3], {})), () => Array.isArray(new Proxy([], {})), () => new Proxy({}, 1), () => Object.getOwnPropertyNames(new Proxy({}, { ownKeys: () => ["z"] })), () => Reflect.ownKeys(Object.freeze([1]))]) try { tried.push(f() ?? "void"); } catch (e) { tried.push(e.name); }
return [tried, log.slice(0, 40), Object.keys(target)];`;
  },

  symbols_and_iteration(random) {
    return `const log = []; const iterable = (n, extra = {}) => ({ [Symbol.iterator]() { let i = 0; return { next: () => (log.push("n"), { done: i >= n, value: i++ }), return() { log.push("ret"); return {}; }, ...extra }; } });
const [x, y] = iterable(${random.integer(0, 5)}); for (const v of iterable(5)) if (v === ${random.integer(0, 3)}) break; try { for (const v of iterable(3)) throw new Error("in loop"); } catch (e) { log.push(e.message); } const spread = [...iterable(3)], map = new Map(Object.entries({ a: 1 })), s = Symbol("desc");
const tried = []; for (const f of [() => [...5], () => [...{}], () => { for (const v of { [Symbol.iterator]: () => ({}) }) break; }, () => s.toString(), () => s + "", () => s.description, () => Symbol.for("k") === Symbol.for("k"), () => Symbol.keyFor(Symbol.for("k")), () => Object(s) == s, () => new Symbol(), () => [1, 2, 3][Symbol.iterator]().next().value, () => Math.max(...iterable(4)), () => Object.fromEntries(iterable(1)), () => Array.from(iterable(2), (v) => v + 1), () => new Set(iterable(3)).size, () => [..."ab"].entries().next().value, () => String([][Symbol.iterator]()), () => ({ [Symbol.toPrimitive]: (h) => h })  + "", () => [] instanceof { [Symbol.hasInstance]: undefined }, () => 1 instanceof { [Symbol.hasInstance]: (v) => v === 1 }, () => [1].concat({ length: 1, 0: "s", [Symbol.isConcatSpreadable]: true }), () => Object.prototype.toString.call({ [Symbol.toStringTag]: "T" }), () => "x".replace({ [Symbol.replace]: (s, r) => s + r }, "y"), () => Object.keys({ [s]: 1, a: 2 }), () => Promise.all(iterable(2)) instanceof Promise]) try { tried.push(f() ?? "void"); } catch (e) { tried.push(e.name); }
return [x ?? "none", y ?? "none", log, spread, [...map].flat(), tried];`;
  },

  data_pipelines(random) {
    const rows = random.list(3, 9, (i) => ({ id: i + 1, team: random.of(["red", "blue", "green"]), score: random.integer(-20, 100), tags: words(random, 0, 3), at: `2024-0${random.integer(1, 9)}-1${random.integer(0, 9)}`, parent: random.chance(50) ? random.integer(1, 5) : null }));
    return `const rows = ${q(rows)}; const by = (key) => rows.reduce((o, r) => ({ ...o, [r[key]]: [...(o[r[key]] ?? []), r.id] }), {}); const sum = (l) => l.reduce((a, b) => a + b, 0); const csv = [Object.keys(rows[0]).join(","), ...rows.map((r) => Object.values(r).map((v) => typeof v === "string" && /[",\\n]/.test(v) ? \`"\${v.replace(/"/g, '""')}"\` : Array.isArray(v) ? v.length : v ?? "").join(","))].join("\\n");
const tree = (parent) => rows.filter((r) => r.parent === parent && r.id !== parent).slice(0, 4).map((r) => r.id); const stats = Object.entries(by("team")).map(([team, ids]) => { const l = rows.filter((r) => ids.includes(r.id)).map((r) => r.score).sort((a, b) => a - b); return { team, n: l.length, mean: +(sum(l) / l.length).toFixed(2), median: l.length % 2 ? l[l.length >> 1] : (l[l.length / 2 - 1] + l[l.length / 2]) / 2 }; }).sort((a, b) => a.team.localeCompare(b.team));
const tags = new Map(); for (const t of rows.flatMap((r) => r.tags)) tags.set(t, (tags.get(t) ?? 0) + 1); const months = rows.map((r) => new Date(r.at + "T00:00:00Z").getUTCMonth() + 1); const { length, [length - 1]: last } = rows; const table = rows.map((r) => String(r.id).padEnd(3) + r.team.padStart(6) + String(r.score).padStart(5)).join("\\n");
return [by("team"), csv, stats, [...tags].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)), months, last.id, tree(null), table, rows.filter(({ score }) => score > ${random.integer(0, 60)}).map(({ id, team: t }) => \`\${t}:\${id}\`), Math.max(...rows.map((r) => r.score)), rows.some((r) => r.tags.includes("x")), new Set(rows.map((r) => r.team)).size, rows.toSorted((a, b) => b.score - a.score || a.id - b.id).map((r) => r.id), JSON.parse(JSON.stringify(rows))[0]];`;
  },
};
