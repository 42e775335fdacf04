// Writes programs.json beside this file: programs, and what Node 20 makes of each. `TZ=UTC node tests/differential/generate.mjs`
//
// Most are made by a generator with a seed, so that the same programs come out every time; the others are those of collected.mjs. A
// known.json lists what gives something else here: the name, what it gives, and why. A
// program is the body of an async function in strict mode. Its result is the JSON of what it returns, `undefined`, or `throws` and the error's name.
import { writeFileSync } from "node:fs";
import { areas } from "./areas.mjs";
import { collected } from "./collected.mjs";
import { imperative } from "./imperative.mjs";
import { jumps } from "./jumps.mjs";
import { Random } from "./random.mjs";

if (!process.version.startsWith("v20.") || new Date(0).getTimezoneOffset() !== 0) {
  throw new Error("the results are those of Node 20 in UTC: TZ=UTC node tests/differential/generate.mjs");
}

const PER_AREA = 18;
const IMPERATIVE = 160;
const JUMPS = 40;

const programs = [];
for (const [area, make] of Object.entries(areas)) {
  const random = new Random(`area ${area}`);
  for (let number = 0; number < PER_AREA; number++) programs.push([`${area} ${number}`, make(random, number)]);
}
const random = new Random("imperative");
for (let number = 0; number < IMPERATIVE; number++) programs.push([`imperative ${number}`, imperative(random)]);
const jumping = new Random("jumps");
for (let number = 0; number < JUMPS; number++) programs.push([`jumps ${number}`, jumps(jumping)]);
for (const program of collected) programs.push([`collected ${program.name}`, `return (${program})();`]);

const AsyncFunction = (async () => {}).constructor;
async function inNode(source) {
  try {
    return JSON.stringify(await new AsyncFunction(`"use strict";\n${source}`)()) ?? "undefined";
  } catch (error) {
    return `throws ${error?.name}`;
  }
}

const rows = [];
const seen = new Set();
for (const [name, source] of programs) {
  if (seen.has(source)) continue;
  seen.add(source);
  const first = await inNode(source);
  if (first !== (await inNode(source))) throw new Error(`${name} gives something else each time`);
  if (first.length > 4000) throw new Error(`${name} gives ${first.length} characters`);
  rows.push([name, source, first]);
}
writeFileSync(new URL("programs.json", import.meta.url), `[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`);
const thrown = rows.filter((row) => row[2].startsWith("throws")).length;
console.log(`${rows.length} programs, of which ${thrown} throw`);
