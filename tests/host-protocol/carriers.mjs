// The carriers of the host protocol: each has `send(text)`, `onText`, `end()` and `ended`.

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { request } from "node:http";
import { connect } from "node:net";

/** Splits a stream of bytes into lines. */
function lines(stream, take) {
  let rest = [];
  stream.on("data", (piece) => {
    let from = 0;
    for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, from)) {
      rest.push(piece.subarray(from, at));
      take(rest.length === 1 ? rest[0].toString() : Buffer.concat(rest).toString());
      rest = [];
      from = at + 1;
    }
    if (from < piece.length) rest.push(piece.subarray(from));
  });
}

/** A child process that speaks the protocol on stdin and stdout. */
export function process_(command, options = {}) {
  const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"], ...options });
  const carrier = { child, kind: "stdio", onText: () => {}, send: (text) => child.stdin.write(`${text}\n`) };
  // Text written to a child that has ended is lost, which its exit shows.
  child.stdin.on("error", () => {});
  carrier.ended = new Promise((ended, failed) => {
    child.on("exit", (code, signal) => ended({ code, signal }));
    child.on("error", failed);
  });
  carrier.end = () => child.stdin.end();
  lines(child.stdout, (text) => carrier.onText(text));
  return Promise.resolve(carrier);
}

/** The daemon's socket, which is greeted in its own protocol first. */
export async function socket(path) {
  const stream = connect(path);
  const carrier = { kind: "socket", onText: () => {}, send: (text) => stream.write(`${text}\n`) };
  carrier.ended = new Promise((ended) => stream.on("close", () => ended({})));
  carrier.end = () => stream.end();
  stream.on("error", () => {});
  lines(stream, (text) => carrier.onText(text));
  const ask = (message) => {
    const answer = new Promise((take) => (carrier.onText = (text) => take(JSON.parse(text))));
    carrier.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
    return answer;
  };
  await ask({ id: 1, method: "hello", params: { protocol: 1 } });
  const begun = await ask({ id: 2, method: "host" });
  if (begun.result?.host !== true) throw new Error(`the daemon refuses: ${JSON.stringify(begun)}`);
  carrier.onText = () => {};
  return carrier;
}

/** A WebSocket. The token is sent as a page would have to send it. */
export function webSocket(url, token) {
  const { hostname, port, pathname } = new URL(url);
  const headers = {
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
    "Sec-WebSocket-Protocol": ["belljar", ...(token ? [`bearer.${token}`] : [])].join(", "),
  };
  const asked = request({ hostname, port, path: pathname, headers });
  return new Promise((opened, failed) => {
    asked.on("error", failed);
    asked.on("response", (answer) => failed(new Error(`refused with ${answer.statusCode}`)));
    asked.on("upgrade", (answer, stream, head) => {
      if (answer.headers["sec-websocket-protocol"] !== "belljar") failed(new Error("the subprotocol is not chosen"));
      const carrier = { kind: "websocket", onText: () => {} };
      carrier.send = (text) => stream.write(frame(1, Buffer.from(text)));
      carrier.end = () => stream.end(frame(8, Buffer.alloc(0)));
      carrier.ended = new Promise((ended) => stream.on("close", () => ended({})));
      stream.on("error", () => {});
      // A frame that closes the connection has a code.
      frames(stream, head, (text) => carrier.onText(text), (code) => (carrier.closedWith = code));
      opened(carrier);
    });
    asked.end();
  });
}

/** A frame of a client, which is masked. */
function frame(kind, body) {
  const long = body.length > 65535 ? 8 : body.length > 125 ? 2 : 0;
  const head = Buffer.alloc(2 + long + 4);
  head[0] = 0x80 | kind;
  head[1] = 0x80 | (long === 8 ? 127 : long === 2 ? 126 : body.length);
  if (long === 8) head.writeBigUInt64BE(BigInt(body.length), 2);
  if (long === 2) head.writeUInt16BE(body.length, 2);
  // The mask is zero: masks protect proxies from scripts of pages, and neither is involved here.
  return Buffer.concat([head, body]);
}

function frames(stream, head, take, close) {
  let kept = head;
  let text = [];
  const read = (piece) => {
    kept = kept.length === 0 ? piece : Buffer.concat([kept, piece]);
    while (kept.length >= 2) {
      const short = kept[1] & 127;
      const begin = short === 127 ? 10 : short === 126 ? 4 : 2;
      if (kept.length < begin) return;
      const length = short === 127 ? Number(kept.readBigUInt64BE(2)) : short === 126 ? kept.readUInt16BE(2) : short;
      if (kept.length < begin + length) return;
      const [is_last, kind] = [kept[0] & 0x80, kept[0] & 15];
      if (kind <= 1) {
        text.push(kept.subarray(begin, begin + length));
        if (is_last) {
          take(Buffer.concat(text).toString());
          text = [];
        }
      }
      if (kind === 8) close(length >= 2 ? kept.readUInt16BE(begin) : 1005);
      kept = kept.subarray(begin + length);
    }
  };
  read(Buffer.alloc(0));
  stream.on("data", read);
}
