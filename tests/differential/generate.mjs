// Writes programs/ beside this file, a JSON file for each area: programs, and what Node 20 makes of each. `TZ=UTC node tests/differential/generate.mjs`
//
// Some are written by hand (written/, collected.mjs), the others made by generators with a seed, so that the same programs come out every
// time. known.json lists what gives something else in the jar: the area and name, what it gives, and why. oracle.mjs says what a program
// is. random programs, which are not kept, are made by made.mjs.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { areas } from "./areas.mjs";
import { collected } from "./collected.mjs";
import { focused } from "./focused.mjs";
import { imperative } from "./imperative.mjs";
import { jumps } from "./jumps.mjs";
import { inNode } from "./oracle.mjs";
import { pipeline } from "./pipelines.mjs";
import { Random } from "./random.mjs";
import { regex } from "./regexes.mjs";
import { report } from "./reports.mjs";

// Programs of each generator.
const OF_TEMPLATE = 2;
const PIPELINES = { text: ["text", "texts"], collections: ["rows", "object", "map", "set"], numbers: ["numbers", "number"], dates: ["date", "dates"], "typed arrays": ["bytes", "floats"] };
const OF_PIPELINE = 72;
const FOCUSED = { classes: 95, closures: 75, generators: 95, "async control flow": 95, errors: 85, destructuring: 110, "labels and loops": 80 };
const REGEXES = 160;
const REPORTS = 280;
const IMPERATIVE = 20;
const JUMPS = 10;
// Longer programs, and such whose results say less, are passed over.
const LONGEST = 1_150;
const LONGEST_RESULT = 700;
const SHORTEST_RESULT = 24;

const programs = {};
const add = (area, name, source) => (programs[area] ??= []).push([name, source]);

for (const file of readdirSync(new URL("written/", import.meta.url)).sort()) {
  const area = file.replace(".js", "");
  for (const [name, source] of written(readFileSync(new URL(`written/${file}`, import.meta.url), "utf8"))) add(area, name, source);
}
for (const program of collected) add("collected", program.name, `return (${program})();`);
for (const [area, make] of Object.entries(areas)) {
  const random = new Random(`area ${area}`);
  for (let number = 0; number < OF_TEMPLATE; number++) add("templates", `${area} ${number}`, make(random, number));
}
const long = new Random("long");
for (let number = 0; number < IMPERATIVE; number++) add("long", `imperative ${number}`, imperative(long));
for (let number = 0; number < JUMPS; number++) add("long", `jumps ${number}`, jumps(long));

for (const [area, kinds] of Object.entries(PIPELINES)) {
  for (const kind of kinds) await made(area, kind, OF_PIPELINE, (random) => pipeline(random, kind));
}
for (const [subject, count] of Object.entries(FOCUSED)) await made(subject, "made", count, (random) => focused(random, subject));
await made("regular expressions", "made", REGEXES, regex);
await made("scripts over data", "made", REPORTS, report);

// As many programs as asked for, of those that say enough.
async function made(area, prefix, count, make) {
  const seen = new Set();
  for (let number = 0, kept = 0; kept < count; number++) {
    const source = make(new Random(`${area} ${prefix} ${number}`));
    const result = await inNode(source);
    const says = result.length >= SHORTEST_RESULT && result.length <= LONGEST_RESULT && !result.startsWith("throws") && !seen.has(result);
    if (!says || source.length > LONGEST) continue;
    seen.add(result);
    kept++;
    add(area, `${prefix} ${number}`, source);
  }
}

// A block under a comment is a program of that name; without one, each line is an expression. After `! ` stand statements, whose error counts.
function written(text) {
  const found = [];
  for (const block of text.trim().split(/\n\n+/)) {
    const named = /^\/\/ (.*)\n/.exec(block);
    if (named) {
      found.push([named[1], block.slice(named[0].length)]);
      continue;
    }
    // An expression may go on in the next line, which then begins with a space, or ends what is open.
    for (const line of block.split("\n").reduce((lines, line) => (complete(lines.at(-1)) ? [...lines, line] : [...lines.slice(0, -1), `${lines.at(-1)}\n${line}`]), [])) {
      const statements = line.startsWith("! ") ? line.slice(2) : null;
      const source = statements === null ? `return (${line});` : `try { ${statements}; return "no error"; } catch (e) { return [e?.name ?? typeof e, e?.message ?? String(e)]; }`;
      found.push([line.length > 60 ? `${line.slice(0, 60)}… ${found.length}` : line, source]);
    }
  }
  return found;
}

function complete(line) {
  if (line === undefined || line.startsWith("! ")) return true;
  try {
    new (async () => {}).constructor(`return (${line});`);
    return true;
  } catch {
    return false;
  }
}

rmSync(new URL("programs/", import.meta.url), { recursive: true, force: true });
mkdirSync(new URL("programs/", import.meta.url));
const seen = new Map();
let [count, bytes] = [0, 0];
for (const [area, list] of Object.entries(programs)) {
  const rows = [];
  const names = new Set();
  for (const [name, source] of list) {
    if (names.has(name)) throw new Error(`${area} has two programs ${name}`);
    names.add(name);
    if (seen.has(source)) throw new Error(`${area} ${name} is ${seen.get(source)} again`);
    seen.set(source, `${area} ${name}`);
    const first = await inNode(source);
    if (["throws SyntaxError", "never ends", "is not caught"].includes(first)) throw new Error(`${area} ${name}: ${first}`);
    if (first !== (await inNode(source))) throw new Error(`${area} ${name} gives something else each time`);
    if (first.length > 4000) throw new Error(`${area} ${name} gives ${first.length} characters`);
    rows.push([name, source, first]);
  }
  const text = `[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`;
  writeFileSync(new URL(`programs/${area.replaceAll(" ", "_")}.json`, import.meta.url), text);
  count += rows.length;
  bytes += text.length;
  console.log(`${area.padEnd(22)} ${String(rows.length).padStart(5)} programs, of which ${rows.filter((row) => row[2].startsWith("throws")).length} throw`);
}
console.log(`${count} programs in ${bytes} bytes`);
process.exit();
