// Find the right tool, look at it, then call it.
const [best] = await tools.search('sum of two numbers', 1);
const { inputSchema } = await tools.describe(best.path);
const text = await tools.call(best.path, Object.fromEntries(inputSchema.required.map((name, i) => [name, i + 20])));
return { path: best.path, required: inputSchema.required, text };
