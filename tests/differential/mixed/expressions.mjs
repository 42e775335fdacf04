// Expressions. They are mostly of kinds that fit, so that a program comes further than its first TypeError.
import { parameters } from "./patterns.mjs";
import { classExpression } from "./classes.mjs";

const leafs = (w) => [
  String(w.random.integer(-9, 9)), w.random.of(["0.5", "-0", "1e21", "NaN", "10", "3n + 4n"]), JSON.stringify(w.random.word()), w.random.of(["true", "false", "null", "undefined"]),
  w.some("number") ?? "1", w.some("text") ?? '"t"', w.some("any") ?? "n0", "o0.p", "a0.length", `note("${w.fresh("k")}")`,
];

// An expression; a `plain` one neither awaits nor yields, as the defaults of parameters need it.
export function expression(w, depth, plain = false) {
  const { random } = w;
  if (depth <= 0) return random.of(leafs(w));
  const saved = [w.awaits, w.yields];
  if (plain) [w.awaits, w.yields] = [false, false];
  const made = compound(w, depth);
  [w.awaits, w.yields] = saved;
  return made;
}

function compound(w, depth) {
  const { random } = w;
  const inner = () => expression(w, depth - 1);
  switch (random.below(27)) {
    case 0: case 1: return `(${inner()} ${random.of(["+", "-", "*", "%", "+", "**"]).replace("**", "<")} ${inner()})`;
    case 2: return `(${inner()} ${random.of(["<", ">=", "==", "===", "!==", "!="])} ${inner()})`;
    case 3: return `(${inner()} ${random.of(["&&", "||", "??"])} (${inner()}))`;
    case 4: return `(${inner()} ? ${inner()} : ${inner()})`;
    case 5: return random.of([`typeof ${inner()}`, `!${inner()}`, `void ${inner()}`, `-(${w.some("number") ?? "n0"})`, `String(${inner()})`]);
    case 6: return `\`\${${inner()}}-\${${inner()}}\``;
    case 7: return `tag\`a\${${inner()}}\\n\${${inner()}}\``;
    case 8: return `[${random.list(0, 3, () => (random.chance(25) ? `...${list(w, depth - 1)}` : inner())).join(", ")}]`;
    case 9: return object(w, depth);
    case 10: return call(w, depth);
    case 11: return call(w, depth);
    case 12: return instance(w, depth);
    case 13: return `${random.of([w.some("any") ?? "o0", "o0", "o0.r", w.some("object") ?? "o0"])}?.${random.of(["p", "q?.[0]", "r?.p", "m?.(1)", "z?.y.x", "toString?.name", "[note('at')]"])}`;
    case 14: {
      const target = w.some("number", true);
      return target ? random.of([`(${target} ${random.of(["=", "+=", "-="])} ${random.of(["1", "2", `note(${random.integer(0, 9)})`])})`, `${target}++`, `--${target}`]) : inner();
    }
    case 15: {
      const target = random.of([w.some("any", true) ?? "o0.z", "o0.p", "o0[note('k')]", "a0[1]"]);
      return `(${target} ${random.of(["=", "??=", "||=", "&&=", "="])} ${inner()})`;
    }
    case 16: return arrow(w, depth);
    case 17: return list(w, depth);
    case 18: return `${list(w, depth - 1)}.${method(w, depth)}`;
    case 19: return w.awaits ? `(await ${random.of([inner(), `job("${w.fresh("j")}", ${random.below(3)})`, `Promise.resolve(${inner()})`, `{ then(ok) { ok(${expression(w, 0, true)}); } }`])})` : inner();
    case 20: return w.yields ? `(yield ${inner()})` : inner();
    case 21: return `(${inner()}, ${inner()})`;
    case 22: return w.member ? own(w) : inner();
    case 23: return `(new ${classExpression(w)}(${inner()})).${random.of(["p", "m(1)", "q", "x", "lazy"])}`;
    case 24: return random.of([`("p" in o0)`, `delete o0.z`, `(${inner()} instanceof Object)`, `Object.keys(o0).length`, `JSON.stringify(${w.some("list") ?? "a0"})`]);
    case 25: return `Math.${random.of(["max", "min"])}(...${list(w, depth - 1)}, ${random.integer(0, 9)})`;
    default: return `note(${inner()})`;
  }
}

// A list, as source.
function list(w, depth) {
  const { random } = w;
  if (depth <= 0) return random.of([w.some("list") ?? "a0", "a0", "[1, 2]", "o0.q"]).replace("o0.q", "[o0.q]");
  const generator = w.some("generator");
  return random.of([
    () => `[...${list(w, depth - 1)}, ${expression(w, depth - 1)}]`,
    () => `Array.from({ length: ${random.integer(0, 3)} }, (_, i) => ${w.some("number") ?? "i"} + i)`,
    () => (generator ? `take(${generator}(${args(w, depth - 1)}), ${random.integer(1, 4)})` : "a0.slice(0, 3)"),
    () => `${list(w, depth - 1)}.${random.of(["map((x) => [x])", "filter(Boolean)", "slice(1)", "concat([0])", "toReversed()", "flat()"])}`,
    () => `[...new Set(${list(w, depth - 1)})]`,
    () => `take(iterator("${w.fresh("i")}", 4), ${random.integer(1, 5)})`,
  ])();
}

function method(w, depth) {
  const { random } = w;
  const body = () => w.captured(() => w.inFunction({ member: w.member }, () => w.emit((w.declare("x", "any", true), expression(w, depth - 1)))));
  return random.of([() => "length", () => "join('/')", () => `map((x) => ${wrapped(body())})`, () => `filter((x) => ${wrapped(body())}).length`, () => `reduce((sum, x) => show(sum) + ${wrapped(body())}, "")`, () => `find((x) => ${wrapped(body())})`, () => "at(-1)", () => `some((x) => ${wrapped(body())})`, () => "entries().next().value"])();
}

const wrapped = (body) => (body[0] === "{" ? `(${body})` : body);

function object(w, depth) {
  const { random } = w;
  const inner = () => expression(w, depth - 1);
  const parts = random.list(0, 4, () => random.of([
    () => `${random.of(["p", "q", "r"])}: ${inner()}`,
    () => `[${random.of([`note("${w.fresh("k")}")`, "s0", "n0", "`x${n0}`"])}]: ${inner()}`,
    () => `...${random.of(["o0", w.some("any") ?? "null", "a0", "\"hi\""])}`,
    () => `get ${random.of(["p", "q"])}() { return ${expression(w, 0, true)}; }`,
    () => `set p(x) { note("set", x); }`,
    () => `get r() { note("lazily"); delete this.r; return (this.r = ${expression(w, 0, true)}); }`,
    () => `m(x = ${expression(w, 0, true)}) { return [this === undefined, x]; }`,
    () => w.some("any") ?? "n0",
    () => `*[Symbol.iterator]() { yield* [${expression(w, 0, true)}, 2]; }`,
    () => `toString() { return "text of it"; }`,
    () => `async am() { return ${expression(w, 0, true)}; }`,
  ])());
  return `({ ${parts.join(", ")} })`;
}

function args(w, depth) {
  const { random } = w;
  return random.list(0, 3, () => (random.chance(15) ? `...${list(w, 0)}` : expression(w, depth))).join(", ");
}

function call(w, depth) {
  const { random } = w;
  const [plain, async, generator, later] = ["function", "async", "generator", "asyncGenerator"].map((kind) => w.some(kind));
  const choices = [];
  if (plain) choices.push(() => `${plain}(${args(w, depth - 1)})`, () => `${plain}(${args(w, depth - 1)})`, () => `${plain}.call(o0, ${expression(w, 0)})`, () => `Reflect.apply(${plain}, null, [${expression(w, 0)}])`);
  if (async && w.awaits) choices.push(() => `(await ${async}(${args(w, depth - 1)}))`, () => `(await ${async}(${args(w, depth - 1)}).then((x) => [x], (e) => { note("no", e); }))`);
  if (generator) choices.push(() => `take(${generator}(${args(w, depth - 1)}), ${random.integer(1, 4)})`, () => `${generator}(${expression(w, 0)}).${random.of(["next().done", "return(5).value", "next().value"])}`);
  if (later && w.awaits) choices.push(() => `(await ${later}(${args(w, depth - 1)}).next()).${random.of(["value", "done"])}`, () => `(await ${later}().return(${expression(w, 0)})).value`);
  return choices.length ? random.of(choices)() : expression(w, depth - 1);
}

// An arrow function that is called, or whose closure is kept.
function arrow(w, depth) {
  const { random } = w;
  const async = w.awaits && random.chance(30);
  let text = "";
  w.inFunction({ awaits: async, member: w.member }, () => {
    const head = `${async ? "async " : ""}(${parameters(w)}) =>`;
    text = `(${head} ${wrapped(expression(w, depth - 1))})`;
  });
  const called = `${text}(${args(w, depth - 1)})`;
  return async ? `(await ${called})` : called;
}

export function instance(w, depth) {
  const { random } = w;
  const made = w.some("class");
  const kept = w.some("instance");
  const what = () => random.of(["p", "q", "g", "m0(1)", "m1()", "m2?.(2)", "arrow?.()", "has?.(o0)", "constructor.name", "secret?.()", "g2", "lazy", "lazy", "key3?.()", "put?.(o0)"]);
  if (kept && random.chance(50)) return `${kept}.${what()}`;
  if (!made) return expression(w, depth - 1);
  return random.of([
    () => `new ${made}(${args(w, depth - 1)}).${what()}`,
    () => `new ${made}(${args(w, depth - 1)})`,
    () => `${made}.${random.of(["s0", "s1?.()", "name", "length", "of?.(1)", "prototype.m0?.name"])}`,
    () => `\`\${new ${made}()}\``,
    () => `(new ${made}() instanceof ${w.some("class")})`,
    () => `(() => { const it = new ${made}(); it.p = ${expression(w, 0, true)}; it.q?.x; return [it.p, it.g]; })()`,
  ])();
}

// What a member of a class has: `this`, `super`, and what is private.
function own(w) {
  const { random, member } = w;
  const choices = ["this.p", "this.g", "this?.q", "this.p++", "(this.q = 5)"];
  for (const name of member.hidden) choices.push(`this.${name}`, `this.${name}`, `(${name} in this)`);
  for (const name of member.hiddenMethods) choices.push(`this.${name}(1)`);
  if (member.derived && !member.field) choices.push("super.m0?.(2)", "super.g", "super.p", "super.constructor.name");
  if (!member.field) choices.push("new.target === undefined");
  return random.of(choices);
}
