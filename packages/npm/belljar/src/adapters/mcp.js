// belljar as an MCP server, for any MCP client for Node.

import { findBinary } from "../binary.js";

/**
 * The command `belljar serve` over the servers of a configuration, in the form that MCP clients
 * take: for `new StdioClientTransport(createServer())`, or as an entry of `mcpServers`.
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

/** Clients start servers with few variables. The one that names the configuration is passed on. */
function inherited(options) {
  const { BELLJAR_CONFIG } = process.env;
  return options.config === undefined && BELLJAR_CONFIG !== undefined ? { BELLJAR_CONFIG } : {};
}
