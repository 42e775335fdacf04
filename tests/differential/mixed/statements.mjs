// Statements, a line each, or a block from a line that opens it to one that closes it.
import { expression } from "./expressions.mjs";
import { classDeclaration } from "./classes.mjs";
import { assignment, declaration, pattern } from "./patterns.mjs";
import { waiting } from "./waiting.mjs";

export function statement(w, depth) {
  const { random } = w;
  if (depth <= 0) return leaf(w);
  const kind = random.below(w.awaits ? 24 : 20);
  switch (kind) {
    case 0: case 1: return leaf(w);
    case 2: return declaration(w);
    case 3: return assignment(w);
    case 4: case 5: case 6: return attempt(w, depth);
    case 7: return w.functionDeclaration(depth - 1);
    case 8: return random.chance(50) ? classDeclaration(w, depth - 1) : leaf(w);
    case 9: {
      w.emit(`if (${expression(w, 1)}) {`);
      w.block(depth - 1);
      if (random.chance(50)) {
        w.emit("} else {");
        w.block(depth - 1);
      }
      return w.emit("}");
    }
    case 10: return loop(w, depth, (name) => `for (let ${name} = 0; ${name} < ${random.integer(1, 4)}; ${name}++)`, "number");
    case 11: return loop(w, depth, (name) => `for (const ${name} of ${random.of(["a0.slice(0, 3)", "[1, 2, 3]", "'añ😀'", "new Map([[1, 2], [3, 4]])", generated(w)])})`, "any");
    case 12: return loop(w, depth, (name) => `for (const ${name} of iterator("${name}", ${random.integer(1, 4)}${fault(w)}))`, "number");
    case 13: return loop(w, depth, (name) => `for (const ${name} in ${random.of(["o0", "{ x: 1, y: 2 }", "'ab'", "[7, , 8]"])})`, "text");
    case 14: return patternLoop(w, depth);
    case 15: return choice(w, depth);
    case 16: {
      const label = w.fresh("block");
      w.labels.push(label);
      w.emit(`${label}: {`);
      w.block(depth - 1);
      w.emit("}");
      return w.labels.pop();
    }
    case 17: return closures(w, depth);
    case 18: return byHand(w);
    case 19: return early(w);
    default: return waiting(w, depth);
  }
}

function fault(w) {
  return w.random.chance(20) ? `, "${w.random.of(["next", "return"])}"` : "";
}

function generated(w) {
  const generator = w.some("generator");
  return generator ? `${generator}(${expression(w, 0)})` : "a0.slice(1)";
}

function leaf(w) {
  const { random } = w;
  const when = random.chance(60) ? `if (${random.of([`steps % ${random.integer(2, 4)} === ${random.below(2)}`, expression(w, 0)])}) ` : "";
  // What ends the rest of a block is mostly conditional, so that there is a rest.
  const rarely = when || (random.chance(70) ? `if (steps % ${random.integer(2, 3)} === 0) ` : "");
  const leaves = [`note(${expression(w, 2)});`, `note(${expression(w, 2)});`, `note("${w.fresh("step ")}");`, `${rarely}fail("${w.fresh("error ")}");`];
  leaves.push(`${rarely}return ${w.member ? "undefined" : expression(w, 1)};`);
  if (w.member?.field) leaves.splice(-1, 1);
  if (w.loops.length > 0) leaves.push(`${when}break;`, `${when}break;`);
  if (w.loops.some((each) => each !== "switch")) leaves.push(`${when}continue;`, `${when}continue;`);
  if (w.labels.length > 0) leaves.push(`${when}break ${random.of(w.labels)};`, `${when}break ${random.of(w.labels)};`);
  const labelled = w.labels.filter((label) => w.loops.includes(label));
  if (labelled.length > 0) leaves.push(`${when}continue ${random.of(labelled)};`, `${when}continue ${random.of(labelled)};`);
  if (w.yields) leaves.push(`note("sent", yield "${w.fresh("y")}");`, `yield ${expression(w, 1)};`, w.awaits ? `yield* [1, Promise.resolve(2)];` : `yield* iterator("${w.fresh("d")}", ${random.integer(1, 3)}${fault(w)});`);
  if (w.awaits) leaves.push(`await null;`, `${when}await Promise.reject(new Fault("${w.fresh("refused ")}"));`);
  const [number, list] = [w.some("number", true), w.some("list", true)];
  if (number) leaves.push(`${number} = ${random.of(["Number", "parseFloat"])}(${expression(w, 0)}) || 0;`);
  leaves.push("if (a0.length < 9) a0.push(n0);", "while (a0.length > 3) a0.length--;", "a0.length = Math.min(a0.length, 4);", `o0.${random.of(["p", "z"])} = ${expression(w, 1)};`, `${random.of(["let", "const", "var"])} ${w.fresh("v")} = ${expression(w, 1)};`);
  if (list) leaves.push(`${list}.${random.of(["push(1)", "reverse()", "shift()"])};`);
  leaves.push(reassigned(w));
  const line = random.of(leaves);
  const made = /^(let|const|var) (v\d+)/.exec(line);
  const built = w.some("class");
  if (built && random.chance(20)) {
    const name = w.fresh("it");
    w.emit(`const ${name} = new ${built}(${expression(w, 0)});`);
    return w.declare(name, "instance", false);
  }
  w.emit(line);
  if (made) w.declare(made[2], "any", made[1] !== "const");
}

// An operand that no closure sees, and that the other operand assigns to.
function reassigned(w) {
  const { random } = w;
  const name = w.fresh("t");
  const operator = random.of(["+", "-", "*", "%", "<", ">", "<=", "===", "!==", "|", "<<", "**"]);
  const second = random.of([`(${name} = 3)`, `${name}++`, `--${name}`, `(${name} += 2)`, `([${name}] = [4])[0]`, `(${name} ? (${name} = 1) : 0)`, `(note(${name}), ${name} = 2)`]);
  return `{ let ${name} = ${random.integer(-3, 9)}; note([${name} ${operator} ${second}, ${name}]); }`;
}

export function attempt(w, depth) {
  const { random } = w;
  const form = random.below(3);
  w.emit("try {");
  w.block(depth - 1);
  if (form > 0) {
    const name = w.fresh("e");
    // Not the message: V8's says less of what cannot be iterated.
    const parameter = random.of([name, name, name, `{ name: ${name} = "none" }`, ""]);
    w.emit(parameter ? `} catch (${parameter}) {` : "} catch {");
    w.scoped(() => {
      if (parameter) w.declare(name, "any", true);
      w.emit(parameter === name ? `if (${name} instanceof EvalError) throw ${name};` : "tick();");
      if (parameter) w.emit(`note("caught", ${parameter === name ? name : `${name} === "none"`});`);
      if (random.chance(60)) w.block(depth - 1, 1, 2);
      if (random.chance(20) && parameter === name) w.emit(random.of([`throw ${name};`, `throw new Fault("again", { cause: ${name} });`]));
    });
  }
  if (form !== 1) {
    w.emit("} finally {");
    w.scoped(() => {
      w.emit(`log.push("${w.fresh("finally ")}");`);
      if (random.chance(40)) w.emit("try { fail('inside'); } catch {}");
      if (random.chance(40)) w.block(Math.min(depth - 1, 1), 1, 2);
    });
  }
  w.emit("}");
}

export function loop(w, depth, head, kind) {
  const { random } = w;
  const name = w.fresh("x");
  const label = random.chance(40) ? w.fresh("l") : null;
  const line = head(name);
  if (label) w.labels.push(label);
  w.loops.push(label ?? "loop");
  w.emit(`${label ? `${random.chance(15) ? `${w.fresh("m")}: ` : ""}${label}: ` : ""}${line} {`);
  w.scoped(() => {
    w.declare(name, kind, false);
    w.emit(`note("${name}", ${name});`);
    w.block(depth - 1);
  });
  w.emit("}");
  w.loops.pop();
  if (label) w.labels.pop();
}

export function patternLoop(w, depth) {
  const { random } = w;
  w.scoped(() => {
    const made = pattern(w, 1, () => w.declare(w.fresh("v"), "any", true));
    w.loops.push("loop");
    w.emit(`for (${random.of(["const", "let"])} ${made} of ${random.of(["[[1, 2], [3], []]", "Object.entries(o0)", "[o0, { p: [1], q: {} }]", "new Map([[{ p: 1 }, [2]]])", "[a0, 'text']"])}) {`);
    w.emit("tick();");
    w.block(depth - 1);
    w.emit("}");
    w.loops.pop();
  });
}

export function choice(w, depth) {
  const { random } = w;
  w.loops.push("switch");
  w.emit(`switch (${expression(w, 1)}) {`);
  w.scoped(() => {
    const cases = [`case ${random.integer(0, 3)}:`, `case ${expression(w, 0)}:`, "default:"];
    for (const each of random.shuffled(cases).slice(0, random.integer(1, 3))) {
      w.emit(`${each} {`);
      w.block(depth - 1);
      w.emit(random.chance(50) ? "break; }" : "}");
    }
  });
  w.emit("}");
  w.loops.pop();
}

// Functions made in a loop, which keep what they have closed over.
export function closures(w, depth) {
  const { random } = w;
  const [kept, turn] = [w.fresh("kept"), w.fresh("x")];
  w.emit(`const ${kept} = [];`);
  w.emit(random.of([`for (let ${turn} = 0; ${turn} < 3; ${turn}++) {`, `for (const ${turn} of [4, 5]) {`, `for (let ${turn} in { x: 1, y: 2 }) {`, `for (var ${turn} = 0; ${turn} < 2; ${turn}++) {`]));
  w.loops.push("loop");
  w.scoped(() => {
    w.declare(turn, "any", false);
    if (random.chance(50)) statement(w, depth - 1);
    w.inFunction({ member: w.member }, () => w.emit(`${kept}.push((y = ${turn}) => [${turn}, ${expression(w, 1)}]);`));
    if (random.chance(40)) statement(w, 0);
  });
  w.loops.pop();
  w.emit("}");
  w.emit(`note(${kept}.map((f) => f()));`);
}

// A generator that is driven step by step.
export function byHand(w) {
  const { random } = w;
  const generator = w.some("generator");
  if (!generator) return leaf(w);
  const name = w.fresh("g");
  w.emit(`const ${name} = ${generator}(${expression(w, 0)});`);
  for (let n = random.integer(1, 4); n > 0; n--) w.emit(`try { note(${name}.${random.of(["next()", "next('sent')", "next(1)", "return('r')", "throw(new Fault('thrown in'))"])}); } catch (e) { note("it threw", e); }`);
}

// What is used before it is there, or may not be written.
export function early(w) {
  const name = w.fresh("v");
  w.emit(w.random.of([
    `try { note(${name}); let ${name} = 1; } catch (e) { note(e); }`, `try { const ${name} = 1; ${name} = 2; } catch (e) { note(e); }`, `try { (() => ${name})(); class ${name} {} } catch (e) { note(e); }`,
    `{ note(typeof ${name}); function ${name}() { return 1; } note(${name}()); }`, `try { ((x = y, y) => x)(); } catch (e) { note(e); } var y;`, `try { Object.freeze(o0.q); o0.q.push(1); } catch (e) { note(e); }`,
    `try { null.p; } catch (e) { note(e); }`, `try { o0.nothing(); } catch (e) { note(e); }`, `try { [...{}]; } catch (e) { note(e); }`, `try { new (() => {})(); } catch (e) { note(e); }`, `try { Symbol() + ""; } catch (e) { note(e); }`,
  ]));
}
