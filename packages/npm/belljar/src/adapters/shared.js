// What all adapters do: find a jar, and put limits and logs as their hosts have them.

import { Belljar } from "belljar";

let shared;

/** The jar that was given, or one that all adapters of this process share. */
export function jarOf(options) {
  if (options.jar) return options.jar;
  shared ??= Belljar.start().catch((error) => {
    shared = undefined;
    throw error;
  });
  return shared;
}

/**
 * Hosts have one time-out where belljar has four, and a larger value than belljar's default fits in
 * them.
 */
export function limitsFor(timeout, options) {
  return { timeout, compute: timeout, call: timeout, maxOutput: "1MiB", ...options.limits };
}

/** Logs as texts, with a prefix by level; a level without one is left out. */
export function logTexts(logs, prefixes) {
  return logs.flatMap(({ level, text }) => (prefixes[level] === undefined ? [] : [`${prefixes[level]}${text}`]));
}
