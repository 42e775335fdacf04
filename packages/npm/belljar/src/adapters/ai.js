// Vercel's AI SDK: a tool that runs code, which can call the other tools.

import * as ai from "ai";
import { RunError } from "belljar";

import { comment, memberName, typeOf } from "./declarations.js";
import { inJson, jarOf, limitsFor } from "./shared.js";

const TIMEOUT_MS = 30_000;
const MAX_CALLS = 256;

/**
 * A tool that runs a model's JavaScript or TypeScript. The code calls other tools as
 * `tools.NAME(input)`.
 *
 * These are the tools in `options.tools` or, without that option, those for which
 * `experimental_toolCallers` of `generateText` or `streamText` names this tool (`ai` 7 or later).
 */
export function belljarTool(options = {}) {
  if (options.tools) return toolOver(options.tools, options);
  if (!ai.experimental_toolCaller) {
    throw new Error("experimental_toolCallers needs version 7 or later of `ai`: update it, or call belljarTool({ tools })");
  }
  return ai.experimental_toolCaller(toolOver({}, options), {
    type: "local",
    bind: (tools) => toolOver(tools, options),
  });
}

function toolOver(tools, options) {
  return ai.tool({
    description: descriptionOf(tools),
    inputSchema: ai.jsonSchema({
      type: "object",
      properties: { code: { type: "string", description: "The whole program, in JavaScript or TypeScript." } },
      required: ["code"],
      additionalProperties: false,
    }),
    async execute({ code }, execution) {
      const jar = await jarOf(options);
      const outcome = await jar.outcome(code, {
        tools: { tools: namespaceOf(tools, execution) },
        builtins: false,
        limits: limitsFor(jar, options.timeout ?? TIMEOUT_MS, options, { maxCalls: MAX_CALLS }),
        signal: execution.abortSignal,
      });
      if (!outcome.ok) throw failure(outcome, execution.abortSignal);
      return inJson(outcome.value);
    },
  });
}

function namespaceOf(tools, execution) {
  let calls = 0;
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, async (input, { signal }) => {
    const toolCallId = `${execution.toolCallId}:tool-${(calls += 1)}`;
    return callTool(name, tool, input, { ...execution, toolCallId, abortSignal: signal });
  }]));
}

async function callTool(name, tool, input, execution) {
  if (!tool.execute) throw new Error(`Tool "${name}" does not have execute().`);
  const validation = await ai.asSchema(tool.inputSchema).validate?.(input);
  if (validation && !validation.success) {
    throw new TypeError(`Invalid input for tool "${name}": ${validation.error.message}`);
  }
  const checked = validation ? validation.value : input;
  const asks = typeof tool.needsApproval === "function" ? await tool.needsApproval(checked, execution) : tool.needsApproval;
  if (asks) {
    // Nobody can be asked in the middle of a program.
    throw new Error(`Tool "${name}" needs a person's approval, which code cannot ask for: call it directly.`);
  }
  return last(await tool.execute(checked, execution));
}

/** The result of a tool. If it arrives in parts, the last part is the whole result. */
async function last(output) {
  if (typeof output?.[Symbol.asyncIterator] !== "function") return output;
  let result;
  for await (const part of output) result = part;
  return result;
}

/** The error that the SDK shows to the model by name and message, with line and hint added. */
function failure(outcome, signal) {
  if (outcome.error.kind === "cancelled" && signal?.aborted) return signal.reason;
  const error = new RunError(outcome);
  const place = error.line === undefined ? "" : ` (line ${error.line})`;
  const hint = error.hint === undefined ? "" : `\n${error.hint}`;
  error.message = `${error.message}${place}${hint}`;
  return error;
}

function descriptionOf(tools) {
  const declarations = Object.entries(tools).map(([name, tool]) => {
    const types = [typeOf(schemaOf(tool.inputSchema)), typeOf(schemaOf(tool.outputSchema))];
    return `  ${comment(tool.description)}${memberName(name)}(input: ${types[0]}): Promise<${types[1]}>;`;
  });
  return [
    "Runs JavaScript or TypeScript in a sandbox without network or files, and returns the value that it returns.",
    "`await` and `return` work at the top level. Return only what you need, as JSON.",
    "Tools are called as `await tools.name(input)`; call independent ones together with `Promise.all`.",
    declarations.length === 0 ? "There are no tools." : `declare const tools: {\n${declarations.join("\n")}\n};`,
  ].join("\n");
}

function schemaOf(schema) {
  const found = schema === undefined ? undefined : ai.asSchema(schema).jsonSchema;
  // A schema that is a promise cannot be awaited, since the description is needed at once.
  return typeof found?.then === "function" ? undefined : found;
}
