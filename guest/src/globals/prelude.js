// Evaluated once, before the snapshot. Kept to what is shortest to say in JavaScript itself.
class ToolError extends Error {
  constructor(server, tool, message, content, hint) {
    super(message);
    const define = (name, value) =>
      Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: false });
    this.server = server;
    this.tool = tool;
    if (content !== undefined) define("content", content);
    if (hint !== undefined) define("hint", hint);
  }
}
Object.defineProperty(ToolError.prototype, "name", { value: "ToolError", writable: true, configurable: true });
Object.defineProperty(globalThis, "ToolError", { value: ToolError, writable: true, configurable: true });
