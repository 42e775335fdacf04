// The client over a WebSocket, with a `belljar serve --http`.

import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { Belljar } from "belljar/web";
import { belljarExecutor } from "belljar/cloudflare";
import { WebSocket } from "ws";

import { aborted, deferred, home } from "./support.mjs";

const binary = process.env.BELLJAR_BINARY;
let server;
let url;
let token;

async function serve() {
  server = spawn(binary, ["serve", "--http", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
  for await (const line of createInterface({ input: server.stderr })) {
    const address = /^serving MCP at http:\/\/(.*)\/mcp$/.exec(line)?.[1];
    if (address) return `ws://${address}/host`;
  }
  assert.fail("it has not printed its address");
}

before(async () => {
  // The owner lets programs confirm commands with --yes.
  const config = join(home, "unattended.toml");
  writeFileSync(config, "[approvals]\nallow_yes = true\n");
  token = execFileSync(binary, ["token", "add", "ann", "--yes", "--config", config], { encoding: "utf8" }).trim();
  url = await serve();
  server.stderr.resume();
});

after(() => server.kill());

test("a jar at the other end runs code with functions of this end", async (context) => {
  const jar = await Belljar.connect(url, { token, WebSocket });
  context.after(() => jar.close());
  const logs = [];
  const { value } = await jar.run("console.log('there'); return await add({ a: 1, b: new Uint8Array([2]) })", {
    functions: { add: ({ a, b }) => a + b[0] },
    onLog: ({ text }) => logs.push(text),
  });
  assert.deepEqual([value, logs], [3, ["there"]]);
});

test("a wrong token is refused, and so is a missing one", async () => {
  for (const wrong of ["wrong", undefined]) {
    await assert.rejects(Belljar.connect(url, { token: wrong, WebSocket }), { code: "exited", message: /check the address and the token/ });
  }
});

test("a connection that is lost fails its runs, and the next run makes another", async (context) => {
  const sockets = [];
  class Recorded extends WebSocket {
    constructor(...given) {
      super(...given);
      sockets.push(this);
    }
  }
  const jar = await Belljar.connect(url, { token, WebSocket: Recorded });
  context.after(() => jar.close());
  const stopped = deferred();
  const functions = {
    async slow(_, { signal }) {
      sockets[0].terminate();
      stopped.resolve(await aborted(signal));
    },
  };
  await assert.rejects(jar.run("await slow({})", { functions }), { code: "exited" });
  await stopped.promise;
  assert.equal((await jar.run("return 1")).value, 1);
  assert.equal(sockets.length, 2);
});

test("belljar/web starts no program", async () => {
  await assert.rejects(Belljar.start(), { code: "binary" });
});

test("an adapter asks for no more than the owner allows there", async (context) => {
  const jar = await Belljar.connect(url, { token, WebSocket });
  context.after(() => jar.close());
  assert.ok("compute" in jar.about.ceiling, JSON.stringify(jar.about));
  assert.deepEqual(await belljarExecutor({ jar }).execute("async () => 42", []), { result: 42, logs: [] });
});

test("the WebSocket that browsers have is enough", async () => {
  const script = `
    import { Belljar } from "belljar/web";
    const jar = await Belljar.connect(process.env.URL, { token: process.env.TOKEN });
    const { value } = await jar.run("return await twice({ n: 21 })", { functions: { twice: ({ n }) => 2 * n } });
    console.log(value);
    await jar.close();`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--experimental-websocket", "--no-warnings", "--input-type=module", "--eval", script],
    { cwd: new URL(".", import.meta.url), env: { ...process.env, URL: url, TOKEN: token }, timeout: 30_000 },
  );
  assert.equal(stdout, "42\n");
});
