// What a model would write for each task, and what it gets back. The scripts are written by hand:
// the first step asks for everything, like a model that does not know how much that is. Then comes
// a question about it and later, in another process, one more.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Session } from "./client.mjs";

/** The id in belljar's answer. */
const idIn = (text) => {
  const id = /artifacts\.get\("(a_[0-9a-z]+)"\)/.exec(text)?.[1];
  if (!id) throw new Error(`no artifact in the answer: ${text.slice(0, 500)}`);
  return id;
};

/** A conversation: what was written and read, the calls that the server of the task got, and the answers to both questions. */
class Conversation {
  written = 0;
  read = 0;
  asked = 0;
  standing = 0;
  answers = [];

  async with(server, talk) {
    const session = await Session.open(server.command, server.options);
    this.standing = session.standing;
    try {
      return await talk(async (name, args) => {
        const { text, calls, written, read } = await session.call(name, args);
        this.written += written;
        this.read += read;
        this.asked += calls ?? 0;
        return text;
      });
    } finally {
      await session.close();
    }
  }
}

/** The server's own tools, whose results are in the context in full: the second question needs no further call. */
export async function plain(task, servers) {
  const conversation = new Conversation();
  await conversation.with(servers[task.server], async (call) => {
    const texts = [];
    for (const [name, args] of task.everything) texts.push(await call(name, args));
    conversation.asked = task.everything.length;
    conversation.answers = [texts.join("\n"), texts.join("\n")];
  });
  return conversation;
}

/** belljar, whose runs see the server's tools. */
export async function belljar(task, servers, { program, folder, artifacts }) {
  const home = join(folder, `${task.name}-${artifacts ? "with" : "without"}`);
  mkdirSync(home, { recursive: true });
  const { command: [command, ...args], options } = servers[task.server];
  const configuration = join(home, "belljar.toml");
  writeFileSync(
    configuration,
    `[servers.${task.server}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n\n[artifacts]\nenabled = ${artifacts}\n`,
  );
  const env = { HOME: home, XDG_STATE_HOME: home, XDG_RUNTIME_DIR: home, XDG_CONFIG_HOME: home, ...options?.env };
  const server = { command: [program, "serve", "--quiet", "--config", configuration], options: { env, cwd: home } };
  const conversation = new Conversation();
  const run = (call, code) => call("execute_code", { code });
  let id;
  await conversation.with(server, async (call) => {
    // The tool's signature, which the others have in their definitions.
    await call("search_docs", { query: task.wish });
    const first = await run(call, `return ${task.script}`);
    id = artifacts ? idIn(first) : undefined;
    conversation.answers.push(await run(call, artifacts ? task.questionAbout(id) : task.question));
  });
  await conversation.with(server, async (call) => {
    conversation.answers.push(await run(call, artifacts ? task.laterAbout(id) : task.later));
  });
  return conversation;
}

/** context-mode, which reads files, addresses and databases itself. */
export async function contextMode(task, { node, start, folder }) {
  const home = join(folder, `${task.name}-context-mode`);
  mkdirSync(home, { recursive: true });
  // It confines files to its project, so the project has the log and the database.
  const env = { HOME: home, CLAUDE_PROJECT_DIR: folder, CONTEXT_MODE_DIR: home };
  const server = { command: [node, start], options: { env, cwd: folder } };
  const conversation = new Conversation();
  await conversation.with(server, async (call) => {
    for (const [name, args] of task.contextMode.first) await call(name, args);
    conversation.answers.push(await call(...task.contextMode.question));
  });
  await conversation.with(server, async (call) => {
    conversation.answers.push(await call(...task.contextMode.later));
  });
  return conversation;
}
