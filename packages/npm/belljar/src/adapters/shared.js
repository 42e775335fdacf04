// What all adapters do: find a jar, and convert limits, values and logs for their hosts.

import { Belljar } from "belljar";

import { atMost, limitsOf } from "../limits.js";

let shared;

/** The jar in the options, or one that all adapters of this process share. */
export function jarOf(options) {
  if (options.jar) return options.jar;
  shared ??= Belljar.start().catch((error) => {
    shared = undefined;
    throw error;
  });
  return shared;
}

/** How much longer than the run a call may take, so that the run's time-out is reported. */
const CALL_BEYOND_MS = 5_000;
/** For hosts that do not count calls. */
const MAX_CALLS = 10_000;

/**
 * The limits of a run. Hosts have one time-out where belljar has three, and larger values than
 * belljar's default. These limits are lowered to what belljar's owner allows; `options.limits` are
 * passed on as they are.
 */
export function limitsFor(jar, timeout, options, more = {}) {
  const call = timeout + CALL_BEYOND_MS;
  const own = limitsOf({ timeout, compute: timeout, call, maxOutput: "1MiB", maxCalls: MAX_CALLS, ...more });
  return { ...atMost(own, jar.about.ceiling), ...limitsOf(options.limits) };
}

/**
 * Whether a run ended because it took too long. The error's name cannot tell: an error thrown by a
 * script or a tool may have any name.
 */
export function isTimeout({ kind }) {
  return kind === "timeout" || kind === "fuel";
}

/** A run's value as hosts show it to a model: JSON, with bytes as `"<16 bytes>"`. */
export function inJson(value) {
  if (value === undefined) return undefined;
  const isBytes = (each) => ArrayBuffer.isView(each) || each instanceof ArrayBuffer;
  return JSON.parse(JSON.stringify(value, (_, each) => (isBytes(each) ? `<${each.byteLength} bytes>` : each)));
}

/** Logs as strings with their level's prefix. Levels without a prefix are left out. */
export function logTexts(logs, prefixes) {
  return logs.flatMap(({ level, text }) => (prefixes[level] === undefined ? [] : [`${prefixes[level]}${text}`]));
}
