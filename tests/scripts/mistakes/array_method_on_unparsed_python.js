const commits = await git.git_show({ repo_path: '.', revision: 'undated' });
return commits.map((commit) => commit.message);
