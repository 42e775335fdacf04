// Find all TODOs in the Markdown files below docs, with file and line, write them to docs/todo.md, and count them by person.
const root = "/world/docs";
const found = (await fs.search_files({ path: root, pattern: "**/*.md" })).content;
const files = found.split("\n").map(s => s.trim()).filter(s => s.endsWith(".md"));
const todos = [];
await Promise.all(files.map(async file => {
  const text = (await fs.read_text_file({ path: file })).content;
  text.split("\n").forEach((line, i) => {
    const m = line.match(/TODO(?:\(([^)]*)\))?:?\s*(.*)/);
    if (m) todos.push({ file: file.slice(root.length + 1), line: i + 1, who: m[1] ?? "nobody", what: m[2] });
  });
}));
todos.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
await fs.write_file({ path: `${root}/todo.md`, content: "# TODO\n\n" + todos.map(t => `- ${t.file}:${t.line} ${t.who}: ${t.what}`).join("\n") + "\n" });
return { total: todos.length, by: Object.fromEntries(Object.entries(Object.groupBy(todos, t => t.who)).map(([k, v]) => [k, v.length])) };
