const readAll = (paths) => paths.map((path) => {
  const { content } = await fs.read_text_file({ path });
  return content;
});
return readAll(['README.md']);
