// isolated-vm: a V8 isolate of its own inside the process. Node.js 20 and later must be started
// with --no-node-snapshot.

import { readFileSync } from "node:fs";
import process from "node:process";

import ivm from "isolated-vm";

import { answer } from "./protocol.mjs";

const installed = new URL("../node_modules/isolated-vm/package.json", import.meta.url);

await answer({
  about: () => ({
    name: "isolated-vm",
    versions: { "isolated-vm": JSON.parse(readFileSync(installed, "utf8")).version, node: process.versions.node },
    fresh: "a new isolate and its context",
  }),
  open: async (box, { milliseconds, megabytes }) => {
    const isolate = new ivm.Isolate({ memoryLimit: megabytes });
    const context = await isolate.createContext();
    const names = Object.keys(box);
    if (names.length > 0) {
      const copied = "{ arguments: { copy: true }, result: { copy: true, promise: true } }";
      const tools = names.map((name, at) => `${name}: (given) => $${at}.apply(undefined, [given], ${copied})`);
      await context.evalClosure(`globalThis.box = { ${tools.join(", ")} };`, Object.values(box), {
        arguments: { reference: true },
      });
    }
    return {
      evaluate: (script) => context.eval(script, { copy: true, timeout: milliseconds }),
      run: (body) =>
        context.eval(`(async () => {\n${body}\n})()`, { promise: true, copy: true, timeout: milliseconds }),
      // A memory limit may have disposed of the isolate already.
      close: () => isolate.isDisposed || isolate.dispose(),
    };
  },
});
