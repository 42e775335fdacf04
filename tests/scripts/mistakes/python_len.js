const { content } = await fs.read_text_file({ path: 'notes/ideas.txt' });
const lines = content.trim().split('\n');
return len(lines);
