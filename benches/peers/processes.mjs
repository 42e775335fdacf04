// A contender as a process, with limits from outside, so that nothing that a row does to it affects
// the machine.

import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import process from "node:process";

/** What a process and its children may take. The longest row that is not an attack takes some ten seconds. */
export const BOUNDS = { milliseconds: 60_000, bytes: 3e9 };
const WATCH_MILLISECONDS = 20;

/**
 * Runs a contender to its end.
 *
 * `onLine` gets each line of JSON and the process, and may answer on its stdin. What comes back says how it ended: the last line,
 * `code` or `signal`, `killed` with the bound that it overran (`time` or `memory`), the most memory that it had, and its milliseconds.
 */
export async function runContender([command, ...args], options = {}) {
  const { onLine = () => {}, milliseconds, bytes } = { ...BOUNDS, ...options };
  const begun = performance.now();
  // A process group of its own, so that workers end with it.
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], detached: true });
  const ended = new Promise((resolve) => {
    child.once("error", (error) => resolve({ code: null, signal: null, failed: error.message }));
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  // A process that has ended reads no more answers.
  child.stdin.on("error", () => {});
  let complaint = "";
  child.stderr.on("data", (data) => (complaint = (complaint + data).slice(-4000)));
  let last;
  createInterface({ input: child.stdout }).on("line", (line) => {
    try {
      last = JSON.parse(line);
    } catch {
      complaint += `no JSON: ${line.slice(0, 200)}\n`;
      return;
    }
    onLine(last, child);
  });

  let killed;
  let peakBytes = 0;
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, treeBytes(child.pid, residentBytes));
    const elapsed = performance.now() - begun;
    if (peakBytes > bytes) killed ??= { bound: "memory", milliseconds: elapsed };
    else if (elapsed > milliseconds) killed ??= { bound: "time", milliseconds: elapsed };
    if (killed) end(child.pid);
  }, WATCH_MILLISECONDS);
  const how = await ended;
  clearInterval(watch);
  if (child.pid !== undefined) end(child.pid);
  return { ...how, last, killed, peakBytes, milliseconds: performance.now() - begun, complaint };
}

/** The memory that a process and its children have for themselves, plus their shares of what they share. */
export function proportionalBytes(pid) {
  return treeBytes(pid, (each) => kilobytes(`/proc/${each}/smaps_rollup`, "Pss:"));
}

function residentBytes(pid) {
  return kilobytes(`/proc/${pid}/status`, "VmRSS:");
}

function end(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

function treeBytes(root, bytesOf) {
  if (root === undefined) return 0;
  const children = new Map();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    // After the name, which is in parentheses and may contain anything, come the state and the
    // parent.
    const parent = read(`/proc/${entry}/stat`).replace(/^.*\)/s, "").split(" ")[2];
    children.set(parent, [...(children.get(parent) ?? []), entry]);
  }
  let bytes = 0;
  const found = [String(root)];
  for (const pid of found) {
    bytes += bytesOf(pid);
    found.push(...(children.get(pid) ?? []));
  }
  return bytes;
}

function kilobytes(file, field) {
  const line = read(file).split("\n").find((each) => each.startsWith(field));
  return line ? Number.parseInt(line.slice(field.length), 10) * 1024 : 0;
}

/** A file of `/proc`, or nothing if its process has just ended. */
function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes(error.code)) return "";
    throw error;
  }
}
