// Programs of statements over a few variables. Every loop is counted, so that every program ends.

export function imperative(random) {
  return new Writer(random).program();
}

class Writer {
  constructor(random) {
    this.random = random;
    this.names = ["a", "b", "c", "list", "text", "object"];
    this.loops = 0;
    this.labels = [];
    this.depth = 0;
  }

  program() {
    const { random } = this;
    const lines = [
      `let a = ${random.number()}, b = ${random.integer(-9, 9)}, c = ${random.value(0)};`,
      `let list = [${random.list(0, 6, () => random.value(0)).join(", ")}], text = ${JSON.stringify(random.word())}, object = { p: ${random.value(0)}, q: ${random.number()} };`,
      "const out = []; let budget = 400;",
      "const note = (value) => { if (budget-- > 0) out.push(typeof value === 'number' && !Number.isFinite(value) ? String(value) : value); return value; };",
      // What is added to itself must not grow for ever.
      "const cut = (value) => typeof value === 'string' ? value.slice(0, 60) : value;",
      `async function twist(x, y = ${random.value(0)}, ...rest) { ${this.block(2)} return ${this.expression(2)}; }`,
      ...random.list(3, 7, () => this.statement(3)),
      `note(await twist(${random.value(0)}, undefined, 1));`,
      "return [out.slice(0, 40).map(String), String(a), String(b), String(c), list.length, text.length, Object.keys(object)];",
    ];
    return lines.join("\n");
  }

  block(depth) {
    return this.random.list(1, 3, () => this.statement(depth)).join(" ");
  }

  statement(depth) {
    const { random } = this;
    const kind = random.below(depth > 0 ? 16 : 6);
    switch (kind) {
      case 0: return `${random.of(["a", "b", "c"])} ${random.of(["=", "+=", "-=", "*=", "??=", "||=", "&&="])} ${this.expression(2)}; a = cut(a); b = cut(b); c = cut(c);`;
      case 1: return `note(${this.expression(3)});`;
      case 2: return `if (list.length < 12) list.push(${this.expression(1)});`;
      case 3: return `text = String(${this.expression(2)}).slice(0, 30);`;
      case 4: return `object.${random.of(["p", "q", "r"])} = ${this.expression(2)};`;
      case 5: return random.of(["a++;", "--b;", "delete object.q;", "list.reverse();", "[a, b] = [b, a];", "list.pop();"]);
      case 6: return `if (${this.expression(2)}) { ${this.block(depth - 1)} } else { ${this.block(depth - 1)} }`;
      case 7: {
        const name = `i${this.loops++}`;
        const label = random.chance(40) ? `l${name}` : null;
        if (label) this.labels.push(label);
        const body = this.block(depth - 1);
        const jump = label && random.chance(70) ? ` if (${name} === ${random.below(4)}) ${random.of(["break", "continue"])} ${random.of(this.labels)};` : "";
        if (label) this.labels.pop();
        return `${label ? `${label}: ` : ""}for (let ${name} = 0; ${name} < ${random.integer(1, 5)}; ${name}++) {${jump} ${body} }`;
      }
      case 8: return `for (const each of [...list].slice(0, 4)) { note(each); ${this.block(depth - 1)} }`;
      case 9: return `for (const key in object) { note(key); ${this.block(depth - 1)} }`;
      case 10: return `try { ${this.block(depth - 1)} if (${this.expression(1)}) throw ${random.of(["new TypeError('t')", "new RangeError('r')", "'plain'", "{ name: 'Own' }"])}; } catch (e) { note(e?.name ?? e); } finally { ${this.block(depth - 1)} }`;
      case 11: return `switch (${this.expression(1)}) { case ${random.value(0)}: ${this.block(depth - 1)} case ${random.integer(0, 3)}: note('two'); break; default: ${this.block(depth - 1)} }`;
      case 12: return `{ const [first = ${random.value(0)}, , ...others] = list; const { p, z = ${random.value(0)}, ...more } = object; note(first); note(others.length); note(z); note(Object.keys(more).join()); }`;
      case 13: return `{ let n = ${random.integer(1, 4)}; do { note(n); ${this.block(depth - 1)} } while (--n > 0); }`;
      case 14: return `{ const adders = []; for (let k = 0; k < 3; k++) adders.push((x) => x + k); note(adders.map((f) => f(${random.integer(0, 9)})).join()); }`;
      default: return `note(await (async (x) => { ${random.chance(50) ? "await null;" : ""} return x; })(${this.expression(2)}));`;
    }
  }

  expression(depth) {
    const { random } = this;
    if (depth <= 0) return random.of([random.value(0), "a", "b", "text", "list.length", "object.p"]);
    const inner = () => this.expression(depth - 1);
    switch (random.below(15)) {
      case 0: return `(${inner()} ${random.of(["+", "-", "*", "/", "%"])} ${inner()})`;
      case 1: return `(${inner()} ${random.of(["<", ">", "<=", ">=", "==", "!=", "===", "!=="])} ${inner()})`;
      case 2: return `(${inner()} ${random.of(["&&", "||"])} ${inner()})`;
      case 3: return `(${inner()} ${random.of(["&", "|", "^", "<<", ">>", ">>>"])} ${inner()})`;
      case 4: return `(${inner()} ? ${inner()} : ${inner()})`;
      case 5: return `${random.of(["-", "+", "!", "~", "typeof ", "void "])}(${inner()})`;
      case 6: return `\`<\${${inner()}}|\${${inner()}}>\``;
      case 7: return `text.${random.of(["toUpperCase()", "slice(1, 4)", "indexOf('a')", "split('').length", "padStart(6, '*')", "charCodeAt(1)", "at(-1)", "replace(/[aeiou]/g, '_')", "trim()"])}`;
      case 8: return `list.${random.of(["map((v) => typeof v).join('')", "filter(Boolean).length", "indexOf(a)", "slice(-2).join('/')", "some((v) => v === b)", "findLast((v) => v)", "includes(NaN)", "concat([1, [2]]).flat().length", "reduce((s, v) => s + String(v).length, 0)"])}`;
      case 9: return `object?.${random.of(["p", "q", "missing?.deep.er", "p?.length", "toString?.call(1)"])}`;
      case 10: return `Math.${random.of(["max", "min", "trunc", "round", "sign", "abs", "floor"])}(${inner()})`;
      case 11: return `((x) => ${inner()})(${inner()})`;
      case 12: return `(${random.of(["a", "b"])} ?? ${inner()})`;
      case 13: return `Number.${random.of(["isInteger", "isSafeInteger", "parseFloat", "isNaN"])}(${inner()})`;
      default: return `[${inner()}, ${inner()}].${random.of(["join()", "length", "at(-1)", "includes(a)", "flat().length"])}`;
    }
  }
}
