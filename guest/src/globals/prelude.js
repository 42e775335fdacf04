// Evaluated once, before the snapshot. Kept to what is shortest to say in JavaScript itself: the classes that scripts test for
// with `instanceof`. belljar's own errors get their prototypes without calling them (see tool_error.rs and web/exception.rs).
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
}
