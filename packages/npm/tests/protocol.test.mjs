// The client under the table that belljar and all its clients are held to: tests/host-protocol.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Belljar, positional } from "belljar";

import { decode, encode } from "../belljar/src/values.js";
import "./support.mjs";

const table = new URL("../../../tests/host-protocol/cases.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(table, "utf8"));

/** What nobody can ask for with this client. */
const INEXPRESSIBLE = new Set([
  "an answer that is not extended JSON fails its call", // it escapes such an answer
  "no two tools of a namespace have one name", // they are the keys of an object
  "an unknown parameter is refused", // it sends none
  "a limit has its unit", // a number is in milliseconds
]);

const jar = Belljar.start();

function handlerOf(behaviour = {}) {
  return async (given) => {
    if (behaviour.never) return new Promise(() => {});
    if (behaviour.error) throw Object.assign(Error(behaviour.error.message), { name: behaviour.error.name ?? "ToolError" });
    if (behaviour.nothing) return undefined;
    return behaviour.echo ? given : decode(structuredClone(behaviour.value));
  };
}

function optionsOf({ namespaces = [], functions = [], value: _, code: __, stream: ___, ...rest }, behaviours = {}) {
  const tool = (path, { name, inputSchema, style, ...described }) => {
    const whole = { ...described, schema: inputSchema, run: handlerOf(behaviours[path]) };
    return [name, style === "positional" ? positional(whole) : whole];
  };
  const namespace = ({ name, style, tools }) => {
    const entries = Object.fromEntries(tools.map((each) => tool(`${name}.${each.name}`, each)));
    return [name, style === "positional" ? positional(entries) : entries];
  };
  return {
    ...rest,
    tools: Object.fromEntries(namespaces.map(namespace)),
    functions: Object.fromEntries(functions.map((each) => tool(each.name, each))),
  };
}

/** All that is expected is there; objects may have more. */
function assertHas(found, expected, at) {
  if (expected === null || typeof expected !== "object") {
    assert.equal(found, expected, at);
    return;
  }
  assert.ok(found !== null && typeof found === "object", `${at}: ${JSON.stringify(found)}`);
  if (Array.isArray(expected)) assert.equal(found.length, expected.length, at);
  for (const [name, value] of Object.entries(expected)) assertHas(found[name], value, `${at}.${name}`);
}

for (const { name, run, functions, expect, refused } of cases) {
  if (INEXPRESSIBLE.delete(name)) continue;
  test(name, async () => {
    const running = (await jar).outcome(run.code, optionsOf(run, functions));
    if (refused !== undefined) {
      await assert.rejects(running, (error) => error.code === "request" || error instanceof TypeError);
      return;
    }
    const outcome = await running;
    const value = outcome.value === undefined ? { $belljar: "undefined" } : JSON.parse(encode(outcome.value));
    assertHas({ ...outcome, value: run.value !== "extended" && outcome.value === undefined ? null : value }, expect, "outcome");
  });
}

test("every case that cannot be asked for is one of the table", () => assert.deepEqual([...INEXPRESSIBLE], []));
