// Takes a JSON list of scripts on stdin and prints the list of what Node makes of them, which share
// a realm: a value as text, or `throws` and what was thrown, of an error its name. The guest's own
// tests (guest/testing) compare with it.
import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";

if (!process.version.startsWith("v20.") || new Date(0).getTimezoneOffset() !== 0) {
  throw new Error("scripts are judged by Node 20 in UTC: set TZ=UTC");
}
const realm = createContext({});
const results = JSON.parse(readFileSync(0, "utf8")).map((script) => {
  try {
    // Halves of pairs are written out, as the guest does.
    return String(runInContext(script, realm)).replace(/\p{Surrogate}/gu, (half) => `\\u${half.charCodeAt(0).toString(16).toUpperCase()}`);
  } catch (error) {
    // Errors of the realm and of this one: a text of a symbol is made here.
    return `throws ${/^\[object Error\]$/.test(Object.prototype.toString.call(error)) ? error.name : String(error)}`;
  }
});
process.stdout.write(JSON.stringify(results));
