const status = await git.git_status({ repo_path: '.' });
await git.git_checkout({ repo_path: '.', branch_name: 'old/spike' });
return 'switched';
