import type { CodeModeTransport } from "@mastra/core/tools";
import type { Belljar, Limits } from "belljar";

export interface BelljarTransportOptions {
  /** The jar; else one that this process's adapters share. */
  jar?: Belljar | Promise<Belljar>;
  /** Beside the time-out, which `createCodeMode` sets. */
  limits?: Limits;
}

/** A transport for `createCodeMode({ tools }, belljarTransport())`: no sandbox of Mastra's is needed. */
export function belljarTransport(options?: BelljarTransportOptions): CodeModeTransport;
