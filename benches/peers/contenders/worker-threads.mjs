// Node's own `node:worker_threads`: a separate heap with limits, but the script can reach all of
// Node.js.

import process from "node:process";
import { Worker } from "node:worker_threads";

import { answer } from "./protocol.mjs";
import { hostSide, workerSource } from "./worker.mjs";

await answer({
  about: () => ({
    name: "worker_threads",
    versions: { node: process.versions.node },
    fresh: "a new thread with a heap of its own",
  }),
  open: async (box, { milliseconds, megabytes }) => {
    const source = workerSource('require("node:worker_threads").parentPort', Object.keys(box));
    const worker = new Worker(source, { eval: true, resourceLimits: { maxOldGenerationSizeMb: megabytes } });
    const side = hostSide(
      box,
      milliseconds,
      (message) => worker.postMessage(message),
      () => worker.terminate(),
    );
    worker.on("message", side.receive);
    worker.on("error", side.fail);
    await new Promise((resolve) => worker.once("online", resolve));
    return { evaluate: side.evaluate, run: side.run, close: () => worker.terminate() };
  },
});
