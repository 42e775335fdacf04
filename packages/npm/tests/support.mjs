// Shared by the tests. They run against the program that BELLJAR_BINARY names, in a home folder of
// their own, so that nobody's configuration is read.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Belljar } from "belljar";

assert.ok(process.env.BELLJAR_BINARY, "set BELLJAR_BINARY to a built belljar");

export const home = mkdtempSync(join(tmpdir(), "belljar-npm-"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));
for (const name of ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"]) {
  process.env[name] = home;
}
process.env.BELLJAR_NO_DAEMON = "1";
delete process.env.BELLJAR_CONFIG;

/** A jar that is closed after the test. */
export async function jarFor(context, options) {
  const jar = await Belljar.start(options);
  context.after(() => jar.close());
  return jar;
}

/** A promise with the functions that settle it. */
export function deferred() {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return parts;
}

/** Resolves with the reason for which `signal` is aborted. */
export function aborted(signal) {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    signal.addEventListener("abort", () => resolve(signal.reason));
  });
}
