// belljar as an MCP server: how any MCP client of Node starts it.

import { findBinary } from "../binary.js";

/**
 * `belljar serve` over the servers of a configuration, in the shape that MCP clients take: for
 * `new StdioClientTransport(createServer())`, and as an entry of `mcpServers`.
 */
export function createServer(options = {}) {
  const config = options.config === undefined ? [] : ["--config", options.config];
  return {
    type: "stdio",
    command: findBinary(options.binary),
    args: ["serve", ...config, ...(options.args ?? [])],
    env: { ...inherited(options), ...options.env },
  };
}

/** Clients start servers in a clean environment: what says which configuration is meant is kept. */
function inherited(options) {
  const { BELLJAR_CONFIG } = process.env;
  return options.config === undefined && BELLJAR_CONFIG !== undefined ? { BELLJAR_CONFIG } : {};
}
