// Shows what the worst attacks on the host do to it: its memory, and how long an innocent run takes
// at the same time.
//
//   cargo build --release --workspace --bins
//   scripts/hostile-host [BELLJAR] [--only NAME]
//
// Each attack gets a `belljar serve` of its own with one child server, which is this same file.
// During the attack, `1+1` is run four times a second on the same connection, and the private
// memory of belljar and of its own workers is read from /proc (children are not counted). The table
// is printed as Markdown. Only for Linux.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
import { performance } from "node:perf_hooks";

const self = fileURLToPath(import.meta.url);
const MB = 1e6;
/** An attack is ended after this time, whatever it does to the host. */
const PATIENCE_MS = 60_000;
/** Above this, belljar is killed to protect the machine. */
const MEMORY_BYTES = 6_000 * MB;
const SAMPLE_MS = 50;
const PROBE_MS = 250;

// The child server: tools that are slow, large, loud, or have a schema that is costly to check.
const hostilePatterns = Array.from({ length: 1000 }, (_, i) => ({ pattern: `a.{60}[^ab#${String.fromCharCode(0x4e00 + i)}]` }));
const tools = [
  { name: "judge", inputSchema: { type: "object", properties: { text: { anyOf: hostilePatterns } } } },
  {
    name: "compile",
    inputSchema: {
      type: "object",
      properties: { text: { anyOf: Array.from({ length: 4000 }, (_, i) => ({ pattern: `[a-z]{400}${i}` })) } },
    },
  },
  { name: "wait", inputSchema: { type: "object" } },
  { name: "large", inputSchema: { type: "object" } },
  { name: "loud", inputSchema: { type: "object" } },
];
const LARGE = "x".repeat(4.9 * MB);

async function child() {
  const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  const text = (text) => ({ content: [{ type: "text", text }] });
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params } = JSON.parse(line);
    const answer = (result) => send({ id, result });
    if (method === "initialize") {
      const { protocolVersion } = params;
      answer({ protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: "hostile", version: "1" } });
    } else if (method === "tools/list") {
      answer({ tools });
    } else if (method === "tools/call" && params.name === "large") {
      answer(text(LARGE));
    } else if (method === "tools/call" && params.name === "loud") {
      for (let i = 0; i < 50_000; i++) send({ method: "notifications/tools/list_changed" });
      for (let i = 0; i < 1_000; i++) process.stderr.write("noise ".repeat(10_000) + "\n");
      answer(text("done"));
    } else if (method === "tools/call") {
      setTimeout(() => answer(text("done")), 5_000);
    } else if (id !== undefined) {
      send({ id, error: { code: -32601, message: "no such method" } });
    }
  }
}

/** `belljar serve` with its client, which can be told not to read. */
class Served {
  constructor(belljar) {
    // As the kernel represents it.
    this.name = basename(belljar).slice(0, 15);
    this.folder = mkdtempSync(join(tmpdir(), "hostile-host-"));
    const config = join(this.folder, "belljar.toml");
    const command = `command = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([self, "child"])}\n`;
    writeFileSync(config, `[servers.box]\n${command}`, { mode: 0o600 });
    const env = { PATH: process.env.PATH, HOME: this.folder, BELLJAR_NO_DAEMON: "1" };
    this.process = spawn(belljar, ["serve", "--config", config], { env, stdio: ["pipe", "pipe", "ignore"] });
    this.process.stdin.on("error", () => {});
    this.process.stdin.setMaxListeners(0);
    this.ended = new Promise((end) => this.process.on("exit", end));
    this.waiting = new Map();
    this.next = 0;
    createInterface({ input: this.process.stdout }).on("line", (line) => {
      const { id, result, error } = JSON.parse(line);
      this.waiting.get(id)?.(result ?? error);
      this.waiting.delete(id);
    });
  }

  async greet() {
    const clientInfo = { name: "hostile-host", version: "1" };
    await this.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    this.write({ method: "notifications/initialized" });
    await this.run("await box.wait; return 1");
  }

  write(message) {
    return this.process.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }

  ask(method, params) {
    const id = this.next++;
    this.write({ id, method, params });
    return new Promise((answer) => this.waiting.set(id, answer));
  }

  run(code, limits) {
    return this.ask("tools/call", { name: "execute_code", arguments: limits ? { code, limits } : { code } });
  }

  /** Private bytes of belljar and of the workers of its own program, but not of children and their supervisors. */
  memory() {
    const parents = new Map();
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      const parent = field(pid, "PPid");
      if (parent !== undefined) parents.set(pid, String(parent));
    }
    const below = (pid) => pid === String(this.process.pid) || (parents.has(pid) && below(parents.get(pid)));
    let bytes = 0;
    for (const pid of parents.keys()) {
      if (!below(pid) || name(pid) !== this.name || role(pid) === "__supervise") continue;
      bytes += (field(pid, "RssAnon") ?? 0) * 1024;
    }
    return bytes;
  }

  async end() {
    this.process.stdin.end();
    const begun = performance.now();
    this.process.kill("SIGTERM");
    const patience = setTimeout(() => this.process.kill("SIGKILL"), 10_000);
    await this.ended;
    clearTimeout(patience);
    rmSync(this.folder, { recursive: true, force: true });
    return performance.now() - begun;
  }
}

function field(pid, key) {
  try {
    const line = readFileSync(`/proc/${pid}/status`, "utf8").split("\n").find((line) => line.startsWith(`${key}:`));
    return line && Number.parseInt(line.slice(key.length + 1), 10);
  } catch {
    return undefined; // It has ended in the meantime.
  }
}

function name(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}

function role(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[1];
  } catch {
    return "";
  }
}

const million = "'a'.repeat(1e6)";
const attacks = {
  "schema: 1,000 patterns over 1 MB, twice": (served) =>
    Promise.all([1, 2].map(() => served.run(`return await box.judge({ text: ${million} })`, { timeout: "10s" }))),
  "schema: 4,000 large patterns": (served) => served.run("return await box.compile({ text: 'a' })", { timeout: "10s" }),
  "arguments: 150 waiting calls of 1 MiB": (served) =>
    served.run(`const items = Array(500_000).fill(0);
      const calls = Array.from({ length: 150 }, () => box.wait({ items }).catch((error) => String(error)));
      return (await Promise.all(calls)).filter((text) => text !== "done").length`),
  "arguments: 1,000 waiting calls of 1 MiB": (served) =>
    served.run(`const items = Array(500_000).fill(0);
      const calls = Array.from({ length: 1000 }, () => box.wait({ items }).catch((error) => String(error)));
      return (await Promise.all(calls)).filter((text) => text !== "done").length`),
  "answers: 400 of 4.9 MB while the script computes": (served) =>
    served.run(`const calls = Array.from({ length: 400 }, () => box.large({}).catch(() => 0)); await calls[0];
      for (const end = Date.now() + 8000; Date.now() < end; ) {}`),
  "a child that floods with list_changed and stderr": (served) => served.run("return await box.loud({})"),
  "a client that writes and does not read": async (served) => {
    served.process.stdout.pause();
    const end = performance.now() + 10_000;
    const code = "return 'x'.repeat(200_000)";
    while (performance.now() < end) {
      const params = { name: "execute_code", arguments: { code } };
      if (!served.write({ id: `flood-${served.next++}`, method: "tools/call", params })) {
        await new Promise((go) => {
          served.process.stdin.once("drain", go);
          setTimeout(go, 200);
        });
      }
    }
    served.process.stdout.resume();
    await served.ask("ping");
  },
};

async function measure(belljar, attack) {
  const served = new Served(belljar);
  await served.greet();
  const before = served.memory();
  let peak = before;
  const sampler = setInterval(() => {
    peak = Math.max(peak, served.memory());
    if (peak > MEMORY_BYTES) served.process.kill("SIGKILL");
  }, SAMPLE_MS);
  const waits = [];
  const probe = setInterval(() => {
    const begun = performance.now();
    const index = waits.push(Infinity) - 1;
    served.run("1 + 1").then(() => (waits[index] = performance.now() - begun));
  }, PROBE_MS);
  const patience = new Promise((over) => setTimeout(over, PATIENCE_MS, "over").unref());
  const begun = performance.now();
  const how = await Promise.race([attack(served), patience, served.ended.then(() => "ended")]);
  const took = performance.now() - begun;
  clearInterval(probe);
  // Requests under way may still be answered.
  await Promise.race([Promise.all([...served.waiting.keys()].map(() => served.ask("ping"))), new Promise((over) => setTimeout(over, 1_000))]);
  clearInterval(sampler);
  peak = Math.max(peak, served.memory());
  const exit = await served.end();
  const known = waits.map((wait) => (wait === Infinity ? performance.now() - begun : wait)).sort((a, b) => a - b);
  const at = (share) => known[Math.min(known.length - 1, Math.floor(known.length * share))] ?? 0;
  const lasted = how === "over" ? `> ${PATIENCE_MS / 1000}` : how === "ended" ? "belljar ended" : (took / 1000).toFixed(1);
  return { before, peak, lasted, p50: at(0.5), worst: at(1), runs: known.length, exit };
}

if (process.argv[2] === "child") {
  await child();
} else {
  const arguments_ = process.argv.slice(2);
  const only = arguments_.includes("--only") ? arguments_.splice(arguments_.indexOf("--only"), 2)[1] : "";
  const belljar = resolve(arguments_[0] ?? join(self, "../../target/release/belljar"));
  console.log("| attack | lasted, s | host memory before, MB | peak, MB | `1+1` meanwhile: p50, ms | worst, ms | SIGTERM to exit, ms |");
  console.log("|---|---|---|---|---|---|---|");
  for (const [name, attack] of Object.entries(attacks).filter(([name]) => name.includes(only))) {
    const { before, peak, lasted, p50, worst, exit } = await measure(belljar, attack);
    const cells = [name, lasted, ...[before / MB, peak / MB, p50, worst, exit].map((number) => number.toFixed(0))];
    console.log(`| ${cells.join(" | ")} |`);
  }
  process.exit(0);
}
