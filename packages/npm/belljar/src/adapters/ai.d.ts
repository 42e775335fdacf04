import type { Tool, ToolSet } from "ai";
import type { Belljar, Limits } from "belljar";

export interface BelljarToolOptions {
  /** The jar to run code in. By default, one that all adapters of this process share. */
  jar?: Belljar | Promise<Belljar>;
  /**
   * The tools that the code may call. By default, those for which `experimental_toolCallers` names
   * this tool.
   */
  tools?: ToolSet;
  /** Time-out in milliseconds; 30,000 by default. */
  timeout?: number;
  limits?: Limits;
}

/** The property by which `experimental_toolCallers` recognises a tool that can call others. */
export interface ToolCaller {
  readonly experimental_toolCaller: { type: "local"; bind: (tools: ToolSet) => Tool };
}

/** A tool that runs code. The code calls other tools as `tools.NAME(input)`. */
export function belljarTool(options: BelljarToolOptions & { tools: ToolSet }): Tool<{ code: string }, unknown>;
export function belljarTool(options?: BelljarToolOptions): Tool<{ code: string }, unknown> & ToolCaller;
