// The entry for Node: a jar as a child process, or over a WebSocket.

import { openChild } from "./child.js";
import { createJar } from "./jar.js";
import { connect } from "./web.js";

export { findBinary } from "./binary.js";
export { BelljarError, RunError } from "./errors.js";
export { positional } from "./request.js";

/** Starts a jar as a child process, which many runs share. */
export function start(options = {}) {
  return createJar((events) => openChild(options, events));
}

export const Belljar = { start, connect };
