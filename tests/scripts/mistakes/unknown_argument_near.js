const log = await git.git_log({ repo_path: '.', max_counts: 3 });
return log;
