// The entry for Workers and browsers, which imports nothing from Node.

import { BelljarError } from "./errors.js";
import { createJar } from "./jar.js";
import { openWebSocket } from "./websocket.js";

export { BelljarError, RunError } from "./errors.js";
export { positional } from "./request.js";

/** Connects to a jar over a WebSocket. `belljar serve --http` serves one at `/host`. */
export function connect(url, options = {}) {
  return createJar((events) => openWebSocket(url, options, events));
}

export const Belljar = {
  connect,
  async start() {
    throw new BelljarError("binary", "a program cannot be started here: use Belljar.connect(url) to reach a belljar that runs elsewhere");
  },
};
