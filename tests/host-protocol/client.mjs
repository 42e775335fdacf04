// The smallest client of the host protocol that the checks need. It shows what a client must do.

/** Speaks the protocol over a carrier. */
export class Client {
  #carrier;
  #last = 0;
  #answers = new Map();
  #runs = new Map();
  /** Messages that answer no request of this client, such as errors without an id. */
  strays = [];

  constructor(carrier) {
    this.#carrier = carrier;
    carrier.onText = (text) => this.#take(JSON.parse(text));
    carrier.ended.then(() => {
      for (const { failed } of this.#answers.values()) failed(new Error("the connection has ended"));
    });
  }

  get carrier() {
    return this.#carrier;
  }

  send(message) {
    this.#carrier.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  /** Sends a request, and waits for the whole answer. */
  ask(method, params, id = ++this.#last) {
    const answer = new Promise((done, failed) => this.#answers.set(id, { done, failed }));
    this.send({ id, method, params });
    return answer;
  }

  hello() {
    return this.ask("hello", { protocol: 1, client: { name: "conformance", version: "1" } });
  }

  /** Runs a script. `call` answers its calls, and `note` gets the notifications about it. */
  run(params, call = () => ({ result: {} }), note = () => {}) {
    const id = ++this.#last;
    this.#runs.set(id, { call, note });
    const answer = this.ask("run", params, id);
    answer.id = id;
    answer.finally(() => this.#runs.delete(id)).catch(() => {});
    return answer;
  }

  #take(message) {
    if (message.method === "call") {
      const { run, ...asked } = message.params;
      const answer = (given) => this.send({ id: message.id, ...given });
      const given = this.#runs.get(run)?.call(asked, message.id, answer);
      if (given !== undefined) Promise.resolve(given).then(answer);
    } else if (message.method === "log") {
      this.#runs.get(message.params.run)?.note(message);
    } else if (message.method === "cancel") {
      for (const { note } of this.#runs.values()) note(message);
    } else if (this.#answers.has(message.id)) {
      this.#answers.get(message.id).done(message);
      this.#answers.delete(message.id);
    } else {
      this.strays.push(message);
      this.onStray?.(message);
    }
  }

  /** The next message that answers no request of this client. */
  async stray() {
    if (this.strays.length === 0) await new Promise((come) => (this.onStray = come));
    return this.strays.shift();
  }
}
