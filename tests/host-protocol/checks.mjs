// What the table of cases cannot express: the order of messages, cancellation, and refusals.

import { Client } from "./client.mjs";

const hello = async (carrier) => {
  const client = new Client(carrier);
  await client.hello();
  return client;
};

const says = (wrong) => (wrong ? undefined : "it is otherwise");
const one = [{ name: "f", style: "positional" }];

export const checks = {
  "the first request must be hello": async (carrier) => {
    const answer = await new Client(carrier).ask("run", { code: "1" });
    return says(answer.error?.code === -32600);
  },

  "another version of the protocol is refused": async (carrier) => {
    const answer = await new Client(carrier).ask("hello", { protocol: 99 });
    return says(answer.error?.code === -32002);
  },

  "what is no message is answered without an id, and the connection goes on": async (carrier) => {
    const client = await hello(carrier);
    for (const [junk, code] of [["{", -32700], ["[]", -32600], ['{"jsonrpc":"1.0","id":1,"method":"hello"}', -32600]]) {
      carrier.send(junk);
      const answer = await client.stray();
      if (answer.id !== null || answer.error.code !== code) return JSON.stringify(answer);
    }
    return says((await client.run({ code: "2" })).result.value === 2);
  },

  "there is no other method, and unknown notifications are ignored": async (carrier) => {
    const client = await hello(carrier);
    client.send({ method: "unknown" });
    return says((await client.ask("call", {})).error?.code === -32601);
  },

  "an id may be a text, and no two runs that go on have one": async (carrier) => {
    const client = await hello(carrier);
    const first = client.ask("run", { code: "await new Promise((r) => setTimeout(r, 3000))" }, "x");
    client.send({ id: "x", method: "run", params: { code: "1" } });
    const answer = await first;
    const second = await Promise.race([first, client.stray()]);
    return says(answer.id === "x" && (answer.error?.code ?? second.error?.code) === -32600);
  },

  "calls are answered in any order": async (carrier) => {
    const client = await hello(carrier);
    const held = [];
    const answer = await client.run({ code: "await Promise.all([1, 2, 3].map((n) => f(n)))", functions: one }, (call, id, send) => {
      held.push(() => send({ result: { value: call.arguments[0] * 10 } }));
      if (held.length === 3) held.reverse().forEach((each) => each());
    });
    return says(JSON.stringify(answer.result.value) === "[10,20,30]");
  },

  "an answer to nothing and a second answer are ignored": async (carrier) => {
    const client = await hello(carrier);
    const answer = await client.run({ code: "[await f(1), await f(2)]", functions: one }, (call, id, send) => {
      client.send({ id: "c999.999", result: { value: "foreign" } });
      send({ result: { value: call.arguments[0] } });
      send({ result: { value: "again" } });
    });
    return says(JSON.stringify(answer.result.value) === "[1,2]");
  },

  "a malformed answer fails its call alone": async (carrier) => {
    const client = await hello(carrier);
    const answers = [{ result: 7 }, { result: null }, {}, { error: "no" }, { result: { value: 5 } }];
    const code = "const all = []; for (let i = 0; i < 5; i++) all.push(await f(i).catch((e) => e.name)); all";
    const answer = await client.run({ code, functions: one }, (call) => answers[call.arguments[0]]);
    const expected = ["ToolError", "ToolError", "ToolError", "ToolError", 5];
    return says(JSON.stringify(answer.result.value) === JSON.stringify(expected));
  },

  "a run is cancelled, answered, and calls off what it has under way": async (carrier) => {
    const client = await hello(carrier);
    const off = [];
    let asked;
    const answer = client.run(
      { code: "console.log('begun'); await f(1)", functions: one },
      (call, id) => {
        asked = id;
        client.send({ method: "cancel", params: { id: answer.id } });
      },
      (note) => off.push(note.params.id),
    );
    const { result } = await answer;
    return says(result.error.kind === "cancelled" && result.logs[0].text === "begun" && off.length === 1 && off[0] === asked);
  },

  "a run that ends by a limit calls off what it has under way": async (carrier) => {
    const client = await hello(carrier);
    const off = [];
    const { result } = await client.run(
      { code: "await Promise.all([f(1), f(2)])", functions: one, limits: { timeout: "5s" } },
      () => {},
      (note) => off.push(note.params.id),
    );
    return says(result.error.kind === "timeout" && off.length === 2);
  },

  "a call that ends by its limit is called off, and the run goes on": async (carrier) => {
    const client = await hello(carrier);
    const off = [];
    const { result } = await client.run(
      { code: "await f(1).catch(() => 'late')", functions: one, limits: { call: "150ms" } },
      () => {},
      (note) => off.push(note.params.id),
    );
    return says(result.value === "late" && off.length === 1);
  },

  "an unknown run is not cancelled": async (carrier) => {
    const client = await hello(carrier);
    client.send({ method: "cancel", params: { id: 12345 } });
    client.send({ method: "cancel", params: 7 });
    return says((await client.run({ code: "3" })).result.value === 3);
  },

  "logs are told while the run goes on, if that is asked": async (carrier) => {
    const client = await hello(carrier);
    const told = [];
    const { result } = await client.run(
      { code: "console.warn('a'); await f(); console.log('b')", functions: one, stream: ["logs"] },
      () => (told.length === 1 ? { result: {} } : { error: { code: 1, message: "the log comes later than the call" } }),
      (note) => told.push(`${note.params.level} ${note.params.text}`),
    );
    return says(result.ok && JSON.stringify(told) === '["warn a","log b"]') ?? (result.ok ? undefined : result.error.message);
  },

  "fifty runs share a connection, and none gets what is another's": async (carrier) => {
    const client = await hello(carrier);
    const runs = Array.from({ length: 50 }, (_, run) =>
      client.run({ code: `let all = 0; for (let i = 0; i < 5; i++) all += await f(i); all`, functions: one }, (call) => ({
        result: { value: call.arguments[0] * run },
      })),
    );
    const values = (await Promise.all(runs)).map((answer) => answer.result.value);
    return says(values.every((value, run) => value === 10 * run));
  },

  "a large answer is passed on, and one above the limit fails its call": async (carrier) => {
    const client = await hello(carrier);
    const code = "const [a, b] = [await f(1_000_000), await f(3_000_000).catch((e) => e.name)]; [a.length, b]";
    const { result } = await client.run({ code, functions: one, limits: { max_result: "2MB" } }, (call) => ({
      result: { value: "x".repeat(call.arguments[0]) },
    }));
    return says(result.ok && result.value[0] === 1_000_000 && result.value[1] === "ToolError");
  },

  "deep JSON is refused and hurts nobody": async (carrier) => {
    const client = await hello(carrier);
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const answer = client.run({ code: "await f().catch((e) => e.name)", functions: one }, (call, id) => {
      carrier.send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"value":${deep}}}`);
    });
    const { result } = await answer;
    carrier.send(`{"jsonrpc":"2.0","id":77,"method":"run","params":{"code":"1","limits":${deep}}}`);
    return says(result.value === "ToolError" && (await client.stray()).error.code === -32602);
  },

  "a message that is too long is not read, and the connection goes on": async (carrier) => {
    // A WebSocket is closed by it.
    if (carrier.kind === "websocket") return undefined;
    const client = await hello(carrier);
    carrier.send("x".repeat(16 * 1024 * 1024 + 1));
    const answer = await client.stray();
    return says(answer.error.code === -32003 && (await client.run({ code: "4" })).result.value === 4);
  },

  "over a WebSocket, what runs offer is bounded by its values": async (carrier) => {
    if (carrier.kind !== "websocket") return undefined;
    const client = await hello(carrier);
    const offer = (count) => [{ ...one[0], outputSchema: { x: Array.from({ length: count }, () => 0) } }];
    const large = await client.run({ code: "1", functions: offer(60_000) });
    if (large.error?.code !== -32602) return JSON.stringify(large);
    const asked = [];
    const waiting = [1, 2].map(() => {
      let run;
      asked.push(new Promise((called) => (run = client.run({ code: "await f(1)", functions: offer(49_000) }, () => called()))));
      return run;
    });
    await Promise.all(asked);
    const busy = await client.run({ code: "1", functions: offer(49_000) });
    if (busy.error?.code !== -32000) return JSON.stringify(busy);
    for (const { id } of waiting) client.send({ method: "cancel", params: { id } });
    await Promise.all(waiting);
    return says((await client.run({ code: "5", functions: offer(49_000) })).result?.value === 5);
  },

  "the owner's programs may raise limits, and those of a token may not": async (carrier) => {
    const client = await hello(carrier);
    const { result } = await client.run({ code: "1", limits: { timeout: "10m", max_calls: 5000 } });
    return says(carrier.kind === "websocket" ? result.error?.kind === "usage" : result.ok);
  },

  "who hangs up with calls under way ends the connection": async (carrier) => {
    const client = await hello(carrier);
    await new Promise((asked) => {
      client.run({ code: "await f(1)", functions: one }, () => asked()).catch(() => {});
    });
    carrier.end();
    const ended = await carrier.ended;
    if (carrier.kind === "stdio") return says(ended.code === 0);
    // Its own close frame is answered.
    return says(carrier.kind !== "websocket" || carrier.closedWith !== undefined);
  },
};
