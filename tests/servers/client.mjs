// Drives `belljar serve`, on stdio or over HTTP, with a client that belljar's authors did not
// write: that of the official TypeScript SDK.
//
//   node client.mjs PATH_TO_BELLJAR [argument of serve]…
//   TOKEN=… node client.mjs http://127.0.0.1:PORT/mcp
//   TOKEN=… NEGOTIATION=legacy|auto|2026-07-28 node client.mjs http://127.0.0.1:PORT/mcp with
//   version 2 of the SDK
//
// Prints one JSON object with what it found and exits 0, or reports on stderr which check failed
// and exits 1. It uses the built-in demo: the environment that it passes on names no configuration.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import * as first from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import * as firstHttp from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

const CALL_MS = 60_000;
const TOTAL_MS = 180_000;
const STDERR_CHARS = 4_000;

class CheckFailed extends Error {}

const [belljar, ...serveArguments] = process.argv.slice(2);
if (!belljar) {
  console.error("usage: node client.mjs PATH_TO_BELLJAR [argument of serve]…");
  process.exit(1);
}

const { NEGOTIATION, TOKEN } = process.env;
const second = NEGOTIATION && (await import("@modelcontextprotocol/client"));
const Client = NEGOTIATION ? second.Client : first.Client;
const { StreamableHTTPClientTransport } = NEGOTIATION ? second : firstHttp;
// The first version of the SDK takes a schema of the result before the options.
const callTool = (params, options) =>
  NEGOTIATION ? client.callTool(params, options) : client.callTool(params, undefined, options);

const home = mkdtempSync(join(tmpdir(), "belljar-client-"));
const transport = belljar.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(belljar), {
      requestInit: { headers: { authorization: `Bearer ${TOKEN}` } },
    })
  : new StdioClientTransport({
      command: belljar,
      args: ["serve", ...serveArguments],
      // The transport adds PATH and the like from this process's environment, and nothing else:
      // BELLJAR_CONFIG is not set.
      env: { HOME: home, XDG_CONFIG_HOME: home, USERPROFILE: home, APPDATA: home, LOCALAPPDATA: home },
      stderr: "pipe",
    });
let diagnostics = "";
transport.stderr?.on("data", (chunk) => {
  diagnostics = (diagnostics + chunk).slice(-STDERR_CHARS);
});
const mode = ["legacy", "auto"].includes(NEGOTIATION) ? NEGOTIATION : { pin: NEGOTIATION };
const client = new Client(
  { name: "belljar-tests", version: "0.0.0" },
  NEGOTIATION ? { versionNegotiation: { mode } } : undefined,
);
let ended = false;

const late = setTimeout(() => {
  end(new CheckFailed(`the checks did not end within ${TOTAL_MS / 1_000} seconds`));
}, TOTAL_MS);
try {
  const found = await checks();
  await end(null, found);
} catch (error) {
  await end(error);
}

async function checks() {
  await attempt("belljar does not answer the client's handshake", client.connect(transport));

  const { tools } = await attempt("tools/list failed", client.listTools());
  const names = tools.map((tool) => tool.name);
  check(
    names.toSorted().join() === "execute_code,search_docs",
    `expected exactly the tools search_docs and execute_code, found: ${names.join(", ") || "none"}`,
  );
  const contracts = new Map(tools.map((tool) => [tool.name, contract(tool)]));
  check(contracts.get("execute_code").output, "execute_code declares no outputSchema");

  const call = async (name, args, options = {}) => {
    const { input, output } = contracts.get(name);
    checkFit(input, args, `the inputSchema of ${name} refuses the arguments`);
    const calling = callTool({ name, arguments: args }, { timeout: CALL_MS, ...options });
    const result = await attempt(`${name} ${JSON.stringify(args)} did not answer with a result`, calling);
    if (output) {
      const { structuredContent } = result;
      check(structuredContent, `${name} ${JSON.stringify(args)} answered without structuredContent: ${shown(result)}`);
      checkFit(output, structuredContent, `structuredContent of ${name} does not fit its outputSchema`);
    }
    return result;
  };
  const execute = (code, limits) => call("execute_code", limits ? { code, limits } : { code });

  const searched = await call("search_docs", { query: "issue" });
  const searchText = text(searched);
  check(!searched.isError, `search_docs failed: ${searchText}`);
  check(/\b\w+_issues?\b/.test(searchText), `search_docs does not name the demo's tools: ${searchText}`);

  const success = await execute(
    `const { projects } = await demo.list_projects();
     console.log("projects:", projects.length);
     return projects.map(({ name }) => name);`,
  );
  const ok = success.structuredContent;
  check(!success.isError && ok.ok === true, `the script over the demo failed: ${shown(ok)}`);
  check(Array.isArray(ok.value) && ok.value.includes("atlas"), `the script's value is another: ${shown(ok.value)}`);
  check(ok.logs.length === 1 && ok.logs[0].text.startsWith("projects:"), `the log is another: ${shown(ok.logs)}`);
  check(
    ok.calls.length === 1 && ok.calls[0].server === "demo" && ok.calls[0].tool === "list_projects",
    `the record of calls is another: ${shown(ok.calls)}`,
  );
  check(text(success).includes("atlas"), `the text does not show the value: ${text(success)}`);

  const thrown = await execute(
    `await demo.list_projects();
     console.log("before");
     throw new Error("on purpose");`,
  );
  const failure = thrown.structuredContent;
  check(thrown.isError === true && failure.ok === false, `a script that throws must be an error: ${shown(thrown)}`);
  check(
    failure.error?.kind === "exception" && failure.error.message.includes("on purpose"),
    `the error of a script that throws is another: ${shown(failure.error)}`,
  );
  check(
    failure.logs.length === 1 && failure.calls.length === 1,
    `a failed script must keep its logs and calls: ${shown(failure)}`,
  );
  check(text(thrown).includes("on purpose"), `the text does not show the error: ${text(thrown)}`);

  const excessive = await execute("1 + 1", { timeout: "10h" });
  const refused = excessive.structuredContent;
  check(
    excessive.isError === true && refused.ok === false && refused.error?.kind === "usage",
    `a limit above the owner's must be refused: ${shown(refused)}`,
  );
  check(refused.error.message.includes("timeout"), `the refusal does not name the limit: ${shown(refused.error)}`);

  await cancel(execute, "endless loop", "while (true) {}");
  const afterCancel = (await execute("6 * 7")).structuredContent;
  check(afterCancel.ok && afterCancel.value === 42, `a call after a cancelled one failed: ${shown(afterCancel)}`);

  const nap = (ms) => `await new Promise((done) => setTimeout(done, ${ms}));`;
  const tick = `await demo.update_issue({ id, body: "tick " + n });`;
  await cancel(execute, "ticking clock", `for (let n = 0; ; n++) { ${tick} ${nap(10)} }`);
  const still = await execute(
    `const { issues } = await demo.search_issues({ query: "ticking clock" });
     const body = async () => (await demo.get_issue({ id: issues[0].id })).body;
     for (let attempt = 0; attempt < 20; attempt++) {
       const before = await body();
       ${nap(200)}
       if (before === await body()) return true;
     }
     return false;`,
  );
  check(still.structuredContent.value === true, `a cancelled script goes on: ${shown(still.structuredContent)}`);

  const told = [];
  const long = await call("execute_code", { code: `${nap(12_000)} return "rested"` }, { onprogress: (progress) => told.push(progress) });
  check(long.structuredContent.value === "rested", `a long script failed: ${shown(long.structuredContent)}`);
  check(told.length >= 1 && told[0].progress >= 5 && told[0].message, `the progress of a long script is another: ${shown(told)}`);

  // The second version of the SDK does not send requests that the server does not support, and
  // answers with an empty list by itself.
  const declared = client.getServerCapabilities();
  const more = Object.keys(declared).filter((name) => !["tools", "logging", "resources", "extensions"].includes(name));
  check(declared.tools && more.length === 0, `belljar declares more than it has: ${more}`);
  const extensions = Object.keys(declared.extensions ?? {}).filter((name) => name !== "io.modelcontextprotocol/tasks");
  check(extensions.length === 0, `belljar declares more extensions than it has: ${extensions}`);
  for (const list of NEGOTIATION ? [] : ["listPrompts"]) {
    const answer = await client[list]().then(shown, (error) => error.code ?? error.message);
    check(answer === -32601 || String(answer).includes("does not support"), `${list} is answered: ${answer}`);
  }

  // Artifacts are resources.
  const large = await call("execute_code", { code: `return "large ".repeat(10_000)` });
  const { id } = large.structuredContent.artifact;
  const { resources } = await client.listResources();
  check(resources.length === 1 && resources[0].uri === `belljar://artifacts/${id}`, `other resources than the one artifact: ${shown(resources)}`);
  const { contents } = await client.readResource({ uri: resources[0].uri });
  check(contents[0].text === "large ".repeat(10_000), `an artifact is read as ${shown(contents).slice(0, 200)}`);

  return { revision: client.getNegotiatedProtocolVersion?.(), server: client.getServerVersion(), tools: names, searchText, ok, failure, refused, afterCancel };
}

// Cancels a script that makes an issue of its own and then runs `loop`, once it is known to have
// begun.
async function cancel(execute, title, loop) {
  const controller = new AbortController();
  const code = `const { id } = await demo.create_issue({ project: "comet", title: "${title}" });\n${loop}`;
  let outcome;
  const endless = callTool({ name: "execute_code", arguments: { code } }, { timeout: CALL_MS, signal: controller.signal })
    .then(
      (result) => (outcome = `ended by itself: ${shown(result)}`),
      (error) => (outcome = error.message),
    );
  // All runs of one server share the demo, so another run sees the issue.
  for (let begun = false; !begun; ) {
    check(outcome === undefined, `a script that never ends (${title}) did end: ${outcome}`);
    const seen = await execute(`(await demo.search_issues({ query: "${title}" })).total`);
    check(seen.structuredContent.ok, `a call beside a running script failed: ${shown(seen.structuredContent)}`);
    begun = seen.structuredContent.value === 1;
  }
  controller.abort("cancelled by the test");
  await endless;
  check(outcome.includes("cancelled by the test"), `the cancelled call (${title}) ended otherwise: ${outcome}`);
}

// The validators of a tool's arguments and, if it declares one, of its structured content.
function contract(tool) {
  return {
    input: validator(tool.inputSchema, `the inputSchema of ${tool.name}`),
    output: tool.outputSchema && validator(tool.outputSchema, `the outputSchema of ${tool.name}`),
  };
}

// By default, ajv refuses unknown keywords and formats, as strict clients do.
function validator(schema, what) {
  const dialect = schema.$schema ?? "https://json-schema.org/draft/2020-12/schema";
  const options = { allErrors: true, logger: false };
  try {
    if (dialect.includes("/2020-12/")) return new Ajv2020(options).compile(schema);
    if (dialect.includes("/draft-07/")) return new Ajv(options).compile(schema);
  } catch (error) {
    throw new CheckFailed(`${what} does not compile: ${error.message}`);
  }
  throw new CheckFailed(`${what} is of an unexpected dialect: ${dialect}`);
}

function text(result) {
  return result.content.map((block) => block.text ?? `(${block.type})`).join("\n");
}

function shown(value) {
  const json = JSON.stringify(value) ?? "undefined";
  return json.length > 2_000 ? `${json.slice(0, 2_000)}…` : json;
}

function check(holds, sentence) {
  if (!holds) throw new CheckFailed(sentence);
}

function checkFit(validate, value, sentence) {
  if (validate(value)) return;
  const complaints = validate.errors.map((error) => `${error.instancePath || "/"} ${error.message}`);
  throw new CheckFailed(`${sentence}: ${complaints.join("; ")}: ${shown(value)}`);
}

async function attempt(sentence, promise) {
  try {
    return await promise;
  } catch (error) {
    throw new CheckFailed(`${sentence}: ${error.message}`);
  }
}

async function end(error, found) {
  // Closing makes any call under way fail, whose error then says nothing new.
  if (ended) return;
  ended = true;
  clearTimeout(late);
  await client.close().catch(() => {});
  rmSync(home, { recursive: true, force: true });
  if (error) {
    console.error(error instanceof CheckFailed ? error.message : error.stack);
    if (diagnostics) console.error(`belljar's stderr ended in:\n${diagnostics.trimEnd()}`);
  } else {
    console.log(JSON.stringify(found));
  }
  process.exitCode = error ? 1 : 0;
}
