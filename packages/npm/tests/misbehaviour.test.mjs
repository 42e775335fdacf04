// The client with a process that is not belljar, or misbehaves.

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Belljar, BelljarError, findBinary } from "belljar";

import { home } from "./support.mjs";

const STAND_IN = fileURLToPath(new URL("stand-in.mjs", import.meta.url));

const start = (misbehaviour) => Belljar.start({ binary: STAND_IN, env: { ...process.env, STAND_IN: misbehaviour } });

async function rejected(promise) {
  const error = await promise.then(() => assert.fail("it should have been rejected"), (thrown) => thrown);
  assert.ok(error instanceof BelljarError, String(error));
  return error;
}

test("the error for a process that dies at once has its last output", async () => {
  const error = await rejected(start("dies at once"));
  assert.equal(error.code, "exited");
  assert.match(error.message, /with code 2.*Its last output on stderr: error: unrecognized subcommand 'host'/);
});

test("the error for a program that does not exist has its path", async () => {
  const error = await rejected(Belljar.start({ binary: "/nowhere/belljar" }));
  assert.equal(error.code, "binary");
  assert.match(error.message, /\/nowhere\/belljar/);
});

test("a program that speaks another protocol is refused", async () => {
  assert.equal((await rejected(start("refuses hello"))).message, "protocol 1 is not spoken here");
  const junk = await rejected(start("prints junk"));
  assert.equal(junk.code, "protocol");
  assert.match(junk.message, /not JSON: Welcome!/);
});

for (const [misbehaviour, code, text] of [
  ["dies in a run", "exited", /with code 7/],
  ["prints junk in a run", "protocol", /panic/],
  ["sends an endless line", "protocol", /16777216 bytes/],
]) {
  test(`a process that ${misbehaviour} fails that run, and the next run starts another`, async (context) => {
    const jar = await start(misbehaviour);
    context.after(() => jar.close());
    const { pid } = jar.about;
    for (let round = 0; round < 2; round += 1) {
      const error = await rejected(jar.run("return 1"));
      assert.equal(error.code, code);
      assert.match(error.message, text);
    }
    assert.notEqual(jar.about.pid, pid);
  });
}

test("the error of a busy belljar is retryable", async (context) => {
  const jar = await start("is busy");
  context.after(() => jar.close());
  const error = await rejected(jar.run("return 1"));
  assert.deepEqual([error.code, error.retryable, error.message], ["busy", true, "no place is free"]);
});

test("an outcome that is too long for a message fails its run alone", async (context) => {
  const jar = await start("has an outcome that is too long");
  context.after(() => jar.close());
  const { pid } = jar.about;
  const error = await rejected(jar.run("return 1"));
  assert.deepEqual([error.code, error.retryable], ["size", false]);
  assert.equal((await jar.run("return 1")).value, 1);
  assert.equal(jar.about.pid, pid);
});

test("onLog is told how many logs were left out", async (context) => {
  const jar = await start("loses logs");
  context.after(() => jar.close());
  const seen = [];
  await jar.run("return 1", { onLog: (log) => seen.push(log) });
  assert.deepEqual(seen, [{ level: "log", text: "a" }, { level: "log", text: "d", lost: 2 }]);
});

test("an answer that is not an outcome is an error", async (context) => {
  const jar = await start("answers with nothing");
  context.after(() => jar.close());
  assert.equal((await rejected(jar.run("return 1"))).code, "protocol");
});

test("unexpected messages are answered or ignored", async (context) => {
  const jar = await start("sends what nobody asked for");
  context.after(() => jar.close());
  assert.equal((await jar.run("return 1")).value, 1);
  assert.equal((await jar.run("return 1")).value, 1);
});

test("a process that no longer reads does not end the host's with EPIPE", async (context) => {
  const jar = await start("closes its stdin");
  context.after(() => jar.close());
  assert.equal((await jar.run("return 1")).value, 1);
  assert.equal((await rejected(jar.run("x".repeat(1024 * 1024)))).code, "exited");
});

test("a process that stays after its stdin has ended is killed", async () => {
  const jar = await start("stays after its stdin has ended");
  const { value: pid } = await jar.run("return 1");
  await jar.close();
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
});

test("the program is found by option, BELLJAR_BINARY and PATH, in this order", (context) => {
  const { PATH, BELLJAR_BINARY } = process.env;
  context.after(() => Object.assign(process.env, { PATH, BELLJAR_BINARY }));
  const folder = mkdtempSync(join(home, "path-"));
  writeFileSync(join(folder, "belljar"), "#!/bin/sh\n");
  chmodSync(join(folder, "belljar"), 0o755);
  mkdirSync(join(folder, "empty"));
  symlinkSync("/nowhere", join(folder, "empty", "belljar"));

  process.env.PATH = [join(folder, "empty"), folder].join(":");
  assert.equal(findBinary("/given"), "/given");
  assert.equal(findBinary(), BELLJAR_BINARY);
  process.env.BELLJAR_BINARY = "";
  assert.equal(findBinary(), join(folder, "belljar"));
  process.env.PATH = join(folder, "empty");
  assert.throws(() => findBinary(), (error) => error.code === "binary" && /@belljar\/cli-.*BELLJAR_BINARY/.test(error.message));
});
