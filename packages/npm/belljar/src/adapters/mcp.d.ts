export interface ServerOptions {
  /**
   * The path of the program. By default, it is looked up in BELLJAR_BINARY, the package for this
   * platform, and PATH.
   */
  binary?: string;
  /** A belljar.toml, or an MCP client's JSON file. By default, belljar's own configuration. */
  config?: string;
  /** Further arguments for `belljar serve`. */
  args?: readonly string[];
  env?: Record<string, string>;
}

/**
 * The command `belljar serve` in the form that MCP clients take, for
 * `new StdioClientTransport(createServer())` or as an entry of `mcpServers`. It starts nothing
 * itself.
 */
export function createServer(options?: ServerOptions): {
  type: "stdio";
  command: string;
  args: string[];
  env: Record<string, string>;
};
