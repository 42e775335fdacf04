// What Node makes of a program: the JSON of what it returns, `undefined`, or `throws` and the error's name. A program is the body of an
// async function, in strict mode like the module that a script in the jar is.
if (!process.version.startsWith("v20.") || new Date(0).getTimezoneOffset() !== 0) {
  throw new Error("programs are judged by Node 20 in UTC: set TZ=UTC");
}
// A promise that a program leaves behind is none of its result.
process.on("unhandledRejection", () => {});
// What it throws in a microtask or a timer of its own would end a process.
let uncaught = () => {};
process.on("uncaughtException", (error) => uncaught(error));

const AsyncFunction = (async () => {}).constructor;
const PATIENCE = 5_000;

export async function inNode(source) {
  let patience;
  const never = new Promise((resolve) => (patience = setTimeout(resolve, PATIENCE, "never ends")));
  try {
    const lost = new Promise((resolve) => (uncaught = () => resolve("is not caught")));
    return await Promise.race([never, lost, new AsyncFunction(`"use strict";\n${source}`)().then((value) => JSON.stringify(value) ?? "undefined")]);
  } catch (error) {
    return `throws ${error?.name}`;
  } finally {
    clearTimeout(patience);
  }
}
