// Talks to a running belljar daemon: node client.mjs SOCKET, with the path that
// `belljar daemon status` shows.
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';

class Daemon {
  #socket;
  #last = 0;
  #waiting = new Map();

  static async connect(path) {
    const daemon = new Daemon();
    daemon.#socket = createConnection(path);
    const lines = createInterface({ input: daemon.#socket, crlfDelay: Infinity });
    lines.on('line', (line) => daemon.#answered(JSON.parse(line)));
    const broken = (reason) => daemon.#waiting.forEach(({ reject }) => reject(reason));
    daemon.#socket.on('error', broken);
    daemon.#socket.on('close', () => broken(new Error('the daemon ended before it had answered')));
    await daemon.request('hello', { protocol: 1 });
    return daemon;
  }

  // Answers come in the order in which they are ready, so requests can run side by side.
  request(method, params = {}) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  }

  close() {
    this.#waiting.clear();
    this.#socket.end();
  }

  #answered({ id, result, error }) {
    const { resolve, reject } = this.#waiting.get(id) ?? {};
    this.#waiting.delete(id);
    if (error) reject?.(new Error(`${error.message} (${error.code})`));
    else resolve?.(result);
  }
}

const daemon = await Daemon.connect(process.argv[2]);
const { servers } = await daemon.request('servers', { start: true });
for (const server of servers) console.log(`${server.name}: ${server.state}, ${server.tools ?? 0} tools`);

const [called, executed] = await Promise.all([
  daemon.request('call', { tool: 'demo.get_issue', arguments: { id: 40 } }),
  daemon.request('execute', { code: 'const { projects } = await demo.list_projects({}); return projects.length' }),
]);
console.log('call:', called.value.title);
console.log('execute:', executed.answer.value);
daemon.close();
