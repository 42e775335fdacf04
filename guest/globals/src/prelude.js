// Evaluated once, before the snapshot. Kept to what is shortest to say in JavaScript itself: the classes that scripts test for
// with `instanceof`, and what awaits. belljar's own errors get their prototypes without calling them (see tool_error.rs and web/exception.rs).
// Functions that await are named as `waits.rs` knows them: no place in a script is theirs. The value is what using.rs gives a program that
// has `using` in it.
(() => {
  class ToolError extends Error {
    constructor(server, tool, message, content) {
      super(message);
      this.server = server;
      this.tool = tool;
      this.content = content;
    }
  }
  const hidden = (object, name, value) =>
    Object.defineProperty(object, name, { value, writable: true, configurable: true });
  hidden(ToolError.prototype, "name", "ToolError");
  hidden(globalThis, "ToolError", ToolError);
  class PolicyError extends Error {
    constructor(server, tool, message) {
      super(message);
      this.server = server;
      this.tool = tool;
    }
  }
  hidden(PolicyError.prototype, "name", "PolicyError");
  hidden(globalThis, "PolicyError", PolicyError);

  const codes = {
    InvalidCharacterError: 5, TypeMismatchError: 17, AbortError: 20, QuotaExceededError: 22, TimeoutError: 23, DataCloneError: 25,
  };
  class DOMException extends Error {
    constructor(message = "", options = "Error") {
      super(message);
      const { name = "Error", cause } = typeof options === "object" && options !== null ? options : { name: options };
      hidden(this, "name", String(name));
      hidden(this, "code", codes[name] ?? 0);
      if (cause !== undefined) hidden(this, "cause", cause);
    }
  }
  hidden(globalThis, "DOMException", DOMException);

  const { apply, construct } = Reflect;
  // What `using` becomes when it is translated: names and parts are those that the translation asks for.
  // As all errors of the language, it may be called without `new`.
  function SuppressedError(error, suppressed, message) {
    const made = construct(Error, message === undefined ? [] : [message], new.target ?? SuppressedError);
    hidden(made, "error", error);
    hidden(made, "suppressed", suppressed);
    return made;
  }
  Object.setPrototypeOf(SuppressedError, Error);
  Object.defineProperty(SuppressedError, "prototype", {
    value: Object.create(Error.prototype, { constructor: { value: SuppressedError, writable: true, configurable: true } }),
    writable: false,
  });
  hidden(SuppressedError.prototype, "name", "SuppressedError");
  hidden(SuppressedError.prototype, "message", "");
  hidden(globalThis, "SuppressedError", SuppressedError);

  const { dispose: disposeSymbol, asyncDispose: asyncDisposeSymbol } = Symbol;
  const none = {};
  const usingCtx = () => {
    const resources = [];
    const hold = (value, isAwaited) => {
      if (value === null || value === undefined) {
        if (isAwaited) resources.push({ isAwaited });
        return value;
      }
      if (Object(value) !== value) throw new TypeError("what is used with `using` must be an object, null or undefined");
      let method = isAwaited ? value[asyncDisposeSymbol] : undefined;
      const isSync = method === undefined || method === null;
      if (isSync) method = value[disposeSymbol];
      if (typeof method !== "function") {
        throw new TypeError(`what is used with \`using\` must have a method [Symbol.${isAwaited ? "asyncDispose" : "dispose"}]`);
      }
      resources.push({ value, method, isSync, isAwaited });
      return value;
    };
    const dispose = (state) => {
      const { value, method } = resources.pop();
      try {
        return method === undefined ? undefined : apply(method, value, []);
      } catch (error) {
        state.fail(error);
      }
    };
    const __dispose__ = async (state) => {
      while (resources.length > 0) {
        const { isAwaited, isSync } = resources[resources.length - 1];
        const result = dispose(state);
        try {
          if (isAwaited) await (isSync ? undefined : result);
        } catch (error) {
          state.fail(error);
        }
      }
      state.end();
    };
    return {
      e: none,
      u: (value) => hold(value, false),
      a: (value) => hold(value, true),
      d() {
        let error = this.e;
        const state = {
          fail: (another) => { error = error === none ? another : new SuppressedError(another, error); },
          end: () => { if (error !== none) throw error; },
        };
        if (resources.some(({ isAwaited }) => isAwaited)) return __dispose__(state);
        while (resources.length > 0) dispose(state);
        state.end();
      },
    };
  };

  // Which errors call in their constructors, after V8. An error has its stack without it.
  const { toString: headOf } = Error.prototype;
  const { captureStackTrace } = {
    captureStackTrace(target) {
      if (Object(target) !== target) throw new TypeError("Error.captureStackTrace takes an object");
      if (target instanceof Error) return;
      const { stack } = new Error();
      const frames = stack.indexOf("\n");
      hidden(target, "stack", apply(headOf, target, []) + (frames < 0 ? "" : stack.slice(frames)));
    },
  };
  hidden(Error, "captureStackTrace", captureStackTrace);

  // Which the engine lacks.
  const isConstructor = (value) => {
    try {
      construct(Object, [], value);
      return true;
    } catch {
      return false;
    }
  };
  const __collect__ = async (Class, items, map, self) => {
    if (map !== undefined && typeof map !== "function") throw new TypeError("the second argument of Array.fromAsync must be a function");
    const isClass = isConstructor(Class);
    const list = (Class, ...length) => (isClass ? new Class(...length) : new Array(...length));
    const put = (target, at, value) =>
      Object.defineProperty(target, at, { value, writable: true, enumerable: true, configurable: true });
    let target;
    let at = 0;
    if ((items[Symbol.asyncIterator] ?? items[Symbol.iterator] ?? undefined) !== undefined) {
      target = list(Class);
      for await (const item of items) {
        put(target, at, map === undefined ? item : await apply(map, self, [item, at]));
        at++;
      }
    } else {
      const source = Object(items);
      const length = Math.min(Math.max(Math.trunc(Number(source.length)) || 0, 0), Number.MAX_SAFE_INTEGER);
      target = list(Class, length);
      for (; at < length; at++) {
        const item = await source[at];
        put(target, at, map === undefined ? item : await apply(map, self, [item, at]));
      }
    }
    target.length = at;
    return target;
  };
  const { fromAsync } = {
    fromAsync(items, map = undefined, self = undefined) {
      return __collect__(this, items, map, self);
    },
  };
  hidden(Array, "fromAsync", fromAsync);

  // A script holds a server with one of its functions at a time, and the host lets one script have it. A function that waits for itself is
  // a deadlock, which is found and named.
  const OwnPromise = Promise;
  const exclusive = (acquire, release, server) => {
    let last;
    const __hold__ = async (body, before, done) => {
      try {
        await before;
        await acquire();
        try {
          return await body();
        } finally {
          await release();
        }
      } finally {
        done();
      }
    };
    const { $exclusive } = {
      $exclusive(body) {
        if (typeof body !== "function") {
          throw new TypeError(`${server}.$exclusive takes a function: await ${server}.$exclusive(async () => { … })`);
        }
        const before = last;
        let done;
        last = new OwnPromise((resolve) => { done = resolve; });
        return __hold__(body, before, done);
      },
    };
    return $exclusive;
  };

  // A call of all projects of a server: some at a time, and what became of each under its name.
  const together = 4;
  const spread = (call, names, argument, given) => {
    const { projects, ...others } = given;
    const answers = [];
    let next = 0;
    const collected = () => {
      const all = {};
      for (let at = 0; at < names.length; at++) {
        Object.defineProperty(all, names[at], { value: answers[at], writable: true, enumerable: true, configurable: true });
      }
      return all;
    };
    const __spread__ = async (beside) => {
      const besides = beside > 0 ? __spread__(beside - 1) : undefined;
      while (next < names.length) {
        const at = next++;
        try {
          answers[at] = { value: await call({ ...others, [argument]: names[at] }) };
        } catch (error) {
          answers[at] = { error: `${error?.message ?? error}` };
        }
      }
      await besides;
      return beside === together - 1 ? collected() : undefined;
    };
    return __spread__(together - 1);
  };

  return { usingCtx, exclusive, spread };
})();
