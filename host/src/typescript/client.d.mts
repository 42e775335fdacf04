// The types of client.mjs, and of the tools that it calls. `belljar typescript --out DIR` writes
// both anew; the tools are as their servers described them then.

/** How the daemon is reached. */
export interface ConnectOptions {
  /** Its socket, as `belljar daemon status` shows it. Without one, `belljar daemon start` is asked. */
  socket?: string;
  /** The configuration, as with `belljar --config`. */
  config?: string;
  /** The program, where it is not in the PATH. */
  belljar?: string;
}

export interface CallOptions {
  /** How long the call may take, in place of the configured limit. */
  timeoutMs?: number;
}

export interface RunOptions {
  /** As of `execute_code`: `{ timeout: "5s" }`. */
  limits?: Record<string, string | number>;
}

/** What a script ended in, as `belljar run --json` prints it. */
export interface Outcome {
  ok: boolean;
  value?: unknown;
  logs: { level: string; text: string }[];
  error: { kind: string; message: string; line?: number; column?: number; hint?: string } | null;
  calls: { server: string; tool: string; ok: boolean; ms?: number }[];
  usage: Record<string, unknown>;
}

export interface Belljar {
  /** `await belljar.servers.fs.read_file({ path })`: what a script would get of the result. */
  readonly servers: Servers;
  /** The same by the tool's path, such as `"fs.read_file"`. */
  call(path: string, args?: Record<string, unknown>, options?: CallOptions): Promise<unknown>;
  /** The whole result: `content`, `structuredContent`, and what else there is. */
  raw(path: string, args?: Record<string, unknown>, options?: CallOptions): Promise<Record<string, unknown>>;
  /** Runs a script in the sandbox. */
  run(code: string, options?: RunOptions): Promise<Outcome>;
  /** Ends the connection. Calls that are running are cancelled. */
  close(): void;
}

/** Connects to the daemon, which is started if it is not running. */
export declare function connect(options?: ConnectOptions): Promise<Belljar>;

/** Why belljar gave no result. */
export declare class BelljarError extends Error {
  kind: string;
  code?: number;
  hint?: string;
}

/** A call that brought no result, or whose tool says that it failed. */
export declare class ToolError extends BelljarError {
  server: string;
  tool: string;
  /** The content blocks of the tool's answer, where there is one. */
  content?: unknown;
}

