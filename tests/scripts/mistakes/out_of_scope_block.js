for (const path of ['notes/ideas.txt']) {
  const result = await fs.read_text_file({ path });
}
return result.content;
