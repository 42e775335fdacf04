// Programs that leave what they are in: jumps and errors through `finally`, labels, loops over iterators that count how often they
// are closed, generators inside each other, `await` in all of it. Each step notes where it is, and every loop is counted.

export function jumps(random) {
  return new Writer(random).program();
}

class Writer {
  constructor(random) {
    this.random = random;
    this.count = 0;
    this.loops = [];
    this.labels = [];
    this.kind = "plain";
  }

  program() {
    const functions = ["plain", "async", "generator", "asyncGenerator"];
    const { random } = this;
    const bodies = functions.map((kind) => this.function(kind));
    return [
      "const log = []; let steps = 0;",
      "const note = (text) => { if (++steps > 250) throw new EvalError('enough'); log.push(text); };",
      "const iterator = (name, fault) => { let n = 0; return {",
      "  [Symbol.iterator]() { return this; },",
      "  next() { if (fault === 'next' && n === 1) throw new Error('next ' + name); return { value: n++, done: n > 3 }; },",
      "  return() { note('close ' + name); if (fault === 'return') throw new Error('return ' + name); return {}; } }; };",
      "const later = (name, fault) => { const it = iterator(name, fault); return {",
      "  [Symbol.asyncIterator]() { return this; },",
      "  async next() { await null; return it.next(); }, async return() { await null; return it.return(); } }; };",
      "const said = (error) => error instanceof TypeError ? error.name : error?.message ?? error;",
      "const fail = (text) => { throw new Error(text); };",
      ...bodies,
      "const told = async (name, run) => { try { log.push(name + ' gives ' + JSON.stringify(await run())); } catch (error) { if (error instanceof EvalError) throw error; log.push(name + ' throws ' + said(error)); } };",
      "try {",
      ...random.list(2, 3, (n) => `  await told('plain ${n}', () => plain(${n}));`),
      ...random.list(1, 2, (n) => `  await told('async ${n}', () => later_(${n}));`),
      ...random.list(1, 2, (n) => `  await told('generator ${n}', () => { const out = []; for (const x of generator(${n})) { out.push(x); if (out.length > ${random.integer(0, 4)}) break; } return out; });`),
      `  await told('by hand', () => { const it = generator(1); return [it.next(), it.next(), it.${random.of(["return('r')", "throw(new Error('t'))", "next()"])}, it.next(), it.return('end')]; });`,
      `  await told('async generator', async () => { const out = []; for await (const x of generator_(1)) { out.push(x); if (out.length > ${random.integer(0, 3)}) break; } return out; });`,
      `  await told('async by hand', async () => { const it = generator_(0); return [await it.next(), await it.${random.of(["return('r')", "throw(new Error('t'))", "next()"])}, await it.next()]; });`,
      "} catch (error) { log.push('ends ' + error.name); }",
      "return log;",
    ].join("\n");
  }

  function(kind) {
    this.kind = kind;
    const head = { plain: "function plain(n)", async: "async function later_(n)", generator: "function* generator(n)", asyncGenerator: "async function* generator_(n)" }[kind];
    const body = `${head} { let turns = 0; ${this.block(3)} return 'end'; }`;
    return body;
  }

  name(prefix) {
    return `${prefix}${this.count++}`;
  }

  block(depth) {
    return this.random.list(1, 3, () => this.statement(depth)).join(" ");
  }

  statement(depth) {
    const { random } = this;
    const awaits = this.kind === "async" || this.kind === "asyncGenerator";
    const yields = this.kind === "generator" || this.kind === "asyncGenerator";
    if (depth <= 0 || random.chance(25)) return this.leaf(awaits, yields);
    switch (random.below(awaits ? 11 : 10)) {
      case 0: case 1: return `try { ${this.block(depth - 1)} } finally { ${this.finalizer(depth)} }`;
      case 2: return `try { ${this.block(depth - 1)} } catch (error) { if (error instanceof EvalError) throw error; note('caught ' + said(error)); ${this.block(depth - 1)} } finally { ${this.finalizer(depth)} }`;
      case 3: return `try { ${this.block(depth - 1)} } catch (error) { if (error instanceof EvalError) throw error; note('caught ' + said(error)); }`;
      case 4: case 5: return this.loop(depth, (name) => `for (const ${name} of iterator('${name}'${this.fault()}))`);
      case 6: return this.loop(depth, (name) => random.of([`for (let ${name} = 0; ${name} < 3; ${name}++)`, `for (const ${name} in { p: 1, q: 2 })`, `for (const ${name} of [1, 2, 3])`]));
      case 7: {
        const label = this.name("block");
        this.labels.push(label);
        const body = this.block(depth - 1);
        this.labels.pop();
        return `${label}: { ${body} }`;
      }
      case 8: {
        this.loops.push("switch");
        const body = `switch ((n + ${random.below(3)}) % 3) { case 0: ${this.block(depth - 1)} case 1: ${this.block(depth - 1)} break; default: ${this.block(depth - 1)} }`;
        this.loops.pop();
        return body;
      }
      case 9: {
        const name = this.name("part");
        return `{ const [${name}${random.chance(30) && yields ? " = yield 'inside'" : ""}, other = ${name}] = iterator('${name}'${this.fault()}); note(${name} + other); }`;
      }
      default: return this.loop(depth, (name) => `for await (const ${name} of later('${name}'${this.fault()}))`);
    }
  }

  loop(depth, head) {
    const { random } = this;
    const name = this.name("x");
    const label = random.chance(50) ? `l${name}` : null;
    if (label) this.labels.push(label);
    this.loops.push(label ?? "loop");
    const body = `${head(name)} { note('${name} ' + ${name}); ${this.block(depth - 1)} }`;
    this.loops.pop();
    if (label) this.labels.pop();
    return label ? `${label}: ${body}` : body;
  }

  fault() {
    return this.random.chance(20) ? `, '${this.random.of(["next", "return"])}'` : "";
  }

  finalizer(depth) {
    const { random } = this;
    const parts = [`note('finally ${this.count++}');`];
    if (random.chance(40)) parts.push("try { fail('inside') } catch {}");
    if (random.chance(30)) parts.push(this.block(Math.min(depth - 1, 1)));
    return parts.join(" ");
  }

  leaf(awaits, yields) {
    const { random } = this;
    const when = random.chance(60) ? `if (turns++ % ${random.integer(2, 3)} === ${random.below(2)}) ` : "";
    const leaves = [`note('step ${this.count++}');`, `${when}fail('error ${this.count++}');`, `${when}return 'value ${this.count++}';`];
    if (this.loops.length > 0) leaves.push(`${when}break;`, `${when}break;`);
    if (this.loops.some((loop) => loop !== "switch")) leaves.push(`${when}continue;`, `${when}continue;`);
    if (this.labels.length > 0) leaves.push(`${when}break ${random.of(this.labels)};`, `${when}break ${random.of(this.labels)};`);
    const loops = this.labels.filter((label) => this.loops.includes(label));
    if (loops.length > 0) leaves.push(`${when}continue ${random.of(loops)};`, `${when}continue ${random.of(loops)};`);
    if (awaits) leaves.push("await null;", `${when}await Promise.reject(new Error('refused ${this.count++}'));`);
    if (yields) leaves.push(`note('sent ' + (yield 'y${this.count++}'));`, `yield ${this.count++};`, `yield* ${this.kind === "generator" ? `iterator('d${this.count++}'${this.fault()})` : `later('d${this.count++}'${this.fault()})`};`);
    return random.of(leaves);
  }
}
