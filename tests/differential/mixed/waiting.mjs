// What waits: combinators over jobs, chains, promises by hand, and `for await`.
import { expression } from "./expressions.mjs";

export function waiting(w, depth) {
  const { random } = w;
  const job = () => `job("${w.fresh("j")}", ${random.below(4)}${random.chance(25) ? ", true" : ""})`;
  const later = w.some("async");
  const some = () => random.list(0, 3, () => random.of([job, job, () => expression(w, 0), () => (later ? `${later}(${expression(w, 0)})` : job()), () => `{ then(ok, no) { note("then"); ${random.of(["ok", "ok", "no"])}(${random.integer(0, 9)}); } }`])()).join(", ");
  const guarded = (text) => w.emit(`try { note(${text}); } catch (e) { if (e instanceof EvalError) throw e; note("refused", e); }`);
  switch (random.below(11)) {
    case 0: return guarded(`await Promise.all([${some()}])`);
    case 1: return guarded(`(await Promise.allSettled([${some()}])).map((x) => x.status + show(x.value ?? x.reason))`);
    case 2: return guarded(`await Promise.race([${some()}, 1])`);
    case 3: return guarded(`await Promise.any([${some()}]).catch((e) => [e.name, e.errors?.length])`);
    case 4: return chain(w, depth, job());
    case 5: {
      const name = w.fresh("promise");
      w.emit(`const ${name} = ${job()}.catch((e) => { note("kept", e); return 0; });`);
      if (random.chance(50)) w.emit(`note("meanwhile");`);
      return w.emit(`note(await ${name});`);
    }
    case 6: {
      w.emit(`await new Promise((ok, no) => {`);
      w.emit(random.of(["ok(1); ok(2); no(3);", "ok(job('inner', 2)); note('asked');", "queueMicrotask(() => { log.push('micro'); ok(); });", "Promise.resolve().then(() => ok('later'));", "ok({ then(f) { note('thenable'); f(5); } });", "ok(); fail('too late');"]));
      return w.emit(`}).then((x) => note("made", x));`);
    }
    case 7: return w.emit(`queueMicrotask(() => { log.push("${w.fresh("micro ")}"); });`);
    case 8: case 9: {
      const name = w.fresh("x");
      const generator = w.some("asyncGenerator");
      w.loops.push("loop");
      w.emit(`for await (const ${name} of ${random.of([`[1, ${job()}.catch(() => "no"), 3]`, "iterator('later', 3)", generator ? `${generator}(${expression(w, 0)})` : "[Promise.resolve(1)]", "(async function* () { try { yield 1; yield 2; } finally { note('left'); } })()"])}) {`);
      w.scoped(() => {
        w.declare(name, "any", false);
        w.emit(`note("${name}", ${name});`);
        w.block(depth - 1, 1, 2);
      });
      w.loops.pop();
      return w.emit("}");
    }
    default: {
      w.emit(`await Promise.all([1, 2].map(async (x) => {`);
      w.inFunction({ awaits: true, member: w.member }, () => {
        w.declare("x", "number", true);
        w.emit("note('task', x); await null;");
        w.block(depth - 1, 1, 2);
      });
      return w.emit(`})).catch((e) => note("a task", e));`);
    }
  }
}

function chain(w, depth, start) {
  const { random } = w;
  w.emit(`await ${start}`);
  for (let n = random.integer(1, 3); n > 0; n--) {
    const [head, wrap] = random.of([[".then((x) => {", "})"], [".catch((x) => {", "})"], [".finally((x) => {", "})"], [".then(undefined, (x) => {", "})"], [".then(async (x) => {", "})"]]);
    w.emit(head);
    w.inFunction({ awaits: head.includes("async"), member: w.member }, () => {
      w.declare("x", "any", true);
      w.emit(`note("${w.fresh("link ")}", x);`);
      w.block(depth - 1, 1, 2);
    });
    w.emit(wrap);
  }
  w.emit(`.catch((x) => note("end of chain", x));`);
}
