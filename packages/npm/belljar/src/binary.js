// Finds the program `belljar`: by option, BELLJAR_BINARY, this platform's package, or PATH.

import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";

import { BelljarError } from "./errors.js";

const PROGRAM = process.platform === "win32" ? "belljar.exe" : "belljar";

/**
 * The path of the program.
 *
 * @throws {BelljarError} with the code `binary` if there is none; the message says where it looked
 */
export function findBinary(given) {
  const found = given ?? (process.env.BELLJAR_BINARY || undefined) ?? fromPackage() ?? fromPath();
  if (found) return found;
  throw new BelljarError(
    "binary",
    `no belljar program was found for ${process.platform} ${process.arch}: ${packages().join(" or ")} is not installed ` +
      "(a lock file from another platform, or --omit=optional, leaves it out), and PATH has none. " +
      "Install the package, or set the option `binary` or BELLJAR_BINARY to the path of the program",
  );
}

/** The packages that may have this platform's program, the preferred one first. */
function packages() {
  const name = `@belljar/cli-${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return [name];
  // The program for musl is static and runs on glibc too.
  return isMusl() ? [`${name}-musl`] : [name, `${name}-musl`];
}

function isMusl() {
  if (!process.report) return false;
  // Otherwise the report looks up the host names of the process's connections.
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
