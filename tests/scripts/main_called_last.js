async function main() {
  const status = await git.git_status({ repo_path: '.' });
  const modified = [...status.matchAll(/^\tmodified:\s+(.+)$/gm)].map((m) => m[1]);
  const deleted = [...status.matchAll(/^\tdeleted:\s+(.+)$/gm)].map((m) => m[1]);
  const untracked = status.split('Untracked files:\n')[1].split('\n\n')[0].trim().split('\n');
  return { branch: /On branch (\S+)/.exec(status)[1], modified, deleted, untracked };
}

main();
