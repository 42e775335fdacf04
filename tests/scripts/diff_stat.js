const diff = await git.git_diff({ repo_path: '.', target: 'main~1' });
const stat = {};
let file = null;
for (const line of diff.split('\n')) {
  const header = /^diff --git a\/(\S+)/.exec(line);
  if (header) {
    file = header[1];
    stat[file] = { added: 0, removed: 0 };
  } else if (file && line.startsWith('+') && !line.startsWith('+++')) stat[file].added++;
  else if (file && line.startsWith('-') && !line.startsWith('---')) stat[file].removed++;
}
return stat;
