// The published package: its files, entries and types, and the examples in its documents.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { home } from "./support.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = join(here, "..");
const folder = join(root, "belljar");
const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const execute = promisify(execFile);

/** The blocks of code of a document in one language. */
function blocks(file, language) {
  const text = readFileSync(join(root, "../..", file), "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, "gm"))].map(([, code]) => code);
}

const DOCUMENTS = ["packages/npm/belljar/README.md", "docs/HOSTS.md"];

test("the package has its sources, its types and its README, and nothing else", async () => {
  const { stdout } = await execute("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: folder,
    env: { ...process.env, npm_config_offline: "true" },
  });
  const [{ files }] = JSON.parse(stdout);
  const paths = files.map(({ path }) => path).filter((path) => !path.startsWith("bin/")).sort();
  const sources = readdirSync(join(folder, "src"), { recursive: true }).filter((path) => /\.(js|d\.ts)$/.test(path)).map((path) => `src/${path}`);
  assert.deepEqual(paths, ["README.md", "package.json", ...sources].sort());
});

test("every entry exists, with its types", async () => {
  for (const [name, entry] of Object.entries(manifest.exports)) {
    for (const path of typeof entry === "string" ? [entry] : Object.values(entry)) {
      assert.ok(existsSync(join(folder, path)), `${name}: ${path}`);
    }
  }
  assert.equal(manifest.dependencies, undefined);
});

test("it has the version of the program, and sends it to belljar", () => {
  const workspace = readFileSync(join(root, "../../Cargo.toml"), "utf8");
  const [, version] = /^\[workspace\.package\]\nversion = "(.*)"$/m.exec(workspace);
  assert.equal(manifest.version, version);
  const source = readFileSync(join(folder, "src/connection.js"), "utf8");
  assert.ok(source.includes(`version: "${version}"`));
});

test("for Workers and browsers nothing of Node is imported", () => {
  const seen = new Set();
  const visit = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, specifier] of readFileSync(file, "utf8").matchAll(/from "([^"]+)"/g)) {
      assert.doesNotMatch(specifier, /^node:/, file);
      if (specifier.startsWith(".")) visit(join(file, "..", specifier));
      else if (specifier === "belljar") visit(join(folder, manifest.exports["."].workerd));
    }
  };
  for (const entry of ["src/web.js", "src/adapters/cloudflare.js", "src/adapters/ai.js", "src/adapters/tanstack.js", "src/adapters/mastra.js"]) {
    visit(join(folder, entry));
  }
  assert.ok(seen.size > 8);
});

test("the declarations are right, and match the hosts' own", async (context) => {
  const examples = mkdtempSync(join(here, "types", "examples-"));
  context.after(() => rmSync(examples, { recursive: true }));
  const files = DOCUMENTS.flatMap((file) => blocks(file, "ts")).map((code, index) => {
    const file = join(examples, `${index}.ts`);
    writeFileSync(file, code);
    return file;
  });
  assert.ok(files.length > 0);
  const options = "--noEmit --strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes --module nodenext --target es2022 --lib es2022,dom,dom.iterable";
  const compile = (given) => execute(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...options.split(" "), ...given], { cwd: join(here, "types") })
    .catch(({ stdout }) => assert.fail(stdout));
  // These alone are checked completely; the hosts' declarations are not ours to check.
  await compile(["--types", "", "client.ts"]);
  await compile(["--skipLibCheck", "adapters.ts", ...files]);
});

for (const file of DOCUMENTS) {
  test(`the examples of ${file} print what they say`, async () => {
    const examples = blocks(file, "js");
    assert.ok(examples.length > 0);
    for (const code of examples) {
      const expected = [...code.matchAll(/^ *console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => `${text}\n`).join("");
      const { stdout } = await execute(process.execPath, ["--input-type=module", "--eval", code], {
        cwd: root,
        env: { ...process.env, HOME: home },
        timeout: 60_000,
      }).catch((error) => assert.fail(`${code}\n${error.stderr}`));
      assert.equal(stdout, expected, code);
    }
  });
}
