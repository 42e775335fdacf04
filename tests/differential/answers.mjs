// Takes a JSON list of programs on stdin, and prints the list of what Node makes of them.
import { readFileSync } from "node:fs";
import { inNode } from "./oracle.mjs";

const results = [];
for (const source of JSON.parse(readFileSync(0, "utf8"))) results.push(await inNode(source));
process.stdout.write(JSON.stringify(results), () => process.exit(0));
