import type { CodeModeTransport } from "@mastra/core/tools";
import type { Belljar, Limits } from "belljar";

export interface BelljarTransportOptions {
  /** The jar to run code in. By default, one that all adapters of this process share. */
  jar?: Belljar | Promise<Belljar>;
  /** Limits other than the time-out, which `createCodeMode` sets. */
  limits?: Limits;
}

/** A transport for `createCodeMode({ tools }, belljarTransport())`. It needs no Mastra sandbox. */
export function belljarTransport(options?: BelljarTransportOptions): CodeModeTransport;
