// What all adapters do: find a jar, and put limits and logs as their hosts have them.

import { Belljar } from "belljar";

import { atMost, limitsOf } from "../limits.js";

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

/** So much longer may one call take than the run: its time-out is the one that is told. */
const CALL_BEYOND_MS = 5_000;
/** Of hosts that count no calls. */
const MAX_CALLS = 10_000;

/**
 * Hosts have one time-out where belljar has three, and larger values than belljar's default; where
 * belljar's owner allows less, that is it. What the caller asks for is asked of belljar as it is.
 */
export function limitsFor(jar, timeout, options, more = {}) {
  const call = timeout + CALL_BEYOND_MS;
  const own = limitsOf({ timeout, compute: timeout, call, maxOutput: "1MiB", maxCalls: MAX_CALLS, ...more });
  return { ...atMost(own, jar.about.ceiling), ...limitsOf(options.limits) };
}

/**
 * Whether a run ended because it took too long. The error's name does not tell: what a script or a
 * tool throws may have any.
 */
export function isTimeout({ kind }) {
  return kind === "timeout" || kind === "fuel";
}

/** A run's value as hosts show it to a model: in JSON, in which bytes are told of by their number. */
export function inJson(value) {
  if (value === undefined) return undefined;
  const isBytes = (each) => ArrayBuffer.isView(each) || each instanceof ArrayBuffer;
  return JSON.parse(JSON.stringify(value, (_, each) => (isBytes(each) ? `<${each.byteLength} bytes>` : each)));
}

/** Logs as texts, with a prefix by level; a level without one is left out. */
export function logTexts(logs, prefixes) {
  return logs.flatMap(({ level, text }) => (prefixes[level] === undefined ? [] : [`${prefixes[level]}${text}`]));
}
