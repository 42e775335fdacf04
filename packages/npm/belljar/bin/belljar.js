#!/usr/bin/env node
// `belljar` on PATH: starts the program for this platform, which is in a separate package. Nothing
// is run or downloaded when this package is installed.

import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

import { findBinary } from "../src/binary.js";

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}

let program;
try {
  program = findBinary();
} catch (error) {
  fail(error.message);
}
// npm and npx put this script on PATH, so the program found there may be the script itself.
if (realpathSync(program) === realpathSync(fileURLToPath(import.meta.url))) {
  fail(
    `the package with belljar for ${process.platform} ${process.arch} is not installed. If a lock file from another platform left it out, ` +
      "delete the lock file and node_modules, and run npm install again; if --omit=optional did, install without it. " +
      "Or set BELLJAR_BINARY to the path of the program",
  );
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal signals both processes. Other signals reach only this one, and are passed on.
const signals = process.platform === "win32" ? [] : ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"];
for (const signal of signals) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => fail(`${program} cannot be started: ${error.message}`));
child.on("exit", (code, signal) => {
  process.exitCode = signal ? 128 + (constants.signals[signal] ?? 0) : code;
});
