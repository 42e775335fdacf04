// `belljar/cloudflare` in the tests of Cloudflare's own executor, in our words: the suite
// src/tests/executor.test.ts of packages/codemode (0.5, MIT licence), 38 cases. The 5 about the
// class ToolDispatcher test what scripts see of it. The two about `modules` test that there are
// none, since nothing can be imported in a jar. Then with @cloudflare/codemode itself.

import assert from "node:assert/strict";
import { describe, mock, test } from "node:test";

import { createBrowserCodeTool } from "@cloudflare/codemode/browser";
import { Belljar } from "belljar";
import { belljarExecutor } from "belljar/cloudflare";
import { z } from "zod";

import "./support.mjs";

const jar = Belljar.start();
const executor = belljarExecutor({ jar });
const codemode = (fns) => [{ name: "codemode", fns }];

async function resultOf(code, providers = [], options = undefined) {
  const { result, error } = await executor.execute(code, providers, options);
  assert.equal(error, undefined);
  return result;
}

const errorOf = async (code, providers = []) => (await executor.execute(code, providers)).error;

describe("executor.test.ts: ToolDispatcher", () => {
  test("a call gets the tool's result", async () => {
    const double = mock.fn(async ({ n }) => ({ doubled: n * 2 }));
    assert.deepEqual(await resultOf("async () => await codemode.double({ n: 5 })", codemode({ double })), { doubled: 10 });
    assert.deepEqual(double.mock.calls[0].arguments, [{ n: 5 }]);
  });

  test("an unknown tool is named", async () => {
    assert.match(await errorOf("async () => await codemode.nonexistent({})", codemode({})), /nonexistent/);
  });

  test("what a tool throws is the bare message", async () => {
    const broken = async () => { throw new Error("something broke"); };
    assert.equal(await errorOf("async () => await codemode.broken({})", codemode({ broken })), "something broke");
  });

  test("a call without arguments passes none", async () => {
    assert.deepEqual(await resultOf("async () => await codemode.noArgs()", codemode({ noArgs: async (...given) => given })), []);
  });

  test("bytes are bytes", async () => {
    const bytes = async () => new Uint8Array([1, 2, 3]);
    assert.deepEqual(await resultOf("async () => await codemode.bytes()", codemode({ bytes })), new Uint8Array([1, 2, 3]));
  });
});

describe("executor.test.ts: execution", () => {
  test("a function is called for its value", async () => assert.equal(await resultOf("async () => 42", codemode({})), 42));

  test("tools are reached through codemode", async () => {
    const add = async ({ a, b }) => a + b;
    assert.equal(await resultOf("async () => await codemode.add({ a: 3, b: 4 })", codemode({ add })), 7);
  });

  test("bytes within an argument stay bytes, there and back", async () => {
    const accept = async ({ bytes }) => (assert.ok(bytes instanceof Uint8Array), bytes);
    const code = `async () => {
      const bytes = await codemode.accept({ bytes: new Uint8Array([1, 2, 3]) });
      return { isBytes: bytes instanceof Uint8Array, values: Array.from(bytes) };
    }`;
    assert.deepEqual(await resultOf(code, codemode({ accept })), { isBytes: true, values: [1, 2, 3] });
  });

  test("so do bytes as an argument by position", async () => {
    const accept = async (path, bytes) => (assert.deepEqual([path, bytes], ["/x.bin", new Uint8Array([1, 2, 3])]), bytes);
    const code = `async () => {
      const bytes = await state.accept("/x.bin", new Uint8Array([1, 2, 3]));
      return { isBytes: bytes instanceof Uint8Array, values: Array.from(bytes) };
    }`;
    assert.deepEqual(await resultOf(code, [{ name: "state", fns: { accept } }]), { isBytes: true, values: [1, 2, 3] });
  });

  test("an ArrayBuffer stays one", async () => {
    const accept = async ({ buffer }) => (assert.deepEqual(buffer, new Uint8Array([4, 5, 6]).buffer), buffer);
    const code = `async () => {
      const buffer = await codemode.accept({ buffer: new Uint8Array([4, 5, 6]).buffer });
      return { isBuffer: buffer instanceof ArrayBuffer, values: Array.from(new Uint8Array(buffer)) };
    }`;
    assert.deepEqual(await resultOf(code, codemode({ accept })), { isBuffer: true, values: [4, 5, 6] });
  });

  test("of a view, only the bytes that it shows are sent", async () => {
    const accept = async ({ bytes }) => (assert.deepEqual(bytes, new Uint8Array([20, 30])), bytes);
    const code = `async () => {
      const view = new Uint8Array([10, 20, 30, 40]).subarray(1, 3);
      return Array.from(await codemode.accept({ bytes: view }));
    }`;
    assert.deepEqual(await resultOf(code, codemode({ accept })), [20, 30]);
  });

  test("calls follow each other", async () => {
    const fns = { getWeather: async () => ({ temp: 72 }), searchWeb: async ({ query }) => ({ results: [`news about ${query}`] }) };
    const code = `async () => {
      const weather = await codemode.getWeather({});
      const news = await codemode.searchWeb({ query: "temp " + weather.temp });
      return { weather, news };
    }`;
    assert.deepEqual(await resultOf(code, codemode(fns)), { weather: { temp: 72 }, news: { results: ["news about temp 72"] } });
  });

  test("names of the codec are reserved", async () => {
    const providers = [{ name: "__stringifyForCodemode", fns: {} }];
    assert.equal(await errorOf("async () => 42", providers), 'Provider name "__stringifyForCodemode" is reserved');
  });

  test("names that the sandbox itself uses are reserved", async () => {
    for (const name of ["Promise", "setTimeout", "Error", "console"]) {
      assert.equal(await errorOf("async () => 42", [{ name, fns: {} }]), `Provider name "${name}" is reserved`);
    }
  });

  test("what the code throws is the bare error message", async () => {
    assert.equal(await errorOf('async () => { throw new Error("boom"); }', codemode({})), "boom");
  });

  test("what a tool throws is the bare error message", async () => {
    const fail = mock.fn(async () => { throw new Error("tool error"); });
    assert.equal(await errorOf("async () => await codemode.fail({})", codemode({ fail })), "tool error");
    assert.equal(fail.mock.callCount(), 1);
  });

  test("Promise.all calls at once", async () => {
    const code = "async () => await Promise.all([1, 2, 3].map((id) => codemode.slow({ id })))";
    assert.deepEqual(await resultOf(code, codemode({ slow: async ({ id }) => ({ id }) })), [{ id: 1 }, { id: 2 }, { id: 3 }]);
  });

  test("logs are strings with their level", async () => {
    const code = 'async () => { console.log("hello"); console.warn("careful"); console.error("bad"); console.info("dropped"); return "done"; }';
    const { result, logs } = await executor.execute(code, codemode({}));
    assert.deepEqual([result, logs], ["done", ["hello", "[warn] careful", "[error] bad"]]);
  });

  test("templates and backticks are code like any other", async () => {
    assert.equal(await resultOf('async () => { return `hello ${"world"}`; }', codemode({})), "hello world");
  });

  test("there is no fetch", async () => {
    assert.notEqual(await errorOf('async () => (await fetch("https://example.com")).status', codemode({})), undefined);
  });

  test("tools keep their closures", async () => {
    const secret = "api-key-123";
    assert.deepEqual(await resultOf("async () => await codemode.getSecret({})", codemode({ getSecret: async () => ({ key: secret }) })), { key: secret });
  });

  test("there are no modules: an import fails with a message", async () => {
    assert.match(await errorOf('async () => { const { greet } = await import("helpers.js"); return greet("world"); }'), /import/);
  });

  test("no module can replace the executor's own", async () => {
    assert.match(await errorOf('async () => await import("executor.js")'), /import/);
    assert.equal(await resultOf("async () => 1 + 1", codemode({})), 2);
  });

  test("a Markdown fence is removed", async () => assert.equal(await resultOf("```js\n1 + 1\n```", codemode({})), 2));

  test("a bare expression has its value", async () => assert.equal(await resultOf("42", codemode({})), 42));

  test("there may be no providers", async () => assert.equal(await resultOf("async () => 42", []), 42));

  test("names that were sanitized before are not changed", async () => {
    const github_list_issues = async () => [{ id: 1, title: "bug" }];
    const code = "async () => await codemode.github_list_issues({})";
    assert.deepEqual(await resultOf(code, codemode({ github_list_issues })), [{ id: 1, title: "bug" }]);
    assert.deepEqual(await resultOf(code, codemode({ "github.list-issues": github_list_issues })), [{ id: 1, title: "bug" }]);
  });

  test("a time-out is reported as one", async () => {
    const brief = belljarExecutor({ jar, timeout: 100 });
    const { error } = await brief.execute("async () => { await new Promise(r => setTimeout(r, 5000)); return 'done'; }", codemode({}));
    assert.match(error, /timed out/);
  });
});

describe("executor.test.ts: several providers", () => {
  test("a provider's tools are under its name", async () => {
    const echo = async ({ msg }) => ({ echoed: msg });
    assert.deepEqual(await resultOf('async () => await myns.echo({ msg: "hello" })', [{ name: "myns", fns: { echo } }]), { echoed: "hello" });
  });

  test("each has a namespace of its own", async () => {
    const providers = [
      { name: "store", fns: { get: async () => ({ from: "store" }) } },
      { name: "cache", fns: { get: async () => ({ from: "cache" }) } },
    ];
    const code = "async () => ({ a: await store.get({}), b: await cache.get({}) })";
    assert.deepEqual(await resultOf(code, providers), { a: { from: "store" }, b: { from: "cache" } });
  });

  test("codemode is one among them", async () => {
    const providers = [...codemode({ add: async ({ a, b }) => a + b }), { name: "echo", fns: { ping: async ({ msg }) => ({ echoed: msg }) } }];
    const code = `async () => {
      const sum = await codemode.add({ a: 3, b: 4 });
      return { sum, pong: await echo.ping({ msg: sum }) };
    }`;
    assert.deepEqual(await resultOf(code, providers), { sum: 7, pong: { echoed: 7 } });
  });

  test("what a provider throws is the bare error message", async () => {
    const fns = { doSomething: async () => { throw new Error("provider failed"); } };
    assert.equal(await errorOf("async () => await broken.doSomething({})", [{ name: "broken", fns }]), "provider failed");
  });

  test("two providers of one name are refused", async () => {
    assert.match(await errorOf("async () => 1", [{ name: "dup", fns: {} }, { name: "dup", fns: {} }]), /Duplicate/);
  });

  test("two tools that would have one name are refused", async () => {
    const fns = { "foo-bar": async () => "hyphen", foo_bar: async () => "underscore" };
    assert.match(await errorOf("async () => 1", codemode(fns)), /both sanitize to/);
  });

  test("names of the harness are reserved", async () => {
    assert.match(await errorOf("async () => 1", [{ name: "__dispatchers", fns: {} }]), /reserved/);
  });

  test("the name of the function behind connectors is reserved", async () => {
    assert.match(await errorOf("async () => 1", [{ name: "__connectors", fns: {} }]), /reserved/);
  });
});

describe("executor.test.ts: preludes", () => {
  const prelude = `codemode.step = async (seq, fn) => {
    const decision = await codemode.decide(seq);
    if (decision.kind === "replay") return decision.result;
    const value = await fn();
    await codemode.record(value);
    return value;
  };`;
  const code = `async () => {
    let ran = 0;
    const v = await codemode.step(0, async () => { ran++; return 21 * 2; });
    return { v, ran };
  }`;

  test("a prelude puts a function with a closure on the namespace", async () => {
    const decide = mock.fn(async (seq) => ({ kind: "execute", seq }));
    const record = mock.fn(async () => true);
    assert.deepEqual(await resultOf(code, [{ name: "codemode", fns: { decide, record }, prelude }]), { v: 42, ran: 1 });
    assert.deepEqual(decide.mock.calls[0].arguments, [0]);
    assert.deepEqual(record.mock.calls[0].arguments, [42]);
  });

  test("a replayed step does not run its closure", async () => {
    const fns = { decide: async () => ({ kind: "replay", result: "cached" }), record: async () => true };
    assert.deepEqual(await resultOf(code, [{ name: "codemode", fns, prelude }]), { v: "cached", ran: 0 });
  });
});

describe("the rest of the interface", () => {
  test("connectors are called by any method, and their control answers are errors", async () => {
    const callTool = async (method, args) => {
      if (method === "pay") return { __codemode_control__: "pause" };
      if (method === "fail") return { __codemode_control__: "error", message: "not today" };
      return { method, args };
    };
    const options = { connectors: [{ name: "github", binding: { callTool } }] };
    const code = `async () => {
      const seen = [await github.listIssues({ state: "open" })];
      for (const method of ["pay", "fail"]) try { await github[method]({}) } catch (error) { seen.push(error.message) }
      return seen;
    }`;
    assert.deepEqual(await resultOf(code, codemode({}), options), [
      { method: "listIssues", args: { state: "open" } },
      "__CODEMODE_PAUSE__",
      "not today",
    ]);
  });

  test("functions without a provider belong to codemode", async () => {
    assert.equal(await resultOf("async () => await codemode.one()", { one: async () => 1 }), 1);
  });

  test("undefined stays undefined", async () => {
    assert.deepEqual(await executor.execute("async () => {}", []), { result: undefined, logs: [] });
  });

  test("an error named TimeoutError that a tool throws is the tool's", async () => {
    const upstream = async () => { throw new DOMException("upstream was slow", "TimeoutError"); };
    assert.equal(await errorOf("async () => await codemode.upstream()", codemode({ upstream })), "upstream was slow");
  });

  test("a program may make many calls", async () => {
    let calls = 0;
    const count = async () => (calls += 1);
    await resultOf("async () => { for (let i = 0; i < 1500; i += 1) await codemode.count() }", codemode({ count }));
    assert.equal(calls, 1500);
  });

  test("a closed jar gives an error, and nothing is thrown", async () => {
    const closed = await Belljar.start();
    await closed.close();
    assert.match((await belljarExecutor({ jar: closed }).execute("1", [])).error, /closed/);
  });
});

describe("@cloudflare/codemode/browser", () => {
  test("createBrowserCodeTool runs a model's code over its tools", async () => {
    const tools = { "add-up": { description: "Adds.", inputSchema: z.object({ a: z.number(), b: z.number() }), execute: async ({ a, b }) => a + b } };
    const tool = createBrowserCodeTool({ tools, executor });
    assert.match(tool.description, /add_up/);
    const output = await tool.execute({ code: "console.log('adding'); const sum = await codemode.add_up({ a: 1, b: 2 }); sum * 2" }, {});
    assert.deepEqual([output.result, output.logs], [6, ["adding"]]);
    await assert.rejects(tool.execute({ code: "async () => { throw new Error('no') }" }, {}), /Code execution failed: no/);
  });
});
