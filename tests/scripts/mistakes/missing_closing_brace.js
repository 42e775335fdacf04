async function load(path) {
  const { content } = await fs.read_text_file({ path });
  if (content.length > 10) {
    return content;
}
return await load('README.md');
