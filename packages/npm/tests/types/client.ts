// What the client's declarations allow and refuse. Read by tsc, never run.

import { Belljar, BelljarError, RunError, positional } from "belljar";
import type { Outcome, RunOptions, StartOptions, Success } from "belljar";
import { createServer } from "belljar/mcp";
import { Belljar as FromWeb } from "belljar/web";

export async function example(options: StartOptions): Promise<number> {
  await using jar: Belljar = await Belljar.start(options);
  const { value, logs } = await jar.run<number>("return (await github.find({ text: 'bug' })).length", {
    tools: {
      github: {
        find: {
          description: "Finds issues.",
          effect: "read_only",
          schema: { type: "object" },
          run: async ({ text }: { text: string }, { signal }) => (signal.aborted ? [] : [text]),
        },
        count: async () => 1,
      },
      by: positional({ place: ([first, second]: [string, number]) => first.repeat(second) }),
    },
    functions: { add: positional(([a, b]: number[]) => a! + b!) },
    limits: { timeout: 1_000, memory: "64MiB", maxCalls: 3 },
    onLog: ({ level, text }) => console.log(level, text),
    signal: AbortSignal.timeout(10),
    belljar: ["fs"],
  });
  const texts: string[] = logs.map(({ text }) => text);

  const outcome: Outcome<string> = await jar.outcome<string>("return 'x'");
  // @ts-expect-error: whether there is a value is not known yet
  outcome.value.length;
  const found: string = outcome.ok ? outcome.value : outcome.error.message;

  // @ts-expect-error: there is no such limit
  const wrong: RunOptions = { limits: { time: 1 } };
  // @ts-expect-error: a tool without a function
  const empty: RunOptions = { tools: { a: { b: { description: "" } } } };
  // @ts-expect-error: the outcome of a success has no error to read
  const message: string = (null as unknown as Success).error.message;
  return value + found.length + texts.length + [wrong, empty, message].length;
}

export function told(error: unknown): string | undefined {
  if (error instanceof RunError) {
    const kind: "timeout" | string = error.kind;
    // @ts-expect-error: no such kind
    if (error.kind === "nonsense") return undefined;
    return `${kind} ${error.line} ${error.outcome.error.thrown?.name}`;
  }
  return error instanceof BelljarError && error.retryable ? error.code : undefined;
}

const remote: Promise<Belljar> = FromWeb.connect(new URL("wss://example.com/host"), { token: "t" });
const { command, args, env }: { command: string; args: string[]; env: Record<string, string> } = createServer();
export default [remote, command, args, env];
