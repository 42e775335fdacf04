// Who is measured, and how each contender is started. Their answers are described in README.md.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import process from "node:process";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const script = (name) => path(`contenders/${name}`);

// `node:vm` and Deno can only limit memory with V8's limit for the whole process.
const heap = (row) => (row.kind === "hostile" ? `--max-old-space-size=${row.megabytes}` : "--max-old-space-size=4096");

/** By name: from a row of rows.json to a command, to which the row's name and the milliseconds are added. */
export const CONTENDERS = {
  belljar: () => [belljar()],
  "node-vm": (row) => [process.execPath, heap(row), script("node-vm.mjs")],
  "worker-threads": () => [process.execPath, script("worker-threads.mjs")],
  // isolated-vm requires this option since Node.js 20.
  "isolated-vm": () => [process.execPath, "--no-node-snapshot", script("isolated-vm.mjs")],
  "quickjs-emscripten": () => [process.execPath, script("quickjs-emscripten.mjs")],
  deno: (row) => {
    const flags = ["run", "--quiet", "--no-lock", "--no-config", "--allow-all", "--unstable-worker-options"];
    return [path("node_modules/deno/deno"), ...flags, `--v8-flags=${heap(row)}`, script("deno.ts")];
  },
  monty: () => [path(".venv/bin/python"), script("monty.py")],
};

let built;

/** The program that speaks for belljar, built with the settings of a release; $BELLJAR_PEER names another. */
function belljar() {
  built ??= process.env.BELLJAR_PEER ?? build();
  return built;
}

function build() {
  const command = ["bench", "--workspace", "--locked", "--bench", "peers", "--no-run", "--message-format=json"];
  const { stdout, status } = spawnSync("cargo", command, {
    cwd: path("../.."),
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
    maxBuffer: Infinity,
  });
  if (status !== 0) throw new Error("belljar could not be built");
  const messages = stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  return messages.find((message) => message.target?.name === "peers" && message.executable).executable;
}
