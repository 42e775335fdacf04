import type { IsolateDriver } from "@tanstack/ai-code-mode";
import type { Belljar, Limits } from "belljar";

export interface BelljarDriverOptions {
  /** The jar to run code in. By default, one that all adapters of this process share. */
  jar?: Belljar | Promise<Belljar>;
  /** Time-out in milliseconds if the context sets none; 30,000 by default. */
  timeout?: number;
  /** Memory limit in MiB if the context sets none; 128 by default. */
  memoryLimit?: number;
  limits?: Limits;
}

/** A driver for `createCodeMode({ driver })`. */
export function belljarDriver(options?: BelljarDriverOptions): IsolateDriver;
