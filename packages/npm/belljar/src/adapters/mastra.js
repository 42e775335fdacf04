// Mastra's code mode in a jar: a `CodeModeTransport` that needs no Mastra sandbox.

import { BelljarError, positional } from "belljar";

import { nameAndMessage } from "../errors.js";
import { encode } from "../values.js";
import { inJson, isTimeout, jarOf, limitsFor, logTexts } from "./shared.js";

const PREFIXES = { log: "", debug: "", info: "", warn: "", error: "" };
const ABORTED = { name: "AbortError", message: "Code Mode execution aborted" };

/** A transport for `createCodeMode({ tools }, transport)` of `@mastra/core`. */
export function belljarTransport(options = {}) {
  return {
    requiresSandbox: false,
    async run(request) {
      const { program, timeout, abortSignal } = request;
      try {
        const jar = await jarOf(options);
        const outcome = await jar.outcome(program, {
          functions: functionsOf(request),
          builtins: false,
          limits: limitsFor(jar, timeout, options),
          signal: abortSignal,
        });
        const logs = logTexts(outcome.logs, PREFIXES);
        if (outcome.ok) return { success: true, result: inJson(outcome.value), logs };
        return { success: false, error: errorOf(outcome.error, timeout), logs };
      } catch (error) {
        if (abortSignal?.aborted && error === abortSignal.reason) return { success: false, error: ABORTED, logs: [] };
        if (error instanceof BelljarError) return { success: false, error: { name: error.name, message: error.message }, logs: [] };
        throw error;
      }
    },
  };
}

function functionsOf({ toolIds, dispatch, onExternalCall, onExternalResult }) {
  return Object.fromEntries(toolIds.map((id) => [`external_${identifierOf(id)}`, positional(async ([input]) => {
    const started = Date.now();
    const told = (error) => quietly(() => onExternalResult?.(id, Date.now() - started, error));
    quietly(() => onExternalCall?.(id, input));
    try {
      const result = await dispatch(id, input);
      // A result that cannot be passed to the script is reported as a failed call.
      encode(result);
      told();
      return result;
    } catch (error) {
      told(error);
      throw error;
    }
  })]));
}

/** Calls an observer's hook. An error of the hook does not fail the tool call. */
function quietly(hook) {
  try {
    hook();
  } catch {
    // The observer's own error, which is not reported to anyone else.
  }
}

/** Mastra's rule for the names in the stubs that the model has read. */
function identifierOf(id) {
  const cleaned = id.replace(/[^A-Za-z0-9_$]/g, "_");
  return /^[A-Za-z_$]/.test(cleaned) ? cleaned : `_${cleaned}`;
}

function errorOf(error, timeout) {
  if (error.kind === "cancelled") return ABORTED;
  const { name, message } = nameAndMessage(error);
  const text = isTimeout(error) ? `Code Mode execution timed out after ${timeout}ms` : message;
  return { name, message: text, line: error.line };
}
