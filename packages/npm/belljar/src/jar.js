// A jar: runs share one connection, and a new one is made when that one is gone.

import { connect } from "./connection.js";
import { BelljarError, RunError } from "./errors.js";
import { requestOf } from "./request.js";

/** A jar whose connections are made by `open`. Resolves when the first one is established. */
export async function createJar(open) {
  let connection;
  let about;
  let closed = false;

  function connected() {
    if (connection) return connection;
    const forget = () => {
      if (connection === opened) connection = undefined;
    };
    const opened = connect(({ onText, onGone }) => open({
      onText,
      onGone(error) {
        forget();
        onGone(error);
      },
    })).catch((error) => {
      forget();
      throw error;
    });
    connection = opened;
    return opened;
  }

  async function outcome(code, options = {}) {
    if (closed) throw new BelljarError("closed", "this jar was closed");
    options.signal?.throwIfAborted();
    const request = requestOf(code, options);
    const current = await connected();
    about = current.about;
    options.signal?.throwIfAborted();
    return current.run(request, options);
  }

  async function run(code, options = {}) {
    const result = await outcome(code, options);
    if (result.ok) return result;
    const aborted = result.error?.kind === "cancelled" && options.signal?.aborted;
    throw new RunError(result, aborted ? { cause: options.signal.reason } : undefined);
  }

  async function close() {
    if (closed) return;
    closed = true;
    const current = connection;
    connection = undefined;
    await (await current?.catch(() => undefined))?.close();
  }

  about = (await connected()).about;
  const jar = {
    run,
    outcome,
    close,
    get about() {
      return about;
    },
  };
  // Node 20 and later have this symbol; not every browser does.
  if (Symbol.asyncDispose) jar[Symbol.asyncDispose] = close;
  return jar;
}
