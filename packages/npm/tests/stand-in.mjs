#!/usr/bin/env node
// A program that the client starts in place of belljar: STAND_IN says how it misbehaves. It does
// what the real program never does; everything else is tested with the real one.

import { createInterface } from "node:readline";

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const hello = (id) => say({ id, result: { protocol: 1, version: "0.0.0", pid: process.pid, limits: {}, servers: [] } });
const succeed = (id) => say({ id, result: { ok: true, value: 1, logs: [], error: null, calls: [], usage: {} } });
const misbehaviour = process.env.STAND_IN;

if (misbehaviour === "dies at once") {
  console.error("error: unrecognized subcommand 'host'");
  process.exit(2);
}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (method === "hello") {
      if (misbehaviour === "refuses hello") say({ id, error: { code: -32602, message: "protocol 1 is not spoken here" } });
      else if (misbehaviour === "prints junk") process.stdout.write("Welcome!\n");
      else hello(id);
    } else if (misbehaviour === "dies in a run") process.exit(7);
    else if (misbehaviour === "prints junk in a run") process.stdout.write("\u001b[31mpanic\n");
    else if (misbehaviour === "sends an endless line") process.stdout.write("x".repeat(17 * 1024 * 1024));
    else if (misbehaviour === "answers with nothing") say({ id, result: null });
    else if (misbehaviour === "is busy") say({ id, error: { code: -32000, message: "no place is free" } });
    else if (misbehaviour === "has an outcome that is too long") {
      if (id === 2) say({ id, error: { code: -32003, message: "the outcome is above 16 MiB" } });
      else succeed(id);
    } else if (misbehaviour === "loses logs") {
      say({ method: "log", params: { run: id, level: "log", text: "a" } });
      say({ method: "log", params: { run: id, level: "log", text: "d", lost: 2 } });
      succeed(id);
    } else if (misbehaviour === "sends what nobody asked for") {
      say({ id: 999, result: {} });
      say({ id: "c1", method: "call", params: { run: 999, function: "f", arguments: {} } });
      say({ id: "c2", method: "nonsense", params: {} });
      say({ method: "cancel", params: { id: "c9" } });
      say({ method: "log", params: { run: 999, level: "log", text: "lost" } });
      process.stdout.write('\n5\n"text"\nnull\n[]\n{}\n{"params":3,"method":"log"}\n{"method":"call","id":[]}\n');
      say({ id, result: { ok: true, value: 1, logs: [], error: null, calls: [], usage: {} } });
    } else if (misbehaviour === "stays after its stdin has ended") {
      setInterval(() => {}, 1_000);
      say({ id, result: { ok: true, value: process.pid, logs: [], error: null, calls: [], usage: {} } });
    } else if (misbehaviour === "closes its stdin") {
      process.stdin.destroy();
      say({ id, result: { ok: true, value: 1, logs: [], error: null, calls: [], usage: {} } });
      setTimeout(() => process.exit(0), 500);
    }
  });
