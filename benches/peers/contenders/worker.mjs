// What runs inside the workers of Node.js and of Deno: scripts that arrive as messages, and whose
// calls of tools leave as messages.

/** The text of a worker; `port` is an expression for the object that it receives and sends with. */
export function workerSource(port, tools) {
  return `(${inside})(${port}, ${JSON.stringify(tools)});`;
}

/** The host's side: a sandbox for ./protocol.mjs, over a worker that `end` ends. */
export function hostSide(box, milliseconds, post, end) {
  let settle;
  const receive = async ({ call, name, given, value, error }) => {
    if (call !== undefined) post({ answer: call, value: await box[name](given) });
    else if (error !== undefined) settle.reject(new Error(error));
    else settle.resolve(value);
  };
  const start = (message) => {
    const done = new Promise((resolve, reject) => (settle = { resolve, reject }));
    const deadline = setTimeout(() => {
      end();
      settle.reject(new Error(`ended from outside after ${milliseconds} ms`));
    }, milliseconds);
    post(message);
    return done.finally(() => clearTimeout(deadline));
  };
  return {
    receive,
    fail: (error) => settle?.reject(error),
    evaluate: (script) => start({ evaluate: script }),
    run: (body) => start({ run: body }),
  };
}

function inside(port, tools) {
  const open = new Map();
  let calls = 0;
  const call = (name) => (given) =>
    new Promise((resolve) => {
      open.set(++calls, resolve);
      port.postMessage({ call: calls, name, given });
    });
  const box = Object.fromEntries(tools.map((name) => [name, call(name)]));
  const AsyncFunction = (async () => {}).constructor;
  const handle = (message) => {
    if (message.answer !== undefined) {
      open.get(message.answer)(message.value);
      open.delete(message.answer);
      return;
    }
    const value = message.run ? new AsyncFunction("box", message.run)(box) : (0, eval)(message.evaluate);
    Promise.resolve(value).then(
      (done) => port.postMessage({ value: done }),
      (error) => port.postMessage({ error: String(error) }),
    );
  };
  // Node's ports are also event emitters, but a web worker's port is not.
  if (port.on) port.on("message", handle);
  else port.onmessage = (event) => handle(event.data);
}
