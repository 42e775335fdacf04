import type { Executor } from "@cloudflare/codemode";
import type { Belljar, Limits } from "belljar";

export interface BelljarExecutorOptions {
  /** The jar; else one that this process's adapters share. On Workers it is needed: `Belljar.connect(url)`. */
  jar?: Belljar | Promise<Belljar>;
  /** Milliseconds: 60,000. */
  timeout?: number;
  limits?: Limits;
}

/** An executor for `createCodeTool`, `createBrowserCodeTool`, `codeMcpServer` and the durable runtime. */
export function belljarExecutor(options?: BelljarExecutorOptions): Executor;
