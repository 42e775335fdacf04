// `belljar/ai` with Vercel's AI SDK 7, whose model is a mock from its own package; and in the tests
// of Vercel's own code mode, in our words. From packages/code-mode (1.0, Apache-2.0 licence) these
// are the suites src/core.test.ts (7 cases) and src/tool-invocation.test.ts (the 9 of 12 cases that
// are not about how it interrupts and resumes a program).

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { generateText, isStepCount, jsonSchema, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Belljar, RunError } from "belljar";
import { belljarTool } from "belljar/ai";
import { z } from "zod";

import { aborted, deferred, home, jarFor } from "./support.mjs";

const jar = Belljar.start();
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that runs `code` and then reports the result. */
function modelOf(code) {
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const last = prompt.at(-1);
      const content = last.role === "tool"
        ? [{ type: "text", text: JSON.stringify(last.content[0].output) }]
        : [{ type: "tool-call", toolCallId: "call-1", toolName: "code", input: JSON.stringify({ code }) }];
      return { content, finishReason: { unified: last.role === "tool" ? "stop" : "tool-calls" }, usage, warnings: [] };
    },
  });
}

const stock = tool({
  description: "How many there are.",
  inputSchema: z.object({ product: z.string() }),
  outputSchema: z.object({ units: z.number() }),
  execute: async ({ product }, { toolCallId }) => ({ units: product.length, toolCallId }),
});

const execution = { toolCallId: "outer", messages: [] };
const runIn = (tools, code, options) => belljarTool({ jar, tools }).execute({ code }, { ...execution, ...options });

describe("in generateText", () => {
  test("code calls the tools that name it, and the model sees only the code", async () => {
    const model = modelOf("const all = await Promise.all(['ab', 'abc'].map((product) => tools.stock({ product }))); return all.map(({ units }) => units)");
    const result = await generateText({
      model,
      tools: { code: belljarTool({ jar }), stock },
      experimental_toolCallers: { stock: ["code"] },
      stopWhen: isStepCount(3),
      prompt: "How many?",
    });
    assert.deepEqual(JSON.parse(result.text), { type: "json", value: [2, 3] });
    const [{ tools }] = model.doGenerateCalls;
    assert.deepEqual(tools.map(({ name }) => name), ["code"]);
    assert.match(tools[0].description, /\/\*\* How many there are\. \*\/ stock\(input: \{ product: string \}\): Promise<\{ units: number \}>;/);
  });

  test("an error reaches the model with its name and line", async () => {
    const result = await generateText({
      model: modelOf("const a = 1;\nnull.x"),
      tools: { code: belljarTool({ jar }), stock },
      experimental_toolCallers: { stock: ["code"] },
      stopWhen: isStepCount(3),
      prompt: "Fail.",
    });
    const { type, value } = JSON.parse(result.text);
    assert.equal(type, "error-text");
    assert.match(value, /TypeError: .*\(line 2\)/);
  });
});

test("a value is JSON, as the SDK requires", async () => {
  const result = await generateText({
    model: modelOf("return { bytes: new Uint8Array(3), big: [new BigInt64Array(1)] }"),
    tools: { code: belljarTool({ jar, tools: {} }) },
    stopWhen: isStepCount(3),
    prompt: "Bytes.",
  });
  assert.deepEqual(JSON.parse(result.text).value, { bytes: "<3 bytes>", big: ["<8 bytes>"] });
});

describe("a call from code", () => {
  test("has its own id, made from that of the code", async () => {
    const value = await runIn({ stock }, "return [await tools.stock({ product: 'a' }), await tools.stock({ product: 'b' })]");
    assert.deepEqual(value.map(({ toolCallId }) => toolCallId), ["outer:tool-1", "outer:tool-2"]);
  });

  test("is checked by the tool's schema, which may change it", async () => {
    const double = tool({ inputSchema: z.object({ n: z.coerce.number().default(4) }), execute: async ({ n }) => n * 2 });
    assert.deepEqual(await runIn({ double }, "return [await tools.double({ n: '3' }), await tools.double({})]"), [6, 8]);
    await assert.rejects(runIn({ stock }, "await tools.stock({ product: 7 })"), (error) => error instanceof RunError
      && error.name === "TypeError" && /Invalid input for tool "stock"/.test(error.message));
  });

  test("of a tool that needs approval is refused", async () => {
    let paid = false;
    const pay = (needsApproval) => tool({ inputSchema: z.object({}), needsApproval, execute: async () => (paid = true) });
    for (const needsApproval of [true, async () => true]) {
      await assert.rejects(runIn({ pay: pay(needsApproval) }, "await tools.pay({})"), /needs a person's approval/);
    }
    assert.equal(paid, false);
    await runIn({ pay: pay(() => false) }, "await tools.pay({})");
    assert.equal(paid, true);
  });

  test("of a tool without execute is refused", async () => {
    await assert.rejects(runIn({ there: tool({ inputSchema: z.object({}) }) }, "await tools.there({})"), /does not have execute/);
  });

  test("gets the last part of a result in parts", async () => {
    const parts = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield "some";
        yield "all";
      },
    });
    assert.equal(await runIn({ parts }, "return await tools.parts({})"), "all");
  });

  test("reaches tools whose names are not identifiers", async () => {
    assert.deepEqual(await runIn({ "in-stock": stock }, "return (await tools['in-stock']({ product: 'abcd' })).units"), 4);
  });

  test("is aborted with the generation", async () => {
    const controller = new AbortController();
    const called = deferred();
    const slow = tool({
      inputSchema: z.object({}),
      execute: (_, { abortSignal }) => (called.resolve(abortSignal), aborted(abortSignal)),
    });
    const run = runIn({ slow }, "await tools.slow({})", { abortSignal: controller.signal });
    const signal = await called.promise;
    controller.abort(new Error("the user left"));
    await assert.rejects(run, /the user left/);
    await aborted(signal);
  });
});

describe("core.test.ts", () => {
  const given = {
    "javascript has a value": ["return { answer: 40 + 2 };", { answer: 42 }],
    "without a return it is undefined": ["const value = 1 + 1;", undefined],
    "types are dropped": ["const value: number = 7; return { value };", { value: 7 }],
    "interfaces and satisfies are too": [
      "interface Item { value: number }\nconst item = { value: 12 } satisfies Item;\nreturn item;",
      { value: 12 },
    ],
    "JSON is there": [
      `const parsed = JSON.parse('{"count":2,"items":["a","b"]}'); parsed.items.push("c"); return JSON.stringify(parsed);`,
      '{"count":2,"items":["a","b","c"]}',
    ],
  };
  for (const [name, [code, value]] of Object.entries(given)) {
    test(name, async () => assert.deepEqual(await runIn({}, code), value));
  }

  test("each run has globals of its own", async () => {
    assert.equal(await runIn({}, "globalThis.shared = 123; return globalThis.shared;"), 123);
    assert.equal(await runIn({}, "return globalThis.shared ?? 'missing';"), "missing");
  });

  test("many runs at once are independent", async () => {
    const runs = Array.from({ length: 20 }, (_, index) => runIn({}, `return ${index} * ${index};`));
    assert.deepEqual(await Promise.all(runs), Array.from({ length: 20 }, (_, index) => index * index));
  });
});

describe("tool-invocation.test.ts", () => {
  const add = tool({ inputSchema: z.object({ a: z.number(), b: z.number() }), execute: async ({ a, b }) => ({ sum: a + b }) });

  test("a tool is called with checked input", async () => {
    assert.deepEqual(await runIn({ add }, "return await tools.add({ a: 1, b: 2 });"), { sum: 3 });
  });

  test("calls make a chain", async () => {
    const double = tool({ inputSchema: z.object({ sum: z.number() }), execute: async ({ sum }) => ({ value: sum * 2 }) });
    assert.deepEqual(await runIn({ add, double }, "return await tools.double(await tools.add({ a: 2, b: 3 }));"), { value: 10 });
  });

  test("an answer may be undefined", async () => {
    const nothing = tool({ inputSchema: z.object({}), execute: async () => undefined });
    assert.deepEqual(await runIn({ nothing }, "return { type: typeof (await tools.nothing({})) };"), { type: "undefined" });
  });

  test("time goes on during a call", async () => {
    const wait = tool({
      inputSchema: z.object({ since: z.number() }),
      async execute({ since }) {
        while (Date.now() < since + 30) await new Promise((resolve) => setTimeout(resolve, 5));
        return Date.now();
      },
    });
    const code = "const before = Date.now(); const there = await tools.wait({ since: before }); return [before, there, Date.now()];";
    const [before, there, after] = await runIn({ wait }, code);
    assert.ok(before + 30 <= there && there <= after, `${before} ${there} ${after}`);
  });

  test("the context of the generation reaches the tools", async () => {
    const context = { requestId: "req-1" };
    const see = tool({ inputSchema: z.object({}), execute: async (_, execution) => [execution.context, execution.messages] });
    assert.deepEqual(await runIn({ see }, "return await tools.see({});", { context }), [context, []]);
  });
});

test("the defaults are Vercel's limits, and the caller's limits come first", async () => {
  const tools = { one: tool({ inputSchema: z.object({}), execute: async () => 1 }) };
  await assert.rejects(runIn(tools, "for (let i = 0; i < 257; i += 1) await tools.one({})"), { kind: "calls" });
  await assert.rejects(belljarTool({ jar, tools, timeout: 50 }).execute({ code: "while (true);" }, execution), { name: "TimeoutError" });
});

test("defaults are lowered to what belljar.toml allows, and the other limits stay", async (context) => {
  const config = join(home, "five-seconds.toml");
  writeFileSync(config, "[limits]\ntimeout = '5s'\n");
  const strict = await jarFor(context, { config });
  assert.deepEqual(strict.about.ceiling, { timeout: "5s" });
  const run = (options) => belljarTool({ jar: strict, tools: {}, ...options }).execute({ code: "return 'x'.repeat(3 << 20)" }, execution);
  await assert.rejects(run(), { kind: "output", message: /the limit is 1048576/ });
  // Limits that the caller sets are not lowered.
  await assert.rejects(run({ limits: { timeout: 6_000 } }), { kind: "usage" });
});

test("schemas of all kinds become types that a model can read", () => {
  const described = (schema) => belljarTool({ jar, tools: { f: tool({ description: "Does */ it.\n", inputSchema: jsonSchema(schema) }) } }).description;
  assert.match(
    described({
      type: "object",
      properties: {
        "a-b": { enum: ["x", 1, null] },
        list: { type: "array", items: { $ref: "#/$defs/Node" } },
        either: { anyOf: [{ type: "string" }, { type: "integer" }], description: "One of two." },
        map: { type: "object", additionalProperties: { type: "boolean" } },
        maybe: { type: ["string", "null"] },
      },
      required: ["list"],
      $defs: { Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" } } } },
    }),
    /Does \* \/ it\. \*\/ f\(input: \{ "a-b"\?: "x" \| 1 \| null; list: Array<\{ next\?: .*unknown.*\}>; \/\*\* One of two\. \*\/ either\?: string \| number; map\?: Record<string, boolean>; maybe\?: string \| null \}\)/,
  );
});
