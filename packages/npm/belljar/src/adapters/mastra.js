// Mastra's code mode over a jar: a `CodeModeTransport` that needs no sandbox of Mastra's.

import { BelljarError, positional } from "belljar";

import { nameAndMessage } from "../errors.js";
import { jarOf, limitsFor, logTexts } from "./shared.js";

const PREFIXES = { log: "", debug: "", info: "", warn: "", error: "" };

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
        if (outcome.ok) return { success: true, result: outcome.value, logs };
        return { success: false, error: errorOf(outcome.error, timeout), logs };
      } catch (error) {
        const aborted = abortSignal?.aborted && error === abortSignal.reason;
        if (!aborted && !(error instanceof BelljarError)) throw error;
        return { success: false, error: { name: aborted ? "AbortError" : error.name, message: error.message }, logs: [] };
      }
    },
  };
}

function functionsOf({ toolIds, dispatch, onExternalCall, onExternalResult }) {
  return Object.fromEntries(toolIds.map((id) => [`external_${identifierOf(id)}`, positional(async ([input]) => {
    const started = Date.now();
    onExternalCall?.(id, input);
    try {
      const result = await dispatch(id, input);
      onExternalResult?.(id, Date.now() - started);
      return result;
    } catch (error) {
      onExternalResult?.(id, Date.now() - started, error);
      throw error;
    }
  })]));
}

/** The rule of Mastra's stubs, which the model has read. */
function identifierOf(id) {
  const cleaned = id.replace(/[^A-Za-z0-9_$]/g, "_");
  return /^[A-Za-z_$]/.test(cleaned) ? cleaned : `_${cleaned}`;
}

function errorOf(error, timeout) {
  const { name, message } = nameAndMessage(error);
  const text = name === "TimeoutError" ? `Code Mode execution timed out after ${timeout}ms` : message;
  return { name, message: text, line: error.line };
}
