const status = await git.git_status({ repo_path: '.' });
const files = [...status.matchAll(/modified:\s+(\S+)/g)].map(([, file]) => file);
if (files.length === 0) return 'nothing to commit';
await git.git_add({ repo_path: '.', files });
const answer = await git.git_commit({ repo_path: '.', message: `chore: update ${files.join(', ')}` });
return { files, hash: answer.match(/hash (\w+)/)[1] };
