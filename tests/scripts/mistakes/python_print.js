const status = await git.git_status({ repo_path: '.' });
print(status);
