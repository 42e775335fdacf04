const { content } = await fs.directory_tree({ path: '.' });
function count(node) {
  return 1 + count(node);
}
return count(JSON.parse(content));
