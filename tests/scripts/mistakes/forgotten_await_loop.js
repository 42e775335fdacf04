const commits = git.git_log({ repo_path: '.' });
for (const line of commits) {
  console.log(line);
}
