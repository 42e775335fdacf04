// Short programs about one thing each, from the statements of mixed/: what the long ones do all at once.
import { Writer } from "./mixed/writer.mjs";
import { classDeclaration, classExpression } from "./mixed/classes.mjs";
import { expression, instance } from "./mixed/expressions.mjs";
import { assignment, declaration, parameters } from "./mixed/patterns.mjs";
import { attempt, byHand, choice, closures, early, loop, patternLoop, statement } from "./mixed/statements.mjs";
import { waiting } from "./mixed/waiting.mjs";

// What a program may need; a line is left out where its name is not used.
const HELPERS = [
  ["tag", 'const tag = (strings, ...values) => strings.raw.join("~") + values.map(show).join("|");'],
  ["job", "const job = async (name, ticks, fault) => { for (let i = 0; i < ticks; i++) { note(name, i); await null; } if (fault) fail(name); return name; };"],
  ["take", "const take = (it, n) => { const out = []; for (const x of it) { out.push(x); if (out.length >= n) break; } return out; };"],
  ["iterator", 'const iterator = (name, count, fault) => { let n = 0; return { [Symbol.iterator]() { return this; }, next(x) { if (fault === "next" && n === 1) fail("next " + name); return { value: n++, done: n > count }; }, return(x) { note(name + " closed"); if (fault === "return") fail("return " + name); return { value: x, done: true }; } }; };'],
  ["fail", "const fail = (text) => { throw new Fault(text); };"],
  ["note", 'const log = [], note = (x, more) => { if (log.length > 99) throw new EvalError("enough"); log.push(show(x) + (more === undefined ? "" : " " + show(more))); return x; };'],
  ["show", 'const show = (x) => typeof x === "function" ? "function " + x.name : x instanceof Error ? x.name + " " + (x instanceof Fault ? x.message : "") : typeof x === "object" && x ? JSON.stringify(x) : String(x);'],
  ["Fault", "class Fault extends Error {}"],
];

const ABOUT = {
  classes(w, random) {
    for (let n = random.integer(1, 2); n > 0; n--) classDeclaration(w, 1);
    for (let n = random.integer(2, 4); n > 0; n--) w.emit(`note(${random.chance(80) ? instance(w, 1) : `new ${classExpression(w)}(1)`});`);
  },
  closures(w, random) {
    w.inFunction({}, () => w.emit(`const made = (${parameters(w)}) => [() => ${expression(w, 1)}, (x) => (n0 += x)];`));
    w.emit(`const [read, write] = made(${expression(w, 0)}, ${expression(w, 0)});`);
    closures(w, 1);
    if (random.chance(50)) w.functionDeclaration(1);
    w.emit("note(read()); note(write(2)); note(read());");
    if (random.chance(50)) early(w);
    statement(w, 1);
  },
  generators(w, random) {
    for (let n = random.integer(1, 2); n > 0; n--) generator(w, random);
    for (let n = random.integer(1, 3); n > 0; n--) random.of([() => byHand(w), () => w.emit(`note(${expression(w, 1)});`), () => loop(w, 1, (name) => `for (const ${name} of ${w.some("generator")}(${expression(w, 0)}))`, "any"), () => declaration(w)])();
    w.emit(`note([...${w.some("generator")}(2)].length);`);
  },
  "async control flow"(w, random) {
    if (random.chance(50)) w.functionOf(random.of(["async", "asyncGenerator"]), 1);
    for (let n = random.integer(2, 3); n > 0; n--) waiting(w, 1);
  },
  errors(w, random) {
    w.inFunction({ awaits: random.chance(30) }, () => {
      w.emit(`const run = ${w.awaits ? "async " : ""}(${parameters(w)}) => {`);
      attempt(w, random.integer(1, 3));
      if (random.chance(60)) attempt(w, 1);
      if (random.chance(30)) early(w);
      w.emit(`return ${expression(w, 1)}; };`);
    });
    w.emit("for (const x of [0, [1], { p: 2 }]) try { note(await run(x)); } catch (e) { note('out', e); }");
  },
  destructuring(w, random) {
    for (let n = random.integer(2, 4); n > 0; n--) random.of([() => declaration(w), () => assignment(w), () => patternLoop(w, 1), () => declaration(w)])();
    if (random.chance(60)) w.inFunction({}, () => w.emit(`note(((${parameters(w)}) => ${expression(w, 1)})([1, { p: 2 }], { p: [3] }));`));
    for (const name of w.names().filter((each) => each.kind === "any").slice(0, 5)) w.emit(`note(${name.name});`);
  },
  "labels and loops"(w, random) {
    w.inFunction({}, () => {
      w.emit("const run = (n) => {");
      loop(w, random.integer(2, 3), (name) => random.of([`for (let ${name} = 0; ${name} < 3; ${name}++)`, `for (const ${name} of [1, n, 3])`, `for (const ${name} in { x: 1, y: 2 })`, `for (const ${name} of iterator("${name}", 3))`]), "any");
      random.chance(40) ? choice(w, 1) : loop(w, 1, (name) => `for (let ${name} = n; ${name} > 0; ${name}--)`, "number");
      w.emit(`return ${expression(w, 0)}; };`);
    });
    w.emit("for (const x of [0, 2]) try { note(run(x)); } catch (e) { note('out', e); }");
  },
};

export const subjects = Object.keys(ABOUT);

export function focused(random, subject) {
  const w = new Writer(random);
  for (const [name, kind] of [["n0", "number"], ["s0", "text"]]) w.declare(name, kind, true);
  for (const [name, kind] of [["a0", "list"], ["o0", "object"]]) w.declare(name, kind, false);
  const first = `let n0 = ${random.integer(0, 9)}, s0 = ${JSON.stringify(random.word())};\nconst a0 = [${random.list(0, 4, () => random.integer(-9, 9)).join(", ")}], o0 = { p: ${random.integer(0, 9)}, q: [${random.integer(0, 9)}], r: { p: 1 } };`;
  ABOUT[subject](w, random);
  // Such a program is too short for a budget.
  const body = w.lines.filter((line) => line !== "tick();").join("\n").replace(/if \(e\d* instanceof EvalError\) throw e\d*;[ \n]?/g, "").replaceAll("steps %", "log.length %").replaceAll("log.push(", "note(");
  let text = `try {\n${body}\n} catch (e) { note("ends", e); }\nreturn [log, show(n0), show(s0), a0, o0];`;
  const used = [];
  for (const [name, line] of HELPERS) {
    if (new RegExp(`\\b${name}\\b`).test(text + used.join())) used.unshift(line);
  }
  return `${used.join("\n")}\n${first}\n${text}`;
}

function generator(w, random) {
  w.functionOf("generator", random.integer(1, 2));
}
