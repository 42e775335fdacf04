// Checks belljar, or a client, against docs/HOST_PROTOCOL.md. scripts/host-conformance shows how.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

import { measure } from "./bench.mjs";
import { process_, socket, webSocket } from "./carriers.mjs";
import { checks } from "./checks.mjs";
import { Client } from "./client.mjs";

const { cases } = JSON.parse(readFileSync(new URL("cases.json", import.meta.url), "utf8"));

/** The first difference from what is expected, or nothing. */
function difference(expected, found, at = "") {
  if (expected !== null && typeof expected === "object") {
    if (found === null || typeof found !== "object" || Array.isArray(expected) !== Array.isArray(found)) {
      return `${at || "it"} is ${JSON.stringify(found)}, and not ${JSON.stringify(expected)}`;
    }
    if (Array.isArray(expected) && expected.length !== found.length) {
      return `${at || "it"} has ${found.length} elements, and not ${expected.length}`;
    }
    for (const [name, value] of Object.entries(expected)) {
      const inner = difference(value, found[name], `${at}.${name}`);
      if (inner) return inner;
    }
    return undefined;
  }
  return expected === found ? undefined : `${at || "it"} is ${JSON.stringify(found)}, and not ${JSON.stringify(expected)}`;
}

function answered(functions, { namespace, tool, function: global, arguments: given }) {
  const behaviour = functions?.[namespace === undefined ? global : `${namespace}.${tool}`] ?? {};
  if (behaviour.never) return undefined;
  if (behaviour.error) {
    const { message, name } = behaviour.error;
    return { error: { code: -32000, message, ...(name ? { data: { name } } : {}) } };
  }
  if (behaviour.nothing) return { result: {} };
  return { result: { value: behaviour.echo ? given : behaviour.value } };
}

async function caseOf(client, { run, functions, expect, refused, asked }) {
  let calls = 0;
  const answer = await client.run(run, (call) => {
    calls += 1;
    return answered(functions, call);
  });
  if (refused !== undefined) return difference({ error: { code: refused } }, answer);
  if (answer.error) return `it is refused: ${answer.error.message}`;
  const wrong = difference(expect, answer.result);
  return wrong ?? (asked !== undefined && asked !== calls ? `the client is asked ${calls} times, and not ${asked}` : undefined);
}

/** How long a client may take for a case. */
const CASE_MS = 60_000;

/** Makes a client run each case over its own interface. */
function clientOf(command) {
  const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code) => resolve(code === 0 ? undefined : `it has ended with ${code}`));
  });
  // A client that has ended is noticed when its line is missing.
  child.stdin.on("error", () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`the client has said nothing for ${CASE_MS / 1_000} s`)), CASE_MS);
    });
    try {
      return await Promise.race([lines.next(), late]);
    } finally {
      clearTimeout(timer);
    }
  };
  const runCase = async ({ name, run, functions, expect, refused, asked }) => {
    child.stdin.write(`${JSON.stringify({ name, run, functions: functions ?? {} })}\n`);
    const { value: line, done } = await next();
    if (done) return "the client has ended";
    const said = JSON.parse(line);
    if (said.inexpressible) {
      report.inexpressible += 1;
      return undefined;
    }
    if (refused !== undefined) return difference({ refused }, said);
    const count = asked === undefined || said.asked === undefined ? {} : { asked };
    return difference({ outcome: expect, ...count }, said);
  };
  const end = () => {
    child.stdin.end();
    return ended;
  };
  return { runCase, end };
}

const report = { passed: 0, failed: 0, inexpressible: 0 };

async function checked(name, check) {
  let wrong;
  try {
    wrong = await check();
  } catch (error) {
    wrong = error.message;
  }
  if (wrong) {
    report.failed += 1;
    console.log(`not ok - ${name}: ${wrong}`);
  } else {
    report.passed += 1;
    console.log(`ok - ${name}`);
  }
}

const given = process.argv.slice(2);
const has = (name) => given[0] === name && given.shift() !== undefined;
const value = (name) => {
  const at = given.indexOf(name);
  return at < 0 ? undefined : given.splice(at, 2)[1];
};

const isBench = has("--bench");
if (has("--client")) {
  const client = clientOf(given);
  for (const each of cases) await checked(each.name, () => client.runCase(each));
  await checked("the client ends when its input does", client.end);
  // Otherwise a client that can ask for nothing would pass.
  await checked("most of the table can be asked for", () =>
    report.inexpressible * 5 > cases.length ? `${report.inexpressible} cases cannot` : undefined,
  );
} else {
  const [path, url, token] = [value("--socket"), value("--url"), value("--token")];
  if (!path && !url && given.length === 0) {
    console.error("usage: scripts/host-conformance [--bench] COMMAND… | --socket PATH | --url URL [--token TOKEN]");
    process.exit(2);
  }
  const open = () => (path ? socket(path) : url ? webSocket(url, token) : process_(given));
  if (isBench) {
    await measure(open);
    process.exit(0);
  }
  const client = new Client(await open());
  await checked("hello is answered with the protocol, the version, the process, limits and servers", async () => {
    const { result } = await client.hello();
    const { protocol, version, pid, limits, ceiling, servers } = result;
    const isComplete = typeof version === "string" && Number.isInteger(pid) && limits.timeout && Array.isArray(servers);
    // Over a WebSocket no limit may be raised.
    const isCapped = url ? Object.keys(limits).every((name) => ceiling[name] === limits[name]) : typeof ceiling === "object";
    return protocol === 1 && isComplete && isCapped ? undefined : JSON.stringify(result);
  });
  for (const each of cases) await checked(each.name, () => caseOf(client, each));
  client.carrier.end();
  for (const [name, check] of Object.entries(checks)) {
    const carrier = await open();
    await checked(name, () => check(carrier, difference));
    carrier.end();
  }
}
console.log(`# ${report.passed} passed, ${report.failed} failed`);
process.exit(report.failed === 0 ? 0 : 1);
