// A client of MCP over stdin and stdout that counts what a model would write and read.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import process from "node:process";

import { encode } from "gpt-tokenizer/encoding/o200k_base";

const PATIENCE_MILLISECONDS = 120_000;

export const tokens = (text) => encode(text).length;

/** A server as a model meets it: its definitions, and calls whose arguments and answers are counted. */
export class Session {
  #child;
  #waiting = new Map();
  #last = 0;
  #complaint = "";
  #ended;

  static async open([command, ...args], { env = {}, cwd } = {}) {
    const session = new Session();
    session.#child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
    session.#child.stdin.on("error", () => {});
    session.#child.stderr.on("data", (data) => (session.#complaint = (session.#complaint + data).slice(-2000)));
    session.#ended = new Promise((resolve) => {
      session.#child.once("error", (error) => resolve(session.#fail(error.message)));
      session.#child.once("close", (code) => resolve(session.#fail(`it ended with ${code}`)));
    });
    createInterface({ input: session.#child.stdout }).on("line", (line) => session.#take(line));
    const clientInfo = { name: "belljar-outputs", version: "1" };
    const { instructions } = await session.#ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    session.#send({ method: "notifications/initialized" });
    const { tools } = await session.#ask("tools/list", {});
    // What a client puts into a model's context: the definitions, and the server's instructions.
    const definitions = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    session.standing = tokens(JSON.stringify(definitions)) + tokens(instructions ?? "");
    return session;
  }

  /** Calls a tool. The text of its answer is what the model reads. */
  async call(name, args) {
    const result = await this.#ask("tools/call", { name, arguments: args });
    const text = result.content.map((block) => block.text ?? `[${block.type}]`).join("\n");
    // belljar says how many calls of tools its script made.
    const calls = result.structuredContent?.usage?.tool_calls;
    return { text, calls, written: tokens(JSON.stringify({ name, arguments: args })), read: tokens(text) };
  }

  async close() {
    this.#child.stdin.end();
    const kill = setTimeout(() => this.#child.kill("SIGKILL"), 10_000);
    await this.#ended;
    clearTimeout(kill);
  }

  async #ask(method, params) {
    const id = ++this.#last;
    const { promise, resolve, reject } = withResolvers();
    this.#waiting.set(id, { resolve, reject });
    const late = setTimeout(() => this.#child.kill("SIGKILL"), PATIENCE_MILLISECONDS);
    this.#send({ id, method, params });
    try {
      return await promise;
    } finally {
      clearTimeout(late);
    }
  }

  #send(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #take(line) {
    const { id, method, result, error } = JSON.parse(line);
    if (method !== undefined) {
      if (id !== undefined) this.#send({ id, error: { code: -32601, message: "this client has nothing to offer" } });
      return;
    }
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(new Error(error.message));
    else waiting?.resolve(result);
  }

  #fail(reason) {
    for (const { reject } of this.#waiting.values()) reject(new Error(`${reason}\n${this.#complaint}`));
    this.#waiting.clear();
  }
}

function withResolvers() {
  let resolve, reject;
  const promise = new Promise((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
}
