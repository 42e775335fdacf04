! null.foo
! undefined.foo
! let x; x.foo
! let x = null; x.foo.bar
! const o = {}; o.a.b
! const o = {}; o.a.b = 1
! const o = { a: null }; o.a["b c"]
! const o = {}; o.missing()
! const o = { a: {} }; o.a.missing()
! const o = { a: 1 }; o.a()
! const o = {}; o["x y"]()
! const o = {}, k = "key"; o[k]()
! const list = [1]; list.foo()
! const list = [1]; list[0]()
! const list = [1]; list[5].name
! const f = 5; f()
! const f = undefined; f()
! const o = {}; new o.Missing()
! const x = 1; new x()
! new (() => {})()
! const f = () => {}; new f()
! ({}).x.y.z
! (void 0).x
! missing
! missing()
! missing.x
! typeof missing; missing + 1
! x; let x = 1
! const f = () => y; f(); const y = 1
! new C(); class C {}
! const c = 1; c = 2
! const c = 1; c++
! const { a } = null
! const { a } = undefined
! const { a: { b } } = {}
! const [a] = null
! const [a] = {}
! const [a] = undefined
! const [[a]] = [1]
! const f = ({ a }) => a; f()
! const f = ([a]) => a; f(5)
! for (const x of 5) ;
! for (const x of {}) ;
! for (const x of null) ;
! for (const [k, v] of [1]) ;
! const o = {}; for (const x of o.list) ;
! [...5]
! [...undefined]
! Math.max(...5)
! new Map([1])
! new Set(5)
! Object.fromEntries([1])
! Object.entries(null)
! Object.keys(undefined)
! Object.defineProperty(1, "a", {})
! Object.defineProperty(Object.freeze({}), "a", { value: 1 })
! Object.setPrototypeOf({}, 1)
! Object.create(1)
! Reflect.ownKeys(1)
! Symbol() + ""
! `${Symbol("s")}`
! Symbol("d") * 1
! new Symbol()
! Promise()
! new Promise()
! new Promise(5)
! Map()
! class A {} A()
! class A { constructor() { this.x; } } class B extends A { constructor() { this.x; } } new B()
! class A {} class B extends A { constructor() {} } new B()
! class A {} class B extends A { constructor() { super(); super(); } } new B()
! class A { #x; static f(o) { return o.#x; } } A.f({})
! class A { #x; static f(o) { o.#x = 1; } } A.f({})
! class A { #m() {} static f(o) { o.#m(); } } A.f({})
! class A { get x() { return 1; } } new A().x = 2
! class A extends null {} new A()
! class A extends 5 {}
! class A extends undefined {}
! const A = {}; class B extends A {}
! 1n + 1
! 1n / 0n
! +1n
! Math.max(1n)
! BigInt(1.5)
! BigInt("x")
! BigInt(undefined)
! 2n ** -1n
! 1n >>> 0n
! JSON.parse("")
! JSON.parse("{")
! JSON.parse("{a: 1}")
! JSON.parse("[1,]")
! JSON.parse("nope")
! JSON.parse(undefined)
! JSON.parse('{"a": "b}')
! JSON.stringify(1n)
! const o = {}; o.o = o; JSON.stringify(o)
! const o = { a: [] }; o.a.push({ b: o }); JSON.stringify(o)
! [].reduce((a, b) => a)
! [].reduceRight((a, b) => a)
! new Array(-1)
! [].length = -1
! [1].at(Symbol())
! [3, 1].sort(5)
! [1].map(5)
! [1].map()
! [1].forEach(undefined)
! [1].flatMap({})
! Array.from([1], 5)
! Array.from(null)
! "x".repeat(-1)
! "x".repeat(Infinity)
! "x".padEnd(2 ** 30)
! "x".normalize("X")
! "x".replaceAll(/x/, "")
! "x".matchAll(/x/)
! "x".startsWith(/x/)
! "x".includes(/x/)
! String.fromCodePoint(-1)
! String.fromCodePoint(1.5)
! String.raw()
! (1).toFixed(101)
! (1).toPrecision(0)
! (1).toExponential(-1)
! (1).toString(1)
! decodeURIComponent("%")
! encodeURIComponent("\ud800")
! new RegExp("(")
! new RegExp("[")
! new RegExp("a", "gg")
! new RegExp("*")
! new RegExp("(?<a>.)(?<a>.)")
! new Date(NaN).toISOString()
! new Proxy({}, null)
! const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); proxy.x
! "use strict"; Object.freeze([1]).push(2)
! "use strict"; Object.freeze({ a: 1 }).a = 2
! "use strict"; delete Object.freeze({ a: 1 }).a
! "use strict"; Object.preventExtensions({}).a = 1
! "use strict"; undeclared = 1
! "use strict"; "text".length = 1
! "use strict"; (5).x = 1
! null[Symbol.iterator]
! (1)()
! "a"()
! ({})()
! [].x.y
! (() => {}).x.y
! 1 in 2
! "a" in "abc"
! 1 instanceof 2
! ({}) instanceof (() => {})
! ({}) instanceof {}
! null ?? undefined.x
! const o = { f() { return this.g(); } }; o.f()
! const o = { get g() { return undefined; } }; o.g.h
! (async () => {})().foo()
! const g = (function* () { yield g.next(); })(); g.next()
! await null.x
! await Promise.reject(new TypeError("own"))
! await (async () => { await null; undefined.late; })()
! await Promise.any([])
! await Promise.all(5)
! throw new AggregateError([new Error("a")], "many")
! throw null
! throw { name: "N", message: "m" }
! throw "text"
! structuredClone(() => {})
! structuredClone(Symbol())
! atob("*")
! new URL("nope")
! new Uint8Array(-1)
! new Uint16Array(new ArrayBuffer(3))
! new DataView(new ArrayBuffer(1)).getInt16(0)
! Uint8Array.of(1).set([1, 2])
! new WeakMap([[1, 2]])
! new WeakSet().add(1)
! Reflect.construct(1)
! Reflect.apply(1)
! Function.prototype.call.call(1)
! [].concat.call(null)
! Map.prototype.get.call({}, 1)
! Set.prototype.add.call([], 1)
! Date.prototype.getTime.call({})
! const it = { [Symbol.iterator]() { return 1; } }; [...it]
! const it = { [Symbol.iterator]() { return {}; } }; [...it]
! const it = { [Symbol.iterator]: 5 }; [...it]
! const it = { [Symbol.iterator]() { return { next: () => 1 }; } }; [...it]
! const o = { toString() { return {}; }, valueOf() { return {}; } }; o + ""
! const o = { [Symbol.toPrimitive]: 5 }; +o
! const o = { [Symbol.toPrimitive]() { return {}; } }; `${o}`
! const f = () => f(); f()
! (function f() { f(); })()
! const o = { get a() { return this.a; } }; o.a

new Error("m").message
String(new Error("m"))
String(new TypeError())
new Error("m", { cause: "c" }).cause
"cause" in new Error("m", {})
"cause" in new Error("m", { cause: undefined })
Object.keys(new Error("m")).length
JSON.stringify(new Error("m"))
Object.getOwnPropertyNames(new Error("m")).sort()
new Error({ toString: () => "from an object" }).message
new Error(undefined).hasOwnProperty("message")
Error("called").constructor === Error
Error.prototype.name + Error.prototype.message + "|"
RangeError.prototype instanceof Error
Object.getPrototypeOf(TypeError) === Error
Error.length + TypeError.length + AggregateError.length
new AggregateError([1, 2], "m").errors
new AggregateError(new Set([1]), "m", { cause: 5 }).cause
Error.prototype.toString.call({ name: "N", message: "m" })
Error.prototype.toString.call({ name: "", message: "m" })
Error.prototype.toString.call({ name: "N" })
typeof new Error("m").stack
new Error("first\nsecond").stack.startsWith("Error: first\nsecond")
Object.prototype.toString.call(new Error())
new (class extends Error {})("m").name
new (class Own extends Error { name = "Own"; })("m") + ""
new (class Own extends Error { get name() { return "Getter"; } })("m") + ""
new (class Own extends Error { constructor(m) { super(m); this.name = new.target.name; } })("m") + ""
(() => { try { throw 1; } catch { return "caught"; } })()
(() => { try { return "a"; } finally { [].push(1); } })()
(() => { try { throw 1; } catch (e) { return e + 1; } finally { void 0; } })()
(() => { try { throw 1; } finally { return 2; } })()
(() => { for (const x of [1, 2]) { try { continue; } finally { if (x === 2) return "left at 2"; } } })()
(() => { let x = 1; try { return x; } finally { x = 2; } })()
(() => { const o = { n: 1 }; try { return o; } finally { o.n = 2; } })()
(() => { try { try { throw new Error("in"); } finally { throw new Error("over"); } } catch (e) { return e.message; } })()
(() => { const out = []; try { try { throw 1; } catch (e) { out.push(e); throw 2; } finally { out.push("f"); } } catch (e) { out.push(e); } return out; })()
(() => { l: { try { break l; } finally { return "from finally"; } } })()
(() => { const out = []; for (let i = 0; i < 3; i++) { try { if (i === 1) break; out.push(i); } finally { out.push("f" + i); } } return out; })()
(() => { let n = 0; do { try { n++; if (n < 3) continue; break; } finally { n += 10; } } while (n < 50); return n; })()
(() => { try { (() => { throw new RangeError("r"); })(); } catch ({ name, message }) { return name + message; } })()
(() => { try { throw [1, [2]]; } catch ([a, [b]]) { return a + b; } })()
(() => { var e = "outer"; try { throw "inner"; } catch (e) { var f = e; } return [e, f]; })()
(() => { switch (1) { case 1: try { break; } finally { return "f"; } } return "after"; })()
(() => { const g = (function* () { try { yield 1; } finally { yield "cleanup"; } })(); return [g.next(), g.return("r"), g.next(), g.next()]; })()
await Promise.reject(new Error("m")).catch((e) => e.message)
await (async () => { try { await Promise.reject(1); } catch (e) { return e; } finally { await null; } })()
await (async () => { try { return await Promise.reject(1); } catch { return "caught"; } })()
await (async () => { try { return Promise.reject(1); } catch { return "here"; } })().catch(() => "outside")
await Promise.resolve().then(() => { throw new TypeError("t"); }).then(() => "no", (e) => e.name)
await Promise.reject(1).finally(() => { throw 2; }).catch((e) => e)
await Promise.reject(1).finally(() => 5).catch((e) => e)
await Promise.resolve(1).finally(() => 5)
await new Promise((ok, no) => { ok(1); throw new Error("late"); })
await new Promise(() => { throw new Error("early"); }).catch((e) => e.message)
await Promise.allSettled([Promise.reject(new Error("a")), 1]).then((all) => all.map((r) => r.reason?.message ?? r.value))
await Promise.any([Promise.reject(1), Promise.reject(2)]).catch((e) => [e.constructor.name, e.errors, e.message])
await Promise.race([new Promise((_, no) => setTimeout(no, 1, "slow")), Promise.reject("fast")]).catch((e) => e)

// a chain of causes
const load = () => { try { JSON.parse("{"); } catch (cause) { throw new Error("cannot load", { cause }); } };
const start = () => { try { load(); } catch (cause) { throw new TypeError("cannot start", { cause }); } };
try { start(); } catch (e) { const chain = []; for (let x = e; x; x = x.cause) chain.push(x.constructor.name); return chain; }

// an error class with data
class HttpError extends Error { constructor(status, body, options) { super(`HTTP ${status}`, options); this.name = "HttpError"; this.status = status; this.body = body; } get retryable() { return this.status >= 500; } static from(r) { return r.ok ? null : new HttpError(r.status, r.body); } toJSON() { const { name, message, status } = this; return { name, message, status }; } }
const e = HttpError.from({ ok: false, status: 503, body: "busy" });
return [e instanceof HttpError, e instanceof Error, e.retryable, String(e), JSON.stringify(e), Object.keys(e), HttpError.from({ ok: true })];

// retries with growing pauses
let calls = 0; const log = [];
const flaky = async () => { if (++calls < 3) throw new Error(`try ${calls}`); return "done"; };
const retry = async (f, times, pause = 1) => { for (let n = 1; ; n++) { try { return await f(); } catch (e) { log.push(e.message); if (n >= times) throw new Error("gave up", { cause: e }); await new Promise((r) => setTimeout(r, pause)); pause *= 2; } } };
const first = await retry(flaky, 5); calls = -9;
const second = await retry(flaky, 2).catch((e) => [e.message, e.cause.message]);
return [first, second, log];

// resources are closed in reverse
const log = []; const open = (n) => { log.push("open " + n); if (n === "bad") throw new Error("cannot open"); return { close: () => log.push("close " + n) }; };
const use = (names) => { const opened = []; try { for (const n of names) opened.push(open(n)); return "used"; } catch (e) { return e.message; } finally { while (opened.length) opened.pop().close(); } };
return [use(["a", "b"]), use(["a", "bad", "c"]), log];

// results in place of exceptions
const attempt = (f, ...args) => { try { return { ok: true, value: f(...args) }; } catch (error) { return { ok: false, error: error.message ?? error }; } };
const parse = (s) => { const n = Number(s); if (Number.isNaN(n)) throw new RangeError(`not a number: ${s}`); return n; };
const all = ["1", "x", " 3 ", ""].map((s) => attempt(parse, s));
return [all, all.filter((r) => r.ok).reduce((sum, r) => sum + r.value, 0), attempt(() => { throw "raw"; })];

// a switch on what was thrown
const classify = (f) => { try { f(); return "fine"; } catch (e) { switch (true) { case e instanceof TypeError: return "type"; case e instanceof RangeError: return "range"; case e instanceof SyntaxError: return "syntax"; case typeof e === "string": return "text"; case e == null: return "nothing"; default: return e.constructor.name; } } };
return [() => null.x, () => "x".repeat(-1), () => JSON.parse("}"), () => { throw "s"; }, () => { throw undefined; }, () => undeclared, () => { throw new URIError("u"); }, () => { throw { constructor: { name: "Odd" } }; }, () => 1].map(classify);

// validation that collects
const check = (o) => { const errors = []; const need = (k, test, say) => { try { if (!test(o[k])) errors.push(new RangeError(`${k} ${say}`)); } catch (cause) { errors.push(new Error(`${k} cannot be checked`, { cause })); } }; need("age", (v) => v >= 0, "is negative"); need("name", (v) => v.length > 1, "is short"); need("mail", (v) => v.includes("@"), "has no @"); if (errors.length) throw new AggregateError(errors, `${errors.length} faults`); return "valid"; };
return [{ age: 1, name: "Ada", mail: "a@b" }, { age: -1, name: "x", mail: "no" }, { name: null }].map((o) => { try { return check(o); } catch (e) { return [e.message, e.errors.map((x) => [x.message, x.cause?.name ?? null])]; } });

// finally that overrides in async functions
const a = async () => { try { throw 1; } finally { return "over"; } }, b = async () => { try { return "try"; } finally { await null; } }, c = async () => { try { return "try"; } finally { throw new Error("f"); } };
const d = async () => { for (const x of [1, 2, 3]) { try { await null; if (x === 2) continue; if (x === 3) return x; } finally { if (x === 3) break; } } return "broke"; };
return [await a(), await b(), await c().catch((e) => e.message), await d()];

// errors in callbacks
const log = []; const each = (f) => { try { f(); } catch (e) { log.push(e.message); } };
each(() => [1, 2].map((x) => { if (x === 2) throw new Error("map"); return x; })); each(() => [2, 1].sort(() => { throw new Error("sort"); })); each(() => "ab".replace(/b/, () => { throw new Error("replace"); }));
each(() => JSON.stringify({ toJSON() { throw new Error("toJSON"); } })); each(() => JSON.parse("[1]", () => { throw new Error("reviver"); })); each(() => new Map([[1, 2]]).forEach(() => { throw new Error("forEach"); })); each(() => Array.from({ length: 1 }, () => { throw new Error("from"); }));
each(() => ({ get x() { throw new Error("getter"); } }).x); each(() => { ({ set x(v) { throw new Error("setter"); } }).x = 1; }); each(() => `${{ toString() { throw new Error("text"); } }}`); each(() => +{ valueOf() { throw new Error("value"); } }); each(() => new (class { x = (() => { throw new Error("field"); })(); })()); each(() => class { static x = (() => { throw new Error("static"); })(); }); each(() => ((a = (() => { throw new Error("default"); })()) => a)());
return log;

// what is thrown out of iterators
const log = []; const it = (where) => ({ [Symbol.iterator]() { let n = 0; if (where === "iterator") throw new Error("iterator"); return { next() { if (where === "next" && n) throw new Error("next"); return { done: n++ > 2, get value() { if (where === "value") throw new Error("value"); return n; } }; }, return() { log.push("return"); if (where === "return") throw new Error("return"); return where === "odd" ? 5 : {}; } }; } });
for (const where of ["iterator", "next", "value", "return", "odd", "body"]) { try { for (const x of it(where)) { if (where === "body") throw new Error("body"); if (x > 1) break; } log.push("fine " + where); } catch (e) { log.push(where === "odd" ? e.name : e.message); } }
for (const where of ["next", "return", "value"]) { try { const [a, b] = it(where); log.push([a, b]); } catch (e) { log.push("d " + e.message); } }
return log;

// the order of nested finallys with awaits
const log = []; const step = async (n) => { await null; log.push(n); };
const run = async (f) => { try { try { await step("a"); f(); await step("b"); } finally { await step("inner"); } } catch (e) { log.push("caught " + e); } finally { await step("outer"); } };
await run(() => {}); await run(() => { throw "x"; }); await Promise.all([run(() => { throw 1; }), run(() => { throw 2; })]);
return log;

// a timeout beside work
const timeout = (ms) => new Promise((_, no) => setTimeout(() => no(new Error(`no answer in ${ms} ms`)), ms)), work = (ms) => new Promise((ok) => setTimeout(ok, ms, `done in ${ms}`));
const within = async (p, ms) => { try { return await Promise.race([p, timeout(ms)]); } catch (e) { return e.message; } };
return [await within(work(1), 40), await within(work(60), 2)];

! const o = { toString() { return `${o}`; } }; String(o)
! const o = { valueOf() { return +o; } }; o * 2
((n, o) => ((o.toString = () => (n++ < 3 ? o + "x" : "end")), String(o)))(0, {})
((a) => ((a[1] = [a, 2]), [a.join(), String(a), +a, a.toLocaleString()]))([1])
((a) => (a.push({ toString: () => "in " + a.join() }, a), a.join("-")))([1])
! for (const x of [1]) { for (y of [x]); let y; }
! (() => { for (y of [1]); let y; })()
! (() => { for (y in { a: 1 }); let y; return () => y; })()
! const o = {}; for await (const x of o);
! Object.freeze([1, 2]).pop()
! Object.freeze({}).__proto__ = {}
! const a = {}, b = { __proto__: a }; a.__proto__ = b
