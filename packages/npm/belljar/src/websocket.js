// belljar's protocol as text frames of a WebSocket, for Workers, browsers and other machines.

import { BelljarError } from "./errors.js";

/** The largest message that belljar accepts, in bytes. */
const MAX_MESSAGE = 8 * 1024 * 1024;
const PROTOCOL = "belljar";
const CLOSE_MS = 5_000;

/** Opens the WebSocket. The token is sent as a subprotocol, since browsers cannot set headers. */
export function openWebSocket(url, options, { onText, onGone }) {
  const WebSocket = options.WebSocket ?? globalThis.WebSocket;
  if (!WebSocket) {
    throw new BelljarError("request", "there is no global WebSocket: pass a class as the option `WebSocket`, such as that of the package `ws`");
  }
  const protocols = options.token === undefined ? [PROTOCOL] : [PROTOCOL, `bearer.${options.token}`];
  const socket = new WebSocket(url, protocols);
  let reason;
  let isOpen = false;

  return new Promise((resolve, reject) => {
    const closed = new Promise((done) => {
      socket.addEventListener("close", ({ code, reason: text }) => {
        const said = text ? `: ${text}` : "";
        const error = reason ?? (isOpen
          ? new BelljarError("exited", `the connection to belljar was closed (${code}${said}), and its runs are lost; the next run connects again`)
          : new BelljarError("exited", `belljar cannot be reached at ${url} (${code}${said}): check the address and the token`));
        reject(error);
        onGone(error);
        done();
      });
    });
    // The event `close` that follows says what failed.
    socket.addEventListener("error", () => {});
    socket.addEventListener("message", ({ data }) => {
      if (typeof data !== "string") fail(new BelljarError("protocol", "belljar sent a binary frame"));
      else onText(data);
    });
    function fail(error) {
      reason ??= error;
      socket.close();
      onGone(reason);
    }
    socket.addEventListener("open", () => {
      isOpen = true;
      resolve({
        maxMessage: MAX_MESSAGE,
        isOwner: false,
        send: (text) => socket.send(text),
        // A WebSocket keeps a process alive until it is closed.
        hold() {},
        fail,
        async close() {
          fail(new BelljarError("closed", "this jar was closed"));
          await Promise.race([closed, new Promise((done) => setTimeout(done, CLOSE_MS).unref?.())]);
        },
      });
    });
  });
}
