for (const path of ['notes/ideas.txt']) {
  const { content } = await fs.read_text_file({ path });
  lines = content.trim().split('\n');
}
return lines.length;
