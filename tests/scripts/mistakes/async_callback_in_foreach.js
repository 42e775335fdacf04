const sizes = {};
['README.md', 'package.json'].forEach(async (path) => {
  const { content } = await fs.read_text_file({ path });
  sizes[path] = content.length;
});
return sizes;
