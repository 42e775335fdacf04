// Find every TODO and FIXME in the source folder.
const { content } = await fs.search_files({ path: 'src', pattern: '**' });
const files = content.split('\n').filter((path) => /\.(ts|js)$/.test(path)).sort();
const found = [];
for (const path of files) {
  const { content: text } = await fs.read_text_file({ path });
  text.split('\n').forEach((line, index) => {
    const match = line.match(/\/\/\s*(TODO|FIXME):?\s*(.*)/);
    if (match) found.push({ file: path.split('/').pop(), line: index + 1, kind: match[1], text: match[2] });
  });
}
return found;
