// Makes the packages for npm: `npm.mjs client` makes `belljar` (the client and the command, the
// same for every platform), and `npm.mjs program` makes the package with one platform's program.
// npm installs the one that fits. Nothing runs while they are installed.

import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const option = { type: "string" };
const options = { version: option, target: option, program: option, stage: option, to: option };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const repository = fileURLToPath(new URL("../..", import.meta.url));
const platforms = JSON.parse(readFileSync(join(repository, "packages/platforms.json"), "utf8"));
const platform = platforms.find(({ target }) => target === values.target);
const nameOf = ({ npm }) => `@belljar/cli-${npm}`;
const common = {
  version: values.version,
  license: "MIT OR Apache-2.0",
  homepage: "https://github.com/belljar/belljar",
  repository: { type: "git", url: "git+https://github.com/belljar/belljar.git" },
};

const licenses = ["LICENSE-APACHE", "LICENSE-MIT"];

function pack(folder) {
  for (const license of licenses) copyFileSync(join(repository, license), join(folder, license));
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", values.to], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
}

/** The client and the command. */
function client() {
  const folder = join(values.stage, "belljar");
  const source = join(repository, "packages/npm/belljar");
  rmSync(folder, { recursive: true, force: true });
  cpSync(source, folder, { recursive: true, filter: (path) => basename(path) !== "node_modules" });
  const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  const whole = {
    ...manifest,
    ...common,
    bin: { belljar: "bin/belljar.js" },
    files: [...manifest.files, ...licenses],
    // Pinned, since a client needs the program of the same release.
    optionalDependencies: Object.fromEntries(platforms.map((each) => [nameOf(each), values.version])),
  };
  delete whole.devDependencies;
  delete whole.scripts;
  delete whole.private;
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(whole, null, 2)}\n`);
  pack(folder);
}

/** The program of this platform. */
function program() {
  const folder = join(values.stage, "program");
  const file = basename(values.program);
  mkdirSync(folder, { recursive: true });
  copyFileSync(values.program, join(folder, file));
  chmodSync(join(folder, file), 0o755);
  const manifest = {
    name: nameOf(platform),
    description: `belljar's program for ${platform.npm}. Install the package belljar, which depends on this one.`,
    ...common,
    os: [platform.os],
    cpu: [platform.cpu],
    ...(platform.libc && { libc: [platform.libc] }),
    files: [file, ...licenses],
    // Yarn's Plug'n'Play keeps packages in archives, and programs cannot be started from there.
    preferUnplugged: true,
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(folder, "README.md"), `The program of [belljar](https://github.com/belljar/belljar) for ${platform.npm}.\n`);
  pack(folder);
}

const made = { client, program };
made[positionals[0]]();
