// `belljar/mastra` in the tests of Mastra's own transports (Apache-2.0 licence), in our words. From
// packages/core, the suite src/tools/code-mode/code-mode.e2e.test.ts, all 6 cases, through
// createCodeMode of @mastra/core 1.71.0. From @mastra/quickjs, which needs no sandbox either, the
// suite src/transport.test.ts, 29 of 33 cases: the other 4 are about QuickJS handles. If belljar
// differs on purpose, the test says so.

import assert from "node:assert/strict";
import { describe, mock, test } from "node:test";

import { createCodeMode, createTool, sanitizeToolId } from "@mastra/core/tools";
import { Belljar } from "belljar";
import { belljarTransport } from "belljar/mastra";
import { z } from "zod";

import { aborted, deferred } from "./support.mjs";

const jar = Belljar.start();
const logged = [];
const observing = { observe: { span: async (_, run) => run(), log: (...entry) => logged.push(entry) } };

const getTopProducts = createTool({
  id: "getTopProducts",
  description: "The products that sell best",
  inputSchema: z.object({ limit: z.number() }),
  outputSchema: z.object({ products: z.array(z.object({ id: z.string(), name: z.string(), totalSales: z.number() })) }),
  execute: async ({ limit }) => ({
    products: Array.from({ length: limit }, (_, at) => ({ id: `p${at}`, name: `Product ${at}`, totalSales: (at + 1) * 100 })),
  }),
});
const getProductRatings = createTool({
  id: "getProductRatings",
  description: "The ratings of a product",
  inputSchema: z.object({ productId: z.string() }),
  outputSchema: z.object({ ratings: z.array(z.object({ score: z.number() })) }),
  execute: async ({ productId }) => {
    const seed = Number(productId.slice(1));
    return { ratings: [{ score: 4 + (seed % 2) }, { score: 3 + (seed % 3) }] };
  },
});

function run(code, { tools = { getTopProducts }, context, ...config } = {}) {
  const { tool } = createCodeMode({ tools, ...config }, belljarTransport({ jar }));
  return tool.execute({ code }, { ...observing, ...context });
}

describe("code-mode.e2e.test.ts", () => {
  test("one program does the work of many calls, without a sandbox of Mastra's", async () => {
    const result = await run(
      `const top = await external_getTopProducts({ limit: 3 });
       const ratings = await Promise.all(top.products.map((product) => external_getProductRatings({ productId: product.id })));
       console.log('fetched', top.products.length, 'products');
       return top.products.map((product, at) => {
         const scores = ratings[at].ratings.map((rating) => rating.score);
         const average = scores.reduce((sum, score) => sum + score, 0) / scores.length;
         return { name: product.name, sales: product.totalSales, average };
       });`,
      { tools: { getTopProducts, getProductRatings } },
    );
    assert.deepEqual(result.logs, ["fetched 3 products"]);
    assert.deepEqual(result.result, [
      { name: "Product 0", sales: 100, average: 3.5 },
      { name: "Product 1", sales: 200, average: 4.5 },
      { name: "Product 2", sales: 300, average: 4.5 },
    ]);
  });

  test("calls go through Mastra's tool, which checks its input", async () => {
    logged.length = 0;
    const ok = await run("const r = await external_getTopProducts({ limit: 2 }); return r.products.length;");
    assert.deepEqual([ok.success, ok.result], [true, 2]);
    assert.deepEqual(logged.map(([level, text]) => [level, text]), [
      ["info", "code-mode external call"],
      ["info", "code-mode external result"],
    ]);
    const bad = await run("return await external_getTopProducts({ limit: 'nope' });");
    assert.equal(bad.success, false);
    assert.match(bad.error.message, /limit/);
  });

  test("what a program throws is its bare error", async () => {
    const result = await run("const a = 1;\nthrow new Error('boom');");
    assert.deepEqual([result.success, result.error], [false, { name: "Error", message: "boom", line: 2 }]);
  });

  test("a tool that was not given is not there", async () => {
    const result = await belljarTransport({ jar }).run({
      program: "return await external_secret({});",
      toolIds: ["known"],
      dispatch: async () => ({ ok: true }),
      timeout: 15_000,
    });
    assert.equal(result.success, false);
    assert.match(result.error.message, /external_secret/);
  });

  test("an endless program times out", async () => {
    const result = await run("await new Promise((resolve) => setTimeout(resolve, 10000)); return 1;", { timeout: 300 });
    assert.deepEqual(result.error, { name: "TimeoutError", message: "Code Mode execution timed out after 300ms", line: result.error.line });
  });

  test("no sandbox is needed, since the jar is one", async () => {
    assert.equal(belljarTransport().requiresSandbox, false);
    assert.equal((await run("return 1;")).result, 1);
  });
});

function runProgram(program, { tools = {}, limits, ...request } = {}) {
  const dispatch = mock.fn(async (id, args) => tools[id](args));
  const transport = belljarTransport({ jar, limits });
  return transport.run({ program, toolIds: Object.keys(tools), dispatch, timeout: 5_000, ...request });
}

describe("@mastra/quickjs: transport.test.ts", () => {
  test("it needs no sandbox", () => assert.equal(belljarTransport().requiresSandbox, false));

  test("it needs no flag of Node", async () => {
    assert.doesNotMatch([...process.execArgv, process.env.NODE_OPTIONS].join(" "), /--no-node-snapshot/);
    assert.equal((await runProgram("return 'ok';")).result, "ok");
  });

  test("a program has a result", async () => assert.deepEqual(await runProgram("return 1 + 2;"), { success: true, result: 3, logs: [] }));

  test("types are dropped", async () => {
    const code = "const double = (n: number): number => n * 2; const values: number[] = [1, 2, 3]; return values.map(double);";
    assert.deepEqual((await runProgram(code)).result, [2, 4, 6]);
  });

  test("logs are strings, formatted as by Node", async () => {
    const { logs } = await runProgram("console.log('hello', { a: 1 }); console.warn('careful'); return null;");
    assert.deepEqual(logs, ["hello { a: 1 }", "careful"]);
  });

  test("calls reach the dispatcher", async () => {
    const result = await runProgram("const r = await external_lookup({ id: 'x' }); return r;", { tools: { lookup: (args) => ({ args }) } });
    assert.deepEqual(result.result, { args: { id: "x" } });
  });

  test("calls that end in another order have their own results", async () => {
    const answers = [];
    // The first is answered last.
    const calc = ({ n }) => new Promise((resolve) => {
      answers.push(() => resolve(n * 10));
      if (answers.length === 3) answers.reverse().forEach((answer) => answer());
    });
    const code = "return await Promise.all([1, 2, 3].map((n) => external_calc({ n })));";
    assert.deepEqual((await runProgram(code, { tools: { calc } })).result, [10, 20, 30]);
  });

  test("many calls are under way at once", async () => {
    const all = deferred();
    let underWay = 0;
    const calc = async ({ n }) => {
      if ((underWay += 1) === 8) all.resolve();
      await all.promise;
      return n;
    };
    const code = "const all = await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map((n) => external_calc({ n }))); return all.reduce((a, b) => a + b);";
    assert.equal((await runProgram(code, { tools: { calc } })).result, 28);
  });

  test("ids become identifiers", async () => {
    assert.equal((await runProgram("return await external_my_tool({});", { tools: { "my-tool": () => "ok" } })).result, "ok");
  });

  test("what a tool throws keeps its name", async () => {
    const fail = () => { throw Object.assign(new Error("boom"), { name: "CustomError" }); };
    const code = "try { await external_fail({}); } catch (e) { return { message: e.message, name: e.name }; }";
    assert.deepEqual((await runProgram(code, { tools: { fail } })).result, { message: "boom", name: "CustomError" });
  });

  test("arguments that are not JSON are refused before the call", async () => {
    const calc = mock.fn(() => "ok");
    const { result } = await runProgram("try { await external_calc({ n: 1n }); } catch (e) { return e.message; }", { tools: { calc } });
    assert.match(result, /BigInt/);
    assert.equal(calc.mock.callCount(), 0);
  });

  test("what a program throws is its error", async () => {
    const { error } = await runProgram("throw new TypeError('bad input');");
    assert.deepEqual([error.name, error.message], ["TypeError", "bad input"]);
  });

  test("what cannot be parsed is a SyntaxError", async () => assert.equal((await runProgram("const = ;")).error.name, "SyntaxError"));

  test("a result that is not JSON is an error that says where", async () => {
    const { error } = await runProgram("const a = {}; a.self = a; return a;");
    assert.match(error.message, /\$\.self/);
  });

  test("a promise that nothing can settle is reported at once, and not after the time-out", async () => {
    const { success, error } = await runProgram("await new Promise(() => {}); return 1;", { timeout: 60_000 });
    assert.deepEqual([success, error.name, error.line], [false, "DeadlockError", 1]);
  });

  test("a call that hangs times out", async () => {
    const { error } = await runProgram("return await external_hang({});", { tools: { hang: () => new Promise(() => {}) }, timeout: 300 });
    assert.deepEqual([error.name, error.message], ["TimeoutError", "Code Mode execution timed out after 300ms"]);
  });

  test("a TimeoutError or AbortError that a tool throws is the tool's", async () => {
    for (const name of ["TimeoutError", "AbortError"]) {
      const upstream = async () => { throw new DOMException("upstream was slow", name); };
      const { error } = await runProgram("return await external_upstream({});", { tools: { upstream } });
      assert.deepEqual([error.name, error.message], [name, "upstream was slow"]);
    }
  });

  test("an endless loop times out", async () => {
    assert.equal((await runProgram("while (true) {}", { timeout: 300 })).error.name, "TimeoutError");
  });

  test("too much memory ends a program", async () => {
    const code = "const chunks = []; while (true) chunks.push(new Array(1024 * 1024).fill('x'));";
    const { error } = await runProgram(code, { limits: { memory: "64MiB" }, timeout: 30_000 });
    assert.equal(error.name, "MemoryLimitError");
  });

  test("the logs before a failure are kept", async () => {
    assert.deepEqual((await runProgram("console.log('step 1 done'); throw new Error('later');")).logs, ["step 1 done"]);
  });

  test("nothing runs for a signal that was aborted before", async () => {
    const ping = mock.fn();
    const { error } = await runProgram("return await external_ping({});", { tools: { ping }, abortSignal: AbortSignal.abort() });
    assert.equal(error.name, "AbortError");
    assert.equal(ping.mock.callCount(), 0);
  });

  test("a signal ends a program that waits", async () => {
    const controller = new AbortController();
    const hang = () => (controller.abort(), new Promise(() => {}));
    const { error } = await runProgram("return await external_hang({});", { tools: { hang }, abortSignal: controller.signal });
    assert.equal(error.name, "AbortError");
  });

  test("and one that loops", async () => {
    const controller = new AbortController();
    const code = "await external_go({}); while (true) {}";
    const { error } = await runProgram(code, { tools: { go: () => controller.abort() }, abortSignal: controller.signal, timeout: 60_000 });
    assert.equal(error.name, "AbortError");
  });

  test("the host's globals are absent; timers are belljar's own", async () => {
    const names = ["process", "require", "fetch", "module", "importScripts", "setTimeout"];
    const { result } = await runProgram(`return [${names.map((name) => `typeof ${name}`)}];`);
    assert.deepEqual(result, [...Array(5).fill("undefined"), "function"]);
  });

  test("the bridge is absent too", async () => {
    const { result } = await runProgram("return [typeof __hostCall, typeof __hostLog, typeof globalThis.process];");
    assert.deepEqual(result, ["undefined", "undefined", "undefined"]);
  });

  test("a tool that was not given has no name to be called by", async () => {
    const allowed = mock.fn();
    const code = "try { return await external_secret({}); } catch (e) { return e.name; }";
    assert.equal((await runProgram(code, { tools: { allowed } })).result, "ReferenceError");
    assert.equal(allowed.mock.callCount(), 0);
  });

  test("a hook that throws changes nothing", async () => {
    const onExternalCall = mock.fn(() => { throw new Error("observer"); });
    const onExternalResult = mock.fn(() => { throw new Error("observer"); });
    const result = await runProgram("return await external_ping({ q: 1 });", { tools: { ping: () => "pong" }, onExternalCall, onExternalResult });
    assert.equal(result.result, "pong");
    assert.deepEqual(onExternalCall.mock.calls[0].arguments, ["ping", { q: 1 }]);
    const [id, milliseconds, error] = onExternalResult.mock.calls[0].arguments;
    assert.deepEqual([id, typeof milliseconds, error], ["ping", "number", undefined]);
  });

  test("a call's failure reaches the hook, once", async () => {
    const circle = {};
    circle.self = circle;
    for (const fail of [() => { throw new Error("boom"); }, () => circle]) {
      const onExternalResult = mock.fn();
      const result = await runProgram("return await external_fail({});", { tools: { fail }, onExternalResult });
      assert.equal(result.success, false);
      assert.equal(onExternalResult.mock.callCount(), 1);
      assert.ok(onExternalResult.mock.calls[0].arguments[2] instanceof Error);
    }
  });
});

test("types are dropped, as Mastra's stubs make models write them", async () => {
  assert.equal((await run("const n: number = 2; return n as number;")).result, 2);
});

test("ids that are not identifiers have the names of Mastra's stubs", async () => {
  const ids = ["weather-info", "2nd.tool", "a b"];
  const program = `return [${ids.map((id) => `await external_${sanitizeToolId(id)}({})`)}]`;
  const result = await belljarTransport({ jar }).run({ program, toolIds: ids, dispatch: async (id) => id, timeout: 5_000 });
  assert.deepEqual(result.result, ids);
});

test("the agent's signal ends the program", async () => {
  const controller = new AbortController();
  const called = deferred();
  const waiting = createTool({ id: "waiting", description: "waits", inputSchema: z.object({}), execute: () => (called.resolve(), aborted(controller.signal)) });
  const result = run("await external_waiting({}); return 1;", { tools: { waiting }, context: { abortSignal: controller.signal } });
  await called.promise;
  controller.abort();
  assert.equal((await result).error.name, "AbortError");
});
