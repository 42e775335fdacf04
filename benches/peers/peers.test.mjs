// Run by scripts/test. It needs no peer but Node.js itself: what the measurement needs is not
// installed there.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { CONTENDERS } from "./contenders.mjs";
import { runContender } from "./processes.mjs";
import { asDocument, asText, cell, quantile, table } from "./summary.mjs";

const ROWS = JSON.parse(readFileSync(new URL("rows.json", import.meta.url), "utf8"));
const FIB = { title: "fib", unit: "ms", kind: "work" };
const BOMB = { title: "bomb", kind: "hostile", megabytes: 64 };

test("samples of all rounds count, and ratios are to belljar", () => {
  const answers = [
    { row: "fib", contender: "belljar", samples: [80, 90, 100] },
    { row: "fib", contender: "slow", samples: [400, 300] },
    { row: "fib", contender: "belljar", samples: [70, 110] },
    { row: "fib", contender: "slow", samples: [200] },
    { row: "fib", contender: "fast", samples: [9] },
  ];
  const [{ cells }] = table({ fib: FIB }, ["belljar", "slow", "fast"], answers);
  assert.deepEqual(
    cells.map(({ median, low, high, samples, ratio }) => [median, low, high, samples, ratio]),
    [
      [90, 74, 106, 5, 1],
      [300, 220, 380, 3, 300 / 90],
      [9, 9, 9, 1, 0.1],
    ],
  );
});

test("quantiles lie in a straight line between two values", () => {
  assert.equal(quantile([1, 2, 3, 4], 0.5), 2.5);
  assert.equal(quantile([1, 2], 0.9), 1.9);
  assert.equal(quantile([7], 0.1), 7);
});

test("a row that belljar loses stays in the table, and so does who could not be measured", () => {
  const answers = [
    { row: "fib", contender: "belljar", samples: [90] },
    { row: "fib", contender: "fast", samples: [2] },
    { row: "fib", contender: "absent", failed: "Cannot find package 'absent'" },
  ];
  const names = ["belljar", "fast", "absent", "never"];
  const contenders = { fast: { name: "fast one", versions: { fast: "1.2.3" }, fresh: "new" } };
  const result = { machine: { cores: 2 }, contenders, table: table({ fib: FIB }, names, answers) };
  const [, facts, lines, , versions] = asDocument(result).split("\n\n");
  assert.equal(facts, "cores 2");
  assert.equal(
    lines,
    [
      "|  | belljar | fast one | absent | never |",
      "| --- | --- | --- | --- | --- |",
      "| fib, ms | 90.0 (90.0–90.0) **1.0×** | 2.00 (2.00–2.00) **0.02×** | failed: Cannot find package 'absent' | not measured |",
    ].join("\n"),
  );
  assert.equal(versions, "- fast one (fast 1.2.3): a fresh one is new");
  assert.match(asText(result), /^ {2}fast one {2}2\.00 \(2\.00–2\.00\) {4}0\.02×$/m);
});

test("without belljar there are no ratios", () => {
  const [{ cells }] = table({ fib: FIB }, ["fast"], [{ row: "fib", contender: "fast", samples: [2] }]);
  assert.equal(cells[0].ratio, undefined);
});

test("an attack counts as stopped only if it was stopped every time, within its memory", () => {
  const stopped = { outcome: "stopped", milliseconds: 1010, peakBytes: 120e6 };
  assert.equal(cell(BOMB, [stopped, stopped]).text, "yes, after 1.01 s, at most 120 MB");
  assert.equal(
    cell(BOMB, [stopped, { outcome: "lost", how: "SIGABRT", milliseconds: 320, peakBytes: 0 }]).text,
    "process lost after 0.32 s (SIGABRT)",
  );
  assert.equal(
    cell(BOMB, [stopped, { ...stopped, milliseconds: 6000, peakBytes: 1.6e9 }]).text,
    "late: after 6.00 s, at most 1600 MB",
  );
});

test("a cell says what the contender lacks", () => {
  const lost = { row: "bomb", contender: "vm", outcome: "lost", how: "SIGABRT", milliseconds: 320, peakBytes: 0 };
  const [{ cells }] = table({ bomb: { ...BOMB, needs: "memory" } }, ["vm"], [lost], { vm: { lacks: ["memory"] } });
  assert.equal(cells[0].text, "no such API; process lost after 0.32 s (SIGABRT)");
});

test("every workload gives its value in Node.js itself, by the protocol", async () => {
  for (const [row, settings] of Object.entries(ROWS)) {
    if (!["fresh", "work"].includes(settings.kind)) continue;
    const { last, code, complaint } = await runContender([...CONTENDERS["node-vm"](settings), row, "0"]);
    assert.equal(code, 0, complaint);
    assert.equal(last.value, settings.value, row);
    assert.equal(last.milliseconds.length, 1, row);
  }
});

test("a process that takes too long is ended, and said to be", async () => {
  const { killed, signal } = await runContender([process.execPath, "--eval", "for (;;);"], { milliseconds: 300 });
  assert.equal(killed.bound, "time");
  assert.equal(signal, "SIGKILL");
});

test("a process that takes too much memory is ended, and said to be", async () => {
  const bomb = "const all = []; for (;;) all.push(Buffer.alloc(1e7, 1))";
  const { killed } = await runContender([process.execPath, "--eval", bomb], { bytes: 300e6 });
  assert.equal(killed.bound, "memory");
});
