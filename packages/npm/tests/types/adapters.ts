// Checks the adapters against their hosts' own declarations.

import { createBrowserCodeTool } from "@cloudflare/codemode/browser";
import { createCodeMode as createMastraCodeMode } from "@mastra/core/tools";
import type { CodeModeTransport } from "@mastra/core/tools";
import { createCodeMode } from "@tanstack/ai-code-mode";
import type { IsolateDriver } from "@tanstack/ai-code-mode";
import { generateText, tool } from "ai";
import type { LanguageModel } from "ai";
import { Belljar } from "belljar";
import { belljarTool } from "belljar/ai";
import { belljarExecutor } from "belljar/cloudflare";
import { belljarTransport } from "belljar/mastra";
import { belljarDriver } from "belljar/tanstack";
import { z } from "zod";

const jar = Belljar.start();

const driver: IsolateDriver = belljarDriver({ jar, memoryLimit: 64 });
createCodeMode({ driver, tools: [] });
// @ts-expect-error: a driver is not a transport
const mistaken: CodeModeTransport = driver;

createMastraCodeMode({ tools: {} }, belljarTransport({ jar, limits: { maxCalls: 10 } }));
// @ts-expect-error: the time-out is that of createCodeMode
belljarTransport({ timeout: 1 });

createBrowserCodeTool({ tools: {}, executor: belljarExecutor({ jar, timeout: 1_000 }) });
// @ts-expect-error: it runs no modules
belljarExecutor({ modules: {} });

const stock = tool({ inputSchema: z.object({ product: z.string() }), execute: async ({ product }) => product.length });
export const generated = (model: LanguageModel) => generateText({
  model,
  prompt: "",
  tools: { code: belljarTool({ jar }), stock },
  experimental_toolCallers: { stock: ["code"] },
});
export const misnamed = (model: LanguageModel) => generateText({
  model,
  prompt: "",
  tools: { code: belljarTool({ jar }), stock },
  // @ts-expect-error: stock calls nothing
  experimental_toolCallers: { code: ["stock"] },
});
export default mistaken;
