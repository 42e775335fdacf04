// belljar and its alternatives, in turn, in one run on one machine: see README.md.
//
//     node benches/peers/measure.mjs [--rows fib,json] [--contenders belljar,deno] [--rounds 5]
//         [--milliseconds 400] [--json | --markdown]
//
// The first Ctrl-C ends the measurement after the current row, and shows the results so far.

import { readFileSync } from "node:fs";
import os from "node:os";
import process from "node:process";
import { parseArgs } from "node:util";

import { CONTENDERS } from "./contenders.mjs";
import { proportionalBytes, runContender } from "./processes.mjs";
import { asDocument, asText, table } from "./summary.mjs";

const ROWS = JSON.parse(readFileSync(new URL("rows.json", import.meta.url), "utf8"));
// Time for a process to start, and to show that it can continue.
const AROUND_AN_ATTACK = 14_000;

const { values: options } = parseArgs({
  options: {
    rows: { type: "string", default: Object.keys(ROWS).join() },
    contenders: { type: "string", default: Object.keys(CONTENDERS).join() },
    rounds: { type: "string", default: "5" },
    milliseconds: { type: "string", default: "400" },
    json: { type: "boolean", default: false },
    markdown: { type: "boolean", default: false },
  },
});
const rows = chosen(ROWS, options.rows, "row");
const names = Object.keys(chosen(CONTENDERS, options.contenders, "contender"));
const begun = performance.now();
// Other work on the machine affects every figure.
const loadBefore = os.loadavg()[0];
let stopping = false;
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => (stopping = true));

const { about, missing } = await introductions();
const answers = await measure();
report();

/** What each contender says about itself; those that cannot answer are not installed, and stay in the table. */
async function introductions() {
  const about = {};
  const missing = {};
  for (const name of names) {
    const { last, failed, complaint } = await runContender([...CONTENDERS[name]({}), "about"]);
    if (last) about[name] = last;
    else missing[name] = reason(failed ?? complaint);
  }
  return { about, missing };
}

/** Round by round, row by row, contender by contender, so that a slow minute of the machine affects all of them. */
async function measure() {
  const answers = [];
  const rounds = Number(options.rounds);
  for (let round = 1; round <= rounds; round++) {
    for (const [row, settings] of Object.entries(rows)) {
      // An attack always ends in the same way; only figures need repetition.
      if (settings.kind === "hostile" && round > 1) continue;
      if (stopping) return answers;
      process.stderr.write(`round ${round} of ${rounds}: ${row}\n`);
      for (const contender of names) {
        const answer = missing[contender] ? { failed: missing[contender] } : await ask(contender, row, settings);
        answers.push({ round, row, contender, ...answer });
      }
    }
  }
  return answers;
}

/** One process for one row. */
async function ask(contender, row, settings) {
  const command = [...CONTENDERS[contender](settings), row, options.milliseconds];
  const held = [];
  const onLine = (line, child) => {
    if (line.waiting === undefined) return;
    held.push(proportionalBytes(child.pid));
    child.stdin.write("\n");
  };
  const bounds = settings.kind === "hostile" ? { milliseconds: AROUND_AN_ATTACK + settings.milliseconds } : {};
  const ended = await runContender(command, { onLine, ...bounds });
  if (settings.kind === "hostile") return attack(ended);
  if (ended.code !== 0 || ended.last === undefined) return { failed: reason(ended.failed ?? ended.complaint) };
  if (settings.kind === "waiting") return { samples: [(held[1] - held[0]) / settings.count / 1000] };
  const { milliseconds, value } = ended.last;
  if (value !== settings.value) return { failed: `gave ${JSON.stringify(value)}, not ${settings.value}` };
  return { samples: milliseconds.map((each) => each * settings.units_per_millisecond) };
}

/** How an attack ended. */
function attack({ last, killed, code, signal, milliseconds, peakBytes, failed }) {
  if (failed) return { failed: reason(failed) };
  if (killed) return { outcome: `took-${killed.bound}`, milliseconds: killed.milliseconds, peakBytes };
  if (code !== 0 || last === undefined) {
    return { outcome: "lost", how: signal ?? `exit code ${code}`, milliseconds, peakBytes };
  }
  const how = last.ended ?? `answered ${JSON.stringify(last.returned)}`;
  const outcome = !last.serves ? "unserviceable" : last.ended === undefined ? "harmless" : "stopped";
  return { outcome, how, milliseconds: last.milliseconds, peakBytes };
}

function report() {
  const lines = table(rows, names, answers, about);
  const machine = {
    date: new Date().toISOString().slice(0, 10),
    cpu: os.cpus()[0].model,
    cores: os.cpus().length,
    memory_gib: Math.round(os.totalmem() / 2 ** 30),
    system: `${os.type()} ${os.release()}`,
    load_before: Number(loadBefore.toFixed(1)),
    rounds: answers.at(-1)?.round ?? 0,
    minutes: Number(((performance.now() - begun) / 60_000).toFixed(1)),
  };
  const result = { machine, contenders: about, missing, table: lines };
  const shown = options.markdown ? asDocument(result) : asText(result);
  process.stdout.write(options.json ? `${JSON.stringify({ ...result, answers }, null, 2)}\n` : `${shown}\n`);
}

function chosen(all, names, what) {
  const asked = names.split(",");
  const unknown = asked.find((name) => !(name in all));
  if (unknown !== undefined) throw new Error(`there is no ${what} '${unknown}': ${Object.keys(all).join(", ")}`);
  return Object.fromEntries(asked.map((name) => [name, all[name]]));
}

/** The most informative line of an error. */
function reason(complaint) {
  const lines = complaint.trim().split("\n");
  return (lines.find((line) => /error/i.test(line)) ?? lines.at(-1) ?? "").trim().slice(0, 160);
}
