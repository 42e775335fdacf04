#!/usr/bin/env node
// `belljar` on PATH: starts the program of this platform, which a package of its own holds. Nothing
// is run or fetched when this package is installed.

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
// PATH leads here as well where npm has put it there, as `npx` does.
if (realpathSync(program) === realpathSync(fileURLToPath(import.meta.url))) {
  fail(
    `the package with belljar for ${process.platform} ${process.arch} is not installed. A lock file that was made on another platform leaves it out ` +
      "(delete it together with node_modules, and run npm install), and so does --omit=optional. BELLJAR_BINARY names a program that you have",
  );
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal signals this process and the child; whatever else ends this one means the child.
const signals = process.platform === "win32" ? [] : ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"];
for (const signal of signals) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => fail(`${program} cannot be started: ${error.message}`));
child.on("exit", (code, signal) => {
  process.exitCode = signal ? 128 + (constants.signals[signal] ?? 0) : code;
});
