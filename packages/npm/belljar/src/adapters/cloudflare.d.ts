import type { Executor } from "@cloudflare/codemode";
import type { Belljar, Limits } from "belljar";

export interface BelljarExecutorOptions {
  /**
   * The jar to run code in. By default, one that all adapters of this process share. On Workers it
   * is required: use `Belljar.connect(url)`.
   */
  jar?: Belljar | Promise<Belljar>;
  /** Time-out in milliseconds; 60,000 by default. */
  timeout?: number;
  limits?: Limits;
}

/**
 * An executor for `createCodeTool`, `createBrowserCodeTool`, `codeMcpServer` and the durable
 * runtime.
 */
export function belljarExecutor(options?: BelljarExecutorOptions): Executor;
