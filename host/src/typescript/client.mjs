// Calls the tools of belljar's servers from a program of one's own: Node.js 20 or later, no
// dependencies. `belljar typescript --out DIR` writes it with client.d.mts, which has its types.
//
//   import { connect } from './client.mjs';
//   const belljar = await connect();
//   const { title } = await belljar.servers.demo.get_issue({ id: 40 });
//   belljar.close();
//
// It talks to the daemon at its socket, so the servers stay warm from one call to the next. The
// daemon is started if it is not running.
import { execFile } from 'node:child_process';
import { createConnection } from 'node:net';

/** The version of the daemon's protocol that this client speaks. */
const PROTOCOL = 1;
/** The longest line that the daemon reads. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Why belljar gave no result. */
export class BelljarError extends Error {
  name = 'BelljarError';
  /** @param {string} message @param {{ kind?: string, code?: number, hint?: string }} [about] */
  constructor(message, { kind = 'internal', code, hint } = {}) {
    super(hint ? `${message} (${hint})` : message);
    this.kind = kind;
    if (code !== undefined) this.code = code;
    if (hint) this.hint = hint;
  }
}

/** A call that brought no result, or whose tool says that it failed. */
export class ToolError extends BelljarError {
  name = 'ToolError';
  constructor(server, tool, message, about = {}) {
    super(message, about);
    this.server = server;
    this.tool = tool;
    if (about.content !== undefined) this.content = about.content;
  }
}

/** Connects to the daemon: at `socket`, or where `belljar daemon start` says that it is. */
export async function connect({ socket, config, belljar = 'belljar' } = {}) {
  const daemon = await Daemon.at(socket ?? (await started(belljar, config)));
  return new Belljar(daemon);
}

/** The socket of the daemon of a configuration, which is started if it is not running. */
async function started(belljar, config) {
  const options = config === undefined ? [] : ['--config', config];
  const [failure, stdout, stderr] = await new Promise((resolve) => {
    execFile(belljar, ['daemon', 'start', '--json', ...options], (...ended) => resolve(ended));
  });
  if (failure?.code === 'ENOENT') {
    throw new BelljarError(`there is no program '${belljar}'`, { kind: 'config', hint: 'name it: connect({ belljar })' });
  }
  let said;
  try {
    said = JSON.parse(stdout);
  } catch {
    said = {};
  }
  if (failure || typeof said.socket !== 'string') {
    const { message, hint } = said.error ?? {};
    const why = message ?? (stderr.trim() || failure?.message || `'${belljar}' did not say where its daemon is`);
    throw new BelljarError(why, { kind: 'config', hint });
  }
  return said.socket;
}

class Belljar {
  #daemon;

  constructor(daemon) {
    this.#daemon = daemon;
    this.servers = named((server) => named((tool) => (args, options) => this.call(`${server}.${tool}`, args, options)));
  }

  /** Calls a tool by its path, and gives what a script would get of its result. */
  async call(path, args = {}, options = {}) {
    return (await this.#called(path, args, options)).value;
  }

  /** The same, with the whole result as the server gave it. */
  async raw(path, args = {}, options = {}) {
    return (await this.#called(path, args, options)).raw;
  }

  /** Runs a script in the sandbox, and gives its outcome, also where it failed. */
  async run(code, { limits } = {}) {
    const { answer } = await this.#daemon.request('execute', { code, ...(limits && { limits }) });
    return answer;
  }

  /** Ends the connection. Calls that are running are cancelled. */
  close() {
    this.#daemon.close();
  }

  async #called(path, args, { timeoutMs } = {}) {
    const timeout = timeoutMs === undefined ? {} : { timeout_ms: timeoutMs };
    const called = await this.#daemon.request('call', { tool: path, arguments: args, ...timeout });
    if (called.ok) return called;
    const dot = path.indexOf('.');
    const { kind, message, hint } = called.error;
    throw new ToolError(path.slice(0, dot), path.slice(dot + 1), message, { kind, hint, content: called.raw?.content });
  }
}

/** An object that has whatever is asked for, made when it is asked for first. It is no promise. */
function named(make) {
  const made = new Map();
  return new Proxy(Object.freeze({}), {
    get(_, name) {
      if (typeof name !== 'string' || name === 'then' || name === 'toJSON') return undefined;
      if (!made.has(name)) made.set(name, make(name));
      return made.get(name);
    },
  });
}

/** The daemon's protocol: JSON-RPC, one message a line. */
class Daemon {
  #socket;
  #last = 0;
  #waiting = new Map();
  #broken;

  static async at(path) {
    const daemon = new Daemon();
    daemon.#open(path);
    await daemon.request('hello', { protocol: PROTOCOL });
    return daemon;
  }

  #open(path) {
    this.#socket = createConnection(path);
    this.#socket.on('error', (error) => {
      this.#break(new BelljarError(`the daemon cannot be reached at ${path}: ${error.message}`));
    });
    this.#socket.on('close', () => this.#break(new BelljarError('the connection to the daemon has ended')));
    let begun = [];
    this.#socket.setEncoding('utf8');
    this.#socket.on('data', (text) => {
      const [end, ...lines] = text.split('\n');
      begun.push(end);
      for (const line of lines) {
        this.#answered(begun.join(''));
        begun = [line];
      }
    });
  }

  /** Answers come in the order in which they are ready, so requests can run side by side. */
  request(method, params) {
    if (this.#broken) return Promise.reject(this.#broken);
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      let line;
      try {
        line = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      } catch (error) {
        throw new BelljarError(`the arguments are not JSON: ${error.message}`, { kind: 'usage' });
      }
      const bytes = Buffer.byteLength(line);
      if (bytes > MOST_BYTES) {
        const hint = 'pass less at once';
        throw new BelljarError(`the request has ${bytes} bytes, and may have ${MOST_BYTES}`, { kind: 'usage', hint });
      }
      this.#waiting.set(id, { resolve, reject });
      this.#socket.write(`${line}\n`);
    });
  }

  close() {
    this.#break(new BelljarError('the connection was closed', { kind: 'cancelled' }));
    this.#socket.destroy();
  }

  #break(reason) {
    this.#broken ??= reason;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    waiting.forEach(({ reject }) => reject(this.#broken));
  }

  #answered(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      this.#break(new BelljarError('the daemon said something that is not JSON'));
      this.#socket.destroy();
      return;
    }
    const { id, result, error } = message;
    if (id === null && error) {
      // What could not be read has no number, so nobody knows whose answer this is.
      this.#break(new BelljarError(error.message, { kind: 'daemon', code: error.code }));
      this.#socket.destroy();
      return;
    }
    const { resolve, reject } = this.#waiting.get(id) ?? {};
    this.#waiting.delete(id);
    if (error) reject?.(new BelljarError(error.message, { kind: 'daemon', code: error.code, hint: error.data?.hint }));
    else resolve?.(result);
  }
}
