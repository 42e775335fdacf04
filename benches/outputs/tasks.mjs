// Three tasks whose outputs are large, and two questions about each.

import { PAGES } from "./data.mjs";

const COUNT_ERRORS = (log) => `const counts = {};
for (const [, service] of ${log}.matchAll(/ ERROR (\\w+) /g)) counts[service] = (counts[service] ?? 0) + 1;
return counts`;
const COUNT_OPEN = (rows) => `const counts = {};
for (const { state, label } of ${rows}) if (state === "open") counts[label] = (counts[label] ?? 0) + 1;
return counts`;

const search = (words, id) => `return await artifacts.search(${JSON.stringify(words)}, { in: "${id}", limit: 2 })`;

/** Whether an answer has all counts. */
const hasCounts = (counts) => (text) => Object.entries(counts).every(([name, count]) => new RegExp(`${name}\\W{1,6}${count}\\b`).test(text));

/** A log of 2 MB: how many errors has each service; later: what was refused? */
export function logTask(path, errors) {
  const read = `await fs.read_text_file({ path: ${JSON.stringify(path)} })`;
  const counting = COUNT_ERRORS("FILE_CONTENT").replace("return counts", "console.log(JSON.stringify(counts))");
  return {
    name: "log",
    title: "a log of 2 MB",
    server: "fs",
    wish: "read a text file",
    everything: [["read_text_file", { path }]],
    script: read,
    questionAbout: (id) => COUNT_ERRORS(`(await artifacts.get("${id}")).content`),
    laterAbout: (id) => search("refused connection", id),
    question: COUNT_ERRORS(`(${read}).content`),
    later: `return (${read}).content.split("\\n").filter((line) => line.includes("refused"))`,
    contextMode: {
      first: [["ctx_execute", { language: "shell", code: `cat ${path}`, intent: "errors of each service" }]],
      question: ["ctx_execute_file", { path, language: "javascript", code: counting }],
      later: ["ctx_search", { queries: ["refused connection"] }],
    },
    // The whole log contains what is to be counted.
    isAnswered: (first, later, isWhole) => (isWhole ? first.length > 1e6 : hasCounts(errors)(first)) && /10\.0\.3\.7:5432 refused/.test(later),
  };
}

/** 40 pages of a site: how often is a webhook retried; later: when is it put into quarantine? */
export function pagesTask(base) {
  const urls = Array.from({ length: PAGES }, (_, page) => `${base}${page}`);
  const all = `await Promise.all(Array.from({ length: ${PAGES} }, (_, page) =>
  web.fetch({ url: "${base}" + page, max_length: 100000, raw: true })))`;
  // ctx_fetch_and_index takes the addresses one by one: 5,600 tokens for 40 of them and its list of what it fetched.
  const loop = `for (let page = 0; page < ${PAGES}; page++) console.log(await (await fetch("${base}" + page)).text())`;
  const finding = (word) => `return (${all}).flatMap((page) => page.match(/<p>[^<]*${word}[^<]*/gi) ?? [])`;
  const isSaid = (text) => /retried 9 times, with a backoff of 45 seconds, before it is put into quarantine/.test(text);
  return {
    name: "pages",
    title: "40 pages of a site",
    server: "web",
    wish: "fetch a page",
    everything: urls.map((url) => ["fetch", { url, max_length: 100_000, raw: true }]),
    script: all,
    questionAbout: (id) => search("webhook retried", id),
    laterAbout: (id) => search("quarantine backoff", id),
    question: finding("webhook"),
    later: finding("quarantine"),
    contextMode: {
      first: [["ctx_execute", { language: "javascript", code: loop, intent: "webhook retried" }]],
      question: ["ctx_search", { queries: ["webhook retried"] }],
      later: ["ctx_search", { queries: ["quarantine backoff"] }],
    },
    isAnswered: (first, later) => isSaid(first) && isSaid(later),
  };
}

/** 5,000 issues: how many of each label are open; later: which one is about uploads that stall? */
export function issuesTask(path, open, python) {
  const read = `await db.read_query({ query: "SELECT * FROM issues" })`;
  const rows = `import json, sqlite3
db = sqlite3.connect(${JSON.stringify(path)})
db.row_factory = sqlite3.Row
rows = [dict(row) for row in db.execute("SELECT * FROM issues")]`;
  return {
    name: "issues",
    title: "5,000 issues",
    server: "db",
    wish: "query the database",
    everything: [["read_query", { query: "SELECT * FROM issues" }]],
    script: read,
    questionAbout: (id) => COUNT_OPEN(`await artifacts.get("${id}")`),
    laterAbout: (id) => search("uploads stall", id),
    question: COUNT_OPEN(read),
    later: `return (${read}).filter(({ title }) => /stall/.test(title)).map(({ id, title }) => ({ id, title }))`,
    contextMode: {
      first: [["ctx_execute", { language: "python", code: `${rows}\nprint(json.dumps(rows, indent=1))`, intent: "open issues of each label" }]],
      question: ["ctx_execute", { language: "python", code: `${rows}\nfrom collections import Counter\nprint(Counter(row["label"] for row in rows if row["state"] == "open"))` }],
      later: ["ctx_search", { queries: ["uploads stall"] }],
    },
    isAnswered: (first, later, isWhole) => (isWhole ? first.length > 1e6 : hasCounts(open)(first)) && /Uploads over 4 GiB stall/.test(later),
  };
}
