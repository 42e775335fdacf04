// A Deno worker without permissions. It has no memory limit of its own; V8's limit for the whole
// process is on the command line.

import process from "node:process";

import { answer } from "./protocol.mjs";
import { hostSide, workerSource } from "./worker.mjs";

await answer({
  about: () => ({
    name: "Deno worker",
    versions: { deno: Deno.version.deno },
    fresh: "a new worker thread with a heap of its own and no permissions",
    lacks: ["memory"],
  }),
  open: async (box: Record<string, unknown>, { milliseconds }: { milliseconds: number }) => {
    const source = new Blob([workerSource("globalThis", Object.keys(box))], { type: "text/javascript" });
    const url = URL.createObjectURL(source);
    const worker = new Worker(url, { type: "module", deno: { permissions: "none" } } as WorkerOptions);
    const side = hostSide(
      box,
      milliseconds,
      (message: unknown) => worker.postMessage(message),
      () => worker.terminate(),
    );
    worker.onmessage = (event) => side.receive(event.data);
    worker.onerror = (event) => {
      event.preventDefault();
      side.fail(new Error(event.message));
    };
    const close = () => {
      worker.terminate();
      URL.revokeObjectURL(url);
    };
    return { evaluate: side.evaluate, run: side.run, close };
  },
});
