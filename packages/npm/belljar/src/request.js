// What a run is given, as the protocol says it, and the host's functions apart from it.

import { limitsOf } from "./limits.js";

const STYLE = Symbol.for("belljar.style");

/**
 * Marks a namespace, or a top-level function, whose functions take their arguments by position:
 * `run` gets an array of them.
 *
 * @example
 * jar.run('search("a", 3)', { functions: { search: positional(([text, count]) => …) } })
 */
export function positional(tools) {
  return typeof tools === "function" ? { run: tools, [STYLE]: "positional" } : { ...tools, [STYLE]: "positional" };
}

/** The parameters of the request `run`, and its handlers by `handlerKey`. */
export function requestOf(code, options = {}) {
  if (typeof code !== "string") throw new TypeError("the code of a run is a text");
  const handlers = new Map();
  const namespaces = Object.entries(options.tools ?? {}).map(([name, tools]) => ({
    name,
    style: tools[STYLE] ?? "object",
    tools: Object.entries(tools).map(([tool, entry]) => declare(handlers, name, tool, entry)),
  }));
  const functions = Object.entries(options.functions ?? {}).map(([name, entry]) => ({
    ...declare(handlers, undefined, name, entry),
    style: entry[STYLE] ?? "object",
  }));
  const params = {
    code,
    prelude: options.prelude,
    limits: limitsOf(options.limits),
    builtins: options.builtins,
    namespaces,
    functions,
    belljar: options.belljar,
    stream: options.onLog ? ["logs"] : undefined,
    value: "extended",
  };
  return { params, handlers };
}

/** Where the handler of a call is found. */
export function handlerKey(namespace, name) {
  return JSON.stringify([namespace ?? null, name]);
}

function declare(handlers, namespace, name, entry) {
  const tool = typeof entry === "function" ? { run: entry } : entry;
  if (typeof tool?.run !== "function") {
    const path = namespace === undefined ? name : `${namespace}.${name}`;
    throw new TypeError(`${path} has no function \`run\`: give { run: async (args) => … }, or the function itself`);
  }
  handlers.set(handlerKey(namespace, name), tool);
  return {
    name,
    description: tool.description,
    effect: tool.effect,
    inputSchema: tool.schema,
    outputSchema: tool.outputSchema,
  };
}
