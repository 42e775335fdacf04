async function titles(paths) {
  const files = await Promise.all(paths.map((path) => fs.read_text_file({ path })));
  return files.map((file) => file.content.split('\n')[0]);
}
const list = titles(['README.md', 'docs/guide.md']);
return list.filter((title) => title.startsWith('#'));
