// Fills the tables beside this file, and the programs of the engine's patches (guest/patches), with
// what Node 20 makes of their sources: `TZ=UTC node tests/tables/regenerate.mjs`
//
// A row is [source, expected]. In console.json the source is the arguments of console.log and the
// expected text what Node's util.format makes of them; in console_calls.json it is statements, and
// the text what Node's console prints; in the others it is an expression, and the expected text the
// JSON of its value, or `throws` and the name of the error. A third item is a reason for which the
// row is left as it is: what belljar does otherwise, on purpose, or what Node 20 has not yet.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { Console } from "node:console";
import { Writable } from "node:stream";
import { format } from "node:util";

if (!process.version.startsWith("v20.")) throw new Error("the tables are those of Node 20");
const evaluate = (source) => new Function(`return (async () => (${source}))()`)();
const oracles = {
  "console.json": async (source) => format(...(await evaluate(`[${source}]`))),
  "console_calls.json": async (source) => {
    let printed = "";
    const stream = new Writable({ write: (chunk, _, done) => ((printed += chunk), done()) });
    await new Function("console", source)(new Console({ stdout: stream, stderr: stream, colorMode: false }));
    return printed.replace(/\n$/, "");
  },
  "web.json": json,
  "intl.json": json,
  "dates.json": json,
  "numbers.json": json,
};
async function json(source) {
  try {
    return JSON.stringify(await evaluate(source)) ?? "undefined";
  } catch (error) {
    return `throws ${error.name}`;
  }
}

for (const folder of readdirSync(new URL("../../guest/patches/", import.meta.url))) {
  const programs = readdirSync(new URL(`../../guest/patches/${folder}/`, import.meta.url)).filter((name) => name.endsWith(".json"));
  for (const name of programs) oracles[`../../guest/patches/${folder}/${name}`] = json;
}

for (const [name, oracle] of Object.entries(oracles)) {
  const file = new URL(name, import.meta.url);
  const rows = [];
  for (const [source, expected, ...reason] of JSON.parse(readFileSync(file, "utf8"))) {
    rows.push(reason.length ? [source, expected, ...reason] : [source, await oracle(source)]);
  }
  writeFileSync(file, `[\n${rows.map((row) => "  " + JSON.stringify(row)).join(",\n")}\n]\n`);
}
