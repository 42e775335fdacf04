import type { IsolateDriver } from "@tanstack/ai-code-mode";
import type { Belljar, Limits } from "belljar";

export interface BelljarDriverOptions {
  /** The jar; else one that this process's adapters share. */
  jar?: Belljar | Promise<Belljar>;
  /** Milliseconds, where the context names none: 30,000. */
  timeout?: number;
  /** MiB, where the context names none: 128. */
  memoryLimit?: number;
  limits?: Limits;
}

/** A driver for `createCodeMode({ driver })`. */
export function belljarDriver(options?: BelljarDriverOptions): IsolateDriver;
