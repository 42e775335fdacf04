// Cloudflare's code mode in a jar: an `Executor`. On Workers, the jar is reached by WebSocket.

import { positional } from "belljar";

import { nameAndMessage } from "../errors.js";
import { isTimeout, jarOf, limitsFor, logTexts } from "./shared.js";

const TIMEOUT_MS = 60_000;
const PREFIXES = { log: "", warn: "[warn] ", error: "[error] " };
const IDENTIFIER = /^[a-zA-Z_$][a-zA-Z0-9_$]*$/;
/** Names refused here, with Cloudflare's own message. belljar itself refuses some others. */
const RESERVED = new Set(["Promise", "setTimeout", "Error", "console"]);
/** The function behind all connectors, whose methods are not known before they are called. */
const CONNECTORS = "__connectors";
const CONTROL = "__codemode_control__";
const PAUSED = "__CODEMODE_PAUSE__";

/** An executor for `createCodeTool({ tools, executor })` and similar in `@cloudflare/codemode`. */
export function belljarExecutor(options = {}) {
  const timeout = options.timeout ?? TIMEOUT_MS;
  return {
    async execute(code, providersOrFunctions, { connectors = [] } = {}) {
      try {
        const providers = Array.isArray(providersOrFunctions)
          ? providersOrFunctions
          : [{ name: "codemode", fns: providersOrFunctions }];
        checkNames(providers, connectors);
        const jar = await jarOf(options);
        const outcome = await jar.outcome(code, {
          tools: namespacesOf(providers),
          functions: connectors.length > 0 ? { [CONNECTORS]: positional(callConnector(connectors)) } : {},
          prelude: preludeOf(providers, connectors),
          builtins: false,
          limits: limitsFor(jar, timeout, options),
        });
        const logs = logTexts(outcome.logs, PREFIXES);
        if (outcome.ok) return { result: outcome.value, logs };
        return { result: undefined, error: textOf(outcome.error), logs };
      } catch (error) {
        // An executor never throws.
        return { result: undefined, error: error instanceof Error ? error.message : String(error) };
      }
    },
  };
}

function checkNames(providers, connectors) {
  const seen = new Set();
  const named = [...providers.map(({ name }) => ["Provider", name]), ...connectors.map(({ name }) => ["Connector", name])];
  for (const [what, name] of named) {
    if (RESERVED.has(name) || name.startsWith("__")) throw new Error(`${what} name "${name}" is reserved`);
    if (!IDENTIFIER.test(name)) throw new Error(`${what} name "${name}" is not a valid JavaScript identifier`);
    if (seen.has(name)) throw new Error(`Duplicate ${what.toLowerCase()} name "${name}"`);
    seen.add(name);
  }
}

function namespacesOf(providers) {
  return Object.fromEntries(providers.map(({ name, fns }) => [name, positional(functionsOf(name, fns))]));
}

function functionsOf(provider, fns) {
  const originals = new Map();
  return Object.fromEntries(Object.entries(fns).map(([name, run]) => {
    const identifier = identifierOf(name);
    if (originals.has(identifier)) {
      const names = `"${originals.get(identifier)}" and "${name}"`;
      throw new Error(`Tool names ${names} both sanitize to "${identifier}" in provider "${provider}"`);
    }
    originals.set(identifier, name);
    return [identifier, (given) => run(...given)];
  }));
}

/** Cloudflare's rule: separators become `_`, and other invalid characters are dropped. */
function identifierOf(name) {
  const cleaned = name.replace(/[-.\s]/g, "_").replace(/[^a-zA-Z0-9_$]/g, "");
  return /^[0-9]/.test(cleaned) || cleaned === "" ? `_${cleaned}` : cleaned;
}

function callConnector(connectors) {
  const bindings = new Map(connectors.map(({ name, binding }) => [name, binding]));
  return async ([name, method, args]) => {
    const answer = await bindings.get(name).callTool(method, args);
    if (answer?.[CONTROL] === "pause") throw new Error(PAUSED);
    if (answer?.[CONTROL] === "error") throw new Error(String(answer.message));
    return answer;
  };
}

function preludeOf(providers, connectors) {
  const proxies = connectors.map(({ name }) => `globalThis.${name} = new Proxy({}, {
    get: (_, method) => typeof method === "string" && method !== "then"
      ? (args) => ${CONNECTORS}(${JSON.stringify(name)}, method, args)
      : undefined,
  });`);
  return [...proxies, ...providers.map(({ prelude }) => prelude ?? "")].join("\n");
}

function textOf(error) {
  return isTimeout(error) ? "Execution timed out" : nameAndMessage(error).message;
}
