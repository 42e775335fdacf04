// Where the program `belljar` is: an option, BELLJAR_BINARY, the package of this platform, PATH.

import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";

import { BelljarError } from "./errors.js";

const PROGRAM = process.platform === "win32" ? "belljar.exe" : "belljar";

/**
 * The path of the program.
 *
 * @throws {BelljarError} with the code `binary`, and where it was looked for
 */
export function findBinary(given) {
  const found = given ?? (process.env.BELLJAR_BINARY || undefined) ?? fromPackage() ?? fromPath();
  if (found) return found;
  throw new BelljarError(
    "binary",
    `there is no belljar program for ${process.platform} ${process.arch}: ${packages().join(" or ")} is not installed ` +
      "(a lock file from another platform, or --omit=optional, leaves it out: npm install it), and PATH has none. " +
      "The option `binary` and BELLJAR_BINARY name one",
  );
}

/** The packages that may have this platform's program, the likelier one first. */
function packages() {
  const name = `@belljar/cli-${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return [name];
  // The program for musl is static and runs on glibc too.
  return isMusl() ? [`${name}-musl`] : [name, `${name}-musl`];
}

function isMusl() {
  if (!process.report) return false;
  // Without this a report looks up the names of the machine's connections.
  process.report.excludeNetwork = true;
  return !process.report.getReport().header?.glibcVersionRuntime;
}

function fromPackage() {
  const require = createRequire(import.meta.url);
  for (const name of packages()) {
    try {
      return require.resolve(`${name}/${PROGRAM}`);
    } catch {
      // Not installed.
    }
  }
  return undefined;
}

function fromPath() {
  return (process.env.PATH ?? "").split(delimiter).filter(Boolean).map((folder) => join(folder, PROGRAM)).find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
