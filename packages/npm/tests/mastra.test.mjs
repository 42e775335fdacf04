// `belljar/mastra` held to the tests of Mastra's own transport, in our words: of packages/core
// (Apache-2.0 licence) the suite src/tools/code-mode/code-mode.e2e.test.ts, all 6 cases, through
// createCodeMode of @mastra/core 1.71.0. Its instructions and stubs are the host's own.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

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

  test("what a program throws is its error, bare", async () => {
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

  test("a program that runs away is timed out", async () => {
    const result = await run("await new Promise((resolve) => setTimeout(resolve, 10000)); return 1;", { timeout: 300 });
    assert.deepEqual(result.error, { name: "TimeoutError", message: "Code Mode execution timed out after 300ms", line: result.error.line });
  });

  test("no sandbox is asked for: the jar is one", async () => {
    assert.equal(belljarTransport().requiresSandbox, false);
    assert.equal((await run("return 1;")).result, 1);
  });
});

test("types are dropped, as Mastra's stubs make models write them", async () => {
  assert.equal((await run("const n: number = 2; return n as number;")).result, 2);
});

test("ids that are no identifiers have the names of Mastra's stubs", async () => {
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
