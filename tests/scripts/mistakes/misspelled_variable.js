const { content } = await fs.read_text_file({ path: 'notes/ideas.txt' });
const lines = contnet.trim().split('\n');
return lines.length;
