// A tour of code mode over the built-in demo, a small issue tracker:  belljar run examples/tour.ts
//
// By tool calls alone, a model would make nine of them here and read every answer. This is one call, and all
// that the model reads is the object at the end.

type Issue = { id: number; title: string; assignee: string; comments: { author: string; text: string }[] };

// Every tool is an async function of its server. It takes one object and returns a plain value.
const { projects } = await demo.list_projects();

// Calls that do not wait for each other run at the same time.
const lists = await Promise.all(projects.map(({ name }) => demo.list_issues({ project: name, state: "open" })));
const open = lists.flatMap(({ issues }) => issues);

// Filters, loops and sums cost no tokens, however long the lists are.
const urgent = open.filter(({ labels }) => labels.includes("urgent"));
const details: Issue[] = await Promise.all(urgent.map(({ id }) => demo.get_issue({ id })));
const load: Record<string, number> = {};
for (const { assignee } of open) load[assignee || "nobody"] = (load[assignee || "nobody"] ?? 0) + 1;

// A tool that fails throws an error, which can be caught like any other.
const missing = await demo.get_issue({ id: 4711 }).catch((error: Error) => error.message);

console.log(`looked at ${open.length} open issues of ${projects.length} projects; ${urgent.length} are urgent`);

return {
  load,
  urgent: details
    .sort((a, b) => b.comments.length - a.comments.length)
    .map(({ id, title, assignee, comments }) => ({ id, title, assignee, lastWord: comments.at(-1)?.text ?? null })),
  missing,
};
