# count the lines
const { content } = await fs.read_text_file({ path: 'notes/ideas.txt' });
return content.split('\n').length;
