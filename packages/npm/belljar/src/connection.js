// belljar's protocol over anything that carries text messages: requests in both directions, many
// runs at once. A connection owns all promises and AbortControllers that it creates, and settles or
// aborts them when the carrier is gone.

import { BelljarError } from "./errors.js";
import { handlerKey } from "./request.js";
import { decode, encode, isExtended } from "./values.js";

const PROTOCOL = 1;
/** How long the first answer may take: the program may be read from a cold disk. */
const HELLO_MS = 30_000;
const ERROR_CHARS = 64 * 1024;
const CLIENT = { name: "belljar-js", version: "0.1.0" };

/**
 * Opens a connection and greets the other side.
 *
 * `open({ onText, onGone })` returns a carrier: `maxMessage` (bytes of UTF-8), `isOwner` (whether
 * runs may raise belljar's default limits), `send(text)`, `hold(busy)` (whether the carrier keeps
 * this process alive), `fail(reason)` and `close()`.
 */
export async function connect(open) {
  const requests = new Map();
  const calls = new Map();
  let gone;
  let lastId = 0;

  const carrier = await open({
    onText(text) {
      if (gone) return;
      let message;
      try {
        message = JSON.parse(text);
        if (isExtended(text)) message = decodeMessage(message);
      } catch {
        carrier.fail(new BelljarError("protocol", `belljar sent a message that is not JSON: ${text.slice(0, 200)}`));
        return;
      }
      receive(message);
    },
    onGone(error) {
      gone ??= error;
      for (const request of requests.values()) request.reject(gone);
      for (const controller of calls.values()) controller.abort(gone);
      requests.clear();
      calls.clear();
    },
  });

  function receive(message) {
    if (message === null || typeof message !== "object") return;
    const { id, method, params } = message;
    if (method === undefined) settle(message);
    else if (method === "call") answer(id, params ?? {});
    else if (method === "cancel") stop(params?.id);
    else if (method === "log") requests.get(params?.run)?.onLog?.(params);
    else if (id !== undefined) send({ id, error: { code: -32601, message: `there is no method ${method}` } });
  }

  function settle({ id, result, error }) {
    const request = requests.get(id);
    if (!request) return;
    requests.delete(id);
    for (const call of request.calls) stop(call);
    carrier.hold(requests.size > 0);
    if (error) request.reject(refusal(error));
    else request.resolve(result);
  }

  /** Aborts a call whose run has ended, or no longer waits for it. */
  function stop(id) {
    const controller = calls.get(id);
    calls.delete(id);
    controller?.abort(new DOMException("the run no longer waits for this call", "AbortError"));
  }

  async function answer(id, { run, namespace, tool, function: name, arguments: given }) {
    const request = requests.get(run);
    const handler = request?.handlers?.get(handlerKey(namespace, tool ?? name));
    const path = namespace === undefined ? name : `${namespace}.${tool}`;
    if (!handler) {
      send({ id, error: { code: -32000, message: `this run has no function ${path}` } });
      return;
    }
    const controller = new AbortController();
    calls.set(id, controller);
    request.calls.add(id);
    let text;
    try {
      const value = await handler.run(given, { signal: controller.signal, namespace, name: tool ?? name });
      text = answered(id, encode(value));
      if (isTooLong(text, carrier.maxMessage)) {
        throw new RangeError(`the answer of ${path} is longer than the limit of ${carrier.maxMessage} bytes as JSON: return less at a time`);
      }
    } catch (error) {
      text = message({ id, error: { code: -32000, ...described(error) } });
    }
    request.calls.delete(id);
    // Nobody waits for the answer to a call that was stopped.
    if (calls.delete(id) && !gone) carrier.send(text);
  }

  function request(method, params, details = {}) {
    return new Promise((resolve, reject) => {
      if (gone) {
        reject(gone);
        return;
      }
      const id = (lastId += 1);
      const text = message({ id, method, params });
      if (isTooLong(text, carrier.maxMessage)) {
        reject(new BelljarError("size", `the request is longer than the limit of ${carrier.maxMessage} bytes as JSON: let the script call a function for the data`));
        return;
      }
      requests.set(id, { resolve, reject, calls: new Set(), ...details });
      details.onId?.(id);
      carrier.hold(true);
      carrier.send(text);
    });
  }

  function send(fields) {
    if (!gone) carrier.send(message(fields));
  }

  const about = await greet(() => request("hello", { protocol: PROTOCOL, client: CLIENT }), carrier);
  if (!carrier.isOwner) about.ceiling ??= about.limits;

  return {
    about,
    /** Resolves to the run's outcome. Rejects only if there is none, or if `onLog` failed. */
    async run({ params, handlers }, { onLog, signal } = {}) {
      let id;
      let fault;
      const cancel = () => send({ method: "cancel", params: { id } });
      const failed = (error) => {
        if (fault) return;
        fault = { error };
        if (requests.has(id)) cancel();
      };
      const report = onLog && ((log) => (fault ? undefined : reportTo(onLog, log, failed)));
      const details = { handlers, onLog: report, onId: (given) => (id = given) };
      const ended = request("run", params, details);
      signal?.addEventListener("abort", cancel, { once: true });
      try {
        const outcome = await ended;
        if (fault) throw fault.error;
        if (typeof outcome?.ok === "boolean") return outcome;
        throw new BelljarError("protocol", "belljar answered a run with something that is not an outcome");
      } finally {
        signal?.removeEventListener("abort", cancel);
      }
    },
    close: () => carrier.close(),
  };
}

async function greet(hello, carrier) {
  const silence = new BelljarError("protocol", `belljar did not answer within ${HELLO_MS / 1000} s`);
  const timer = setTimeout(() => carrier.fail(silence), HELLO_MS);
  try {
    return await hello();
  } catch (error) {
    carrier.fail(error);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function message(fields) {
  return JSON.stringify({ jsonrpc: "2.0", ...fields });
}

/** The answer to a call. `value` is JSON text; without it, the call's result is undefined. */
function answered(id, value) {
  const result = value === undefined ? "{}" : `{"value":${value}}`;
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

/** Decodes special values, which occur only in arguments and in the value of a run. */
function decodeMessage(message) {
  if (message?.params && "arguments" in message.params) message.params.arguments = decode(message.params.arguments);
  if (message?.result && "value" in message.result) message.result.value = decode(message.result.value);
  return message;
}

function isTooLong(text, bytes) {
  // A UTF-16 unit takes at most three bytes of UTF-8, so only long texts need the exact count.
  if (text.length * 3 <= bytes) return false;
  return text.length > bytes || new TextEncoder().encode(text).length > bytes;
}

/** What a handler threw, as the script sees it: name and message, without the stack. */
function described(error) {
  if (!(error instanceof Error)) return { message: String(error).slice(0, ERROR_CHARS) };
  return { message: String(error.message).slice(0, ERROR_CHARS), data: { name: String(error.name) } };
}

/** Too many runs; belljar is ending; wrong version; outcome too long. All others: wrong request. */
const CODES = new Map([[-32000, "busy"], [-32001, "busy"], [-32002, "protocol"], [-32003, "size"]]);

function refusal({ code, message, data }) {
  const hint = typeof data?.hint === "string" ? `; ${data.hint}` : "";
  return new BelljarError(CODES.get(code) ?? "request", `${message}${hint}`);
}

/** Passes a log to `onLog`. If that throws or rejects, the run ends, but not this process. */
async function reportTo(onLog, { level, text, lost }, failed) {
  try {
    await onLog(lost === undefined ? { level, text } : { level, text, lost });
  } catch (error) {
    failed(error);
  }
}
