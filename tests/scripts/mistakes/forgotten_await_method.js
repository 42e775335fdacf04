const log = git.git_log({ repo_path: '.' });
const commits = log.split('\n\n');
return commits.length;
