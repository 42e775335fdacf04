// Patterns: of parameters, declarations and assignments, with the values that they take apart.
import { expression } from "./expressions.mjs";

// The parameters of a function, whose names are in scope then.
export function parameters(w) {
  const { random } = w;
  const parts = [];
  for (let n = random.integer(0, 3); n > 0; n--) {
    switch (random.below(6)) {
      case 0: parts.push(`${bind(w)} = ${expression(w, 1, true)}`); break;
      case 1: parts.push(`${pattern(w, 1, bind)} = ${value(w, 1)}`); break;
      default: parts.push(bind(w));
    }
  }
  if (random.chance(20)) parts.push(`...${w.declare(w.fresh("rest"), "list", true)}`);
  return parts.join(", ");
}

export function declaration(w) {
  const { random } = w;
  const kind = random.of(["const", "let", "var"]);
  const source = value(w, 2);
  w.emit(`${kind} ${pattern(w, 2, bind)} = ${source};`);
}

// An assignment to what is in scope, and to members.
export function assignment(w) {
  const { random } = w;
  const source = value(w, 2);
  // V8 evaluates the target of a name before it finds that there is nothing to take apart.
  const target = (_, named) => w.random.of([w.some("any", true), w.some("number", true), `o0.${random.of(["p", "z"])}`, `a0[${random.below(4)}]`, named ? "o0.named" : `o0[note("key")]`].filter(Boolean));
  w.emit(`(${pattern(w, 2, target)} = ${source});`);
}

function bind(w) {
  return w.declare(w.fresh("v"), "any", true);
}

// A pattern whose leaves `leaf` makes.
export function pattern(w, depth, leaf) {
  const { random } = w;
  const part = (named) => {
    const inner = depth > 0 && random.chance(30) ? pattern(w, depth - 1, leaf) : leaf(w, named);
    const fallback = inner[0] === "[" || inner[0] === "{" ? value(w, depth - 1) : expression(w, 0, true);
    return random.chance(inner[0] === "[" || inner[0] === "{" ? 85 : 35) ? `${inner} = ${fallback}` : inner;
  };
  if (random.chance(50)) {
    const parts = random.list(0, 3, () => (random.chance(12) ? "" : part(false)));
    if (random.chance(30)) parts.push(`...${depth > 0 && random.chance(25) ? pattern(w, depth - 1, leaf) : leaf(w)}`);
    else if (parts.at(-1) === "") parts.push("");
    return `[${parts.join(", ")}]`;
  }
  const parts = random.list(0, 3, () => {
    const key = random.of(["p", "q", "r", "p", "0", "length", "'x y'", `[${random.of(["note('p')", "'q'", "`${s0}`", "1"])}]`]);
    return `${key}: ${part(true)}`;
  });
  if (random.chance(25)) parts.push(`...${leaf(w, true)}`);
  return `{ ${parts.join(", ")} }`;
}

// Something that patterns take apart, as source.
function value(w, depth) {
  const { random } = w;
  const list = () => random.list(0, 4, () => (depth > 0 && random.chance(30) ? value(w, depth - 1) : expression(w, 0)));
  switch (random.below(8)) {
    case 0: case 1: return `[${list().join(", ")}]`;
    case 2: case 3: return `{ ${random.list(0, 3, () => `${random.of(["p", "q", "r", "'x y'", "0"])}: ${random.of([() => `[${list().join(", ")}]`, () => expression(w, 0), () => "{ p: 2, q: [3] }"])()}`).join(", ")} }`;
    case 4: return random.of(["a0", "o0", `"a😀b"`, "o0.q", "o0.r"]);
    case 5: return `iterator("${w.fresh("i")}", ${random.integer(0, 4)}${random.chance(20) ? `, "${random.of(["next", "return"])}"` : ""})`;
    case 6: { const f = w.some("generator"); return f ? `take(${f}(${random.below(9)}), 3)` : "[1, , 3]"; }
    default: return random.of(["new Map([[1, 2]])", "new Set([1, [2]])", "[[1, 2], [3]]", "Object.entries({ p: 1, q: 2 })", "{ get p() { return note('got p'); }, q: [1, 2], r: {} }"]);
  }
}
