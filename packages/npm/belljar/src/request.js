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

/** What belljar would not see: an option that is not one, or functions in the wrong place. */
function check(options) {
  for (const name of Object.keys(options)) {
    if (!OPTIONS.includes(name)) throw new TypeError(`a run has no option ${name}; its options are ${OPTIONS.join(", ")}`);
  }
  const { tools = {}, functions = {}, onLog } = options;
  if (!isObject(tools)) throw new TypeError("tools is an object of namespaces: { github: { find: async (args) => … } }");
  if (!isObject(functions)) throw new TypeError("functions is an object of functions: { find: async (args) => … }");
  for (const [name, namespace] of Object.entries(tools)) checkNamespace(name, namespace);
  if (onLog !== undefined && typeof onLog !== "function") throw new TypeError("onLog is a function");
}

function checkNamespace(name, namespace) {
  if (!isObject(namespace)) {
    const advice = typeof namespace === "function" ? "; a top-level function belongs in `functions`" : "";
    throw new TypeError(`the namespace ${name} is not an object of functions: { find: async (args) => … }${advice}`);
  }
  for (const [tool, entry] of Object.entries(namespace)) {
    if (entry?.[STYLE] !== undefined) {
      throw new TypeError(`${name}.${tool} is marked as positional, which a namespace is as a whole: ${name}: positional({ … })`);
    }
  }
}

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
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
