const paths = ['notes/monday.md', 'notes/tuesday.md', 'notes/ideas.txt'];
const files = await Promise.all(paths.map((path) => fs.read_text_file({ path })));
return files.map(({ content }, i) => ({
  path: paths[i],
  lines: content.trimEnd().split('\n').length,
  words: content.split(/\s+/).filter(Boolean).length,
}));
