const text = await fs.read_text_file({ path: 'notes/ideas.txt' });
return text.split('\n').filter((line) => line.startsWith('- '));
