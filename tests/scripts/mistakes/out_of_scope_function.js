async function load(path) {
  const notes = await fs.read_text_file({ path });
}
await load('notes/ideas.txt');
return notes.content;
