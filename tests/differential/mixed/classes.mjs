// Classes: fields, accessors, methods of all kinds, what is private and what is static, in random order and over each other.
import { expression } from "./expressions.mjs";
import { statement } from "./statements.mjs";
import { parameters } from "./patterns.mjs";

// Changes its own object when it is read for the first time.
const LAZY = "get lazy() { note('lazily'); Object.defineProperty(this, 'lazy', { value: [this.p], configurable: true, writable: true }); return this.lazy; }";

export function classDeclaration(w, depth) {
  const name = w.fresh("C");
  body(w, name, depth, parent(w));
  w.declare(name, "class", false);
}

// A short one, on one line.
export function classExpression(w) {
  const { random } = w;
  const part = () => random.of([
    () => `p = ${expression(w, 0, true)};`, () => "m(x) { return [x, this.p, this.x]; }", () => LAZY, () => "get q() { return this.#h++; } #h = 1;", () => "constructor(x) { this.x = x; note('made'); }",
    () => "static s = note('static');", () => `static { note(this.name); }`, () => "m = (x) => typeof this + x;", () => `[note('p')] = 3;`, () => "get p() { return 'of the class'; }", () => "m() { return this.constructor.t; } static #t = 4; static get t() { return this.#t; }",
  ])();
  // TypeScript knows each member once, and a script in the jar may be TypeScript.
  const members = new Map(random.list(0, 3, part).map((text) => [/^(static )?(get )?(#?\w+|\[note)/.exec(text)[3], text]));
  return `class ${random.chance(30) ? "Inner " : ""}{ ${[...members.values()].join(" ")} }`;
}

function parent(w) {
  const { random } = w;
  const other = w.some("class");
  if (other && random.chance(60)) return random.of([other, other, `(note("parent"), ${other})`, `((Base) => class extends Base { m1() { return ["mixed", super.m1?.()]; } })(${other})`]);
  return random.chance(25) ? random.of(["Array", "Map", "Error", "Fault", "Object", "Promise"]).replace("Promise", "Set") : null;
}

function body(w, name, depth, base) {
  const { random } = w;
  const member = { derived: base !== null, hidden: [], hiddenMethods: [] };
  if (random.chance(50)) member.hidden.push("#a");
  if (random.chance(30)) member.hidden.push("#b");
  if (random.chance(40)) member.hiddenMethods.push("#m");
  w.emit(`class ${name}${base ? ` extends ${base}` : ""} {`);
  const field = (text) => w.inFunction({ member: { ...member, field: true } }, () => w.emit(text()));
  const method = (head, kind) => w.inFunction({ ...kind, member }, () => {
    w.emit(`${head(() => parameters(w))} {`);
    w.functionBody(depth - 1);
    w.emit("}");
  });
  const parts = [
    ...member.hidden.map((hidden) => () => field(() => `${hidden} = ${expression(w, 1, true)};`)),
    ...member.hiddenMethods.map((hidden) => () => method((p) => `${hidden}(${p()})`, {})),
    ...random.shuffled(kinds(w, member, field, method, depth)).slice(0, random.integer(1, 6)),
  ];
  for (const part of random.shuffled(parts)) part();
  w.emit("}");
}

function kinds(w, member, field, method, depth) {
  const { random } = w;
  const any = () => expression(w, 1, true);
  return [
    () => field(() => `p = ${any()};`),
    () => field(() => `q;`),
    () => field(() => `[${random.of(["note('computed')", "\"q\" + 2", "\"p\" + 1"])}] = ${any()};`),
    () => field(() => `arrow = () => ${random.of(["this.p", "[this.p, this.g]", "this.m0?.(3)"])};`),
    () => field(() => `static s0 = ${any()};`),
    () => field(() => `static ${random.of(["made = 0", "list = []", "self = this.name"])};`),
    () => w.inFunction({ member: { ...member, field: true, hidden: [], hiddenMethods: [] } }, () => {
      w.emit("static {");
      w.scoped(() => statement(w, depth - 1));
      w.emit("}");
    }),
    () => constructor(w, member, depth),
    () => constructor(w, member, depth),
    () => method((p) => `m0(${p()})`, {}),
    () => method((p) => `m1(${p()})`, {}),
    () => method((p) => `static s1(${p()})`, {}),
    () => method(() => "get g()", {}),
    () => method(() => "set g(x)", {}),
    () => method((p) => `*[Symbol.iterator](${p()})`, { yields: true }),
    () => method((p) => `async m2(${p()})`, { awaits: true }),
    () => w.emit("get g2() { return note('g2'); } set g2(x) { note('set g2', x); }"),
    () => w.emit("static of(...list) { return new this(...list); }"),
    () => w.emit(LAZY),
    () => w.emit("[(() => { let key = 'key'; for (const x of [3]) key += (() => x)(); return note(key); })()]() { return 'computed'; }"),
    () => w.emit("put(x) { super[0] = x; super[1] = 1; super[1]++; return [this[0], this[1]]; }"),
    () => w.emit(random.of(["toString() { return 'as text'; }", "[Symbol.toPrimitive](hint) { return hint; }", "valueOf() { return 7; }", "get [Symbol.toStringTag]() { return 'Tag'; }"])),
    () => w.emit(member.hidden.length ? `has(x) { return ${member.hidden[0]} in x; } secret() { return this.${member.hidden[0]}; }` : "has(x) { return x instanceof this.constructor; }"),
  ];
}

function constructor(w, member, depth) {
  if (member.made) return;
  member.made = true;
  const { random } = w;
  w.inFunction({ member }, () => {
    w.emit(`constructor(${parameters(w)}) {`);
    w.emit("tick();");
    if (member.derived) {
      if (random.chance(20)) w.emit(`note("before super");`);
      if (random.chance(8)) w.emit("try { this.p; } catch (e) { note(e); }");
      // V8 throws what a constructor without `super` has coming at its `return`, where a `catch` around it sees it, and not at its end, as the language wants (test262:
      // derived-class-return-override-catch). So nothing stands in one that may return.
      if (random.chance(4)) return w.emit("}");
      w.emit(random.of(["super();", "super(3);", "super(...arguments);", "const made = super(); note(made === this);", "(() => super())();", "try { super(); } finally { note('super done'); }"]));
    }
    for (let n = random.integer(0, 2); n > 0; n--) statement(w, depth - 1);
    if (random.chance(50)) w.emit(`this.p = ${expression(w, 1)};`);
    if (random.chance(8)) w.emit(`if (${expression(w, 0)}) return ${random.of(["{ p: 'other' }", "[]", "undefined"])};`);
    w.emit("}");
  });
}
