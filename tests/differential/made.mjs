// Prints random programs as a JSON list of [name, program, what Node makes of it]: `TZ=UTC node made.mjs SEED FROM COUNT`. The same seed and number make the same program.
import { areas } from "./areas.mjs";
import { imperative } from "./imperative.mjs";
import { jumps } from "./jumps.mjs";
import { mixed } from "./mixed/writer.mjs";
import { inNode } from "./oracle.mjs";
import { Random } from "./random.mjs";

const [seed, from, count] = process.argv.slice(2);
// Each area of the fixed programs is in areas.mjs; in 100 programs there are so many of each kind.
const kinds = [
  [65, "mixed", mixed],
  [80, "jumps", jumps],
  [90, "imperative", imperative],
  [100, "areas", (random, number) => Object.values(areas)[number % Object.keys(areas).length](random, number)],
];

const rows = [];
for (let number = Number(from); number < Number(from) + Number(count); number++) {
  const random = new Random(`${seed} ${number}`);
  const share = random.below(100);
  const [, kind, make] = kinds.find(([limit]) => share < limit);
  const source = make(random, number);
  rows.push([`${kind} ${seed} ${number}`, source, await inNode(source)]);
}
process.stdout.write(JSON.stringify(rows), () => process.exit(0));
