// What the tasks are about: a log, a site and a database, the same in every run.

import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { writeFileSync } from "node:fs";

export const PAGES = 40;
const ISSUES = 5000;
const LOG_BYTES = 2_000_000;

/** Numbers that look random, from a seed (mulberry32). */
export function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const one = (next, list) => list[Math.floor(next() * list.length)];
const SERVICES = ["billing", "checkout", "search", "session", "uploads"];
const VERBS = ["GET", "POST", "PUT", "DELETE"];

/** Lines of five services; some are errors, and two of them are about a database that does not exist. */
export function log() {
  const next = random(1);
  const lines = [];
  let bytes = 0;
  for (let at = Date.UTC(2026, 10, 20, 8); bytes < LOG_BYTES; at += Math.ceil(next() * 900)) {
    const service = one(next, SERVICES);
    const request = Math.floor(next() * 0xffffffff).toString(16);
    const isError = next() < 0.01;
    const said = isError
      ? `ERROR ${service} request=${request} deadline exceeded after ${1000 + Math.floor(next() * 4000)} ms`
      : `INFO  ${service} request=${request} ${one(next, VERBS)} /v1/${service}/${Math.floor(next() * 1e6)} 200 ${Math.ceil(next() * 80)} ms`;
    lines.push(`${new Date(at).toISOString()} ${said}`);
    bytes += lines.at(-1).length + 1;
  }
  for (const [share, attempt] of [[0.37, 1], [0.81, 2]]) {
    const place = Math.floor(lines.length * share);
    lines[place] = `${lines[place].slice(0, 24)} WARN  billing ledger-db 10.0.3.7:5432 refused the connection, attempt ${attempt}`;
  }
  return { text: `${lines.join("\n")}\n`, errors: counted(lines, SERVICES) };
}

const counted = (lines, services) =>
  Object.fromEntries(services.map((service) => [service, lines.filter((line) => line.includes(`ERROR ${service} `)).length]));

const TOPICS = ["caching", "deployment", "logging", "migration", "monitoring", "pagination", "permissions", "sessions", "search", "uploads"];
const WORDS = "the service keeps each request for a while and then writes what it knows about the client to the store where another worker reads it later in order and answers with a page of results unless a limit was reached before that happened".split(" ");

/** The text of a page, in paragraphs; page 23 says what no other page says. */
export function page(number) {
  const next = random(1000 + number);
  const topic = TOPICS[number % TOPICS.length];
  const sections = Array.from({ length: 12 }, (_, section) => {
    const sentence = () => `${Array.from({ length: 14 }, () => one(next, WORDS)).join(" ")}.`;
    const paragraphs = Array.from({ length: 3 }, () => `<p>${Array.from({ length: 5 }, sentence).join(" ")}</p>`);
    if (number === 23 && section === 7) paragraphs.push("<p>A webhook is retried 9 times, with a backoff of 45 seconds, before it is put into quarantine.</p>");
    return `<h2>${topic} ${section + 1}</h2>\n${paragraphs.join("\n")}`;
  });
  return `<!doctype html><html lang="en"><head><title>${topic}, part ${number}</title></head><body>\n<h1>${topic}, part ${number}</h1>\n${sections.join("\n")}\n</body></html>\n`;
}

/** Serves the pages on this machine. */
export async function site() {
  let asked = 0;
  const server = createServer((request, response) => {
    const number = Number(/^\/page\/(\d+)$/.exec(request.url)?.[1] ?? NaN);
    if (!(number < PAGES)) return response.writeHead(404).end("not found");
    asked++;
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page(number));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${server.address().port}/page/`;
  return { base, asked: () => asked, close: () => new Promise((resolve) => server.close(resolve)) };
}

const LABELS = ["bug", "documentation", "feature", "performance", "question", "security"];

export function issues() {
  const next = random(2);
  return Array.from({ length: ISSUES }, (_, at) => {
    const id = at + 1;
    const body = `${Array.from({ length: 30 }, () => one(next, WORDS)).join(" ")}.`;
    const title = id === 3210 ? "Uploads over 4 GiB stall behind the proxy" : `${one(next, TOPICS)}: ${Array.from({ length: 5 }, () => one(next, WORDS)).join(" ")}`;
    return { id, title, state: next() < 0.4 ? "open" : "closed", label: one(next, LABELS), author: `user${Math.floor(next() * 200)}`, body };
  });
}

/** How many issues of each label are open. */
export const openByLabel = (rows) =>
  Object.fromEntries(LABELS.map((label) => [label, rows.filter((row) => row.state === "open" && row.label === label).length]));

/** Writes the issues into a database of SQLite, with the Python that has the server for it. */
export function writeDatabase(python, path, rows) {
  const json = `${path}.json`;
  writeFileSync(json, JSON.stringify(rows));
  const program = `
import json, sqlite3, sys
rows = json.load(open(sys.argv[1]))
db = sqlite3.connect(sys.argv[2])
db.execute("CREATE TABLE issues (id INTEGER PRIMARY KEY, title TEXT, state TEXT, label TEXT, author TEXT, body TEXT)")
db.executemany("INSERT INTO issues VALUES (:id, :title, :state, :label, :author, :body)", rows)
db.commit()`;
  execFileSync(python, ["-c", program, json, path]);
}
