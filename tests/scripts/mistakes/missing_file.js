for (const name of ['README.md', 'CHANGELOG.md']) {
  const { content } = await fs.read_text_file({ path: name });
  console.log(name, content.length);
}
