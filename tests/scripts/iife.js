(async () => {
  const [local, remote] = await Promise.all([
    git.git_branch({ repo_path: '.', branch_type: 'local' }),
    git.git_branch({ repo_path: '.', branch_type: 'remote' }),
  ]);
  const names = (text) => text.split('\n').map((line) => line.replace(/^\*?\s+/, '').split(' -> ')[0]);
  const remotes = new Set(names(remote).map((name) => name.replace(/^origin\//, '')));
  return { unpublished: names(local).map((n) => n.replace(/^\* /, '')).filter((name) => !remotes.has(name)) };
})();
