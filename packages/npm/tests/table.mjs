// Runs the client through the table of cases for belljar and all its clients, for
// `scripts/host-conformance --client node packages/npm/tests/table.mjs`. It needs BELLJAR_BINARY.

import { createInterface } from "node:readline";

import { Belljar, positional } from "belljar";

import { decode, encode } from "../belljar/src/values.js";
import "./support.mjs";

/** The names of cases that this client cannot express, with the reason. */
const INEXPRESSIBLE = {
  "an answer that is not extended JSON fails its call": "it escapes such an answer",
  "no two tools of a namespace have one name": "they are the keys of an object",
  "an unknown parameter is refused": "it sends none",
  "a limit has its unit": "a number is in milliseconds",
};
const INVALID_PARAMS = -32602;

function handlerOf(behaviour = {}, onAsked) {
  return async (given) => {
    onAsked();
    if (behaviour.never) return new Promise(() => {});
    if (behaviour.error) throw Object.assign(Error(behaviour.error.message), { name: behaviour.error.name ?? "ToolError" });
    if (behaviour.nothing) return undefined;
    return behaviour.echo ? given : decode(structuredClone(behaviour.value));
  };
}

function optionsOf({ namespaces = [], functions = [], value: _, code: __, stream: ___, ...rest }, behaviours, onAsked) {
  const tool = (path, { name, inputSchema, style, ...described }) => {
    const whole = { ...described, schema: inputSchema, run: handlerOf(behaviours[path], onAsked) };
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

async function saidOf(jar, { name, run, functions }) {
  if (INEXPRESSIBLE[name]) return { inexpressible: INEXPRESSIBLE[name] };
  let asked = 0;
  const onAsked = () => {
    asked += 1;
  };
  try {
    const outcome = await jar.outcome(run.code, optionsOf(run, functions, onAsked));
    // The client returns the value as JavaScript.
    const isPlain = run.value !== "extended" && outcome.value === undefined;
    const value = isPlain ? null : JSON.parse(encode(outcome.value) ?? '{"$belljar":"undefined"}');
    return { outcome: { ...outcome, value }, asked };
  } catch (error) {
    // A request that the client itself refuses is never sent.
    if (error.code === "request" || error instanceof TypeError) return { refused: INVALID_PARAMS };
    throw error;
  }
}

const jar = await Belljar.start();
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await saidOf(jar, JSON.parse(line))));
}
await jar.close();
