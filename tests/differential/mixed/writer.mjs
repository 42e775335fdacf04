// Programs of everything at once: classes, closures, generators, `async`, destructuring, `finally` and exceptions. Each step says
// where it is, so that the order of evaluation is judged too. Every loop is counted, and calls share a budget, so that every program
// ends. Keys are shown in order, since V8 has accessors behind a spread in another place than the language. A statement has its own
// line as far as it can, so that a failing program is reduced line by line.
import { statement } from "./statements.mjs";
import { expression } from "./expressions.mjs";
import { classDeclaration } from "./classes.mjs";
import { parameters } from "./patterns.mjs";

export function mixed(random) {
  return new Writer(random).program();
}

const PRELUDE = `const log = []; let steps = 0, depth = 0;
const tick = () => { if (++steps > 400) throw new EvalError("enough"); };
const show = (x, d = 2) => typeof x === "string" ? x.slice(0, 30) : typeof x === "function" ? "function " + x.name : typeof x === "symbol" || typeof x === "bigint" ? String(x) : x === null || typeof x !== "object" ? Object.is(x, -0) ? "-0" : String(x) : x instanceof Fault ? "Fault " + x.message : x instanceof Error ? x.name : d === 0 ? "…" : Array.isArray(x) ? "[" + x.slice(0, 5).map((y) => show(y, d - 1)).join() + "]" : (typeof x.constructor === "function" ? x.constructor.name : "") + "{" + Object.keys(x).sort().slice(0, 5).map((k) => k + ":" + show(x[k], d - 1)).join() + "}";
class Fault extends Error {}
const note = (x, more) => { tick(); log.push(show(x) + (more === undefined ? "" : " " + show(more))); return x; };
const fail = (text) => { throw new Fault(text); };
const take = (it, n) => { const out = []; for (const x of it) { out.push(x); if (out.length >= n) break; } return out; };
const tag = (strings, ...values) => strings.raw.join("~") + values.map((x) => show(x, 1)).join("|");
const iterator = (name, count, fault) => { let n = 0; return { [Symbol.iterator]() { return this; }, next(x) { tick(); if (x !== undefined) note(name + " got", x); if (fault === "next" && n === 1) fail("next " + name); return { value: n++, done: n > count }; }, return(x) { note(name + " closed"); if (fault === "return") fail("return " + name); return { value: x, done: true }; } }; };
const job = async (name, ticks, fault) => { for (let i = 0; i < ticks; i++) { note(name, i); await null; } if (fault) fail(name); return name; };
const told = async (name, run) => { try { note(name + " gives", await run()); } catch (error) { if (error instanceof EvalError) throw error; log.push(name + " throws " + show(error)); } };`;

export class Writer {
  constructor(random) {
    this.random = random;
    this.count = 0;
    this.lines = [];
    // Names in scope, the innermost scope last: { name, kind, mutable }.
    this.scopes = [[]];
    this.loops = [];
    this.labels = [];
    this.awaits = true;
    this.yields = false;
    this.member = null;
  }

  program() {
    const { random } = this;
    this.declare("n0", "number", true);
    this.declare("s0", "text", true);
    this.declare("a0", "list", false);
    this.declare("o0", "object", false);
    this.emit(`let n0 = ${random.integer(0, 9)}, s0 = ${JSON.stringify(random.word())};`);
    this.emit(`const a0 = [${random.list(0, 5, () => random.integer(-9, 9)).join(", ")}], o0 = { p: ${random.integer(0, 9)}, q: [${random.integer(0, 9)}], r: { p: 1 } };`);
    for (let n = random.integer(1, 3); n > 0; n--) random.chance(45) ? classDeclaration(this, 2) : this.functionDeclaration(2);
    this.emit("try {");
    for (let n = random.integer(1, 3); n > 0; n--) {
      this.emit(`await told("part ${n}", async () => {`);
      this.scoped(() => {
        for (let k = random.integer(2, 4); k > 0; k--) statement(this, 3);
        this.emit(`return ${expression(this, 1)};`);
      });
      this.emit("});");
    }
    this.emit("} catch (error) { log.push(\"ends \" + error?.name); }");
    return `${PRELUDE}\n${this.lines.join("\n")}\nreturn [log.slice(0, 150), log.length, show(n0), show(s0), show(a0), show(o0)];`;
  }

  emit(line) {
    this.lines.push(line);
  }

  fresh(prefix) {
    return `${prefix}${++this.count}`;
  }

  declare(name, kind, mutable) {
    this.scopes.at(-1).push({ name, kind, mutable });
    return name;
  }

  // A name of this kind that is in scope, or undefined.
  some(kind, mutable = false) {
    const names = this.scopes.flat().filter((each) => each.kind === kind && (!mutable || each.mutable));
    return names.length ? this.random.of(names).name : undefined;
  }

  names() {
    return this.scopes.flat();
  }

  scoped(write) {
    this.scopes.push([]);
    write();
    this.scopes.pop();
  }

  // Whatever is written inside belongs to another function.
  inFunction({ awaits = false, yields = false, member = null }, write) {
    const saved = [this.awaits, this.yields, this.loops, this.labels, this.member];
    [this.awaits, this.yields, this.loops, this.labels, this.member] = [awaits, yields, [], [], member];
    this.scoped(write);
    [this.awaits, this.yields, this.loops, this.labels, this.member] = saved;
  }

  // What `write` emits, as one text.
  captured(write) {
    const saved = this.lines;
    this.lines = [];
    write();
    const text = this.lines.join("\n");
    this.lines = saved;
    return text;
  }

  block(depth, from = 1, to = 2) {
    this.scoped(() => {
      for (let n = this.random.integer(from, to); n > 0; n--) statement(this, depth);
    });
  }

  functionDeclaration(depth) {
    this.functionOf(this.random.of(["function", "function", "async", "generator", "asyncGenerator"]), depth);
  }

  functionOf(kind, depth) {
    const name = this.fresh("f");
    const head = { function: "function", async: "async function", generator: "function*", asyncGenerator: "async function*" }[kind];
    this.inFunction({ awaits: kind.startsWith("async"), yields: kind.endsWith("enerator") }, () => {
      this.emit(`${head} ${name}(${parameters(this)}) {`);
      this.functionBody(depth);
      this.emit("}");
    });
    this.declare(name, kind, false);
  }

  functionBody(depth) {
    this.emit("tick();");
    for (let n = this.random.integer(1, 3); n > 0; n--) statement(this, depth);
    if (this.random.chance(80)) this.emit(`return ${expression(this, 2)};`);
  }
}
