// Make a branch release-2 in the repository, write CHANGES.md there with the subjects of the last 10 commits, and commit it.
const repo_path = "/world/repo";
const log = await git.git_log({ repo_path, max_count: 10 });
const text = typeof log === "string" ? log : JSON.stringify(log, null, 1);
const subjects = [...text.matchAll(/Message:\s*(.*)/g)].map(m => m[1].replace(/^['"]|['"]$/g, "").split("\\n")[0].trim()).filter(Boolean);
if (subjects.length !== 10) throw new Error("cannot read the log: " + text.slice(0, 500));
await git.git_create_branch({ repo_path, branch_name: "release-2" });
await git.git_checkout({ repo_path, branch_name: "release-2" });
await fs.write_file({ path: `${repo_path}/CHANGES.md`, content: "# Changes\n\n" + subjects.map(s => `- ${s}`).join("\n") + "\n" });
await git.git_add({ repo_path, files: ["CHANGES.md"] });
return { subjects, commit: await git.git_commit({ repo_path, message: "docs: add CHANGES.md" }) };
