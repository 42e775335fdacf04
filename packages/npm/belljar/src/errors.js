// What goes wrong, as errors: with belljar itself (`BelljarError`), or with a run (`RunError`).

/**
 * Something is wrong with belljar, its process or the request; `code` says what.
 *
 * - `binary`: there is no belljar program
 * - `exited`: the process or connection ended; a `run` that was under way is lost
 * - `closed`: the jar was closed
 * - `protocol`: the other side does not speak belljar's protocol
 * - `request`: belljar refused the request (a name that is not an identifier, say)
 * - `busy`: there is no place for the run; `retryable` is true
 * - `size`: a message would be larger than the protocol allows: the request, or the outcome of a run that has ended
 * - `run`: the run failed: this is a {@link RunError}
 */
export class BelljarError extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.name = "BelljarError";
    this.code = code;
    this.retryable = code === "busy";
  }
}

/**
 * A run that failed. `kind` is belljar's, `name` and `message` are those of what the script threw,
 * or say which limit ended the run. `outcome` has everything: logs, calls, usage.
 */
export class RunError extends BelljarError {
  constructor(outcome, options) {
    const { name, message } = nameAndMessage(outcome.error);
    super("run", message, options);
    this.name = name;
    this.kind = outcome.error.kind;
    this.retryable = this.kind === "busy";
    this.line = outcome.error.line;
    this.column = outcome.error.column;
    this.hint = outcome.error.hint;
    this.outcome = outcome;
  }
}

const NAMES = {
  timeout: "TimeoutError",
  fuel: "TimeoutError",
  memory: "MemoryLimitError",
  stack: "StackOverflowError",
  syntax: "SyntaxError",
  cancelled: "AbortError",
};

/** The name and the bare message of an outcome's error, as hosts want them apart. */
export function nameAndMessage(error) {
  if (error.thrown && (error.kind === "tool" || error.kind === "exception")) {
    return { name: error.thrown.name, message: error.thrown.message };
  }
  const text = String(error.message ?? "");
  const [, prefix, bare] = /^([A-Za-z]\w*Error): ([^]*)$/.exec(text) ?? [];
  if (NAMES[error.kind]) return { name: NAMES[error.kind], message: bare ?? text };
  if (prefix) return { name: prefix, message: bare };
  const kind = String(error.kind);
  return { name: `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Error`, message: text };
}
