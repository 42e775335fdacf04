// Run by scripts/test. It needs nothing but Node.js, since what the comparison needs is not
// installed there.

import assert from "node:assert/strict";
import test from "node:test";

import { issues, log, openByLabel, page, PAGES } from "./data.mjs";
import { asMarkdown } from "./summary.mjs";
import { issuesTask, logTask, pagesTask } from "./tasks.mjs";

/** Runs a script's code as the jar would, with these globals. */
const ran = (code, globals) => new Function(...Object.keys(globals), `return (async () => { ${code} })()`)(...Object.values(globals));

test("the data is the same in every run, and as large as the tasks say", () => {
  const { text } = log();
  assert.equal(text, log().text);
  assert.ok(text.length > 2e6 && text.length < 2.1e6);
  assert.equal(text.match(/10\.0\.3\.7:5432 refused/g).length, 2);
  const rows = issues();
  assert.deepEqual(rows, issues());
  assert.equal(rows.length, 5000);
  assert.equal(rows.filter(({ title }) => /stall/.test(title)).length, 1);
  const pages = Array.from({ length: PAGES }, (_, number) => page(number));
  assert.equal(pages.filter((text) => text.includes("quarantine")).length, 1);
});

test("the scripts answer the questions, with and without artifacts, and only right answers count", async () => {
  const { text, errors } = log();
  const rows = issues();
  const fs = { read_text_file: async () => ({ content: text }) };
  const db = { read_query: async () => rows };
  const web = { fetch: async ({ url }) => page(Number(url.slice(5))) };
  const [logs, pages, all] = [logTask("/log", errors), pagesTask("http/"), issuesTask("/db", openByLabel(rows), "python")];
  const values = { a_log: { content: text }, a_issues: rows };
  const artifacts = { get: async (id) => values[id] };
  const said = async (code) => JSON.stringify(await ran(code, { fs, db, web, artifacts }));
  for (const task of [logs, pages, all]) {
    const [first, later] = [await said(task.question), await said(task.later)];
    assert.ok(task.isAnswered(first, later, false), `${task.name}: ${first} ${later}`);
    assert.ok(!task.isAnswered(first, "nothing", false) && !task.isAnswered(first.replaceAll(/\d/g, "0"), later, false), task.name);
    assert.ok((await said(`return ${task.script}`)).length > 5e5, task.name);
  }
  assert.deepEqual(JSON.parse(await said(logs.questionAbout("a_log"))), errors);
  assert.deepEqual(JSON.parse(await said(all.questionAbout("a_issues"))), openByLabel(rows));
});

test("the table has a row for each contender", () => {
  const row = { task: "a log", contender: "belljar", standing: 440, written: 1234, read: 5, calls: 1, answered: true };
  assert.match(asMarkdown([row, { ...row, calls: 0, answered: false }]), /\| a log \| belljar \| 440 \| 1,234 \| 5 \| 1 \| yes \|\n.*\| – \| no \|\n$/);
});
