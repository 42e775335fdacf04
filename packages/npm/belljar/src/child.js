// `belljar host` as a child process, which speaks the protocol line by line. While no run is under
// way, it does not keep this process alive; when this process ends, the child's stdin closes, and
// the child ends too.

import { spawn } from "node:child_process";

import { findBinary } from "./binary.js";
import { BelljarError } from "./errors.js";

const MAX_MESSAGE = 16 * 1024 * 1024;
const STDERR_CHARS = 4_000;
/** How long a child may take to end after its stdin was closed. */
const END_MS = 3_000;
/** How long to wait for the child's last output on stderr. */
const LAST_WORDS_MS = 3_000;
const NEWLINE = 0x0a;

/** Starts the child, which writes only messages to its stdout. */
export function openChild(options, { onText, onGone }) {
  const binary = findBinary(options.binary);
  const config = options.config === undefined ? [] : ["--config", options.config];
  const child = spawn(binary, ["host", ...config, ...(options.args ?? [])], {
    cwd: options.cwd,
    env: options.env,
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
  });
  let reason;
  let stderr = "";

  const end = ending(child, () => onGone(reason ?? exited(child, stderr)));

  child.on("error", (error) => {
    if (child.pid !== undefined) return;
    const text = `belljar could not be started as ${binary}: ${error.message}`;
    onGone(new BelljarError("binary", text, { cause: error }));
    end.resolve();
  });
  // Ignores EPIPE: the event `exit` reports that the child has ended.
  child.stdin.on("error", () => {});
  child.stderr.setEncoding("utf8");
  child.stderr.on("data", (chunk) => {
    stderr = (stderr + chunk).slice(-STDERR_CHARS);
    options.onDiagnostic?.(chunk);
  });
  child.stdout.on("data", lines(onText, () => {
    fail(new BelljarError("protocol", `belljar sent a line longer than the limit of ${MAX_MESSAGE} bytes`));
  }));

  /** Kills a child that can no longer be used, without waiting for its end. */
  function fail(error) {
    reason ??= error;
    child.kill("SIGKILL");
    onGone(reason);
  }

  const streams = [child, child.stdin, child.stdout, child.stderr];
  return {
    maxMessage: MAX_MESSAGE,
    isOwner: true,
    send: (text) => child.stdin.write(`${text}\n`),
    hold: (busy) => streams.forEach((stream) => (busy ? stream.ref?.() : stream.unref?.())),
    fail,
    async close() {
      reason ??= new BelljarError("closed", "this jar was closed");
      streams.forEach((stream) => stream.ref?.());
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
      await end.promise;
      clearTimeout(timer);
    },
  };
}

/** Calls `done` once the child has exited and all its output has been read. */
function ending(child, done) {
  let resolve;
  const promise = new Promise((given) => (resolve = given));
  let open = 2;
  const part = () => {
    open -= 1;
    if (open > 0) return;
    // A process that the child started may keep stderr open: do not wait for that one to end.
    const timer = setTimeout(finish, LAST_WORDS_MS);
    child.once("close", () => {
      clearTimeout(timer);
      finish();
    });
  };
  let finished = false;
  const finish = () => {
    if (finished) return;
    finished = true;
    done();
    resolve();
  };
  child.once("exit", part);
  child.stdout.once("close", part);
  return { promise, resolve };
}

function exited(child, stderr) {
  const how = child.signalCode ? `by ${child.signalCode}` : `with code ${child.exitCode}`;
  const words = stderr.trim();
  const text = `belljar's process ended ${how}, and its runs are lost; the next run starts a new process`;
  return new BelljarError("exited", words ? `${text}. Its last output on stderr: ${words}` : text);
}

/** Splits incoming data into lines. */
function lines(onLine, onTooLong) {
  let parts = [];
  let size = 0;
  return (chunk) => {
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
      parts.push(chunk.subarray(start, at));
      const line = Buffer.concat(parts).toString("utf8");
      parts = [];
      size = 0;
      start = at + 1;
      if (line.trim() !== "") onLine(line);
    }
    parts.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > MAX_MESSAGE) {
      parts = [];
      size = 0;
      onTooLong();
    }
  };
}
