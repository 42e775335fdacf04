/// <reference lib="esnext.disposable" />

/** JSON Schema from any library, for example zod's `z.toJSONSchema(schema)`. */
export type JsonSchema = Record<string, unknown> | boolean;

/** What a handler is told about a call. */
export interface CallContext {
  /**
   * Aborted when the run no longer waits for the call: the call took too long, or the run ended,
   * was cancelled or lost its process.
   */
  readonly signal: AbortSignal;
  /** The namespace that was called; undefined for a top-level function. */
  readonly namespace: string | undefined;
  readonly name: string;
}

/**
 * A function of the host. It gets the one object that the script passed or, if it is
 * {@link positional}, an array of all arguments. It may return any JSON, undefined, typed arrays
 * and ArrayBuffers; Sets become lists, and Maps become objects or lists of entries. If it throws,
 * the script can catch the error, with its name and message but without its stack.
 */
export type Handler<Arguments = any> = (args: Arguments, context: CallContext) => unknown;

/** A function of the host, with its description. */
export interface Tool<Arguments = any> {
  run: Handler<Arguments>;
  description?: string;
  /** The JSON Schema of the arguments. Calls that do not match it never reach `run`. */
  schema?: JsonSchema;
  outputSchema?: JsonSchema;
  effect?: "read_only" | "mutating" | "external";
}

/** The functions of one global object, by name. */
export type Namespace = Record<string, Tool | Handler>;

/**
 * Limits of a run. Durations are milliseconds or strings such as `"30s"`; sizes are bytes or
 * strings such as `"64MiB"`.
 */
export interface Limits {
  /** Wall-clock time, including waits. */
  timeout?: number | string;
  /** Time spent running the script itself, without waits. */
  compute?: number | string;
  /** Time spent waiting, in total. */
  wait?: number | string;
  /** Time of one call. */
  call?: number | string;
  fuel?: number;
  memory?: number | string;
  maxCalls?: number;
  maxConcurrentCalls?: number;
  maxSource?: number | string;
  maxArguments?: number | string;
  maxResult?: number | string;
  maxOutput?: number | string;
  maxLogs?: number | string;
  maxLogLines?: number;
  maxHeld?: number | string;
}

export interface Log {
  level: "debug" | "log" | "info" | "warn" | "error";
  text: string;
}

export interface StreamedLog extends Log {
  /** How many logs before this one were left out because this process read too slowly. */
  lost?: number;
}

export interface RunOptions {
  /** Global objects by name: `{ github: { find: { schema, run } } }` provides `github.find(…)`. */
  tools?: Record<string, Namespace>;
  /** Top-level functions by name. */
  functions?: Record<string, Tool | Handler>;
  /**
   * JavaScript that runs first. It is not counted in line numbers, and may add functions to the
   * global objects.
   */
  prelude?: string;
  /** If false, belljar's own global `tools` is left out, so that the name is free. */
  builtins?: boolean;
  limits?: Limits;
  /** Tools of belljar's own servers that the run may also call; true for all. Default: none. */
  belljar?: readonly string[] | true;
  /** Ends the run when it is aborted. */
  signal?: AbortSignal;
  /**
   * Gets each log while the run is under way, cut at 1,000 bytes; the outcome has the whole text.
   * If it throws or rejects, the run ends, and `run` rejects with the same error.
   */
  onLog?: (log: StreamedLog) => void | Promise<void>;
}

/** What a run did, whether it succeeded or failed. */
export interface OutcomeParts {
  logs: Log[];
  calls: Call[];
  usage: Record<string, number>;
}

export interface Call {
  server: string;
  tool: string;
  ok: boolean;
  ms: number;
  effect?: string;
  [key: string]: unknown;
}

export interface Success<Value = any> extends OutcomeParts {
  ok: true;
  value: Value;
  error: null;
}

export interface Failure extends OutcomeParts {
  ok: false;
  value?: null;
  error: OutcomeError;
}

export type Outcome<Value = any> = Success<Value> | Failure;

export type ErrorKind =
  | "syntax" | "exception" | "tool" | "timeout" | "fuel" | "memory" | "stack" | "deadlock" | "calls" | "output"
  | "plan" | "denied" | "approval" | "cancelled" | "diverged" | "busy" | "usage" | "config" | "internal";

export interface OutcomeError {
  kind: ErrorKind;
  /** `Name: message` of the error that the script threw, or what ended the run. */
  message: string;
  /** `"prelude"` if the prelude, and not the script, failed or reached a limit. */
  where?: "prelude";
  /** Name and message of what the script threw, separately. */
  thrown?: { name: string; message: string };
  line?: number;
  column?: number;
  hint?: string;
  /** The limit that ended the run. */
  limit?: { name: string; max?: number; used?: number; unit?: string } | null;
  [key: string]: unknown;
}

/**
 * Something is wrong with belljar, its process or the request; `code` says what.
 *
 * - `binary`: there is no belljar program
 * - `exited`: the process or connection ended; runs that were under way are lost
 * - `closed`: the jar was closed
 * - `protocol`: the other side does not speak belljar's protocol
 * - `request`: the request is wrong; for example, a name is not an identifier
 * - `busy`: belljar cannot take another run now; `retryable` is true
 * - `size`: the request, or the outcome of a run that has ended, is larger than the protocol allows
 * - `run`: the run failed; the error is a {@link RunError}
 */
export class BelljarError extends Error {
  readonly code: "binary" | "exited" | "closed" | "protocol" | "request" | "busy" | "size" | "run";
  /** Whether the same request may succeed a moment later. */
  readonly retryable: boolean;
}

/**
 * A run that failed. `name` and `message` are those of the error that the script threw. For a
 * limit, `name` is `TimeoutError`, `MemoryLimitError`, `StackOverflowError`, `CallsError` or
 * `OutputError`; for a cancelled run, `AbortError`.
 */
export class RunError extends BelljarError {
  readonly code: "run";
  readonly kind: ErrorKind;
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly hint: string | undefined;
  readonly outcome: Failure;
}

export interface Belljar extends AsyncDisposable {
  /**
   * Runs JavaScript or TypeScript. Many runs may be under way at once.
   *
   * @throws {RunError} if the run failed; its `outcome` has logs, calls and usage
   * @throws {BelljarError} if there is no outcome
   */
  run<Value = any>(code: string, options?: RunOptions): Promise<Success<Value>>;
  /** Like `run`, but also returns the outcome of a run that failed. */
  outcome<Value = any>(code: string, options?: RunOptions): Promise<Outcome<Value>>;
  /** Ends the runs that are under way, and the process or connection. */
  close(): Promise<void>;
  /** What belljar reported about itself at the last connection. */
  readonly about: About;
}

export interface About {
  protocol: number;
  version: string;
  pid?: number;
  /** The limits of a run that sets none. */
  limits: Record<string, number | string>;
  /** The most that a run may ask for, by limit. A limit that is missing here may be raised. */
  ceiling?: Record<string, number | string>;
  /** belljar's own servers, which `RunOptions.belljar` may name. */
  servers: string[];
}

export interface StartOptions {
  /**
   * The path of the program. By default, it is looked up in BELLJAR_BINARY, the package for this
   * platform, and PATH.
   */
  binary?: string;
  /** A configuration file for belljar's own servers. */
  config?: string;
  /** Further arguments for `belljar host`. */
  args?: readonly string[];
  cwd?: string;
  /** The environment of the child. By default, that of this process. */
  env?: Record<string, string | undefined>;
  /** Gets what belljar writes to stderr. */
  onDiagnostic?: (text: string) => void;
}

export interface ConnectOptions {
  token?: string;
  /** A WebSocket class, for when there is no global one. */
  WebSocket?: unknown;
}

export const Belljar: {
  /**
   * Starts a jar as a child process. Node only. It does not keep this process alive while no run is
   * under way.
   */
  start(options?: StartOptions): Promise<Belljar>;
  /** Connects to a jar over a WebSocket. `belljar serve --http` serves one at `/host`. */
  connect(url: string | URL, options?: ConnectOptions): Promise<Belljar>;
};

/** Marks a namespace or a top-level function as positional: `run` gets an array of arguments. */
export function positional(tools: Namespace): Namespace;
export function positional(tool: Tool<any[]> | Handler<any[]>): Tool<any[]>;

/** The path of the program `belljar`. Node only. */
export function findBinary(given?: string): string;
