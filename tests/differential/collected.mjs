// Programs as they are found in books, interviews and other people's code. Each stands by itself.

export const collected = [
  function sieve() {
    const n = 200, composite = new Uint8Array(n + 1), primes = [];
    for (let i = 2; i <= n; i++) {
      if (composite[i]) continue;
      primes.push(i);
      for (let j = i * i; j <= n; j += i) composite[j] = 1;
    }
    return primes;
  },
  function queens() {
    const solve = (n, row = 0, columns = 0, left = 0, right = 0) => {
      if (row === n) return 1;
      let count = 0;
      for (let free = ~(columns | left | right) & ((1 << n) - 1); free; free &= free - 1) {
        const bit = free & -free;
        count += solve(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
      }
      return count;
    };
    return [1, 4, 5, 6, 7].map((n) => solve(n));
  },
  function leastRecentlyUsed() {
    class Cache {
      #entries = new Map();
      constructor(limit) { this.limit = limit; }
      get(key) {
        if (!this.#entries.has(key)) return -1;
        const value = this.#entries.get(key);
        this.#entries.delete(key);
        this.#entries.set(key, value);
        return value;
      }
      put(key, value) {
        this.#entries.delete(key);
        this.#entries.set(key, value);
        if (this.#entries.size > this.limit) this.#entries.delete(this.#entries.keys().next().value);
      }
    }
    const cache = new Cache(2);
    cache.put(1, "a"); cache.put(2, "b");
    const seen = [cache.get(1)];
    cache.put(3, "c");
    seen.push(cache.get(2));
    cache.put(4, "d");
    return [...seen, cache.get(1), cache.get(3), cache.get(4)];
  },
  function calculator() {
    const tokens = (text) => text.match(/\d+(?:\.\d+)?|[-+*/^()]/g);
    const evaluate = (text) => {
      const list = tokens(text);
      let at = 0;
      const primary = () => {
        if (list[at] === "(") { at++; const value = sum(); at++; return value; }
        if (list[at] === "-") { at++; return -primary(); }
        return Number(list[at++]);
      };
      const power = () => { const base = primary(); return list[at] === "^" ? (at++, base ** power()) : base; };
      const product = () => { let value = power(); while ("*/".includes(list[at] ?? "#")) value = list[at++] === "*" ? value * power() : value / power(); return value; };
      const sum = () => { let value = product(); while ("+-".includes(list[at] ?? "#")) value = list[at++] === "+" ? value + product() : value - product(); return value; };
      return sum();
    };
    return ["1+2*3", "(1+2)*3", "2^3^2", "-4/(2-4)", "10/4-1.5", "2*(3+(4-1))*2"].map(evaluate);
  },
  function csv() {
    const parse = (text) => {
      const rows = [[]];
      for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n"]*))(,|\n|$)/g)) {
        rows.at(-1).push(quoted?.replaceAll('""', '"') ?? plain);
        if (end === "\n") rows.push([]);
        if (end === "") break;
      }
      return rows;
    };
    return parse('id,name,"say ""hi"""\n1,"a, b",\n2,"line\nbreak",é');
  },
  function markdown() {
    const source = "# Title\n\nSome *em* and **strong** `code`.\n\n- one\n- two [link](http://x.y)\n\n## Sub\n> quote";
    const inline = (text) => text.replace(/\*\*(.+?)\*\*/g, "<b>$1</b>").replace(/\*(.+?)\*/g, "<i>$1</i>").replace(/`(.+?)`/g, "<code>$1</code>").replace(/\[(.+?)\]\((.+?)\)/g, '<a href="$2">$1</a>');
    return source.split(/\n{2,}/).flatMap((block) => {
      if (/^- /m.test(block)) return `<ul>${block.split("\n").map((line) => `<li>${inline(line.slice(2))}</li>`).join("")}</ul>`;
      return block.split("\n").map((line) => {
        const heading = /^(#{1,6}) (.*)/.exec(line);
        return heading ? `<h${heading[1].length}>${inline(heading[2])}</h${heading[1].length}>` : line.startsWith("> ") ? `<q>${inline(line.slice(2))}</q>` : `<p>${inline(line)}</p>`;
      });
    }).join("\n");
  },
  function topologicalSort() {
    const graph = { shirt: ["tie", "belt"], tie: ["jacket"], trousers: ["shoes", "belt"], belt: ["jacket"], socks: ["shoes"], shoes: [], jacket: [] };
    const done = new Set(), order = [];
    const visit = (node) => { if (done.has(node)) return; done.add(node); graph[node].forEach(visit); order.unshift(node); };
    Object.keys(graph).forEach(visit);
    return order;
  },
  function dijkstra() {
    const edges = { a: { b: 7, c: 9, f: 14 }, b: { a: 7, c: 10, d: 15 }, c: { a: 9, b: 10, d: 11, f: 2 }, d: { b: 15, c: 11, e: 6 }, e: { d: 6, f: 9 }, f: { a: 14, c: 2, e: 9 } };
    const distance = Object.fromEntries(Object.keys(edges).map((node) => [node, Infinity]));
    distance.a = 0;
    const open = new Set(Object.keys(edges));
    while (open.size) {
      const node = [...open].reduce((best, each) => (distance[each] < distance[best] ? each : best));
      open.delete(node);
      for (const [next, cost] of Object.entries(edges[node])) distance[next] = Math.min(distance[next], distance[node] + cost);
    }
    return distance;
  },
  function levenshtein() {
    const distance = (a, b) => {
      let row = Array.from({ length: b.length + 1 }, (_, i) => i);
      for (let i = 1; i <= a.length; i++) row = row.reduce((next, above, j) => [...next, j === 0 ? i : Math.min(above + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] !== b[j - 1]))], []);
      return row.at(-1);
    };
    return [["kitten", "sitting"], ["", "abc"], ["same", "same"], ["flaw", "lawn"]].map(([a, b]) => distance(a, b));
  },
  function sha256() {
    const primes = [], is = (n) => { for (let i = 2; i * i <= n; i++) if (n % i === 0) return false; return true; };
    for (let n = 2; primes.length < 64; n++) if (is(n)) primes.push(n);
    const fraction = (x) => ((x - Math.floor(x)) * 2 ** 32) | 0, k = primes.map((p) => fraction(Math.cbrt(p))), h = primes.slice(0, 8).map((p) => fraction(Math.sqrt(p)));
    const rotate = (x, n) => (x >>> n) | (x << (32 - n));
    const bytes = [...new TextEncoder().encode("hello, glass")], bits = bytes.length * 8;
    bytes.push(0x80);
    while (bytes.length % 64 !== 56) bytes.push(0);
    for (let i = 7; i >= 0; i--) bytes.push(Math.floor(bits / 2 ** (8 * i)) & 255);
    for (let at = 0; at < bytes.length; at += 64) {
      const w = Array.from({ length: 16 }, (_, i) => (bytes[at + i * 4] << 24) | (bytes[at + i * 4 + 1] << 16) | (bytes[at + i * 4 + 2] << 8) | bytes[at + i * 4 + 3]);
      for (let i = 16; i < 64; i++) w[i] = (w[i - 16] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >>> 3)) + w[i - 7] + (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >>> 10))) | 0;
      let [a, b, c, d, e, f, g, i0] = h;
      for (let i = 0; i < 64; i++) {
        const one = (i0 + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i]) | 0;
        const two = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [i0, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
      }
      [a, b, c, d, e, f, g, i0].forEach((v, i) => (h[i] = (h[i] + v) | 0));
    }
    return h.map((v) => (v >>> 0).toString(16).padStart(8, "0")).join("");
  },
  function gameOfLife() {
    let cells = new Set(["1,0", "2,1", "0,2", "1,2", "2,2"]);
    for (let step = 0; step < 6; step++) {
      const near = new Map();
      for (const cell of cells) {
        const [x, y] = cell.split(",").map(Number);
        for (const dx of [-1, 0, 1]) for (const dy of [-1, 0, 1]) if (dx || dy) near.set(`${x + dx},${y + dy}`, (near.get(`${x + dx},${y + dy}`) ?? 0) + 1);
      }
      cells = new Set([...near].filter(([cell, n]) => n === 3 || (n === 2 && cells.has(cell))).map(([cell]) => cell));
    }
    return [...cells].sort();
  },
  function permutations() {
    const all = (list) => (list.length < 2 ? [list] : list.flatMap((each, i) => all(list.toSpliced(i, 1)).map((rest) => [each, ...rest])));
    function* heap(list, n = list.length) { if (n <= 1) yield list.join(""); else for (let i = 0; i < n; i++) { yield* heap(list, n - 1); const j = n % 2 ? 0 : i; [list[n - 1], list[j]] = [list[j], list[n - 1]]; } }
    return [all([1, 2, 3]).map((p) => p.join("")), [...heap([..."abcd"])].length, new Set(heap([..."abcd"])).size];
  },
  function romanNumerals() {
    const values = Object.entries({ M: 1000, CM: 900, D: 500, CD: 400, C: 100, XC: 90, L: 50, XL: 40, X: 10, IX: 9, V: 5, IV: 4, I: 1 });
    const roman = (n) => values.reduce((text, [letter, value]) => { while (n >= value) { text += letter; n -= value; } return text; }, "");
    const arabic = (text) => [...text].reduce((sum, c, i, all) => { const v = (x) => Object.fromEntries(values)[x] ?? 0; return sum + (v(c) < v(all[i + 1]) ? -v(c) : v(c)); }, 0);
    return [1, 4, 9, 14, 40, 90, 400, 1994, 2024, 3999].map((n) => [roman(n), arabic(roman(n)) === n]);
  },
  function deepEqual() {
    const equal = (a, b, seen = new Map()) => {
      if (Object.is(a, b)) return true;
      if (typeof a !== "object" || typeof b !== "object" || !a || !b || Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
      if (seen.get(a) === b) return true;
      seen.set(a, b);
      if (a instanceof Date) return +a === +b;
      if (a instanceof Map) return a.size === b.size && [...a].every(([k, v]) => equal(v, b.get(k), seen));
      const keys = Reflect.ownKeys(a);
      return keys.length === Reflect.ownKeys(b).length && keys.every((k) => equal(a[k], b[k], seen));
    };
    const one = { a: [1, { b: NaN }], m: new Map([["k", [1]]]), d: new Date(5) }, two = structuredClone(one), loop = { x: 1 }, other = { x: 1 };
    loop.self = loop; other.self = other;
    return [equal(one, two), equal(one, { ...two, d: new Date(6) }), equal(loop, other), equal([], {}), equal(0, -0), equal([undefined], [,])];
  },
  async function promisePool() {
    const log = [];
    let running = 0, most = 0;
    const task = async (n) => { most = Math.max(most, ++running); await new Promise((resolve) => setTimeout(resolve, (n * 7) % 5)); running--; if (n === 3) throw new Error(`task ${n}`); return n * n; };
    const pool = async (jobs, width) => { const results = []; const next = jobs.entries(); await Promise.all(Array.from({ length: width }, async () => { for (const [i, job] of next) results[i] = await job().catch((e) => e.message); })); return results; };
    log.push(await pool(Array.from({ length: 8 }, (_, n) => () => task(n)), 3));
    return [log, most];
  },
  async function eventEmitter() {
    class Emitter { #on = new Map(); on(name, f) { (this.#on.get(name) ?? this.#on.set(name, new Set()).get(name)).add(f); return () => this.#on.get(name).delete(f); } once(name) { return new Promise((resolve) => { const off = this.on(name, (v) => { off(); resolve(v); }); }); } emit(name, ...args) { for (const f of [...(this.#on.get(name) ?? [])]) f(...args); return this.#on.get(name)?.size ?? 0; } }
    const emitter = new Emitter(), log = [], off = emitter.on("x", (v) => log.push("a" + v)), first = emitter.once("x");
    emitter.on("x", (v) => { log.push("b" + v); if (v === 2) off(); });
    return [emitter.emit("x", 1), emitter.emit("x", 2), emitter.emit("x", 3), log, await first, emitter.emit("none")];
  },
  function trie() {
    const root = {}, words = ["tea", "ten", "to", "in", "inn", "i", "A"];
    for (const word of words) { let node = root; for (const c of word) node = node[c] ??= {}; node.$ = true; }
    const under = (node, prefix) => Object.entries(node).flatMap(([c, next]) => (c === "$" ? [prefix] : under(next, prefix + c)));
    return [JSON.stringify(root), under(root.t, "t"), under(root, "")];
  },
  function binaryHeap() {
    class Heap { items = []; push(v) { this.items.push(v); let i = this.items.length - 1; while (i && this.items[(i - 1) >> 1] > this.items[i]) { const p = (i - 1) >> 1; [this.items[p], this.items[i]] = [this.items[i], this.items[p]]; i = p; } } pop() { const [top] = this.items, last = this.items.pop(); if (this.items.length) { this.items[0] = last; for (let i = 0; ; ) { const [l, r] = [2 * i + 1, 2 * i + 2]; let s = i; if (this.items[l] < this.items[s]) s = l; if (this.items[r] < this.items[s]) s = r; if (s === i) break; [this.items[s], this.items[i]] = [this.items[i], this.items[s]]; i = s; } } return top; } }
    const heap = new Heap(), out = [];
    for (const v of [5, 3, 8, 1, 9, 2, 7, 3, 0]) heap.push(v);
    while (heap.items.length) out.push(heap.pop());
    return out;
  },
  function matrices() {
    const multiply = (a, b) => a.map((row) => b[0].map((_, j) => row.reduce((sum, v, k) => sum + v * b[k][j], 0))), transpose = (m) => m[0].map((_, j) => m.map((row) => row[j]));
    const determinant = (m) => (m.length === 1 ? m[0][0] : m[0].reduce((sum, v, j) => sum + (-1) ** j * v * determinant(m.slice(1).map((row) => row.toSpliced(j, 1))), 0));
    const spiral = (m) => (m.length ? [...m[0], ...spiral(transpose(m.slice(1).map((row) => row.toReversed())).filter((row) => row.length))] : []);
    const m = [[2, -1, 0], [1, 3, 5], [4, 0, 7]], power = (b, n) => (n ? (n % 2 ? multiply(b, power(b, n - 1)) : power(multiply(b, b), n / 2)) : [[1, 0], [0, 1]]);
    return [multiply(m, m), transpose(m), determinant(m), power([[1, 1], [1, 0]], 40)[0][1], (() => { try { return spiral([[1, 2], [3, 4]]); } catch (e) { return e.name; } })()];
  },
  function templateEngine() {
    const render = (text, data) => text.replace(/\{\{#(\w+)\}\}([\s\S]*?)\{\{\/\1\}\}/g, (_, key, body) => (Array.isArray(data[key]) ? data[key].map((each) => render(body, typeof each === "object" ? { ...data, ...each } : { ...data, ".": each })).join("") : data[key] ? render(body, data) : "")).replace(/\{\{\s*([\w.]+)\s*\}\}/g, (_, path) => (path === "." ? data["."] : path.split(".").reduce((value, key) => value?.[key], data)) ?? "");
    return render("Hi {{user.name}}!{{#items}} {{n}}:{{#tags}}<{{.}}>{{/tags}}{{/items}}{{#none}}x{{/none}} {{missing.deep}}", { user: { name: "Ann" }, items: [{ n: 1, tags: ["a", "b"] }, { n: 2, tags: [] }], none: false });
  },
  function bigFactorialsAndPrimes() {
    const power = (b, e, m) => { let r = 1n; for (b %= m; e > 0n; e >>= 1n, b = (b * b) % m) if (e & 1n) r = (r * b) % m; return r; };
    const isPrime = (n) => { if (n < 2n) return false; for (const p of [2n, 3n, 5n, 7n, 11n, 13n]) { if (n % p === 0n) return n === p; } let d = n - 1n, r = 0; while (!(d & 1n)) { d >>= 1n; r++; } return [2n, 3n, 5n, 7n].every((a) => { let x = power(a, d, n); if (x === 1n || x === n - 1n) return true; for (let i = 1; i < r; i++) if ((x = (x * x) % n) === n - 1n) return true; return false; }); };
    return [String([...Array(30).keys()].reduce((f, i) => f * BigInt(i + 1), 1n)), [97n, 561n, 7919n, 1000003n, 1000001n].map(isPrime), String(power(3n, 200n, 10n ** 18n + 9n)), (2n ** 100n).toString(36)];
  },
  function runLength() {
    const encode = (s) => s.replace(/(.)\1*/gsu, (run, c) => c + [...run].length), decode = (s) => s.replace(/(\D)(\d+)/gu, (_, c, n) => c.repeat(n));
    return ["", "a", "aaab", "éé😀😀😀x", "aabbaa"].map((s) => [encode(s), decode(encode(s)) === s]);
  },
  function huffman() {
    const text = "abracadabra alakazam", counts = {};
    for (const c of text) counts[c] = (counts[c] ?? 0) + 1;
    const queue = Object.entries(counts).map(([c, n]) => ({ c, n }));
    while (queue.length > 1) { queue.sort((a, b) => b.n - a.n || (a.c < b.c ? 1 : -1)); const [r, l] = [queue.pop(), queue.pop()]; queue.push({ l, r, n: l.n + r.n, c: l.c + r.c }); }
    const codes = {}, walk = (node, code) => { if (node.l) { walk(node.l, code + 0); walk(node.r, code + 1); } else codes[node.c] = code; };
    walk(queue[0], "");
    const bits = [...text].map((c) => codes[c]).join("");
    let node = queue[0], out = "";
    for (const bit of bits) { node = bit === "0" ? node.l : node.r; if (!node.l) { out += node.c; node = queue[0]; } }
    return [codes, bits.length, out === text];
  },
  function observable() {
    const changes = [], watch = (o, path = "") => new Proxy(o, { get: (t, k) => (typeof t[k] === "object" && t[k] ? watch(t[k], path + String(k) + ".") : t[k]), set: (t, k, v) => { changes.push([path + String(k), t[k] ?? null, v]); t[k] = v; return true; }, deleteProperty: (t, k) => { changes.push(["-" + path + String(k)]); return delete t[k]; } });
    const state = watch({ user: { name: "a", tags: ["x"] }, n: 1 });
    state.n++; state.user.name = "b"; state.user.tags.push("y"); delete state.user.name; state.user.tags[0] += "!"; Object.assign(state, { z: 1 });
    return [changes, JSON.stringify(state)];
  },
  function mixinsAndSymbols() {
    const Comparable = { compareTo(o) { return this.valueOf() - o.valueOf(); } }, Printable = (Base) => class extends Base { toString() { return `<${super.toString?.call(this) === "[object Object]" ? this.constructor.name : "?"} ${this.valueOf()}>`; } };
    class Money { constructor(v) { this.v = v; } valueOf() { return this.v; } static [Symbol.hasInstance](o) { return "v" in o; } *[Symbol.iterator]() { yield* String(this.v); } get [Symbol.toStringTag]() { return "Money"; } }
    Object.assign(Money.prototype, Comparable);
    class Coin extends Printable(Money) {}
    const coin = new Coin(25);
    return [`${coin}`, coin + 5, coin.compareTo(new Money(10)), [...coin], { v: 1 } instanceof Money, Object.prototype.toString.call(coin), coin > 20, [new Coin(3), new Coin(1)].sort((a, b) => a - b).map(Number)];
  },
  async function asyncIteration() {
    const log = [];
    async function* source(n) { try { for (let i = 0; i < n; i++) { await null; yield i; } } finally { log.push("closed"); } }
    const map = async function* (it, f) { for await (const v of it) yield f(v); }, take = async function* (it, n) { if (n > 0) for await (const v of it) { yield v; if (--n <= 0) return; } };
    const collect = async (it) => { const out = []; for await (const v of it) out.push(v); return out; };
    const manual = source(3)[Symbol.asyncIterator](), steps = [await manual.next(), await manual.return("r"), await manual.next()];
    const failing = { async *[Symbol.asyncIterator]() { yield 1; throw new RangeError("mid"); } };
    return [await collect(take(source(10), 4)), steps, await collect(failing).catch((e) => e.name), log, await Promise.all([collect(source(2)), collect(source(1))])];
  },
  function textJustification() {
    const words = "This is an example of text justification that fills every line but the last one.".split(" "), width = 18, lines = [];
    for (let line = []; words.length || line.length; ) {
      if (words.length && [...line, words[0]].join(" ").length <= width) { line.push(words.shift()); continue; }
      const gaps = line.length - 1 || 1, spare = width - line.join("").length;
      lines.push(words.length ? line.map((word, i) => word + (i < gaps && line.length > 1 ? " ".repeat(Math.floor(spare / gaps) + (i < spare % gaps)) : "")).join("").padEnd(width) : line.join(" ").padEnd(width));
      line = [];
    }
    return lines;
  },
  function base64AndBytes() {
    const bytes = new TextEncoder().encode("glass → jar 😀"), text = btoa(String.fromCharCode(...bytes));
    return [text, new TextDecoder().decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0))), [...bytes].map((b) => b.toString(16).padStart(2, "0")).join(""), [..."😀é"].map((c) => c.codePointAt(0).toString(16)), encodeURIComponent("a b&c=é/😀"), decodeURIComponent("%F0%9F%98%80"), escape("é ü"), unescape("%u2192")];
  },
  function dateArithmetic() {
    const days = (a, b) => Math.round((new Date(b) - new Date(a)) / 864e5), isLeap = (y) => new Date(Date.UTC(y, 1, 29)).getUTCMonth() === 1;
    const week = (d) => { const t = new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate())); t.setUTCDate(t.getUTCDate() + 4 - (t.getUTCDay() || 7)); return Math.ceil(((t - Date.UTC(t.getUTCFullYear(), 0, 1)) / 864e5 + 1) / 7); };
    const addMonths = (iso, n) => { const d = new Date(iso), day = d.getUTCDate(); d.setUTCDate(1); d.setUTCMonth(d.getUTCMonth() + n); d.setUTCDate(Math.min(day, new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 0)).getUTCDate())); return d.toISOString().slice(0, 10); };
    return [days("2024-02-28", "2024-03-01"), [1900, 2000, 2023, 2024].map(isLeap), ["2021-01-03", "2020-12-31", "2024-01-01"].map((d) => week(new Date(d))), addMonths("2024-01-31", 1), addMonths("2024-03-31", -1), addMonths("2023-12-15", 14)];
  },
  function urlHandling() {
    const url = new URL("https://user:pw@example.com:8080/a/../b%20c/?q=1&q=2&x=é#frag");
    url.searchParams.append("new", "a b&c"); url.searchParams.delete("x"); url.hash = "";
    return [url.href, url.pathname, url.host, url.searchParams.getAll("q"), [...url.searchParams.keys()], String(new URLSearchParams({ b: "2", a: "1 2" })), new URL("../x?y", "http://h/a/b/c").href, (() => { try { new URL("nope"); } catch (e) { return e.name; } })()];
  },
  function jsonPaths() {
    const data = { store: { books: [{ t: "a", p: 5 }, { t: "b", p: 15, tags: ["x"] }], "odd key": { 0: "zero" } } };
    const flat = (v, path = "$") => (v && typeof v === "object" ? Object.entries(v).flatMap(([k, e]) => flat(e, Array.isArray(v) ? `${path}[${k}]` : /^[a-z]+$/i.test(k) ? `${path}.${k}` : `${path}[${JSON.stringify(k)}]`)) : [[path, v]]);
    const get = (path) => path.match(/[^.[\]"$]+/g).reduce((v, k) => v?.[k], data), set = structuredClone(data);
    set.store.books[1].tags.push({ deep: [null] });
    return [flat(data), get("$.store.books[1].t"), get("$.nope[0].x") ?? "none", flat(set).length, JSON.stringify(data, (k, v) => (Array.isArray(v) ? v.length : v))];
  },
  function stateMachine() {
    const machine = { start: "idle", idle: { go: "running" }, running: { pause: "paused", stop: "done", fail: () => (retries-- > 0 ? "running" : "failed") }, paused: { go: "running", stop: "done" }, done: {}, failed: {} };
    let retries = 1;
    const run = (events) => events.reduce((trace, event) => { const now = trace.at(-1), to = machine[now][event]; return [...trace, typeof to === "function" ? to() : to ?? now]; }, [machine.start]);
    return [run(["go", "pause", "pause", "go", "stop", "go"]), run(["go", "fail", "fail", "stop"])];
  },
  function bankersRounding() {
    const round = (x) => { const f = Math.floor(x), d = x - f; return d === 0.5 ? f + (f % 2) : Math.round(x); };
    return [[0.5, 1.5, 2.5, -0.5, 2.4999, 1e21].map(round).map(String), [1.005, 1.255, 8.345, -1.5, 1e21, 0.000001].map((x) => x.toFixed(2)), (0.1 + 0.2).toString(), (25).toString(2), (0.1).toString(3).slice(0, 20), (1e21 + 1).toLocaleString("en-US").length, (123.456).toPrecision(4), (0).toExponential(2)];
  },
  function knightMoves() {
    const start = [0, 0], goal = "7,7", seen = new Map([["0,0", 0]]), queue = [start];
    for (const [x, y] of queue) for (const [dx, dy] of [[1, 2], [2, 1], [-1, 2], [-2, 1], [1, -2], [2, -1], [-1, -2], [-2, -1]]) { const [a, b] = [x + dx, y + dy], key = `${a},${b}`; if (a >= 0 && b >= 0 && a < 8 && b < 8 && !seen.has(key)) { seen.set(key, seen.get(`${x},${y}`) + 1); queue.push([a, b]); } }
    return [seen.get(goal), seen.size, Math.max(...seen.values())];
  },
  function brainInterpreter() {
    const run = (code, tape = new Uint8Array(32), out = []) => { const stack = [], jump = {}; [...code].forEach((c, i) => { if (c === "[") stack.push(i); if (c === "]") { const j = stack.pop(); jump[i] = j; jump[j] = i; } }); for (let i = 0, p = 0; i < code.length; i++) switch (code[i]) { case ">": p++; break; case "<": p--; break; case "+": tape[p]++; break; case "-": tape[p]--; break; case ".": out.push(String.fromCharCode(tape[p])); break; case "[": if (!tape[p]) i = jump[i]; break; case "]": if (tape[p]) i = jump[i]; } return out.join(""); };
    return run("++++++++[>++++[>++>+++>+++>+<<<<-]>+>+>->>+[<]<-]>>.>---.+++++++..+++.>>.<-.<.+++.------.--------.>>+.");
  },
  function lispInterpreter() {
    const parse = (text) => { const tokens = text.match(/[()]|[^\s()]+/g), read = () => { const t = tokens.shift(); if (t !== "(") return isNaN(t) ? Symbol.for(t) : Number(t); const list = []; while (tokens[0] !== ")") list.push(read()); tokens.shift(); return list; }; return read(); };
    const global = new Map(Object.entries({ "+": (...a) => a.reduce((x, y) => x + y), "*": (...a) => a.reduce((x, y) => x * y), "-": (a, b) => a - b, "<": (a, b) => a < b, list: (...a) => a, map: (f, l) => l.map((x) => f(x)) }));
    const evaluate = (x, env) => { if (typeof x === "number") return x; if (typeof x === "symbol") { for (let e = env; e; e = e.parent) if ((e.own ?? e).has(x.description)) return (e.own ?? e).get(x.description); throw new ReferenceError(x.description); } const [head, ...rest] = x; switch (head?.description) { case "define": (env.own ?? env).set(rest[0].description, evaluate(rest[1], env)); return; case "lambda": return (...args) => evaluate(rest[1], { own: new Map(rest[0].map((p, i) => [p.description, args[i]])), parent: env }); case "if": return evaluate(rest[evaluate(rest[0], env) ? 1 : 2], env); case "begin": return rest.map((r) => evaluate(r, env)).at(-1); default: return evaluate(head, env)(...rest.map((r) => evaluate(r, env))); } };
    return ["(begin (define fib (lambda (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))) (map fib (list 1 5 10 15)))", "((lambda (x) ((lambda (y) (* x y)) 7)) 6)"].map((code) => evaluate(parse(code), global));
  },
  async function asyncGeneratorsInsideEachOther() {
    const log = [];
    async function* source(n) { try { for (let i = 0; i < n; i++) yield i; } finally { log.push("source closed"); } }
    async function* squares(it) { try { for await (const v of it) yield v * v; } finally { log.push("squares closed"); } }
    for await (const v of squares(source(9))) if (v > 3) break;
    return log;
  },
  function generatorsInsideEachOther() {
    const log = [];
    function* source(n) { try { for (let i = 0; i < n; i++) yield i; } finally { log.push("source closed"); } }
    function* squares(it) { try { for (const v of it) yield v * v; } finally { log.push("squares closed"); } }
    for (const v of squares(source(9))) if (v > 3) break;
    return log;
  },
  function newTargetInAnArrow() {
    const direct = new.target === undefined, arrow = () => new.target === undefined;
    return [direct, arrow()];
  },
  function dateAsText() {
    return String(new Date(0));
  },
  function bigIntegersOfTexts() {
    const of = (text) => { try { return String(BigInt(text)); } catch (e) { return e.name; } };
    return ["1", " 0b11 ", "", "0o17", "-5", "1e3", "1n", "--1", "-0x1"].map(of);
  },
  function bigIntegersOfTextsWithSeparators() {
    try { return String(BigInt("1_0")); } catch (e) { return e.name; }
  },
  function parseIntOfManyDigits() {
    return [parseInt("-471008010623896039817234651"), parseInt("123456789012345678901234567890"), parseInt("9007199254740993"), parseInt("fffffffffffffffffffff", 16)].map(String);
  },
  function restBesideAPattern() {
    const { a: { b }, c: [d], e, ...rest } = { a: { b: 1 }, c: [2], e: 3, f: 4 };
    return [b, d, e, rest];
  },
  function parametersWithRestBesideAPattern() {
    const f = ({ a: { b }, ...rest }, { [`k${1}`]: { c }, ...others }) => [b, rest, c, others];
    return f({ a: { b: 1 }, z: 2 }, { k1: { c: 3 }, y: 4 });
  },
  function revivers() {
    const seen = [], parsed = JSON.parse('{"a":[1,{"b":null},1e999,"\\ud800"],"c":{"d":2},"e":{}}', function (key, value) { seen.push([key, Array.isArray(this)]); return key === "d" ? undefined : key === "0" ? { made: value } : value; });
    const added = JSON.parse('{"a":1,"b":2,"c":3}', function (key, value) { if (key === "a") { this.b = [10, 20]; delete this.c; this.d = 4; } return Array.isArray(value) ? value.length : value; });
    const kept = JSON.parse("[1,2]", function (key, value) { if (key === "0") Object.defineProperty(this, "1", { value: 5, configurable: false }); return key === "1" ? undefined : value; });
    return [seen, Object.keys(parsed), parsed.a.length, parsed.a[2] === Infinity, parsed.a[3].charCodeAt(0), "d" in parsed.c, added, kept, JSON.parse("5", (k, v) => [k, v])];
  },
  function returnThroughAFinallyThatCatches() {
    const close = () => { throw new Error("close"); };
    const value = () => { try { return "value"; } finally { try { close(); } catch {} } };
    const mapped = () => { try { return [1, 2].map((n) => n * 2); } finally { try { null.x; } catch {} JSON.parse("[1]"); } };
    return [value(), mapped()];
  },
  function jumpsThroughTwoFinallys() {
    const f = () => { let n = 0; while (true) { try { try { if (n > 3) return "done"; n++; continue; } finally {} } finally {} } };
    const log = [];
    outer: for (const a of [1, 2, 3]) { for (const b of [1, 2, 3]) { try { try { if (b === 2) continue outer; if (a === 3) break outer; log.push(a * 10 + b); } finally { log.push("x"); } } finally { log.push("y"); } } }
    return [f(), log];
  },
  function classesThatCountThemselves() {
    class Job { static nextId = 1; static all = new Map(); id = Job.nextId++; label = `job ${this.id}`; constructor() { Job.all.set(this.id, this); } }
    class Special extends Job { static made = 0; number = ++Special.made; #secret = (Special.last = this, 7); get secret() { return this.#secret; } }
    return [new Job().id, new Special().label, new Special().number, Special.last.secret, Job.nextId, Special.nextId, Job.all.size];
  },
  function aLabelledBlockAroundALoop() {
    const out = [];
    for (const a of new Set([1, 2, 3])) { find: { for (const b of new Set([10, 20, 30])) if (b === a * 10) { out.push(a); break find; } out.push("none"); } }
    return out;
  },
  function manyCaughtErrors() {
    let n = 0;
    for (let i = 0; i < 100_000; i++) try { ((a, b, c) => { throw a + b + c; })(1, 2, 3); } catch (e) { n += e; }
    return n;
  },
  function aCaughtErrorInsideAnEnumeration() {
    const out = [];
    for (const x of new Set([1, 2, 3])) { try { for (const k in { a: 1, b: 2 }) throw new Error(k); } catch (e) { out.push(x + e.message); } }
    return out;
  },
];
