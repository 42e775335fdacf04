const log = await gti.git_log({ repo_path: '.' });
return log;
