// quickjs-emscripten: QuickJS compiled to WebAssembly. Values are passed as JSON, as its
// documentation recommends for anything large.

import { readFileSync } from "node:fs";
import process from "node:process";

import { getQuickJS, shouldInterruptAfterDeadline } from "quickjs-emscripten";

import { answer } from "./protocol.mjs";

const installed = new URL("../node_modules/quickjs-emscripten/package.json", import.meta.url);
const quickjs = await getQuickJS();

await answer({
  about: () => ({
    name: "quickjs-emscripten",
    versions: {
      "quickjs-emscripten": JSON.parse(readFileSync(installed, "utf8")).version,
      node: process.versions.node,
    },
    fresh: "a new runtime and its context in one instance of the WebAssembly module, which all share",
  }),
  open: async (box, { milliseconds, megabytes }) => {
    const runtime = quickjs.newRuntime({
      memoryLimitBytes: megabytes * 1_000_000,
      interruptHandler: shouldInterruptAfterDeadline(Date.now() + milliseconds),
    });
    const context = runtime.newContext();
    for (const [name, tool] of Object.entries(box)) offer(context, name, tool);
    if (Object.keys(box).length > 0) {
      const tools = Object.keys(box).map(
        (name) => `${name}: async (given) => JSON.parse(await $${name}(JSON.stringify(given)))`,
      );
      context.unwrapResult(context.evalCode(`globalThis.box = { ${tools.join(", ")} };`)).dispose();
    }
    return {
      evaluate: async (script) => context.unwrapResult(context.evalCode(script)).consume(context.dump),
      run: async (body) => {
        const script = `(async () => JSON.stringify(await (async () => {\n${body}\n})()))()`;
        const promise = context.unwrapResult(context.evalCode(script));
        const done = context.resolvePromise(promise);
        promise.dispose();
        work(context);
        return JSON.parse(context.unwrapResult(await done).consume(context.getString));
      },
      close: () => {
        context.dispose();
        runtime.dispose();
      },
    };
  },
});

/** `$name`, which takes JSON and returns a promise of JSON. */
function offer(context, name, tool) {
  const made = context.newFunction(`$${name}`, (given) => {
    const promise = context.newPromise();
    tool(JSON.parse(context.getString(given))).then((value) => {
      context.newString(JSON.stringify(value)).consume((text) => promise.resolve(text));
      work(context);
    });
    return promise.handle;
  });
  made.consume((handle) => context.setProp(context.global, `$${name}`, handle));
}

/** Does what the script has to do until it waits for a tool. */
function work(context) {
  context.unwrapResult(context.runtime.executePendingJobs());
}
