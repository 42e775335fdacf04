export interface ServerOptions {
  /** The program: else BELLJAR_BINARY, the package for this platform, PATH. */
  binary?: string;
  /** A belljar.toml, or the JSON of any MCP client; else belljar's own. */
  config?: string;
  /** More arguments of `belljar serve`. */
  args?: readonly string[];
  env?: Record<string, string>;
}

/**
 * `belljar serve`, in the shape that MCP clients take:
 * `new StdioClientTransport(createServer())`, or an entry of `mcpServers`.
 */
export function createServer(options?: ServerOptions): {
  type: "stdio";
  command: string;
  args: string[];
  env: Record<string, string>;
};
