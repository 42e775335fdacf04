// How many commits has each author made in the repository, and when was the last one of each?
const log = await git.git_log({ repo_path: "/world/repo", max_count: 1000 });
const text = typeof log === "string" ? log : JSON.stringify(log, null, 1);
console.log(text.slice(0, 400));
const by = {};
let author = null;
for (const line of text.split("\n")) {
  const a = line.match(/Author:\s*(.*)/); if (a) author = a[1].trim();
  const d = line.match(/Date:\s*(.*)/);
  if (d && author) {
    const x = by[author] ??= { commits: 0, last: null };
    x.commits++;
    const at = new Date(d[1].trim());
    if (!x.last || at > new Date(x.last)) x.last = isNaN(at) ? d[1].trim() : at.toISOString();
  }
}
return by;
