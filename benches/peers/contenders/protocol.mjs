// The protocol of ../README.md, for contenders that run JavaScript: everything that is not specific
// to one of them.

import { readFileSync } from "node:fs";
import process from "node:process";

const ROWS = JSON.parse(read("../rows.json"));

// What a sandbox may take in rows that are not an attack.
const PATIENT = { milliseconds: 30_000, megabytes: 256 };
const SHORTEST_SAMPLES = 1;
const LONGEST_SAMPLES = 500;

/**
 * Answers the row that the command line names.
 *
 * A contender has `about()`, its versions and what a fresh sandbox is with it, and `open(box, limits)`, a sandbox that is up: it has
 * `evaluate(expression)`, `run(body)` with the body of an async function that sees `box`, both to a value that is in the host's hands,
 * and `close()`. Where a limit ends a script, `evaluate` and `run` throw.
 */
export async function answer(contender) {
  const [row, budget] = process.argv.slice(2);
  if (row === "about") return say(contender.about());
  const { kind } = ROWS[row];
  const answers = { fresh, work, waiting, hostile };
  say(await answers[kind](contender, row, Number(budget)));
  process.exit(0);
}

/** A new sandbox for each sample, from its creation to its end. */
async function fresh(contender, row, budget) {
  const script = workload(row);
  return sample(budget, async () => {
    const begun = performance.now();
    const sandbox = await contender.open({}, PATIENT);
    const value = await sandbox.evaluate(script);
    await sandbox.close();
    return { milliseconds: performance.now() - begun, value };
  });
}

/** A started sandbox that has run nothing, for each sample: only the script is timed. */
async function work(contender, row, budget) {
  const script = workload(row);
  return sample(budget, async () => {
    const sandbox = await contender.open(tools(), PATIENT);
    const begun = performance.now();
    const value = await sandbox.run(script);
    const milliseconds = performance.now() - begun;
    await sandbox.close();
    return { milliseconds, value: Array.isArray(value) ? value.length : value };
  });
}

/** Many sandboxes that wait for a tool; whoever started this process measures its memory before and during that. */
async function waiting(contender, row) {
  const { count } = ROWS[row];
  const warm = await contender.open({}, PATIENT);
  await warm.evaluate(workload("fresh"));
  await warm.close();
  say({ waiting: 0 });
  await asked();
  let arrived = 0;
  await new Promise((resolve) => {
    const hold = () => {
      if (++arrived === count) resolve();
      return new Promise(() => {});
    };
    for (let each = 0; each < count; each++) {
      contender.open({ hold }, PATIENT).then((sandbox) => sandbox.run(workload(row)));
    }
  });
  say({ waiting: arrived });
  await asked();
  return { done: true };
}

/** One attack, and whether this process can continue afterwards. */
async function hostile(contender, row) {
  const { milliseconds, megabytes } = ROWS[row];
  const sandbox = await contender.open(tools(), { milliseconds, megabytes });
  const begun = performance.now();
  const ended = await sandbox.run(workload(row)).then(
    (value) => ({ returned: value }),
    (error) => ({ ended: String(error?.message ?? error).slice(0, 200) }),
  );
  ended.milliseconds = performance.now() - begun;
  try {
    await sandbox.close();
  } catch (error) {
    ended.close = String(error?.message ?? error).slice(0, 200);
  }
  const next = await contender.open({}, PATIENT);
  ended.serves = (await next.evaluate(workload("fresh"))) === ROWS.fresh.value;
  return ended;
}

/** One run that does not count, then as many as fit into the time. */
async function sample(budget, once) {
  const { value } = await once();
  const milliseconds = [];
  const end = performance.now() + budget;
  while (milliseconds.length < SHORTEST_SAMPLES || (performance.now() < end && milliseconds.length < LONGEST_SAMPLES)) {
    const one = await once();
    if (one.value !== value) throw new Error(`${JSON.stringify(one.value)} after ${JSON.stringify(value)}`);
    milliseconds.push(one.milliseconds);
  }
  return { milliseconds, value };
}

function tools() {
  const records = Array.from({ length: 10_000 }, (_, id) => ({
    id,
    name: `record number ${id}`,
    tags: ["a", "b"],
    open: id % 3 === 0,
    at: "2026-01-01T00:00:00Z",
  }));
  return {
    echo: async (given) => given,
    wait: () => new Promise((resolve) => setTimeout(resolve, 50, 50)),
    records: async () => ({ records }),
  };
}

function workload(row) {
  return read(`../workloads/${row}.js`).trim();
}

function read(path) {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}

function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Waits for a line. */
function asked() {
  return new Promise((resolve) => process.stdin.once("data", resolve));
}
