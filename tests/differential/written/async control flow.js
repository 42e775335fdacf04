await 5
await Promise.resolve(1)
await { then(ok) { ok(7); } }
await { then: 5 }.then
await (async () => 3)()
await Promise.all([])
await Promise.all([1, Promise.resolve(2), { then: (ok) => ok(3) }])
await Promise.all(new Set([1, 2]))
await Promise.allSettled([])
await Promise.allSettled([1, Promise.reject(2)])
await Promise.race([1, new Promise(() => {})])
await Promise.any([Promise.reject(1), 2])
await Promise.any([]).catch((e) => [e.name, e.errors.length, e.message])
await Promise.all([Promise.reject(1), Promise.reject(2)]).catch((e) => e)
await Promise.resolve(1).then((x) => x + 1).then((x) => x * 2)
await Promise.resolve(1).then(2).then((x) => x)
await Promise.resolve(1).then(null, null)
await Promise.reject(1).then((x) => x, (e) => e + 1)
await Promise.reject(1).catch((e) => e + 1).then((x) => x * 10)
await Promise.resolve(Promise.resolve(Promise.resolve(1)))
await new Promise((ok) => ok(new Promise((ok) => ok(2))))
await new Promise((ok) => setTimeout(ok, 1, "a", "b"))
await new Promise((ok) => queueMicrotask(() => ok("micro")))
Promise.resolve(1) instanceof Promise
Promise.resolve(Promise) === Promise
(() => { const p = Promise.resolve(1); return Promise.resolve(p) === p; })()
Object.prototype.toString.call(Promise.resolve())
typeof (async () => {})().then
(async function named() {}).name
(async () => {}).constructor.name
(async function* () {})().toString()
await (async (a, b = a, ...c) => [a, b, c])(1, undefined, 2, 3)
await (async ({ x }, [y]) => x + y)({ x: 1 }, [2])
await (async (x = (() => { throw new Error("default"); })()) => x)().catch((e) => e.message)
await (async () => { throw 5; })().catch((e) => e)
await (async () => { return { then(ok) { ok("adopted"); } }; })()
await (async () => { const out = []; for (const x of [1, 2]) out.push(await x); return out; })()
await (async () => { const out = []; for await (const x of [1, Promise.resolve(2)]) out.push(x); return out; })()
await (async () => { const out = []; for await (const x of new Set([Promise.resolve(1), 2])) out.push(x); return out; })()
await (async () => { const out = []; for await (const [k, v] of new Map([[1, 2]])) out.push(k + v); return out; })()
await (async () => { try { for await (const x of [Promise.reject(1)]) ; } catch (e) { return e; } })()
await (async () => { async function* g() { yield 1; yield Promise.resolve(2); return 3; } const out = []; for await (const x of g()) out.push(x); return out; })()
await (async () => { async function* g() { const x = yield 1; return x; } const it = g(); return [await it.next(), await it.next("sent"), await it.next()]; })()
await (async () => { async function* g() { yield* [1, 2]; yield* (async function* () { yield 3; })(); } const out = []; for await (const x of g()) out.push(x); return out; })()
await (async () => { async function* g() { try { yield 1; } finally { await null; log.push("closed"); } } const log = []; for await (const x of g()) break; return log; })()
await (async () => { async function* g() { yield Promise.reject(1); } const it = g(); return [await it.next().catch((e) => "no " + e), await it.next()]; })()
await (async () => { async function* g() { yield 1; yield 2; } const it = g(); return Promise.all([it.next(), it.next(), it.next()]); })()
await (async () => { async function* g() { try { yield 1; } catch (e) { yield "caught " + e; } } const it = g(); await it.next(); return [await it.throw("t"), await it.next()]; })()
await (async () => { async function* g() {} const it = g(); return [await it.return("early"), await it.next()]; })()
await (async () => { const it = { [Symbol.asyncIterator]() { let n = 0; return { next: async () => ({ done: n > 2, value: n++ }) }; } }; const out = []; for await (const x of it) out.push(x); return out; })()
await (async () => { const it = { [Symbol.asyncIterator]() { return { next: () => ({ done: true }) }; } }; for await (const x of it) ; return "sync next"; })()
await (async () => { const it = { [Symbol.asyncIterator]() { return { next: async () => 5 }; } }; try { for await (const x of it) ; } catch (e) { return e.name; } })()
await (async () => { const log = []; const a = (async () => { log.push(1); await null; log.push(3); })(); log.push(2); await a; log.push(4); return log; })()
await (async () => { const log = []; setTimeout(() => log.push("timer"), 0); queueMicrotask(() => log.push("micro")); Promise.resolve().then(() => log.push("then")); await new Promise((r) => setTimeout(r, 5)); return log; })()
await (async () => { const log = []; Promise.resolve().then(() => log.push(1)).then(() => log.push(3)); Promise.resolve().then(() => log.push(2)).then(() => log.push(4)); await new Promise((r) => setTimeout(r, 1)); return log; })()
await (async () => { const log = []; (async () => { await (async () => {})(); log.push("async"); })(); Promise.resolve().then(() => log.push("a")).then(() => log.push("b")); await new Promise((r) => setTimeout(r, 1)); return log; })()
await (async () => { const log = []; (async () => { log.push(await { then(ok) { log.push("then"); ok("v"); } }); })(); Promise.resolve().then(() => log.push("a")).then(() => log.push("b")).then(() => log.push("c")); await new Promise((r) => setTimeout(r, 1)); return log; })()
await (async () => { const log = []; const p = (async () => Promise.resolve("inner"))(); p.then((v) => log.push(v)); Promise.resolve().then(() => log.push(1)).then(() => log.push(2)).then(() => log.push(3)).then(() => log.push(4)); await new Promise((r) => setTimeout(r, 1)); return log; })()
await (async () => { const log = []; for (const n of [30, 5, 15]) setTimeout(() => log.push(n), n); await new Promise((r) => setTimeout(r, 60)); return log; })()
await (async () => { const log = []; const t = setTimeout(() => log.push("no"), 1); clearTimeout(t); const i = setInterval(() => { log.push("i"); if (log.length === 3) clearInterval(i); }, 1); await new Promise((r) => setTimeout(r, 40)); return log; })()
await (async () => { let n = 0; const add = async () => { const was = n; await null; n = was + 1; }; await Promise.all([add(), add(), add()]); return n; })()
await (async () => { let x = 1; const f = async () => 10; x += await f(); return x; })()
await (async () => { const o = { n: 1 }; const f = async () => { o.n = 100; return 5; }; o.n += await f(); return o.n; })()
await (async () => [await 1, ...(await Promise.resolve([2, 3])), await 4])()
await (async () => ({ a: await 1, [await "b"]: await 2, ...(await { c: 3 }) }))()
await (async () => `${await 1}-${await Promise.resolve("x")}`)()
await (async () => (await Promise.resolve(Math.max))(await 1, ...(await [5, 2])))()
await (async () => { const { a, b: [c] } = await Promise.resolve({ a: 1, b: [2] }); return a + c; })()
await (async () => (await null) ?? (await "default"))()
await (async () => (await false) || (await 0) || "end")()
await (async () => { switch (await 2) { case await 1: return "one"; case await 2: return "two"; } })()
await (async () => { if (await true) return await Promise.resolve("yes"); })()
await (async () => { let n = 0; while ((await n) < 3) n++; return n; })()
await (async () => { let n = 5; do { await null; } while (--n); return n; })()
await (async () => { for (let i = await 0; i < (await 3); i += await 1) if (i === 2) return i; })()
await (async () => { label: for (const x of [1, 2]) for await (const y of [1, 2]) { if (y === 2) continue label; if (x === 2) break label; } return "out"; })()
await (async () => { const f = async (n) => (n ? n + (await f(n - 1)) : 0); return f(50); })()
await (async () => { const cache = new Map(); const get = (k) => cache.get(k) ?? (cache.set(k, (async () => { await null; return k + "!"; })()), cache.get(k)); const [a, b] = await Promise.all([get("x"), get("x")]); return [a, b, cache.size]; })()
await Promise.all([3, 1, 2].map(async (x) => { await new Promise((r) => setTimeout(r, x)); return x; }))
await [1, 2, 3].reduce(async (sum, x) => (await sum) + x, 0)
await Promise.all([1, 2, 3].map(async (x) => x % 2)).then((keep) => [1, 2, 3].filter((_, i) => keep[i]))
await [1, 2].reduce((p, x) => p.then((l) => [...l, x]), Promise.resolve([]))
await Promise.resolve().then(() => Promise.reject(new Error("in"))).catch((e) => e.message)
await new Promise((ok, no) => { no(1); ok(2); }).catch((e) => "no " + e)
await Promise.resolve({ then(ok, no) { no("refused"); } }).catch((e) => e)
await Promise.resolve({ get then() { throw new Error("getter"); } }.x)
await new Promise((ok) => ok({ get then() { throw new Error("getter"); } })).catch((e) => e.message)
await Promise.race([Promise.reject(1), 2]).catch((e) => "e" + e)
await Promise.race([new Promise((r) => setTimeout(r, 9, "slow")), new Promise((r) => setTimeout(r, 1, "fast"))])
(() => { const log = []; new Promise((ok) => { log.push("runs"); ok(); }); log.push("after"); return log; })()
await (async () => { const p = new Promise((ok) => setTimeout(ok, 1, "v")); return [await p, await p, await p.then((v) => v + 2)]; })()
await (async () => { let done; const p = new Promise((ok) => (done = ok)); setTimeout(() => done("outside"), 1); return p; })()
await (async () => { try { await Promise.all([Promise.reject(new Error("first")), new Promise((_, no) => setTimeout(no, 1, "second"))]); } catch (e) { return e.message; } })()
await Promise.prototype.then.call(Promise.resolve(1), (x) => x + 1)
await Promise.resolve(1).finally((...a) => a.length)
await Promise.resolve(3).finally(() => Promise.reject(4)).catch((e) => e)
await (async () => { const results = await Promise.allSettled([1, 2, 3].map(async (n) => { if (n === 2) throw new RangeError("two"); return n; })); return results.map((r) => r.status[0] + (r.value ?? r.reason.message)); })()
await (async () => { const m = new Map([["a", Promise.resolve(1)], ["b", 2]]); return Object.fromEntries(await Promise.all([...m].map(async ([k, v]) => [k, await v]))); })()
await (async () => { const gen = (function* () { const a = yield Promise.resolve(1); const b = yield a + 1; return b * 2; })(); const run = async (g) => { for (let s = g.next(); ; s = g.next(await s.value)) if (s.done) return s.value; }; return run(gen); })()

// a pool of three
const log = []; let active = 0, most = 0;
const job = async (n) => { most = Math.max(most, ++active); await new Promise((r) => setTimeout(r, 1)); active--; log.push(n); return n * n; };
const pool = async (items, limit, f) => { const out = []; let next = 0; await Promise.all(Array.from({ length: limit }, async () => { while (next < items.length) { const i = next++; out[i] = await f(items[i]); } })); return out; };
return [await pool([1, 2, 3, 4, 5, 6, 7], 3, job), most, log.toSorted((a, b) => a - b)];

// a queue with a consumer
const queue = [], waiting = []; let closed = false; const push = (x) => (waiting.length ? waiting.shift()({ value: x, done: false }) : queue.push(x)), close = () => { closed = true; for (const w of waiting) w({ done: true }); };
const items = { [Symbol.asyncIterator]: () => ({ next: () => (queue.length ? Promise.resolve({ value: queue.shift(), done: false }) : closed ? Promise.resolve({ done: true }) : new Promise((r) => waiting.push(r))) }) };
const got = []; const consumer = (async () => { for await (const x of items) got.push(x); return "ended"; })();
push(1); push(2); await null; push(3); await new Promise((r) => setTimeout(r, 1)); push(4); close();
return [await consumer, got];

// debounced calls
const calls = []; const debounce = (f, ms) => { let t; return (...a) => { clearTimeout(t); t = setTimeout(() => f(...a), ms); }; };
const d = debounce((x) => calls.push(x), 60); d(1); d(2); await new Promise((r) => setTimeout(r, 1)); d(3); await new Promise((r) => setTimeout(r, 200)); d(4); await new Promise((r) => setTimeout(r, 200)); return calls;

// pages until there are no more
const fetchPage = async (n) => { await null; return { items: n < 3 ? [n * 2, n * 2 + 1] : [], next: n < 3 ? n + 1 : null }; };
async function* pages() { for (let n = 0; n !== null; ) { const page = await fetchPage(n); yield* page.items; n = page.next; } }
const all = []; for await (const x of pages()) { if (x === 5) break; all.push(x); } return all;

// a mutex
class Mutex { #tail = Promise.resolve(); run(f) { const result = this.#tail.then(f); this.#tail = result.catch(() => {}); return result; } }
const m = new Mutex(), log = []; const task = (n, fails) => m.run(async () => { log.push(`+${n}`); await null; await null; log.push(`-${n}`); if (fails) throw new Error(n); return n; });
const results = await Promise.allSettled([task("a"), task("b", true), task("c")]); return [log, results.map((r) => r.value ?? r.reason.message)];

// the order of what is settled
const log = []; const p = (name, n) => (async () => { for (let i = 0; i < n; i++) await null; log.push(name); })();
await Promise.all([p("three", 3), p("one", 1), p("none", 0), p("two", 2), Promise.resolve().then(() => log.push("then"))]); return log;

// async generators in a pipe
const log = []; async function* numbers() { try { for (let i = 1; ; i++) { await null; yield i; } } finally { log.push("numbers closed"); } }
async function* map(it, f) { try { for await (const x of it) yield await f(x); } finally { log.push("map closed"); } } async function* take(it, n) { if (n <= 0) return; for await (const x of it) { yield x; if (--n === 0) return; } }
const out = []; for await (const x of take(map(numbers(), async (x) => x * x), 4)) out.push(x); return [out, log];

// errors through async generators
const log = []; async function* inner() { try { yield 1; throw new Error("inner"); } finally { log.push("inner f"); } } async function* outer() { try { yield* inner(); } catch (e) { log.push("outer caught " + e.message); yield "recovered"; } finally { log.push("outer f"); } }
const out = []; for await (const x of outer()) out.push(x); return [out, log];

// a barrier and a latch
const latch = (n) => { let open; const p = new Promise((r) => (open = r)); return { down: () => --n || open(), wait: p }; };
const log = [], l = latch(3); const waiters = [1, 2].map(async (i) => { await l.wait; log.push(`w${i}`); }); for (const i of [1, 2, 3]) { await null; log.push(`d${i}`); l.down(); } await Promise.all(waiters); return log;

// a promise cached, and dropped when it fails
let calls = 0; const cache = new Map(); const load = (k) => { if (!cache.has(k)) { const p = (async () => { calls++; await null; if (calls === 1) throw new Error("cold"); return k.toUpperCase(); })(); cache.set(k, p); p.catch(() => cache.delete(k)); } return cache.get(k); };
const first = await Promise.allSettled([load("a"), load("a")]); const second = await Promise.all([load("a"), load("a")]); return [first.map((r) => r.reason.message), second, calls];

// async methods on one object
const api = { base: "x", async get(p) { await null; return `${this.base}/${p}`; }, async *list(...ps) { for (const p of ps) yield this.get(p); }, get ready() { return Promise.resolve(this); } };
const out = []; for await (const x of (await api.ready).list("a", "b")) out.push(x); const { get } = api; return [out, await get.call({ base: "y" }, "c"), await Promise.all(["d", "e"].map(api.get, api))];

// abort signals
const c = new AbortController(), log = []; c.signal.addEventListener("abort", () => log.push("aborted")); const work = (signal) => new Promise((ok, no) => { const t = setTimeout(ok, 50, "done"); signal.addEventListener("abort", () => { clearTimeout(t); no(signal.reason); }, { once: true }); });
setTimeout(() => c.abort(new Error("enough")), 1); const r = await work(c.signal).catch((e) => e.message); let thrown; try { c.signal.throwIfAborted(); } catch (e) { thrown = e.message; } return [r, log, c.signal.aborted, thrown, AbortSignal.abort().reason.name];

// microtasks beside timers, level by level
const log = []; setTimeout(() => { log.push("t1"); Promise.resolve().then(() => log.push("m of t1")); }, 0); setTimeout(() => log.push("t2"), 0); Promise.resolve().then(() => { log.push("m1"); queueMicrotask(() => log.push("m2")); setTimeout(() => log.push("t3"), 0); }); log.push("sync"); await new Promise((r) => setTimeout(r, 20)); return log;

// cleanup when a consumer throws
const log = []; async function* source() { let n = 0; try { while (true) yield n++; } finally { await null; log.push("source closed at " + n); } }
try { for await (const x of source()) { if (x === 2) throw new Error("consumer"); } } catch (e) { log.push(e.message); } const it = source(); await it.next(); log.push(await it.throw(new Error("thrown in")).catch((e) => e.message)); return log;

// a race that keeps the losers quiet
const log = []; const runner = (n, ms, fail) => new Promise((ok, no) => setTimeout(() => { log.push(n); fail ? no(new Error(n)) : ok(n); }, ms)); const winner = await Promise.race([runner("b", 4), runner("a", 1), runner("c", 8, true)]); await new Promise((r) => setTimeout(r, 30)); return [winner, log];

// memory of an event emitter
class Emitter { #on = new Map(); on(k, f) { this.#on.set(k, [...(this.#on.get(k) ?? []), f]); return () => this.#on.set(k, this.#on.get(k).filter((g) => g !== f)); } once(k) { return new Promise((r) => { const off = this.on(k, (v) => { off(); r(v); }); }); } emit(k, v) { for (const f of this.#on.get(k) ?? []) f(v); return this.#on.get(k)?.length ?? 0; } }
const e = new Emitter(), log = []; e.on("x", (v) => log.push(v)); const p = e.once("x"); const counts = [e.emit("x", 1), e.emit("x", 2), e.emit("none")]; return [await p, log, counts];
