// What a call of a host's function costs, beside a call of one of the script's own functions.

import { Client } from "./client.mjs";

const CALLS = 20_000;

const work = {
  "one by one": (f, count) => `for (let i = 0; i < ${count}; i++) await ${f}(i);`,
  "1,000 under way": (f, count) =>
    `let left = ${count}; await Promise.all(Array.from({ length: 1000 }, async () => { while (left-- > 0) await ${f}(left); }));`,
};

/** Measures over a new connection. */
export async function measure(open) {
  const client = new Client(await open());
  await client.hello();
  const limits = { max_calls: CALLS, max_concurrent_calls: 1000, timeout: "120s", compute: "120s", wait: "120s" };
  const functions = [{ name: "f", style: "positional" }];
  const timed = async (code) => {
    const answer = await client.run({ code, limits, functions }, () => ({ result: { value: 1 } }));
    if (!answer.result?.ok) throw new Error(JSON.stringify(answer.result?.error ?? answer.error));
    return answer.result.usage.wall_ms;
  };
  for (const [name, code] of Object.entries(work)) {
    const best = { host: Infinity, own: Infinity };
    for (let round = 0; round < 5; round++) {
      best.host = Math.min(best.host, await timed(code("f", CALLS)));
      best.own = Math.min(best.own, await timed(`const own = async (i) => 1; ${code("own", CALLS)}`));
    }
    const each = (milliseconds) => (milliseconds * 1000) / CALLS;
    const [host, own] = [each(best.host), each(best.own)];
    console.log(`${name}: ${(host - own).toFixed(1)} µs a call above the ${own.toFixed(1)} µs of a script's own`);
  }
  client.carrier.end();
}
