// The client against the real program.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { Belljar, BelljarError, RunError, positional } from "belljar";

import { aborted, deferred, jarFor } from "./support.mjs";

test("a run returns its value, its logs, its calls and what it used", async (context) => {
  const jar = await jarFor(context);
  const outcome = await jar.run("console.log('seen'); return (await github.find({ text: 'bug' })).length", {
    tools: {
      github: {
        find: {
          description: "Finds issues.",
          effect: "read_only",
          schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
          run: async ({ text }) => [`${text} 1`, `${text} 2`],
        },
      },
    },
  });
  assert.equal(outcome.value, 2);
  assert.deepEqual(outcome.logs, [{ level: "log", text: "seen" }]);
  assert.equal(outcome.calls.length, 1);
  assert.equal(outcome.calls[0].tool, "find");
  assert.equal(outcome.usage.tool_calls, 1);
});

test("typescript runs as it is", async (context) => {
  const jar = await jarFor(context);
  const { value } = await jar.run("const add = (a: number, b: number): number => a + b; return add(1, 2)");
  assert.equal(value, 3);
});

test("top-level functions and positional namespaces get what the script passed", async (context) => {
  const jar = await jarFor(context);
  const { value } = await jar.run("return [await add({ a: 1, b: 2 }), await join('x', 'y', 3), await list.at([5, 6], 1)]", {
    functions: { add: ({ a, b }) => a + b, join: positional((parts) => parts.join("-")) },
    tools: { list: positional({ at: ([values, index]) => values[index] }) },
  });
  assert.deepEqual(value, [3, "x-y-3", 6]);
});

test("a handler is told what was called, and gets a signal", async (context) => {
  const jar = await jarFor(context);
  const seen = [];
  const run = (_, call) => seen.push([call.namespace, call.name, call.signal.aborted]);
  await jar.run("await a.b({}); await c({})", { tools: { a: { b: run } }, functions: { c: { run } } });
  assert.deepEqual(seen, [["a", "b", false], [undefined, "c", false]]);
});

test("answers arrive as they were given: null, texts that look like numbers, undefined, bytes", async (context) => {
  const jar = await jarFor(context);
  const answers = [null, "3", 3, false, [], { deep: [null] }, undefined, new Uint8Array([1, 2]), new Uint16Array([1, 999])];
  const code = `const seen = [];
    for (let index = 0; index < ${answers.length}; index += 1) {
      const value = await answer(index);
      seen.push(value?.constructor?.name.endsWith("Array") && ArrayBuffer.isView(value)
        ? [value.constructor.name, ...value] : value === undefined ? "undefined" : value);
    }
    return seen;`;
  const { value } = await jar.run(code, { functions: { answer: positional(([index]) => answers[index]) } });
  assert.deepEqual(value, [
    null, "3", 3, false, [], { deep: [null] }, "undefined", ["Uint8Array", 1, 2], ["Uint16Array", 1, 999],
  ]);
});

test("arguments and the value of a run may be undefined, bytes, or look like the escape itself", async (context) => {
  const jar = await jarFor(context);
  const seen = [];
  const code = `await note(undefined, new Uint8Array([7]), new Uint8Array([8]).buffer, { $belljar: "undefined" });
    return { bytes: new Uint8Array([9, 255]), escape: { $belljar: { bytes: "AA==" } } }`;
  const { value } = await jar.run(code, { functions: { note: positional((given) => void seen.push(...given)) } });
  assert.deepEqual(seen, [undefined, new Uint8Array([7]), new Uint8Array([8]).buffer, { $belljar: "undefined" }]);
  assert.deepEqual(value, { bytes: new Uint8Array([9, 255]), escape: { $belljar: { bytes: "AA==" } } });
  assert.equal((await jar.run("return undefined")).value, undefined);
  assert.equal((await jar.run("return null")).value, null);
});

test("a prelude extends the namespaces and is not counted in the lines of the script", async (context) => {
  const jar = await jarFor(context);
  const options = {
    tools: { db: { get: () => 20 } },
    prelude: "db.twice = async (input) => 2 * (await db.get(input));\n\n\n",
  };
  assert.equal((await jar.run("return await db.twice({})", options)).value, 40);
  const error = await jar.run("\nnull.x", options).catch((thrown) => thrown);
  assert.equal(error.line, 2);
});

test("without builtins the name `tools` is the host's", async (context) => {
  const jar = await jarFor(context);
  const options = { builtins: false, tools: { tools: { ping: () => "pong" } } };
  assert.equal((await jar.run("return await tools.ping({})", options)).value, "pong");
  assert.equal((await jar.run("return typeof tools", { builtins: false })).value, "undefined");
});

test("what a script throws has its own name and bare message, and the whole outcome", async (context) => {
  const jar = await jarFor(context);
  const error = await jar.run("console.warn('before');\nthrow new RangeError('no: more')").catch((thrown) => thrown);
  assert.ok(error instanceof RunError && error instanceof BelljarError);
  assert.deepEqual([error.name, error.message, error.kind, error.code], ["RangeError", "no: more", "exception", "run"]);
  assert.equal(error.line, 2);
  assert.deepEqual(error.outcome.logs, [{ level: "warn", text: "before" }]);
  assert.equal((await jar.outcome("throw new Error('x')")).ok, false);
});

test("what a handler throws is caught by the script with its name and message, or ends the run", async (context) => {
  const jar = await jarFor(context);
  class QuotaError extends Error {
    name = "QuotaError";
  }
  const functions = { spend: () => { throw new QuotaError("none left"); }, odd: () => { throw "a text"; } };
  const caught = await jar.run(
    "const seen = []; for (const f of [spend, odd]) try { await f({}) } catch (e) { seen.push([e.name, e.message, e instanceof Error]) } return seen",
    { functions },
  );
  assert.deepEqual(caught.value, [["QuotaError", "none left", true], ["ToolError", "a text", true]]);
  const error = await jar.run("await spend({})", { functions }).catch((thrown) => thrown);
  assert.deepEqual([error.name, error.message], ["QuotaError", "none left"]);
});

test("an answer that is not JSON is an error that the script can catch", async (context) => {
  const jar = await jarFor(context);
  const circle = {};
  circle.self = circle;
  const { value } = await jar.run("try { await f({}) } catch (e) { return e.name }", { functions: { f: () => circle } });
  assert.equal(value, "TypeError");
  const huge = await jar.run("try { await f({}) } catch (e) { return e.name + ': ' + e.message }", {
    functions: { f: () => "x".repeat(17 * 1024 * 1024) },
  });
  assert.match(huge.value, /RangeError: the answer of f is longer than the limit of 16777216 bytes/);
});

test("an outcome or a call that is too long for a message fails alone", async (context) => {
  const jar = await jarFor(context);
  const { pid } = jar.about;
  await assert.rejects(jar.run("return 'x'.repeat(17 << 20)", { limits: { maxOutput: "40MiB" } }), { code: "size" });
  const { value } = await jar.run("return await f({ a: 'x'.repeat(17 << 20) }).catch((e) => e.message)", {
    functions: { f: () => assert.fail("it was called") },
    limits: { maxArguments: "40MiB" },
  });
  assert.match(value, /the limit is 16777216/);
  assert.equal((await jar.run("return 1")).value, 1);
  assert.equal(jar.about.pid, pid);
});

test("each limit ends a run with its own error name", async (context) => {
  const jar = await jarFor(context);
  const name = (code, limits) => jar.run(code, { limits, functions: { f: () => 1 } }).then(
    () => "no error",
    (error) => [error.name, error.kind],
  );
  assert.deepEqual(await name("await new Promise(() => setTimeout(() => {}, 60_000))", { timeout: 50 }), ["TimeoutError", "timeout"]);
  assert.deepEqual(await name("while (true);", { compute: "50ms" }), ["TimeoutError", "timeout"]);
  assert.deepEqual(await name("while (true);", { fuel: 1_000_000_000 }), ["TimeoutError", "fuel"]);
  assert.deepEqual(await name("const a = []; for (;;) a.push(new Array(1000).fill(1))", { memory: "48MiB" }), ["MemoryLimitError", "memory"]);
  assert.deepEqual(await name("await f({}); await f({})", { maxCalls: 1 }), ["CallsError", "calls"]);
  assert.deepEqual(await name("return 'x'.repeat(100)", { maxOutput: 50 }), ["OutputError", "output"]);
  assert.deepEqual(await name("let let = 1", {}), ["SyntaxError", "syntax"]);
});

test("logs come while the run is under way", async (context) => {
  const jar = await jarFor(context);
  const logged = deferred();
  const run = jar.run("console.info('first'); await go({}); return 'done'", {
    onLog: logged.resolve,
    // The call is answered only once the log has come.
    functions: { go: () => logged.promise },
  });
  assert.deepEqual(await logged.promise, { level: "info", text: "first" });
  assert.equal((await run).value, "done");
});

for (const [how, onLog] of [
  ["throws", () => { throw new RangeError("no room"); }],
  ["rejects", async () => { throw new RangeError("no room"); }],
]) {
  test(`an onLog that ${how} ends its run and no other, and stops its calls`, async (context) => {
    const jar = await jarFor(context);
    const stopped = deferred();
    const functions = { slow: async (_, { signal }) => stopped.resolve(await aborted(signal)) };
    const other = jar.run("return await get({})", { functions: { get: () => stopped.promise.then(() => 1) } });
    await assert.rejects(jar.run("console.log('a'); console.log('b'); await slow({})", { functions, onLog }), {
      name: "RangeError",
      message: "no room",
    });
    assert.equal((await other).value, 1);
  });
}

test("a signal ends the run, and the end of a run aborts its pending calls", async (context) => {
  const jar = await jarFor(context);
  const controller = new AbortController();
  const stopped = deferred();
  const run = jar.run("await slow({})", {
    signal: controller.signal,
    functions: {
      async slow(_, { signal }) {
        controller.abort(new Error("the user left"));
        stopped.resolve(await aborted(signal));
      },
    },
  });
  const error = await run.catch((thrown) => thrown);
  assert.deepEqual([error.name, error.kind, error.cause.message], ["AbortError", "cancelled", "the user left"]);
  assert.equal((await stopped.promise).name, "AbortError");
  await assert.rejects(jar.run("return 1", { signal: controller.signal }), /the user left/);
  assert.equal((await jar.run("return 1")).value, 1);
});

test("a call that takes too long is aborted, and the script goes on", async (context) => {
  const jar = await jarFor(context);
  const stopped = deferred();
  const { value } = await jar.run("try { await slow({}) } catch (error) { return error.name }", {
    limits: { call: 50 },
    functions: { slow: async (_, { signal }) => stopped.resolve(await aborted(signal)) },
  });
  assert.equal(value, "ToolError");
  assert.equal((await stopped.promise).name, "AbortError");
});

test("many runs with many calls share one process", async (context) => {
  const jar = await jarFor(context);
  const runs = Array.from({ length: 8 }, (_, index) => jar.run(
    `return (await Promise.all(Array.from({ length: 100 }, (_, at) => echo({ at })))).map(({ at }) => at + ${index * 1000})`,
    { functions: { echo: async (input) => input } },
  ));
  const values = (await Promise.all(runs)).map(({ value }) => value);
  values.forEach((value, index) => assert.deepEqual(value, Array.from({ length: 100 }, (_, at) => at + index * 1000)));
  assert.equal(typeof jar.about.pid, "number");
});

test("a process that dies takes its runs with it, and the next run starts another", async (context) => {
  const jar = await jarFor(context);
  const { pid } = jar.about;
  const stopped = deferred();
  const run = jar.run("await slow({})", {
    functions: {
      async slow(_, { signal }) {
        process.kill(pid, "SIGKILL");
        stopped.resolve(await aborted(signal));
      },
    },
  });
  await assert.rejects(run, (error) => error instanceof BelljarError && error.code === "exited" && /SIGKILL/.test(error.message));
  await stopped.promise;
  assert.equal((await jar.run("return 2")).value, 2);
  assert.notEqual(jar.about.pid, pid);
});

test("belljar refuses names that a script could not use", async (context) => {
  const jar = await jarFor(context);
  for (const name of ["not-a-name", "console", "class"]) {
    await assert.rejects(jar.run("return 1", { functions: { [name]: () => 1 } }), { code: "request" });
  }
  await assert.rejects(jar.run("return 1", { tools: { a: { b: {} } } }), /a\.b has no function `run`/);
});

test("unknown options, wrong namespaces and wrong limits are reported, and nothing is run", async (context) => {
  const jar = await jarFor(context);
  const f = () => assert.fail("it was called");
  for (const [options, message] of [
    [{ tool: {} }, /no option tool; its options are tools, functions/],
    [{ tools: { f } }, /the namespace f must be an object of functions.*belongs in `functions`/],
    [{ tools: { f: null } }, /the namespace f must be an object/],
    [{ tools: [f] }, /tools must be an object of namespaces/],
    [{ tools: { a: { f: positional(f) } } }, /a\.f is marked as positional, but only a whole namespace can be/],
    [{ functions: [f] }, /functions must be an object of functions/],
    [{ functions: { f: null } }, /f has no function `run`/],
    [{ limits: { timeout: -1 } }, /the limit timeout is -1/],
    [{ limits: { maxCalls: Number.NaN } }, /the limit maxCalls is NaN/],
    [{ onLog: true }, /onLog must be a function/],
  ]) {
    await assert.rejects(jar.run("await f({})", options), { name: "TypeError", message });
  }
});

test("a Node script ends while the process is idle, and not while a run is under way", async () => {
  const script = `
    import { Belljar } from "belljar";
    const jar = await Belljar.start();
    jar.run("return await later({})", { functions: { later: async () => "late" } }).then(({ value }) => console.log(value));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    timeout: 30_000,
  });
  assert.equal(stdout, "late\n");
});

test("a closed jar ends its process and takes no more runs", async () => {
  const jar = await Belljar.start();
  const { pid } = jar.about;
  const started = deferred();
  const run = jar.run("await slow({})", { functions: { slow: (_, { signal }) => (started.resolve(), aborted(signal)) } });
  const failed = assert.rejects(run, BelljarError);
  await started.promise;
  await jar[Symbol.asyncDispose]();
  await failed;
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  await assert.rejects(jar.run("return 1"), { code: "closed" });
});
