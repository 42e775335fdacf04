// The entry for Workers and browsers: it imports nothing of Node.

import { BelljarError } from "./errors.js";
import { createJar } from "./jar.js";
import { openWebSocket } from "./websocket.js";

export { BelljarError, RunError } from "./errors.js";
export { positional } from "./request.js";

/** A jar at the other end of a WebSocket: `belljar serve --http` has one at `/host`. */
export function connect(url, options = {}) {
  return createJar((events) => openWebSocket(url, options, events));
}

export const Belljar = {
  connect,
  async start() {
    throw new BelljarError("binary", "no program can be started here: Belljar.connect(url) reaches one that is served");
  },
};
