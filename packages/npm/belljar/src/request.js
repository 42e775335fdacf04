// Turns the options of a run into the protocol's request and the host's functions.

import { limitsOf } from "./limits.js";

const STYLE = Symbol.for("belljar.style");

/**
 * Marks a namespace or a top-level function as positional: `run` gets an array of all arguments
 * instead of one object.
 *
 * @example
 * jar.run('search("a", 3)', { functions: { search: positional(([text, count]) => …) } })
 */
export function positional(tools) {
  return typeof tools === "function" ? { run: tools, [STYLE]: "positional" } : { ...tools, [STYLE]: "positional" };
}

/** The parameters of the request `run`, and its handlers by `handlerKey`. */
export function requestOf(code, options = {}) {
  if (typeof code !== "string") throw new TypeError("the code of a run must be a string");
  check(options);
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

const OPTIONS = ["tools", "functions", "prelude", "builtins", "limits", "signal", "onLog", "belljar"];

/** Checks what belljar would not see: unknown options, and functions in the wrong place. */
function check(options) {
  for (const name of Object.keys(options)) {
    if (!OPTIONS.includes(name)) throw new TypeError(`a run has no option ${name}; its options are ${OPTIONS.join(", ")}`);
  }
  const { tools = {}, functions = {}, onLog } = options;
  if (!isObject(tools)) throw new TypeError("tools must be an object of namespaces, as in { github: { find: async (args) => … } }");
  if (!isObject(functions)) throw new TypeError("functions must be an object of functions, as in { find: async (args) => … }");
  for (const [name, namespace] of Object.entries(tools)) checkNamespace(name, namespace);
  if (onLog !== undefined && typeof onLog !== "function") throw new TypeError("onLog must be a function");
}

function checkNamespace(name, namespace) {
  if (!isObject(namespace)) {
    const advice = typeof namespace === "function" ? "; a top-level function belongs in `functions`" : "";
    throw new TypeError(`the namespace ${name} must be an object of functions, as in { find: async (args) => … }${advice}`);
  }
  for (const [tool, entry] of Object.entries(namespace)) {
    if (entry?.[STYLE] !== undefined) {
      throw new TypeError(`${name}.${tool} is marked as positional, but only a whole namespace can be: write ${name}: positional({ … })`);
    }
  }
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** The key of a call's handler in `handlers`. */
export function handlerKey(namespace, name) {
  return JSON.stringify([namespace ?? null, name]);
}

function declare(handlers, namespace, name, entry) {
  const tool = typeof entry === "function" ? { run: entry } : entry;
  if (typeof tool?.run !== "function") {
    const path = namespace === undefined ? name : `${namespace}.${name}`;
    throw new TypeError(`${path} has no function \`run\`: pass { run: async (args) => … }, or the function itself`);
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
