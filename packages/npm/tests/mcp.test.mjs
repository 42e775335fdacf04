// `belljar/mcp`: the program as an MCP server, started by the client of the official SDK.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { createServer } from "belljar/mcp";

import { home } from "./support.mjs";

test("an MCP client can start it", async (context) => {
  const client = new Client({ name: "test", version: "1.0.0" });
  const { type, ...server } = createServer({ env: { HOME: home, XDG_CONFIG_HOME: home, BELLJAR_NO_DAEMON: "1" } });
  assert.equal(type, "stdio");
  await client.connect(new StdioClientTransport(server));
  context.after(() => client.close());
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).sort(), ["execute_code", "search_docs"]);
  const result = await client.callTool({ name: "execute_code", arguments: { code: "return 6 * 7" } });
  assert.equal(result.structuredContent.value, 42);
});

test("it passes on the chosen configuration", (context) => {
  assert.deepEqual(createServer({ config: "a.toml", args: ["--quiet"] }).args, ["serve", "--config", "a.toml", "--quiet"]);
  process.env.BELLJAR_CONFIG = "/etc/belljar.toml";
  context.after(() => delete process.env.BELLJAR_CONFIG);
  assert.deepEqual(createServer({ env: { A: "1" } }).env, { BELLJAR_CONFIG: "/etc/belljar.toml", A: "1" });
  assert.deepEqual(createServer({ config: "a.toml" }).env, {});
});
