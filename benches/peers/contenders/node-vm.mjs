// Node's own `node:vm`. Its documentation says that it is not a security mechanism, and it has no
// memory limit.

import process from "node:process";
import vm from "node:vm";

import { answer } from "./protocol.mjs";

await answer({
  about: () => ({
    name: "node:vm",
    versions: { node: process.versions.node },
    fresh: "a new context in the same process, and the same heap",
    lacks: ["memory"],
  }),
  open: async (box, { milliseconds }) => {
    const context = vm.createContext({ box });
    const evaluate = (script) => vm.runInContext(script, context, { timeout: milliseconds });
    return {
      evaluate,
      run: async (body) => evaluate(`(async () => {\n${body}\n})()`),
      close: () => {},
    };
  },
});
