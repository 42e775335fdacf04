// Scripts as a model writes them over data: rows of one of several kinds, and three or four questions about them, each answered in one of
// several styles.

const NAMES = ["ada", "Bo", "Çelik", "dee", "O'Hara", "eve"];
const DATA = {
  issues: { text: "title", key: "state", number: "votes", date: "opened", list: "labels", make: (r, i) => ({ id: i + 1, title: r.of(["Crash on start", "add docs", "Fix typo: readme", "slow query (again)", "Ünicode"]), state: r.of(["open", "closed", "draft"]), votes: r.integer(0, 40), opened: day(r), labels: r.list(0, 2, () => r.of(["bug", "ui", "docs"])), by: r.chance(20) ? null : r.of(NAMES) }) },
  orders: { text: "product", key: "region", number: "price", date: "at", list: "tags", make: (r, i) => ({ id: `o${i}`, product: r.of(["pen", "Ink, blue", "paper \"A4\"", "desk"]), region: r.of(["EU", "US", "APAC"]), price: r.of([9.99, 0.1, 120, 3.005, 45.5]), at: day(r), tags: r.list(0, 2, () => r.of(["new", "sale"])), by: r.of(NAMES) }) },
  files: { text: "path", key: "type", number: "size", date: "changed", list: "owners", make: (r) => ({ path: r.of(["src/main.rs", "docs/a b.md", "src/lib/mod.rs", "README", "x/y/z.test.js"]), type: r.of(["file", "link"]), size: r.integer(0, 90000), changed: day(r), owners: r.list(1, 2, () => r.of(NAMES)), by: r.of(NAMES) }) },
  events: { text: "message", key: "level", number: "ms", date: "time", list: "trace", make: (r) => ({ message: r.of(["GET /users/42 200", "POST /login 401", "timeout after 30s", "user=ada id=7", ""]), level: r.of(["info", "warn", "error"]), ms: r.integer(1, 3000), time: day(r), trace: r.list(0, 3, () => r.of(["a", "b", "c"])), by: r.of(NAMES) }) },
};

const day = (r) => `2024-0${r.integer(1, 3)}-${String(r.integer(1, 28)).padStart(2, "0")}T${String(r.integer(0, 23)).padStart(2, "0")}:15:00Z`;

// Each takes the names of a kind of data, and gives [name, source] of an answer.
const QUESTIONS = [
  (d) => ["byKey", `const byKey = {};\nfor (const row of rows) (byKey[row.${d.key}] ??= []).push(row.${d.number});`],
  (d) => ["byKey", `const byKey = Object.fromEntries([...rows.reduce((m, row) => m.set(row.${d.key}, (m.get(row.${d.key}) ?? 0) + 1), new Map())].sort(([a], [b]) => a.localeCompare(b)));`],
  (d) => ["byKey", `const byKey = rows.reduce((all, { ${d.key}: key, ...rest }) => ({ ...all, [key]: { n: (all[key]?.n ?? 0) + 1, sum: (all[key]?.sum ?? 0) + rest.${d.number} } }), {});`],
  (d) => ["top", `const top = [...rows].sort((a, b) => b.${d.number} - a.${d.number} || (a.${d.text} < b.${d.text} ? -1 : 1)).slice(0, 3).map(({ ${d.text}: text, ${d.number}: n }) => \`\${text} (\${n})\`);`],
  (d) => ["top", `let top = null;\nfor (const row of rows) if (!top || row.${d.number} > top.${d.number}) top = row;`],
  (d) => ["top", `const best = Math.max(...rows.map((row) => row.${d.number}));\nconst top = rows.findIndex((row) => row.${d.number} === best);`],
  (d) => ["months", `const months = new Map();\nfor (const row of rows) {\n  const month = row.${d.date}.slice(0, 7);\n  if (!months.has(month)) months.set(month, new Set());\n  months.get(month).add(row.${d.key});\n}`, "[...months].map(([m, s]) => [m, [...s].sort()])"],
  (d) => ["months", `const months = rows.map((row) => new Date(row.${d.date}).toLocaleDateString("en-US", { month: "short", year: "numeric" }));`],
  (d) => ["span", `const times = rows.map((row) => Date.parse(row.${d.date})).sort((a, b) => a - b);\nconst span = Math.round((times.at(-1) - times[0]) / 864e5);`],
  (d) => ["span", `const [first, ...others] = rows.map((row) => new Date(row.${d.date})).sort((a, b) => a - b);\nconst span = others.map((at) => ((at - first) / 36e5).toFixed(1) + "h");`],
  (d) => ["weekdays", `const weekdays = Array(7).fill(0);\nrows.forEach(({ ${d.date}: at }) => weekdays[new Date(at).getUTCDay()]++);`],
  (d) => ["table", `const width = Math.max(...rows.map((row) => row.${d.text}.length));\nconst table = rows.map((row) => \`| \${row.${d.text}.padEnd(width)} | \${String(row.${d.number}).padStart(6)} |\`).join("\\n");`],
  (d) => ["csv", `const quote = (value) => (/[",\\n]/.test(value) ? \`"\${value.replaceAll('"', '""')}"\` : value);\nconst csv = ["${d.text},${d.number}", ...rows.map((row) => [row.${d.text}, String(row.${d.number})].map(quote).join(","))].join("\\n");`],
  (d) => ["slugs", `const slugs = rows.map((row) => row.${d.text}.normalize("NFD").replace(/[\\u0300-\\u036f]/g, "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, ""));`],
  (d) => ["words", `const words = rows.flatMap((row) => row.${d.text}.match(/\\p{L}+/gu) ?? []).reduce((count, word) => { count[word.toLowerCase()] = (count[word.toLowerCase()] || 0) + 1; return count; }, Object.create(null));`, "Object.entries(words).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))"],
  (d) => ["tags", `const tags = [...new Set(rows.flatMap((row) => row.${d.list}))].sort();`],
  (d) => ["tags", `const tags = {};\nfor (const { ${d.list}: list, by = "nobody" } of rows) for (const tag of list) (tags[tag] ??= new Set()).add(by);`, "Object.entries(tags).map(([t, s]) => `${t}:${[...s].length}`)"],
  (d) => ["people", `const people = rows.map((row) => row.by?.toUpperCase?.() ?? "UNKNOWN").filter((name, at, all) => all.indexOf(name) === at).sort((a, b) => a.localeCompare(b));`],
  (d) => ["stats", `const values = rows.map((row) => row.${d.number}).toSorted((a, b) => a - b), sum = values.reduce((a, b) => a + b, 0);\nconst stats = { n: values.length, mean: +(sum / values.length).toFixed(2), median: (values[(values.length - 1) >> 1] + values[values.length >> 1]) / 2, max: values.at(-1) };`],
  (d) => ["running", `let total = 0;\nconst running = rows.map((row) => (total += row.${d.number}).toFixed(1));`],
  (d) => ["checked", `const checked = await Promise.all(rows.map(async (row, at) => { await null; if (row.${d.number} % 2 > 1) throw new RangeError("odd " + at); return row.${d.key}; }).map((p) => p.catch((e) => e.message)));`],
  (d) => ["checked", `const checked = (await Promise.allSettled(rows.map(async ({ ${d.list}: list }) => list[0].length))).map((r) => r.status === "fulfilled" ? r.value : r.reason.constructor.name);`],
  (d) => ["batches", `const batches = [];\nfor (let at = 0; at < rows.length; at += 2) batches.push(await Promise.all(rows.slice(at, at + 2).map(async (row) => row.${d.text}.length)));`],
  (d) => ["found", `const needle = /[aeiou]{2}|\\d+/i;\nconst found = rows.filter(({ ${d.text}: text }) => needle.test(text)).map(({ ${d.text}: text }) => needle.exec(text)[0]);`],
  (d) => ["lookup", `const index = new Map(rows.map((row) => [row.${d.text}, row]));\nconst lookup = ["pen", "README", rows[0].${d.text}].map((key) => index.get(key)?.${d.number} ?? "-");`],
  (d) => ["pages", `async function* paged(size) { for (let at = 0; at < rows.length; at += size) { await null; yield rows.slice(at, at + size); } }\nconst pages = [];\nfor await (const page of paged(3)) { pages.push(page.map((row) => row.${d.key})); if (pages.length === 2) break; }`],
  (d) => ["copy", `const copy = structuredClone(rows).map((row) => Object.assign(row, { ${d.number}: row.${d.number} * 2 }));\nconst same = copy.every((row, at) => row !== rows[at] && row.${d.number} === rows[at].${d.number} * 2);`, "[same, copy[0]]"],
  (d) => ["diff", `const later = rows.map((row, at) => (at % 2 ? row : { ...row, ${d.key}: "moved" })).slice(1);\nconst diff = { gone: rows.filter((row) => !later.some((other) => other.${d.text} === row.${d.text})).length, changed: later.filter((row) => row.${d.key} === "moved").length };`],
  (d) => ["groups", `const groups = rows.map((row) => ({ ...row, level: row.${d.number} > 1000 ? "high" : row.${d.number} > 20 ? "mid" : "low" })).reduce((m, row) => { const list = m.get(row.level); if (list) list.push(row.${d.text}); else m.set(row.level, [row.${d.text}]); return m; }, new Map());`, "Object.fromEntries(groups)"],
  (d) => ["report", `const report = \`# \${rows.length} rows\\n\${rows.slice(0, 2).map((row, at) => \`\${at + 1}. **\${row.${d.text} || "(none)"}** \${row.${d.list}.length ? \`[\${row.${d.list}.join("|")}]\` : ""}\`).join("\\n")}\`;`],
  (d) => ["money", `const money = rows.map((row) => row.${d.number}.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 }));`],
  (d) => ["parsed", `const parsed = rows.map(({ ${d.text}: text }) => { try { const [, verb, path] = /^(\\w+) (\\S+)/.exec(text); return { verb, path }; } catch ({ name }) { return name; } });`],
  (d) => ["joined", `const owners = [{ name: "ada", team: "core" }, { name: "Bo", team: "web" }];\nconst joined = rows.map((row) => ({ key: row.${d.key}, team: owners.find((o) => o.name === row.by)?.team ?? null })).filter((row) => row.team !== null);`],
  (d) => ["json", `const json = JSON.stringify(rows.slice(0, 2), (key, value) => (key === "${d.list}" ? value.length : value === null ? "none" : value), 1);`],
  (d) => ["streak", `let streak = 0, most = 0, before;\nfor (const { ${d.key}: key } of rows) { streak = key === before ? streak + 1 : 1; most = Math.max(most, streak); before = key; }`, "[streak, most]"],
];

export function report(random) {
  const d = random.of(Object.values(DATA));
  const rows = random.list(3, 5, (index) => d.make(random, index));
  const asked = new Map();
  for (const question of random.shuffled(QUESTIONS)) {
    const [name, source, view = name] = question(d);
    if (!asked.has(name)) asked.set(name, [source, view]);
    if (asked.size === 3) break;
  }
  const answers = [...asked].map(([name, [, view]]) => (view === name ? name : `${name}: ${view}`));
  return `const rows = [\n${rows.map((row) => `  ${literal(row)},`).join("\n")}\n];\n${[...asked.values()].map(([source]) => source).join("\n")}\nreturn { ${answers.join(", ")} };`;
}

// As one writes it, not as JSON has it.
function literal(row) {
  return `{ ${Object.entries(row).map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(", ")} }`;
}
