// A browser for the tests: Chromium, whose DevTools protocol uses this program's stdin and stdout,
// one message per line. Usage: node browser.mjs PROFILE_FOLDER

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [profile] = process.argv.slice(2);
const browser = spawn(
  "chromium",
  [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", `--user-data-dir=${profile}`, "--remote-debugging-pipe", "about:blank",
  ],
  { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], env: { ...process.env, HOME: profile } },
);
browser.on("error", (error) => {
  console.error(`chromium is missing: apt-get install chromium (${error.message})`);
  process.exit(1);
});
browser.on("exit", () => process.exit(0));
const [, , , input, output] = browser.stdio;

createInterface({ input: process.stdin }).on("line", (line) => input.write(`${line}\0`)).on("close", () => browser.kill());

let rest = [];
output.on("data", (bytes) => {
  let from = 0;
  for (let end; (end = bytes.indexOf(0, from)) >= 0; from = end + 1) {
    process.stdout.write(`${Buffer.concat([...rest, bytes.subarray(from, end)]).toString("utf8")}\n`);
    rest = [];
  }
  rest.push(bytes.subarray(from));
});
