import type { Tool, ToolSet } from "ai";
import type { Belljar, Limits } from "belljar";

export interface BelljarToolOptions {
  /** The jar; else one that this process's adapters share. */
  jar?: Belljar | Promise<Belljar>;
  /** The tools that code may call; else those whose `experimental_toolCallers` name this tool. */
  tools?: ToolSet;
  /** Milliseconds: 30,000. */
  timeout?: number;
  limits?: Limits;
}

/** What `experimental_toolCallers` looks for in a tool. */
export interface ToolCaller {
  readonly experimental_toolCaller: { type: "local"; bind: (tools: ToolSet) => Tool };
}

/** A tool that runs code, in which `tools.NAME(input)` calls the tools. */
export function belljarTool(options: BelljarToolOptions & { tools: ToolSet }): Tool<{ code: string }, unknown>;
export function belljarTool(options?: BelljarToolOptions): Tool<{ code: string }, unknown> & ToolCaller;
