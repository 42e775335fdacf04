// TanStack AI's code mode in a jar: an `IsolateDriver`.

import { BelljarError, positional } from "belljar";

import { nameAndMessage } from "../errors.js";
import { inJson, isTimeout, jarOf, limitsFor, logTexts } from "./shared.js";

const TIMEOUT_MS = 30_000;
const MEMORY_MB = 128;
/** The memory of the interpreter itself, which TanStack's limit does not include. */
const INTERPRETER_MB = 8;
const PREFIXES = { log: "", debug: "", info: "INFO: ", warn: "WARN: ", error: "ERROR: " };
const TIMED_OUT = "Code execution timed out";
const EXCEEDED = {
  memory: "Code execution exceeded memory limit",
  stack: "Code execution exceeded stack size limit",
};

/**
 * A driver for `createCodeMode({ driver })` of `@tanstack/ai-code-mode`. Each `execute` is a
 * separate run: nothing is kept from one to the next.
 */
export function belljarDriver(options = {}) {
  return {
    async createContext(config) {
      const jar = await jarOf(options);
      const timeout = config.timeout ?? options.timeout ?? TIMEOUT_MS;
      const memory = (config.memoryLimit ?? options.memoryLimit ?? MEMORY_MB) + INTERPRETER_MB;
      return createContext(jar, {
        functions: functionsOf(config.bindings),
        builtins: false,
        limits: limitsFor(jar, timeout, options, { memory: memory * 1024 * 1024 }),
      });
    },
  };
}

function createContext(jar, request) {
  let disposed = false;
  const underWay = new Set();

  async function execute(code) {
    if (disposed) return failed(disposedError(), []);
    const run = jar.outcome(code, request);
    underWay.add(run);
    try {
      const outcome = await run;
      const logs = logTexts(outcome.logs, PREFIXES);
      if (outcome.ok) return { success: true, value: inJson(outcome.value), logs };
      // As with the other drivers, a context that reached a limit is not used again.
      if (limitReached(outcome.error)) disposed = true;
      return failed(errorOf(outcome.error), logs);
    } catch (error) {
      if (!(error instanceof BelljarError)) throw error;
      const isClosed = error.code === "closed";
      return failed(isClosed ? disposedError() : { name: error.name, message: error.message, code: error.code }, []);
    } finally {
      underWay.delete(run);
    }
  }

  return {
    execute,
    /** Waits for executions under way, as the other drivers do. Their time-out ends them. */
    async dispose() {
      disposed = true;
      await Promise.allSettled(underWay);
    },
  };
}

function functionsOf(bindings) {
  // The host checks arguments itself, and its functions take one argument of any type.
  return Object.fromEntries(
    Object.entries(bindings).map(([name, binding]) => [name, positional(([input]) => binding.execute(input))]),
  );
}

function errorOf(error) {
  const { name, message } = nameAndMessage(error);
  return { name, message: limitReached(error) ?? message, stack: stackOf(error), code: error.kind };
}

/** The message for the limit that ended the run, if one did. */
function limitReached(error) {
  return isTimeout(error) ? TIMED_OUT : EXCEEDED[error.kind];
}

function stackOf({ message, stack }) {
  return stack ? `${message}\n${stack}` : message;
}

function disposedError() {
  return { name: "DisposedError", message: "Context has been disposed" };
}

function failed(error, logs) {
  return { success: false, error, logs };
}
