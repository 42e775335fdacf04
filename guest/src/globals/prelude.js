// Evaluated once, before the snapshot. Kept to what is shortest to say in JavaScript itself: the class that scripts test for
// with `instanceof`. belljar's own errors get its prototype without calling it (see tool_error.rs).
{
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
}
