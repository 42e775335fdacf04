// Asks `belljar serve` for calls that its owner must decide about, with clients that belljar's
// authors did not write: those of the official TypeScript SDKs. Each of them answers forms in a
// different way, as real clients do.
//
//   CONFIG=… HOME=… node decisions.mjs PATH_TO_BELLJAR with version 1 of the SDK
//   CONFIG=… HOME=… NEGOTIATION=legacy|auto|2026-07-28 node decisions.mjs PATH_TO_BELLJAR with
//   version 2 of the SDK
//
// Prints one JSON object: for each client, how many forms it was shown and how its call ended.

import * as first from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [belljar] = process.argv.slice(2);
const { CONFIG, HOME, NEGOTIATION } = process.env;
const second = NEGOTIATION && (await import("@modelcontextprotocol/client"));
const Transport = second ? (await import("@modelcontextprotocol/client/stdio")).StdioClientTransport : StdioClientTransport;
const mode = ["legacy", "auto"].includes(NEGOTIATION) ? NEGOTIATION : { pin: NEGOTIATION };
const PATIENCE_MS = 60_000;
// Longer than a run keeps its slot.
const SILENCE_MS = 15_000;

// What clients do with a form.
const ways = {
  none: undefined,
  silent: () => new Promise(() => {}),
  decline: () => ({ action: "decline" }),
  cancel: () => ({ action: "cancel" }),
  empty: () => ({ action: "accept", content: {} }),
  first: ({ requestedSchema }) => ({ action: "accept", content: filled(requestedSchema, (property) => property.enum?.[0]) }),
  approve: ({ requestedSchema }) => ({ action: "accept", content: filled(requestedSchema, ({ enum: words }) => words.find((word) => word.startsWith("approve"))) }),
};

const found = await Promise.all(Object.entries(ways).map(async ([way, answer]) => [way, await asked(way, answer)]));
console.log(JSON.stringify(Object.fromEntries(found)));
// A silent client has promises that are never resolved.
process.exit(0);

async function asked(way, answer) {
  const transport = new Transport({
    command: belljar,
    args: ["serve", "--config", CONFIG],
    env: { HOME, XDG_CONFIG_HOME: HOME, BELLJAR_NO_DAEMON: "1" },
    stderr: "pipe",
  });
  const capabilities = answer ? { elicitation: { form: {} } } : {};
  const client = second
    ? new second.Client({ name: `second-${way}`, version: "0" }, { capabilities, versionNegotiation: { mode } })
    : new first.Client({ name: `first-${way}`, version: "0" }, { capabilities });
  let forms = 0;
  const handle = ({ params }) => {
    forms += 1;
    return answer(params);
  };
  if (answer) {
    if (second) client.setRequestHandler("elicitation/create", handle);
    else client.setRequestHandler(ElicitRequestSchema, handle);
  }
  await client.connect(transport);
  const revision = client.getNegotiatedProtocolVersion?.();
  const call = { name: "execute_code", arguments: { code: `return (await kid.write({ way: "${NEGOTIATION ?? "first"} ${way}" })).way` } };
  const options = { timeout: PATIENCE_MS };
  const calling = (second ? client.callTool(call, options) : client.callTool(call, undefined, options)).then(
    ({ structuredContent, content }) => structuredContent ?? { text: content },
    (error) => ({ refused: error.message }),
  );
  const silence = new Promise((done) => setTimeout(done, SILENCE_MS, { silent: true }));
  const outcome = await (way === "silent" ? Promise.race([calling, silence]) : calling);
  await client.close();
  return { forms, revision, value: outcome.value, kind: outcome.error?.kind, message: outcome.error?.message ?? outcome.refused };
}

function filled({ properties }, fill) {
  const first = (property) => (property.type === "boolean" ? true : (property.enum?.[0] ?? ""));
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, fill(property) ?? first(property)]));
}
