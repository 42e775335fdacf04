// `belljar/tanstack` in the tests of TanStack AI's own QuickJS driver, in our words. From
// packages/ai-isolate-quickjs (0.3.1, MIT licence), the suites tests/isolate-driver.test.ts (28
// cases; 2 are about that driver's own function normalizeError, and here test its purpose) and
// tests/escape-attempts.test.ts (8 cases). Then with @tanstack/ai-code-mode itself.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createCodeMode } from "@tanstack/ai-code-mode";
import { toolDefinition } from "@tanstack/ai";
import { Belljar } from "belljar";
import { belljarDriver } from "belljar/tanstack";
import { z } from "zod";

import { deferred } from "./support.mjs";

const binding = (name, execute) => ({
  name,
  description: `${name} tool`,
  inputSchema: { type: "object", properties: {} },
  execute,
});

/** One jar for all tests, as in a host. */
const jar = Belljar.start();

async function contextOf(functions = {}, { timeout, memoryLimit, ...options } = {}) {
  const bindings = Object.fromEntries(Object.entries(functions).map(([name, run]) => [name, binding(name, run)]));
  return belljarDriver({ jar, ...options }).createContext({ bindings, timeout, memoryLimit });
}

async function valueOf(code, functions) {
  const context = await contextOf(functions);
  const result = await context.execute(code);
  await context.dispose();
  assert.ok(result.success, JSON.stringify(result.error));
  return result.value;
}

async function failureOf(code, functions, options) {
  const context = await contextOf(functions, options);
  const result = await context.execute(code);
  await context.dispose();
  assert.equal(result.success, false);
  return result.error;
}

describe("isolate-driver.test.ts: normalizeError", () => {
  test("an interrupted program is a time-out, with the driver's own message", async () => {
    const error = await failureOf("while (true) {}", {}, { timeout: 50 });
    assert.deepEqual([error.name, error.message], ["TimeoutError", "Code execution timed out"]);
  });

  test("an error whose message only mentions an interruption is not", async () => {
    const error = await failureOf("throw new Error('operation interrupted')");
    assert.deepEqual([error.name, error.message], ["Error", "operation interrupted"]);
  });
});

describe("isolate-driver.test.ts: execution", () => {
  test("a context has execute and dispose", async () => {
    const context = await contextOf();
    assert.deepEqual([typeof context.execute, typeof context.dispose], ["function", "function"]);
    assert.equal((await context.execute("return 42")).value, 42);
  });

  test("arithmetic has a value", async () => assert.equal(await valueOf("return 3 + 4"), 7));

  test("strings have a value", async () => assert.equal(await valueOf('return "hello" + " " + "world"'), "hello world"));

  test("await works at the top", async () => assert.equal(await valueOf("const x = await Promise.resolve(10); return x + 2;"), 12));

  test("bytes are shown by their number, since a model reads JSON", async () => {
    assert.deepEqual(await valueOf("return [new Uint8Array(3), new BigInt64Array(2), new ArrayBuffer(1)]"), ["<3 bytes>", "<16 bytes>", "<1 bytes>"]);
  });

  test("objects and lists have a value", async () => assert.deepEqual(await valueOf("return { a: 1, b: [2, 3] }"), { a: 1, b: [2, 3] }));
});

describe("isolate-driver.test.ts: bindings", () => {
  test("a binding is a function", async () => {
    assert.equal(await valueOf("const sum = await add({ a: 2, b: 3 }); return sum;", { add: async ({ a, b }) => a + b }), 5);
  });

  test("several bindings work in one program", async () => {
    const functions = { getA: async () => "A", getB: async () => "B" };
    assert.equal(await valueOf("return (await getA({})) + (await getB({}));", functions), "AB");
  });

  test("the same binding is awaited again and again", async () => {
    const calls = [];
    const get = async ({ path }) => {
      await new Promise((resolve) => setImmediate(resolve));
      calls.push(path);
      return { path };
    };
    const code = 'const a = await get({ path: "/a" }); const b = await get({ path: "/b" }); return [a, b];';
    assert.deepEqual(await valueOf(code, { get }), [{ path: "/a" }, { path: "/b" }]);
    assert.deepEqual(calls, ["/a", "/b"]);
  });

  test("Promise.all calls at once", async () => {
    const all = deferred();
    let started = 0;
    // Each is answered only once all three are under way.
    const get = async (input) => {
      if ((started += 1) === 3) all.resolve();
      await all.promise;
      return input;
    };
    const code = 'return await Promise.all([get({ path: "/a" }), get({ path: "/b" }), get({ path: "/c" })]);';
    assert.deepEqual(await valueOf(code, { get }), [{ path: "/a" }, { path: "/b" }, { path: "/c" }]);
  });

  test("what a tool throws is the program's error", async () => {
    const error = await failureOf("return await failTool({})", { failTool: async () => { throw new Error("Tool failed"); } });
    assert.match(error.message, /Tool failed/);
  });
});

describe("isolate-driver.test.ts: time-outs", () => {
  test("a program that runs too long ends", async () => {
    const code = "const start = Date.now(); while (Date.now() - start < 500) {} return 1;";
    assert.equal((await failureOf(code, {}, { timeout: 50 })).name, "TimeoutError");
  });

  test("after a time-out the context is disposed, and a late answer changes nothing", async () => {
    const late = deferred();
    const context = await belljarDriver({ jar, timeout: 100 }).createContext({ bindings: { never: binding("never", () => late.promise) } });
    assert.equal((await context.execute("await never({}); return 1;")).error.name, "TimeoutError");
    assert.equal((await context.execute("return 42")).error.name, "DisposedError");
    await context.dispose();
    late.resolve("late");
    assert.equal(await valueOf("return 42"), 42);
  });

  test("dispose is safe while an execution under way times out", async () => {
    const started = deferred();
    const context = await contextOf({ never: () => (started.resolve(), new Promise(() => {})) }, { timeout: 2_000 });
    const execution = context.execute("await never({}); return 1;");
    await Promise.race([started.promise, execution]);
    const [result] = await Promise.all([execution, context.dispose()]);
    assert.equal(result.error.name, "TimeoutError");
  });
});

describe("what a tool or a program throws is its own error, whatever its name", () => {
  const given = {
    "a time-out within a tool": ["await f({})", new DOMException("upstream was slow", "TimeoutError")],
    "a tool's own memory": ["await f({})", Object.assign(new Error("the shelf is full"), { name: "MemoryLimitError" })],
    "a stack of something else": ["throw new RangeError('the stack of plates is too high')"],
  };
  for (const [what, [code, thrown]] of Object.entries(given)) {
    test(what, async () => {
      const context = await contextOf({ f: async () => { throw thrown; } });
      const { error } = await context.execute(code);
      const expected = thrown ?? { name: "RangeError", message: "the stack of plates is too high" };
      assert.deepEqual([error.name, error.message], [expected.name, expected.message]);
      // No limit was reached, so the context goes on.
      assert.equal((await context.execute("return 42")).value, 42);
    });
  }
});

describe("isolate-driver.test.ts: errors and logs", () => {
  test("a syntax error is an error", async () => assert.equal((await failureOf("syntax error!!!")).name, "SyntaxError"));

  test("what is thrown is an error", async () => {
    const error = await failureOf('throw new Error("oops")');
    assert.deepEqual([error.name, error.message], ["Error", "oops"]);
  });

  test("console.log is in the logs", async () => {
    const result = await (await contextOf()).execute('console.log("hello"); console.log("world"); return 1;');
    assert.deepEqual(result.logs, ["hello", "world"]);
  });

  test("the other levels have their prefix", async () => {
    const result = await (await contextOf()).execute('console.error("fail"); console.warn("careful"); console.info("by the way"); return 1;');
    assert.deepEqual(result.logs, ["ERROR: fail", "WARN: careful", "INFO: by the way"]);
  });
});

describe("isolate-driver.test.ts: dispose", () => {
  test("a disposed context executes nothing more", async () => {
    const context = await contextOf();
    await context.dispose();
    const { success, error } = await context.execute("return 1");
    assert.deepEqual([success, error.name], [false, "DisposedError"]);
    assert.match(error.message, /disposed/);
  });

  test("a call that lost a race does not keep the context", async () => {
    const slow = deferred();
    const context = await contextOf({ fast: async () => "fast", slow: () => slow.promise }, { timeout: 20_000 });
    const execution = context.execute("return await Promise.race([slow({}), fast({})])");
    // belljar waits for calls that are under way when a program returns.
    slow.resolve("late");
    const result = await execution;
    assert.ok(result.success, JSON.stringify(result.error));
    await context.dispose();
    assert.equal(await valueOf("return await fast({})", { fast: async () => "ok" }), "ok");
  });

  test("contexts share no state", async () => {
    const [first, second] = [await contextOf(), await contextOf()];
    await first.execute("globalThis.__secret = 100; return 1");
    assert.equal((await second.execute("return typeof globalThis.__secret")).value, "undefined");
  });
});

describe("isolate-driver.test.ts: memory and stack", () => {
  const TOO_MUCH = 'return "x".repeat(8 * 1024 * 1024);';
  const small = { memoryLimit: 1 };

  test("a memory limit is applied", async () => {
    const context = await belljarDriver({ jar, memoryLimit: 64 }).createContext({ bindings: {}, memoryLimit: 64 });
    assert.equal((await context.execute("return 1 + 1")).value, 2);
  });

  test("exceeding it is an error of that name", async () => {
    const error = await failureOf(TOO_MUCH, {}, small);
    assert.equal(error.name, "MemoryLimitError");
    assert.match(error.message, /memory limit/);
  });

  test("a call under way does not matter then", async () => {
    const error = await failureOf(`hang({}); ${TOO_MUCH}`, { hang: () => new Promise(() => {}) }, small);
    assert.equal(error.name, "MemoryLimitError");
    assert.equal(await valueOf("return 42"), 42);
  });

  test("dispose is safe after it", async () => {
    const context = await contextOf({}, small);
    await context.execute(TOO_MUCH);
    await context.dispose();
  });

  test("endless recursion has its own error name", async () => {
    const error = await failureOf("function f(n) { return n <= 0 ? 0 : 1 + f(n - 1); } return f(200000);");
    assert.equal(error.name, "StackOverflowError");
    assert.match(error.message, /stack/);
  });

  test("after it the context is disposed", async () => {
    const context = await contextOf({}, small);
    assert.equal((await context.execute(TOO_MUCH)).error.name, "MemoryLimitError");
    const { error } = await context.execute("return 42");
    assert.equal(error.name, "DisposedError");
    assert.match(error.message, /disposed/);
  });
});

describe("escape-attempts.test.ts", () => {
  for (const name of ["process", "require", "fetch"]) {
    test(`there is no ${name}`, async () => assert.equal(await valueOf(`return typeof ${name}`), "undefined"));
  }

  test("a prototype that is changed in the jar is not changed in the host", async () => {
    await valueOf("Object.prototype.__leak = 'leaked'; return 1");
    assert.equal(Object.prototype.__leak, undefined);
  });

  test("nor is it changed in another context", async () => {
    const [first, second] = [await contextOf(), await contextOf()];
    await first.execute("Object.prototype.__probe = 'a'; return 1;");
    const result = await second.execute("return ({}).__probe");
    assert.deepEqual([result.success, result.value], [true, undefined]);
  });

  test("an endless loop is ended", async () => {
    assert.equal((await failureOf("while (true) {}", {}, { timeout: 200 })).name, "TimeoutError");
  });

  test("the constructor of functions leads nowhere", async () => {
    const code = `try { return typeof (function(){}).constructor('return process')() } catch (e) { return 'blocked: ' + e.message }`;
    assert.match(await valueOf(code), /^(undefined$|blocked:)/);
  });

  test("globals stay in their context", async () => {
    const [first, second] = [await contextOf(), await contextOf()];
    await first.execute("globalThis.__marker = 'A'; return 1;");
    assert.equal((await second.execute("return typeof globalThis.__marker")).value, "undefined");
  });
});

describe("@tanstack/ai-code-mode", () => {
  const weather = toolDefinition({
    name: "weather",
    description: "The weather of a city.",
    inputSchema: z.object({ city: z.string() }),
    outputSchema: z.object({ degrees: z.number() }),
  }).server(async ({ city }) => ({ degrees: city.length }));

  test("createCodeMode runs a model's TypeScript over its tools", async () => {
    const { tool } = createCodeMode({ driver: belljarDriver({ jar }), tools: [weather] });
    const events = [];
    const code = `
      const cities: string[] = ["Oslo", "Bergen"];
      const all = await Promise.all(cities.map((city) => external_weather({ city })));
      console.warn("asked", cities.length);
      return all.map(({ degrees }) => degrees);`;
    const result = await tool.execute({ typescriptCode: code }, { emitCustomEvent: (name) => events.push(name) });
    assert.deepEqual([result.success, result.result, result.logs], [true, [4, 6], ["WARN: asked 2"]]);
    assert.ok(events.includes("code_mode:external_call") && events.includes("code_mode:console"), String(events));
  });

  test("its validation of arguments reaches the program", async (context) => {
    context.mock.method(console, "error", () => {});
    const { tool } = createCodeMode({ driver: belljarDriver({ jar }), tools: [weather] });
    const result = await tool.execute({ typescriptCode: "return await external_weather({ city: 7 })" });
    assert.equal(result.success, false);
    assert.match(result.error.message, /Input validation failed for tool weather/);
  });
});
