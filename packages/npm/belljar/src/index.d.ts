/// <reference lib="esnext.disposable" />

/** JSON Schema, as any library writes it (`z.toJSONSchema(schema)` of zod, say). */
export type JsonSchema = Record<string, unknown> | boolean;

/** What a handler is told about a call. */
export interface CallContext {
  /** Aborted when the run no longer waits for the call: it ended, was cancelled, or its process died. */
  readonly signal: AbortSignal;
  /** The namespace that was called; undefined for a top-level function. */
  readonly namespace: string | undefined;
  readonly name: string;
}

/**
 * A function of the host. It gets the one object that the script passed or, in a {@link positional}
 * namespace, an array of all arguments. What it returns is what the script gets: any JSON, undefined,
 * typed arrays, ArrayBuffers; Sets as lists, and Maps as objects or lists of entries. What it throws the script catches, with its name and message and without
 * its stack.
 */
export type Handler<Arguments = any> = (args: Arguments, context: CallContext) => unknown;

/** A function of the host, with what is known about it. */
export interface Tool<Arguments = any> {
  run: Handler<Arguments>;
  description?: string;
  /** The JSON Schema of the arguments: calls are checked against it before they leave the jar. */
  schema?: JsonSchema;
  outputSchema?: JsonSchema;
  effect?: "read_only" | "mutating" | "external";
}

/** The functions of one global object, by name. */
export type Namespace = Record<string, Tool | Handler>;

/** Limits of a run: numbers of milliseconds or bytes, or texts such as `"30s"` and `"64MiB"`. */
export interface Limits {
  /** Wall time, waits included. */
  timeout?: number | string;
  /** Time inside the script. */
  compute?: number | string;
  /** Time spent waiting, all waits together. */
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
  /** So many logs before this one were left out, because this process read too slowly. */
  lost?: number;
}

export interface RunOptions {
  /** Global objects by name: `{ github: { find: { schema, run } } }` makes `github.find(…)`. */
  tools?: Record<string, Namespace>;
  /** Top-level functions by name. */
  functions?: Record<string, Tool | Handler>;
  /** JavaScript that runs first, is not counted in line numbers, and may add to the global objects. */
  prelude?: string;
  /** False: belljar's own global `tools` is absent, and its name free. */
  builtins?: boolean;
  limits?: Limits;
  /** Tools of belljar's own servers that the run may also call: none by default, true for all. */
  belljar?: readonly string[] | true;
  /** Ends the run. */
  signal?: AbortSignal;
  /**
   * Gets each log while the run is under way, cut at 1,000 bytes; the outcome has all of it. What it
   * throws, or rejects with, ends the run, and is what `run` rejects with.
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
  /** `Name: message`, or what ended the run. */
  message: string;
  /** `"prelude"` if the prelude failed, or was ended by a limit, and not the script. */
  where?: "prelude";
  /** What the script threw, apart. */
  thrown?: { name: string; message: string };
  line?: number;
  column?: number;
  hint?: string;
  /** The limit that ended the run. */
  limit?: { name: string; max?: number; used?: number; unit?: string } | null;
  [key: string]: unknown;
}

/** Something is wrong with belljar, its process or the request. */
export class BelljarError extends Error {
  readonly code: "binary" | "exited" | "closed" | "protocol" | "request" | "busy" | "size" | "run";
  /** Whether the same request may succeed a moment later. */
  readonly retryable: boolean;
}

/**
 * A run that failed. `name` and `message` are those of what the script threw; for a limit `name` is
 * `TimeoutError`, `MemoryLimitError`, `StackOverflowError`; for a cancelled run it is `AbortError`.
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
  /** As `run`, and a run that failed is an outcome too. */
  outcome<Value = any>(code: string, options?: RunOptions): Promise<Outcome<Value>>;
  /** Ends the runs that are under way, and the process or connection. */
  close(): Promise<void>;
  /** What belljar said of itself when it was last connected to. */
  readonly about: About;
}

export interface About {
  protocol: number;
  version: string;
  pid?: number;
  /** The limits of a run that sets none. */
  limits: Record<string, number | string>;
  /** Of these limits a run may not have more; the others it may raise. */
  ceiling?: Record<string, number | string>;
  /** belljar's own servers, which `RunOptions.belljar` may name. */
  servers: string[];
}

export interface StartOptions {
  /** The program: else BELLJAR_BINARY, the package for this platform, PATH. */
  binary?: string;
  /** A configuration of belljar's own servers. */
  config?: string;
  /** More arguments of `belljar host`. */
  args?: readonly string[];
  cwd?: string;
  /** Instead of this process's environment. */
  env?: Record<string, string | undefined>;
  /** Gets what belljar says on stderr. */
  onDiagnostic?: (text: string) => void;
}

export interface ConnectOptions {
  token?: string;
  /** A WebSocket class, where there is no global one. */
  WebSocket?: unknown;
}

export const Belljar: {
  /** A jar as a child process (Node). It does not keep this process alive while no run is under way. */
  start(options?: StartOptions): Promise<Belljar>;
  /** A jar at the other end of a WebSocket: `belljar serve --http` has one at `/host`. */
  connect(url: string | URL, options?: ConnectOptions): Promise<Belljar>;
};

/** A namespace, or a top-level function, whose `run` gets an array of all arguments. */
export function positional(tools: Namespace): Namespace;
export function positional(tool: Tool<any[]> | Handler<any[]>): Tool<any[]>;

/** Where the program is. Node only. */
export function findBinary(given?: string): string;
