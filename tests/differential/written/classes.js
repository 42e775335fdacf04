new (class { a = 1; b = this.a + 1; })().b
new (class { ["a" + 1] = 5; })().a1
new (class { static a = 1; static b = this.a + 1; }).constructor.b
(class { static #n = 1; static next() { return ++this.#n; } }).next()
(class { static { this.ready = true; } }).ready
Object.keys(new (class { a; b = 2; #c = 3; })())
new (class { #x = 1; get x() { return this.#x; } set x(v) { this.#x = v * 2; } })().x
(() => { class A { #x = 1; bump() { return [this.#x++, ++this.#x, this.#x **= 2, this.#x ??= 9]; } } return new A().bump(); })()
(() => { class A { #f = (n) => n * this.k; k = 3; g(n) { return this.#f(n); } } return new A().g(4); })()
(() => { class A { static #count = 0; constructor() { A.#count++; } static get count() { return A.#count; } } new A(); new A(); return A.count; })()
(() => { class A { #x; static has(o) { return #x in o; } } return [A.has(new A()), A.has({}), A.has(Object.create(new A()))]; })()
(() => { class A { get #p() { return 5; } set #p(v) { this.got = v; } run() { this.#p = 7; return [this.#p, this.got]; } } return new A().run(); })()
(() => { class A { static async *[Symbol.asyncIterator]() { yield 1; } } return typeof A[Symbol.asyncIterator]; })()
(() => { class A { m() { return "A"; } } class B extends A { m() { return super.m() + "B"; } } class C extends B { m() { return super.m() + "C"; } } return new C().m(); })()
(() => { class A { static make() { return new this(); } } class B extends A {} return B.make() instanceof B; })()
(() => { class A { constructor() { this.kind = new.target.name; } } class B extends A {} return [new A().kind, new B().kind]; })()
(() => { class A { x = this.init(); init() { return "A"; } } class B extends A { y = 1; init() { return "B" + this.y; } } return [new B().x, new B().y]; })()
(() => { class A { constructor() { return { other: true }; } } class B extends A { f = 1; } return new B(); })()
(() => { class A { constructor() { return 5; } } return typeof new A(); })()
(() => { const log = []; class A { [(log.push("a"), "a")] = log.push("va"); static [(log.push("b"), "b")] = log.push("vb"); [(log.push("c"), "c")]() {} } log.push("new"); new A(); return log; })()
(() => { class A { get v() { return 1; } } class B extends A { get v() { return super.v + 1; } } return new B().v; })()
(() => { class A { set v(x) { this._v = x; } get v() { return this._v; } } class B extends A { set v(x) { super.v = x * 2; } get v() { return super.v; } } const b = new B(); b.v = 3; return b.v; })()
(() => { class A { x = 1; } class B extends A { x = super.x; y = this.x; } const b = new B(); return [b.x ?? "none", b.y ?? "none"]; })()
(() => { class A { f() { return () => super.toString === Object.prototype.toString; } } return new A().f()(); })()
(() => { class A { static f() { return "static"; } } class B extends A { static f() { return super.f() + "!"; } } return B.f(); })()
(() => { class A { static x = 1; } class B extends A {} B.x = 2; return [A.x, B.x, Object.hasOwn(B, "x")]; })()
(() => { const M = (B) => class extends B { m() { return "m" + (super.m?.() ?? ""); } }; class A { m() { return "a"; } } return new (M(M(A)))().m(); })()
(() => { class A extends Array { sum() { return this.reduce((x, y) => x + y, 0); } } const a = A.from([1, 2, 3]); return [a.sum(), a.map((x) => x * 2) instanceof A, a.length, Array.isArray(a), a.filter(Boolean).sum()]; })()
(() => { class M extends Map { get(k) { return super.get(k) ?? "default"; } } const m = new M([["a", 1]]); return [m.get("a"), m.get("b"), m.size, m instanceof Map]; })()
(() => { class S extends Set { add(x) { return super.add(String(x).toLowerCase()); } } return [...new S(["A", "a", "B"])]; })()
(() => { class P extends Promise { static get [Symbol.species]() { return Promise; } } return new P((r) => r()).then() instanceof P; })()
(() => { class T extends String { shout() { return this.toUpperCase() + "!"; } } return new T("x").shout(); })()
(() => { class F extends Function {} return new F("return 7") instanceof F; })().toString()
(() => { class E extends Error { constructor(m) { super(m); this.name = this.constructor.name; } } class F extends E {} return String(new F("m")); })()
(() => { class A { static [Symbol.hasInstance](x) { return x === 1; } } return [1 instanceof A, new A() instanceof A]; })()
(() => { class A { [Symbol.toPrimitive](hint) { return hint === "number" ? 42 : hint; } } const a = new A(); return [+a, `${a}`, a + ""]; })()
(() => { class A { *[Symbol.iterator]() { yield 1; yield* [2, 3]; } } return [...new A()]; })()
(() => { class A { get [Symbol.toStringTag]() { return "Tag"; } } return String(new A()); })()
(() => { class A { "quoted name"() { return 1; } 42() { return 2; } [`t${1}`]() { return 3; } } const a = new A(); return [a["quoted name"](), a[42](), a.t1()]; })()
(() => { class A { static() { return 1; } get() { return 2; } set() { return 3; } async() { return 4; } of() { return 5; } } const a = new A(); return [a.static(), a.get(), a.set(), a.async(), a.of()]; })()
(() => { class A { static = 1; get = 2; async = 3 } const a = new A(); return [a.static, a.get, a.async]; })()
(() => { class A { a = 1
b = 2
["c"] = 3
} return Object.values(new A()); })()
(() => { const A = class Inner { who() { return Inner.name; } }; return [A.name, new A().who()]; })()
(() => { const o = { A: class {} }; const B = class {}; return [o.A.name, B.name, (class {}).name, (() => class {})().name]; })()
(() => { class A { static name = "own"; } return A.name; })()
(() => { class A { constructor(a, b = 1, ...c) {} m(a, b) {} } return [A.length, A.prototype.m.length]; })()
(() => { class A { m() {} get g() { return 1; } static s() {} } return [Object.getOwnPropertyNames(A.prototype), Object.getOwnPropertyNames(A), Object.keys(A.prototype)]; })()
(() => { class A { m() {} } const { m } = new A(); try { return m.call(undefined) ?? "fine"; } catch (e) { return e.name; } })()
(() => { class A { who() { return this === undefined; } } const { who } = new A(); return who(); })()
(() => { class A { who = () => this.n; n = 5; } const { who } = new A(); return who(); })()
(() => { class A {} A.prototype.late = function () { return "late"; }; return new A().late(); })()
(() => { class A { constructor() { Object.freeze(this); } } const a = new A(); try { "use strict"; a.x = 1; return "x" in a; } catch (e) { return e.name; } })()
(() => { class A { x = 1; } const a = new A(); delete a.x; return [a.x ?? "gone", "x" in a]; })()
(() => { class A { set x(v) {} } class B extends A { x = 1; } return Object.getOwnPropertyDescriptor(new B(), "x").value; })()
(() => { class Stack { #items = []; push(x) { this.#items.push(x); return this; } pop() { return this.#items.pop(); } get size() { return this.#items.length; } } const s = new Stack().push(1).push(2); return [s.pop(), s.size, JSON.stringify(s)]; })()
(() => { class A { static #make = Symbol(); constructor(key) { if (key !== A.#make) throw new TypeError("private"); } static make() { return new A(A.#make); } } try { new A(); } catch (e) { return [e.message, A.make() instanceof A]; } })()
(() => { class A { constructor(n) { this.n = n; } valueOf() { return this.n; } } return [new A(3) + new A(4), new A(1) < new A(2), Math.max(new A(5), 2), [new A(2), new A(1)].sort((a, b) => a - b).map(Number)]; })()
(() => { class A { toJSON() { return { kind: "A" }; } } return JSON.stringify([new A(), { a: new A() }]); })()
(() => { class Node { constructor(v, next = null) { Object.assign(this, { v, next }); } *[Symbol.iterator]() { for (let n = this; n; n = n.next) yield n.v; } } return [...new Node(1, new Node(2, new Node(3)))]; })()
(() => { class A { static from(o) { return Object.assign(new this(), o); } } return A.from({ a: 1 }) instanceof A; })()
(() => { let n = 0; class A { id = ++n; } return [new A().id, new A().id, n]; })()
(() => { class A { handlers = {}; on(k, f) { (this.handlers[k] ??= []).push(f); return this; } emit(k, ...a) { return this.handlers[k]?.map((f) => f(...a)) ?? []; } } return new A().on("x", (v) => v + 1).on("x", (v) => v * 2).emit("x", 5); })()
(() => { class Temp { static #abs = -273.15; #c = 0; set c(v) { if (v < Temp.#abs) throw new RangeError("too cold"); this.#c = v; } get f() { return this.#c * 9 / 5 + 32; } } const t = new Temp(); t.c = 100; try { t.c = -300; } catch (e) { return [t.f, e.message]; } })()
(() => { class A { constructor() { this.bound = this.m.bind(this); } m() { return this.n; } n = 3; } const { bound } = new A(); return bound.call({ n: 9 }); })()
(() => { class A { x = 1; static compare(a, b) { return a.x - b.x; } } const l = [3, 1, 2].map((x) => Object.assign(new A(), { x })); return l.sort(A.compare).map((a) => a.x); })()
(() => { class A { get x() { Object.defineProperty(this, "x", { value: ++n }); return n; } } let n = 0; const a = new A(); return [a.x, a.x, n]; })()
(() => { class A { async m() { return this.v; } v = 4; } return new A().m(); })()
await (async () => { class A { #q = Promise.resolve(0); add(n) { return (this.#q = this.#q.then((v) => v + n)); } } const a = new A(); a.add(1); a.add(2); return a.add(3); })()
await (async () => { class A { async *pages(n) { for (let i = 0; i < n; i++) { await null; yield i * this.size; } } size = 10; } const out = []; for await (const p of new A().pages(3)) out.push(p); return out; })()
await (async () => { class A { static async create(v) { const a = new A(); a.v = await v; return a; } } return (await A.create(Promise.resolve(5))).v; })()
await (async () => { class L { then(ok) { ok("thenable"); } } return await new L(); })()
(() => { class A { accessor() { return 1; } } return new A().accessor(); })()
(() => { function Old(n) { this.n = n; } Old.prototype.get = function () { return this.n; }; class New extends Old { get() { return super.get() + 1; } } return new New(1).get(); })()
(() => { function Old() { if (!new.target) return new Old(); this.ok = true; } return [Old().ok, new Old().ok]; })()
(() => { const o = { __proto__: { hi() { return "proto"; } }, hi() { return super.hi() + "!"; } }; return o.hi(); })()
(() => { class A { static #p = 1; static read() { return A.#p; } } class B extends A {} return B.read(); })()
(() => { class A { static #p = 1; static read() { return this.#p; } } class B extends A {} try { return B.read(); } catch (e) { return e.name; } })()
(() => { class A { #p = 1; equals(o) { return this.#p === o.#p; } } return new A().equals(new A()); })()
(() => { class A { #p = { n: 1 }; take() { const { n, ...rest } = this.#p; [this.#p] = [rest]; return [n, this.#p]; } } return new A().take(); })()
(() => { class A { #a = 1; f() { return this?.#a; } static g(o) { return o?.#a; } } return [new A().f(), A.g(null) ?? "none"]; })()
(() => { class A { #a = 1; f() { delete this.b; return typeof this.#a; } } return new A().f(); })()
(() => { class Outer { #x = 1; Inner = class { read(o) { return o.#x; } }; } const o = new Outer(); return new o.Inner().read(o); })()
(() => { class A { static x = A.name; static y = () => this.x; } return A.y(); })()
(() => { class A { constructor() { this.a = 1; } } const a = Reflect.construct(A, [], class B { static tag = 1; }); return [a.a, a instanceof A, a.constructor.name]; })()
(() => { class A {} return [typeof A, Object.getPrototypeOf(A) === Function.prototype, A.prototype.constructor === A, Object.getOwnPropertyDescriptor(A, "prototype").writable]; })()
(() => { class A {} try { A.prototype = {}; return "set"; } catch (e) { return e.name; } })()
(() => { class A { m() { return arguments.length; } } return new A().m(1, 2, 3); })()
(() => { const key = Symbol("k"); class A { [key] = 1; static [key] = 2; get [`${String(key)}x`]() { return 3; } } return [new A()[key], A[key], new A()["Symbol(k)x"]]; })()
(() => { class A { static of(...a) { return new A(...a); } constructor(...a) { this.a = a; } } class B extends A { constructor(...a) { super(...a, "b"); } static of(...a) { return Reflect.apply(super.of, B, a); } } return [B.of(1).a, new B(1).a]; })()

// a bank account
class Account { static #rate = 0.1; static #all = []; #balance = 0; #log = []; constructor(owner) { this.owner = owner; Account.#all.push(this); } #record(kind, n) { this.#log.push(`${kind}:${n}`); return this; } deposit(n) { if (!(n > 0)) throw new RangeError(`cannot deposit ${n}`); this.#balance += n; return this.#record("in", n); } withdraw(n) { if (n > this.#balance) throw new Error("insufficient"); this.#balance -= n; return this.#record("out", n); } get balance() { return this.#balance; } get history() { return [...this.#log]; } static interest() { for (const a of this.#all) a.deposit(a.#balance * this.#rate); return this.#all.length; } }
const a = new Account("ada").deposit(100).withdraw(30), b = new Account("bo").deposit(50), failed = [];
for (const f of [() => a.withdraw(1e6), () => b.deposit(-1), () => b.deposit("x"), () => { a.balance = 5; }]) try { f(); failed.push("ok"); } catch (e) { failed.push(e.constructor.name); }
return [Account.interest(), a.balance, b.balance, a.history, failed, JSON.stringify(a)];

// shapes
class Shape { constructor(name) { if (new.target === Shape) throw new TypeError("abstract"); this.name = name; } area() { throw new Error(`${this.constructor.name} has no area`); } toString() { return `${this.name}(${this.area().toFixed(2)})`; } static compare(a, b) { return a.area() - b.area(); } }
class Circle extends Shape { #r; constructor(r) { super("circle"); this.#r = r; } area() { return Math.PI * this.#r ** 2; } }
class Rect extends Shape { constructor(w, h) { super("rect"); this.w = w; this.h = h; } area() { return this.w * this.h; } } class Square extends Rect { constructor(s) { super(s, s); this.name = "square"; } } class Blob extends Shape { constructor() { super("blob"); } }
const all = [new Circle(1), new Rect(2, 3), new Square(2)].sort(Shape.compare), failed = []; for (const f of [() => new Shape("x"), () => String(new Blob())]) try { f(); } catch (e) { failed.push(e.message); }
return [all.map(String), failed, all.map((s) => s instanceof Rect)];

// an observable store
class Store { #state; #subs = new Set(); constructor(initial) { this.#state = Object.freeze({ ...initial }); } get state() { return this.#state; } set(patch) { const before = this.#state; this.#state = Object.freeze({ ...before, ...(typeof patch === "function" ? patch(before) : patch) }); for (const f of this.#subs) f(this.#state, before); return this; } subscribe(f) { this.#subs.add(f); return () => this.#subs.delete(f); } }
const log = [], store = new Store({ n: 1 }); const off = store.subscribe((now, was) => log.push([was.n, now.n]));
store.set({ n: 2 }).set((s) => ({ n: s.n * 5 })); off(); store.set({ n: 0 });
return [log, store.state, Object.isFrozen(store.state)];

// fields, constructors and their order
const log = []; const say = (x) => (log.push(x), x);
class A { a = say("A.a"); constructor() { say("A()"); } static s = say("A.s"); static { say("A static"); } }
class B extends A { b = say("B.b"); constructor() { say("before super"); super(); say("B()"); } static t = say("B.t"); c = say("B.c"); }
say("ready"); const b = new B(); return [log, Object.keys(b)];

// a linked list
class List { #head = null; #size = 0; static from(items) { const l = new List(); for (const x of items) l.push(x); return l; } push(v) { const node = { v, next: null }; if (!this.#head) this.#head = node; else { let at = this.#head; while (at.next) at = at.next; at.next = node; } this.#size++; return this; } reverse() { let [before, at] = [null, this.#head]; while (at) [at.next, before, at] = [before, at, at.next]; this.#head = before; return this; } *[Symbol.iterator]() { for (let n = this.#head; n; n = n.next) yield n.v; } get length() { return this.#size; } remove(f) { while (this.#head && f(this.#head.v)) { this.#head = this.#head.next; this.#size--; } for (let n = this.#head; n?.next; ) if (f(n.next.v)) { n.next = n.next.next; this.#size--; } else n = n.next; return this; } }
const l = List.from([1, 2, 3, 4, 5]); return [[...l.reverse()], [...l.remove((x) => x % 2)], l.length, Math.max(...l)];

// a priority queue
class Queue { #heap = []; constructor(less = (a, b) => a < b) { this.less = less; } push(x) { const h = this.#heap; h.push(x); for (let i = h.length - 1; i && this.less(h[i], h[(i - 1) >> 1]); i = (i - 1) >> 1) [h[i], h[(i - 1) >> 1]] = [h[(i - 1) >> 1], h[i]]; return this; } pop() { const h = this.#heap, top = h[0], last = h.pop(); if (h.length) { h[0] = last; for (let i = 0; ; ) { let m = i; for (const c of [2 * i + 1, 2 * i + 2]) if (c < h.length && this.less(h[c], h[m])) m = c; if (m === i) break; [h[i], h[m]] = [h[m], h[i]]; i = m; } } return top; } get size() { return this.#heap.length; } }
const q = new Queue(), out = []; for (const x of [5, 2, 9, 1, 7, 3, 8]) q.push(x); while (q.size) out.push(q.pop());
return [out, [..."hello"].reduce((h, c) => h.push(c), new Queue((a, b) => a > b)).pop()];

// an LRU cache
class Lru { #map = new Map(); constructor(limit) { this.limit = limit; } get(k) { if (!this.#map.has(k)) return; const v = this.#map.get(k); this.#map.delete(k); this.#map.set(k, v); return v; } set(k, v) { this.#map.delete(k); this.#map.set(k, v); if (this.#map.size > this.limit) this.#map.delete(this.#map.keys().next().value); return this; } get keys() { return [...this.#map.keys()]; } }
const c = new Lru(2).set("a", 1).set("b", 2); c.get("a"); c.set("c", 3); return [c.keys, c.get("b") ?? "gone", c.get("a")];

// an interval type with operators
class Interval { static #empty = new Interval(1, 0); constructor(a, b) { [this.a, this.b] = [a, b]; Object.freeze(this); } and({ a, b }) { const [x, y] = [Math.max(a, this.a), Math.min(b, this.b)]; return x > y ? Interval.#empty : new Interval(x, y); } get empty() { return this.a > this.b; } [Symbol.toPrimitive](hint) { return hint === "number" ? Math.max(0, this.b - this.a) : `[${this.a}, ${this.b}]`; } static union(...l) { return l.filter((i) => !i.empty).reduce((u, i) => new Interval(Math.min(u.a, i.a), Math.max(u.b, i.b))); } }
const [p, q, r] = [new Interval(1, 5), new Interval(3, 8), new Interval(9, 10)]; return [`${p.and(q)}`, +p.and(q), p.and(r).empty, String(Interval.union(p, r, p.and(r))), p - r];

// mixins with private state
const Timed = (B) => class extends B { #times = []; stamp(t) { this.#times.push(t); return this; } get times() { return this.#times.slice(); } }, Named = (B) => class extends B { constructor(name, ...rest) { super(...rest); this.name = name; } };
class Base { constructor(id = 0) { this.id = id; } } class Task extends Timed(Named(Base)) { done() { return `${this.name}#${this.id}@${this.times}`; } }
return [new Task("t", 7).stamp(1).stamp(2).done(), Task.length, Object.getPrototypeOf(Task).name, new Task() instanceof Base];

// getters that are inherited, overridden and deleted
class A { get x() { return "A"; } } class B extends A {} const b = new B(), out = [b.x]; Object.defineProperty(b, "x", { get: () => "own", configurable: true }); out.push(b.x); delete b.x; out.push(b.x); Object.defineProperty(B.prototype, "x", { value: "B", writable: true, configurable: true }); out.push(b.x); b.x = "set"; out.push(b.x, Object.keys(b)); delete B.prototype.x; out.push(b.x); return out;

// a builder
class Query { #parts = { select: "*", where: [], order: null, limit: null }; static from(t) { const q = new Query(); q.table = t; return q; } select(...c) { this.#parts.select = c.join(", "); return this; } where(c, ...v) { let i = 0; this.#parts.where.push(c.replace(/\?/g, () => JSON.stringify(v[i++]))); return this; } order(c, dir = "asc") { this.#parts.order = `${c} ${dir}`; return this; } limit(n) { this.#parts.limit = n; return this; } toString() { const { select, where, order, limit } = this.#parts; return [`select ${select} from ${this.table}`, where.length && `where ${where.join(" and ")}`, order && `order by ${order}`, limit !== null && `limit ${limit}`].filter(Boolean).join(" "); } }
return [`${Query.from("t").select("a", "b").where("a > ?", 1).where("b = ?", "x").order("a", "desc").limit(5)}`, String(Query.from("u"))];

// a state machine by methods
class Door { static #next = { closed: { open: "opened", lock: "locked" }, opened: { close: "closed" }, locked: { unlock: "closed" } }; #at = "closed"; constructor() { for (const event of new Set(Object.values(Door.#next).flatMap(Object.keys))) this[event] = () => { const to = Door.#next[this.#at][event]; if (!to) throw new Error(`cannot ${event} when ${this.#at}`); this.#at = to; return this; }; } get state() { return this.#at; } }
const d = new Door(); const out = [d.open().close().lock().state]; try { d.open(); } catch (e) { out.push(e.message); } return [...out, Object.keys(d)];

// a matrix
class Matrix { constructor(rows) { this.rows = rows; } static identity(n) { return new this(Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => +(i === j)))); } times({ rows }) { return new Matrix(this.rows.map((r) => rows[0].map((_, j) => r.reduce((s, v, k) => s + v * rows[k][j], 0)))); } get transposed() { return new Matrix(this.rows[0].map((_, j) => this.rows.map((r) => r[j]))); } pow(n) { return n === 0 ? Matrix.identity(this.rows.length) : n % 2 ? this.times(this.pow(n - 1)) : this.times(this).pow(n / 2); } toString() { return this.rows.map((r) => r.join(" ")).join("; "); } }
return [`${new Matrix([[1, 1], [1, 0]]).pow(30)}`, `${new Matrix([[1, 2, 3], [4, 5, 6]]).transposed}`];

// a private name that is looked for inside expressions
class Card { #n = 1; static check(x) { return [#n in x, #n in x === true, !(#n in x), #n in x instanceof Object, #n in x in { true: 1 }, (() => #n in x)(), `${#n in x}`]; } static *each(list) { for (const x of list) yield #n in x; } }
return [Card.check(new Card()), Card.check({}), [...Card.each([new Card(), {}])]];

// a constructor that returns without super and would catch what that throws
const log = []; class Base {} class Derived extends Base { constructor() { try { return undefined; } catch (e) { log.push(e.name); } finally { log.push("finally"); } } }
try { new Derived(); } catch (e) { log.push("outside", e.name); } return log;
