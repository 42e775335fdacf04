// Errors: something is wrong with belljar itself (`BelljarError`), or a run failed (`RunError`).

/** Something is wrong with belljar, its process or the request; index.d.ts lists the codes. */
export class BelljarError extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.name = "BelljarError";
    this.code = code;
    this.retryable = code === "busy";
  }
}

/**
 * A run that failed. `kind` is belljar's kind of failure. `name` and `message` are those of the
 * error that the script threw, or say what ended the run. `outcome` has the logs, calls and usage.
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

/** The name and the bare message of an outcome's error, which hosts take separately. */
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
